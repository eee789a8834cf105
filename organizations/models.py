"""Organizations and who belongs to them."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from config.models import BaseModel


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"

    @property
    def rank(self) -> int:
        """Higher may do more."""
        return {Role.MEMBER: 0, Role.ADMIN: 1, Role.OWNER: 2}[self]


class Organization(BaseModel):
    """A team: it owns repositories, has members and a plan."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=48, unique=True)
    plan = models.ForeignKey("billing.Plan", on_delete=models.PROTECT, default="free", related_name="+")

    def __str__(self) -> str:
        return self.slug


class Membership(BaseModel):
    """One person's place in one organization."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "user"], name="membership_once_per_person"),
            models.UniqueConstraint(
                fields=["organization"], condition=models.Q(role=Role.OWNER), name="organization_has_one_owner"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization} as {self.role}"
