"""What a deleted organization leaves at the payment providers: subscriptions that must not be charged any more."""

from typing import Any

from billing.models import ENDED, DepartedOrganization, Subscription
from billing.providers import provider_for
from billing.services.keys import moment
from organizations.models import Organization

KIND = "billing.subscription"


def note(organization: Organization) -> list[dict[str, Any]]:
    """The subscriptions to end, and the memory that this organization existed. Part of the deleting transaction."""
    DepartedOrganization.objects.get_or_create(pk=organization.pk)
    rows = Subscription.objects.filter(organization=organization).exclude(status__in=[str(status) for status in ENDED])
    return [{"provider": row.provider, "external_id": row.external_id} for row in rows]


def settle(notes: dict[str, Any]) -> None:
    """End one subscription at its provider, at once. One that is over already is left alone."""
    key = f"farewell:{moment()}:{notes['provider']}:{notes['external_id']}"
    provider_for(notes["provider"]).cancel_now(notes["external_id"], key=key)
