"""The audit trail: one line for every change that somebody made to an organization."""

from typing import Any

from accounts.models import User
from organizations.models import AuditEntry, Organization


def record(
    *,
    organization: Organization,
    actor: User | None,
    action: str,
    subject: str = "",
    details: dict[str, Any] | None = None,
) -> None:
    """Write one line, in the transaction of the change it tells of.

    `action` is `<noun>.<what happened>`, such as `member.role_changed`. `actor` is None when the service itself acted,
    for example on a provider's event. `subject` names the thing for a reader: an address, a repository's full name.
    `details` is JSON and holds no secret.
    """
    AuditEntry.objects.create(
        organization=organization, actor=actor, action=action, subject=subject[:300], details=details or {}
    )
