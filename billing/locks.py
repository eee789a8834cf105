"""Row locks of billing, in the order of the whole service: organization, subscription, then the credit account.

PostgreSQL locks the row; SQLite holds its one write lock from the start of the transaction.
"""

from uuid import UUID

from billing.models import Subscription
from organizations.models import Organization


def lock_organization(organization_id: UUID) -> Organization | None:
    """The organization, held until the transaction ends. Rows that point at it may still be inserted meanwhile."""
    return Organization.objects.select_for_update(of=("self",), no_key=True).filter(pk=organization_id).first()


def lock_subscription(provider: str, external_id: str) -> Subscription | None:
    """The subscription, held until the transaction ends. Lock its organization first."""
    rows = Subscription.objects.select_for_update(of=("self",), no_key=True)
    return rows.filter(provider=provider, external_id=external_id).first()
