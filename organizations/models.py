"""Organizations, who belongs to them, who is invited, and what was changed by whom.

Exactly one owner. The database itself holds every organization to one owner at each commit, on PostgreSQL and SQLite
alike, with ordinary constraints and no trigger:

- `Membership.owner_of` is computed by the database: the organization's id where the role is owner, else NULL. It is
  unique, so an organization has at most one owner.
- `Organization.owner` is a foreign key, never NULL, to `Membership.owner_of`. A check ties its value to the
  organization's own id, so it says: there is a membership that owns this very organization. At least one owner.

The foreign key is checked at the end of the transaction, as all foreign keys of Django are. So an organization and its
first membership are stored together, and a transfer demotes the old owner before it promotes the new one; nobody
outside ever sees the moment between. `organization.owner` is the owner's membership, one join away.
"""

from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.models import User
from config.models import BaseModel, new_id


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"

    @property
    def rank(self) -> int:
        """Higher may do more."""
        return {Role.MEMBER: 0, Role.ADMIN: 1, Role.OWNER: 2}[self]


# What may be given to someone; ownership is only ever transferred.
GRANTABLE_ROLES = [Role.ADMIN.value, Role.MEMBER.value]

# The plans there are, the smallest first. Staff change what they hold and cost, never which there are.
PLAN_IDS = ["free", "solo", "pro", "team", "enterprise"]


class ComputedKey(models.GeneratedField):
    """A computed column that a foreign key may point to.

    A foreign key writes its values the way its target says; Django 5.2's computed columns do not pass that question on.
    """

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return self._stored.get_db_prep_value(value, connection, prepared)

    def to_python(self, value: Any) -> Any:
        return self._stored.to_python(value)

    @property
    def _stored(self) -> Any:
        return self.output_field


class OrganizationManager(models.Manager["Organization"]):
    @transaction.atomic
    def found(self, *, owner: User, **fields: Any) -> "Organization":
        """Store an organization together with its owner's membership; neither can exist without the other."""
        key = fields.pop("id", None) or new_id()
        organization = self.create(id=key, owner_id=key, **fields)
        organization.memberships.create(user=owner, role=Role.OWNER)
        return organization


class Organization(BaseModel):
    """A team: it owns repositories, has members and a plan. Made by `Organization.objects.found`."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=48, unique=True)
    plan = models.ForeignKey("billing.Plan", on_delete=models.PROTECT, default="free", related_name="+")
    owner = models.ForeignKey(
        "Membership", to_field="owner_of", on_delete=models.RESTRICT, related_name="+", editable=False
    )

    objects: ClassVar[OrganizationManager] = OrganizationManager()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(owner=models.F("id")), name="organization_owner_is_its_own")
        ]

    def __str__(self) -> str:
        return self.slug


class Membership(BaseModel):
    """One person's place in one organization."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role)
    owner_of = ComputedKey(
        expression=models.Case(models.When(role=Role.OWNER, then=models.F("organization_id")), default=None),
        output_field=models.UUIDField(null=True),
        db_persist=True,
        unique=True,
        null=True,
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "user"], name="membership_once_per_person"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization} as {self.role}"


class InvitationStatus(models.TextChoices):
    PENDING = "pending"
    ACCEPTED = "accepted"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self, now: Any = None) -> "InvitationQuerySet":
        """Those that can still be accepted, by default at present."""
        return self.filter(status=InvitationStatus.PENDING, expires_at__gt=now or timezone.now())

    def lapsed(self) -> "InvitationQuerySet":
        """Those whose time ran out before anybody wrote that down."""
        return self.filter(status=InvitationStatus.PENDING, expires_at__lte=timezone.now())

    def expire(self) -> int:
        """Write down that these have expired. Their number."""
        return self.update(status=InvitationStatus.EXPIRED, updated_at=timezone.now())


class Invitation(BaseModel):
    """An address that was asked to join. The token stands in the letter alone; here is its SHA-256."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=8, choices=[(role, Role(role).label) for role in GRANTABLE_ROLES])
    status = models.CharField(max_length=9, choices=InvitationStatus, default=InvitationStatus.PENDING)
    expires_at = models.DateTimeField()
    # NULL until the letter leaves: an empty string would stand there only once.
    token_hash: "models.CharField[str | None, str | None]" = models.CharField(  # noqa: DJ001
        max_length=64, null=True, editable=False, unique=True
    )
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "email"],
                condition=models.Q(status=InvitationStatus.PENDING),
                name="invitation_pending_once_per_address",
            ),
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="invitation_email_is_lower_case"),
            models.CheckConstraint(condition=models.Q(role__in=GRANTABLE_ROLES), name="invitation_role_is_grantable"),
        ]

    def __str__(self) -> str:
        return f"{self.email} to {self.organization} as {self.role}"


class AuditEntry(BaseModel):
    """Who changed what in an organization. Written by `organizations.audit.record`, never changed."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="audit_entries")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=300, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["organization", "-created_at", "-id"], name="audit_newest_first")]
        ordering: ClassVar = ["-created_at", "-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}".strip()


class Farewell(BaseModel):
    """Something outside the database that a deleted organization left behind and that is still to be cleaned up.

    The organization is gone, so its id is no foreign key. `next_at` says when the clean-up may be tried (again); taking
    the row moves it into the future, so that nobody else takes it. The row goes when the work is done.
    """

    kind = models.CharField(max_length=60)
    organization_id = models.UUIDField()
    notes = models.JSONField()
    attempts = models.PositiveIntegerField(default=0)
    next_at: "models.DateTimeField[datetime, datetime]" = models.DateTimeField(default=timezone.now)
    last_error = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["next_at"], name="farewell_due")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.organization_id}"
