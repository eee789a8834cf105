"""Buying a plan, and the provider's page where the customer manages the payment."""

import hashlib
from dataclasses import replace

from django.utils import timezone

from accounts.models import User
from billing.models import BillingCycle, PaymentProvider, Plan, Subscription
from billing.pages import plan_page
from billing.prices import price_id_of
from billing.providers import provider_for
from billing.providers.base import CheckoutOrder, UnknownAtProvider
from billing.services.changes import require_paid
from billing.services.provisioning import current_subscription
from config.errors import Conflict, InvalidInput
from organizations.models import Organization

# The same buyer asking for the same thing again within this time gets the same page.
SAME_CHECKOUT_SECONDS = 600


class AlreadySubscribed(Conflict):
    message = "The organization has a subscription already; change its plan instead"


class NotForSale(InvalidInput):
    message = "planId: the plan free costs nothing and cannot be bought"


def start_checkout(
    *, organization: Organization, buyer: User, provider: PaymentProvider, plan: Plan, cycle: BillingCycle
) -> str:
    """The address of the provider's page where the buyer pays. Nothing changes here until the provider says that it was
    paid.

    AlreadySubscribed, NotForSale, Unavailable (provider or price not set up), ProviderFailed.
    """
    if plan.is_free:
        raise NotForSale
    if current_subscription(organization):
        raise AlreadySubscribed
    client = provider_for(provider)
    latest = Subscription.objects.filter(organization=organization, provider=provider).order_by("-created_at").first()
    order = CheckoutOrder(
        organization_id=str(organization.pk),
        email=buyer.email,
        price_id=price_id_of(provider, plan, cycle),
        success_url=plan_page(organization, after="paid"),
        cancel_url=plan_page(organization, after="left"),
        customer_id=latest.customer_id if latest else "",
    )
    try:
        return client.create_checkout(order, key=_key(order, latest))
    except UnknownAtProvider:
        if not order.customer_id:
            raise
    # The customer of the former subscription was deleted there: the buyer begins as a new one.
    order = replace(order, customer_id="")
    return client.create_checkout(order, key=_key(order, latest))


def open_portal(*, organization: Organization) -> str:
    """The address of the provider's customer portal. NotPaid, Unavailable, ProviderFailed."""
    subscription = require_paid(organization)
    client = provider_for(subscription.provider)
    moment = int(timezone.now().timestamp()) // SAME_CHECKOUT_SECONDS
    return client.portal_url(
        subscription.customer_id,
        return_url=plan_page(organization),
        key=f"portal:{subscription.pk}:{subscription.version}:{moment}",
    )


def _key(order: CheckoutOrder, latest: Subscription | None) -> str:
    # A completed page must not come back after the subscription ended, so what went before is part of the key.
    moment = int(timezone.now().timestamp()) // SAME_CHECKOUT_SECONDS
    before = f"{latest.pk}:{latest.version}" if latest else ""
    parts = f"{order}|{before}|{moment}"
    return f"checkout:{hashlib.sha256(parts.encode()).hexdigest()}"
