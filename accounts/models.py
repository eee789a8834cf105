"""People and the sessions they have open."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower

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


class Session(BaseModel):
    """One sign-in. Access and refresh token carry its id; revoking the row ends both."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    current_jti = models.CharField(max_length=64)
    rotated_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["expires_at"])]

    def __str__(self) -> str:
        return f"{self.user} since {self.created_at:%Y-%m-%d %H:%M}"
