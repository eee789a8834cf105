"""Filling the price table from the plans: prices are made or found at a provider."""

from django.db import transaction

from billing.models import BillingCycle, PaymentProvider, Plan, Price
from billing.providers import provider_for


def sync_prices(*, provider: PaymentProvider) -> list[Price]:
    """The current price of each paid plan and cycle at a provider. Repeating it makes nothing new.

    After a plan's price changed in the admin a new price is made; subscriptions bought before keep the former one.
    """
    client = provider_for(provider)
    paid = [plan for plan in Plan.objects.all() if not plan.is_free]
    offers = [(plan, cycle) for plan in paid for cycle in BillingCycle]
    return [_keep(provider, plan, cycle, client.ensure_price(plan, cycle, plan.price(cycle))) for plan, cycle in offers]


@transaction.atomic
def _keep(provider: PaymentProvider, plan: Plan, cycle: BillingCycle, external_id: str) -> Price:
    former = Price.objects.filter(provider=provider, plan=plan, cycle=cycle, is_current=True)
    former.exclude(external_id=external_id).update(is_current=False)
    price, _ = Price.objects.update_or_create(
        provider=provider,
        external_id=external_id,
        defaults={"plan": plan, "cycle": cycle, "amount": plan.price(cycle), "is_current": True},
    )
    return price
