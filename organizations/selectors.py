"""Reads that join several tables; each is one query, whatever the number of rows."""

from typing import Any

from django.db.models import Count, DateTimeField, F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from accounts.models import User
from config.compiled import CompiledQuery, CompiledRows, Key, PageOf, count_of
from organizations.access import UnknownOrganization
from organizations.models import AuditEntry, Invitation, Membership, Organization

AUDIT_FIELDS = (
    "id", "action", "subject", "details", "created_at", "actor_id", "actor__name", "actor__email",
)  # fmt: skip


def organizations_of(user: User) -> list[Organization]:
    """The user's organizations by name, each with `role`, `member_count` and `repo_count`."""
    return _OF_USER.all(user=user.pk)


def organization_detail(organization: Organization) -> Organization:
    """The organization with its owner, `member_count` and `repo_count`; UnknownOrganization once it is deleted."""
    row = _DETAIL.first(organization=organization.pk)
    if row is None:
        raise UnknownOrganization
    return row


def members_of(organization: Organization) -> list[Membership]:
    """Members with their accounts, in the order in which they joined."""
    return _MEMBERS.all(organization=organization.pk)


def pending_invitations_of(organization: Organization) -> list[Invitation]:
    """Invitations that can still be accepted, with the account that sent each, the oldest first."""
    return _INVITATIONS.all(organization=organization.pk, now=timezone.now())


def audit_log_of(organization: Organization) -> CompiledRows[dict[str, Any]]:
    """Who changed what, the newest first, read as columns; of who did it the id, the name and the address."""
    return CompiledRows(_AUDIT_LINES, _AUDIT_PAGE, {"organization": organization.pk})


def counts_of(organization: Organization) -> tuple[int, int]:
    """How many members and how many repositories it has. One query."""
    return _COUNTS.first(organization=organization.pk) or (0, 0)


def with_counts(organizations: QuerySet[Organization]) -> QuerySet[Organization]:
    """Each with `member_count` and `repo_count`."""
    # Repositories belong to an app above this one; they are reached by the name of the relation.
    return organizations.annotate(member_count=_number_of("memberships"), repo_count=_number_of("repositories"))


def _number_of(relation: str) -> Subquery:
    # A sub-query for each number: joining two relations at once would multiply their rows.
    organizations = Organization.objects.filter(pk=OuterRef("pk")).order_by().values("pk")
    return Subquery(organizations.annotate(number=Count(relation)).values("number"))


def _of_user() -> QuerySet[Organization]:
    mine = Organization.objects.filter(memberships__user=Key("user")).annotate(role=F("memberships__role"))
    return with_counts(mine).order_by("name", "id")


_OF_USER = CompiledQuery(_of_user)
_DETAIL = CompiledQuery(
    lambda: with_counts(Organization.objects.select_related("owner")).filter(pk=Key("organization"))
)
_COUNTS = CompiledQuery(
    lambda: Organization.objects.filter(pk=Key("organization")).values_list(
        _number_of("memberships"), _number_of("repositories")
    )
)


def _audit_log() -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(organization=Key("organization")).order_by("-created_at", "-id")


_AUDIT_PAGE: CompiledQuery[dict[str, Any]] = CompiledQuery(
    lambda: AuditEntry.objects.filter(pk__in=PageOf(_audit_log())).order_by("-created_at", "-id").values(*AUDIT_FIELDS)
)
_AUDIT_LINES = CompiledQuery(lambda: count_of(_audit_log()))
_MEMBERS = CompiledQuery(
    lambda: (
        Membership.objects.select_related("user").filter(organization=Key("organization")).order_by("created_at", "id")
    )
)
_INVITATIONS = CompiledQuery(
    lambda: (
        Invitation.objects.select_related("invited_by")
        .pending(Key("now", DateTimeField()))
        .filter(organization=Key("organization"))
        .order_by("created_at", "id")
    )
)
