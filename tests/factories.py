"""Makers of rows and clients for tests, with sensible values for what a test does not care about."""

from collections.abc import Iterable
from functools import cache
from itertools import count
from typing import Any

from django.contrib.auth.hashers import make_password
from rest_framework.test import APIClient

from accounts.models import User

PASSWORD = "Correct-horse-9"
_serial = count(1)


@cache
def password_hash() -> str:
    """The hash of PASSWORD, made once: a real one takes a tenth of a second."""
    return make_password(PASSWORD)


def user(email: str | None = None, *, name: str = "Somebody", **fields: Any) -> User:
    """An account whose password is PASSWORD."""
    address = email or f"user{next(_serial)}@example.org"
    return User.objects.create(email=address, name=name, **{"password": password_hash(), **fields})


def organization(
    *,
    owner: User | None = None,
    admins: Iterable[User] = (),
    members: Iterable[User] = (),
    plan: str = "pro",
    name: str | None = None,
) -> Any:
    """An organization with its people."""
    from organizations.models import Organization, Role

    number = next(_serial)
    row = Organization.objects.found(
        owner=owner or user(), name=name or f"Team {number}", slug=f"team-{number}", plan_id=plan
    )
    for person in admins:
        row.memberships.create(user=person, role=Role.ADMIN)
    for person in members:
        row.memberships.create(user=person, role=Role.MEMBER)
    return row


def client(access_token: str | None = None) -> APIClient:
    """A client that speaks JSON, with a Bearer token when one is given."""
    made = _JSONClient()
    if access_token:
        made.credentials(HTTP_AUTHORIZATION=f"Bearer {access_token}")
    return made


class _JSONClient(APIClient):
    default_format = "json"
