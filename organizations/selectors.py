"""Reads that join several tables; each is one query, whatever the number of rows."""

from django.db.models import Count, F, OuterRef, QuerySet, Subquery

from accounts.models import User
from organizations.access import UnknownOrganization
from organizations.models import AuditEntry, Invitation, Membership, Organization


def organizations_of(user: User) -> QuerySet[Organization]:
    """The user's organizations by name, each with `role`, `member_count` and `repo_count`."""
    mine = Organization.objects.filter(memberships__user=user).annotate(role=F("memberships__role"))
    return with_counts(mine).order_by("name", "id")


def organization_detail(organization: Organization) -> Organization:
    """The organization with its owner, `member_count` and `repo_count`; UnknownOrganization once it is deleted."""
    row = with_counts(Organization.objects.select_related("owner")).filter(pk=organization.pk).first()
    if row is None:
        raise UnknownOrganization
    return row


def members_of(organization: Organization) -> QuerySet[Membership]:
    """Members with their accounts, in the order in which they joined."""
    return organization.memberships.select_related("user").order_by("created_at", "id")


def pending_invitations_of(organization: Organization) -> QuerySet[Invitation]:
    """Invitations that can still be accepted, the oldest first."""
    return organization.invitations.pending().order_by("created_at", "id")


def audit_log_of(organization: Organization) -> QuerySet[AuditEntry]:
    """Who changed what, the newest first."""
    return AuditEntry.objects.filter(organization=organization).order_by("-created_at", "-id")


def with_counts(organizations: QuerySet[Organization]) -> QuerySet[Organization]:
    """Each with `member_count` and `repo_count`."""
    # Repositories belong to an app above this one; they are reached by the name of the relation.
    return organizations.annotate(member_count=_number_of("memberships"), repo_count=_number_of("repositories"))


def _number_of(relation: str) -> Subquery:
    # A sub-query for each number: joining two relations at once would multiply their rows.
    organizations = Organization.objects.filter(pk=OuterRef("pk")).order_by().values("pk")
    return Subquery(organizations.annotate(number=Count(relation)).values("number"))
