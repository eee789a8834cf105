"""People, the sessions they have open, and the letters they are sent."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from config.models import BaseModel


class SignInProvider(models.TextChoices):
    EMAIL = "email"
    CODEHOST1 = "codehost1"
    IDP2 = "idp2"


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """A user with a lower-case address; without a password it can sign in through a provider only."""
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """A member of staff who may do everything in the admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(BaseModel, AbstractBaseUser, PermissionsMixin):
    """An account. The address is its name, unique without regard to case."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=100)
    avatar_url = models.URLField(max_length=500, blank=True)
    provider = models.CharField(max_length=16, choices=SignInProvider, default=SignInProvider.EMAIL)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="user_email_is_lower_case")
        ]

    def __str__(self) -> str:
        return self.email


class SessionQuerySet(models.QuerySet["Session"]):
    def live(self) -> "SessionQuerySet":
        """Sessions that are neither revoked nor those of a disabled account."""
        return self.filter(revoked_at=None, user__is_active=True)

    def revoke(self) -> int:
        """End those that are still open; access and refresh tokens of theirs answer 401 from now on. Their number."""
        now = timezone.now()
        return self.filter(revoked_at=None).update(revoked_at=now, updated_at=now)


class Session(BaseModel):
    """One sign-in. Access and refresh token carry its id; revoking the row ends both.

    `current_jti` is the id of the only refresh token that may still be used, `previous_jti` that of the one before it.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    provider = models.CharField(max_length=16, choices=SignInProvider)
    address = models.GenericIPAddressField(null=True, blank=True)
    current_jti = models.CharField(max_length=64)
    previous_jti = models.CharField(max_length=64, blank=True)
    rotated_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["expires_at"])]

    def __str__(self) -> str:
        return f"{self.user} since {self.created_at:%Y-%m-%d %H:%M}"


class PasswordReset(BaseModel):
    """One mailed link. Only a hash of its token is here; the token itself is in the letter alone."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="password_resets")
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.user} until {self.expires_at:%Y-%m-%d %H:%M}"


class Letter(BaseModel):
    """One e-mail that must leave. The row is the truth: a sweeper sends what no task has sent.

    `key` names the fact that the letter tells of, so that the same fact is never told twice. `context` holds ids and
    words for the template, never a secret. `due_at` is when the next attempt may start, empty once sent or given up.
    """

    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=200, unique=True)
    recipient = models.EmailField(max_length=254)
    context = models.JSONField(default=dict, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(
        null=True, blank=True, default=timezone.now
    )
    sent_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["due_at"], name="letter_due", condition=models.Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.recipient}"


class RateCounter(models.Model):
    """How often one caller did one thing in one window; the counting place when there is no Redis."""

    key = models.CharField(primary_key=True, max_length=100)
    count = models.PositiveIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key
