"""Credits of annual plans start anew every month on the billing day, without any word from the provider."""

from datetime import datetime
from uuid import UUID

from billing.locks import lock_organization
from billing.models import BillingCycle, Subscription
from billing.services.provisioning import provision
from config.retries import atomic_with_retries


def renew_due_credits(*, now: datetime) -> int:
    """Start the month of every account whose reset is due. How many were looked at. Two schedulers do no harm."""
    due = Subscription.objects.live().filter(
        cycle=BillingCycle.ANNUAL, organization__credit_account__resets_at__lte=now, current_period_end__gt=now
    )
    found = list(due.order_by("organization_id").values_list("organization_id", flat=True).distinct())
    for organization_id in found:
        _renew(organization_id, now)
    return len(found)


@atomic_with_retries
def _renew(organization_id: UUID, now: datetime) -> None:
    organization = lock_organization(organization_id)
    if organization:
        provision(organization, now=now)
