"""Who may do what (C1): every operation of the OpenAPI document for everybody, with own, foreign and unknown ids.

The table (authorization.txt) names what a member, an admin and the owner of an organization on the plan pro get, where
nothing was scanned or bought and no provider is set up: 404, 409 and 503 there mean that the caller was let in. The
rest follows: without a valid token 401; outsiders, staff without a membership and removed members learn nothing,
whatever id they name. An operation that stands in the document and not in the table fails.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from analysis.models import Platform, PullRequest, Repository, Run, RunKind, Violation
from organizations.services import invite_member
from organizations.services.invitations import mint_token
from tests import factories
from tests.conftest import client_of

TABLE = Path(__file__).with_name("authorization.txt").read_text()
# Operations that ask nobody who they are.
PUBLIC = """
GET /plans
GET /plans/{plan_id}
GET /billing/providers
GET /badge/{owner}/{repo}
POST /auth/signup
POST /auth/login
POST /auth/refresh
POST /auth/forgot-password
POST /auth/reset-password
GET /auth/providers
GET /auth/codehost1
GET /auth/codehost1/callback
GET /auth/idp2
GET /auth/idp2/callback
POST /billing/webhook/cardpay
POST /billing/webhook/walletpay
POST /webhooks/codehost1
POST /webhooks/codehost2
"""
OBJECTS = ("organization_id", "repository_id", "run_id")  # what belongs to an organization and lets nobody else in
PARTS = ("user_id", "invitation_id", "violation_id", "pull_request_number")  # what is looked up inside of one
METHODS = ("get", "put", "post", "delete", "patch")


@dataclass(frozen=True)
class Operation:
    """A line of the table."""

    method: str
    path: str
    member: int
    admin: int
    owner: int
    body: str

    def names(self, *placeholders: str) -> list[str]:
        return [name for name in placeholders if name in self.path + self.body]

    def sent_by(self, client: Any, places: dict[str, str]) -> Any:
        path, body = f"/v1{self.path}", self.body
        for name, value in places.items():
            path, body = path.replace("{" + name + "}", value), body.replace(f"[{name}]", value)
        return client.generic(self.method, path, body, "application/json")


def _operation(line: str) -> Operation:
    method, path, member, admin, owner, *body = line.split(None, 5)
    return Operation(method, path, int(member), int(admin), int(owner), body[0] if body else "")


OPERATIONS = [_operation(line) for line in TABLE.splitlines() if not line.startswith("#")]
each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")


@pytest.fixture
def world(organization, settings, tmp_path) -> SimpleNamespace:
    """One id for each placeholder, and an organization of strangers that has the same things."""
    settings.WORKSPACE_DIR = tmp_path
    settings.CLONE_ALLOWED_SCHEMES = ["file"]
    return SimpleNamespace(own=_places(organization), foreign=_places(factories.organization()))


def _places(organization: Any) -> dict[str, str]:
    person = factories.user()
    organization.memberships.create(user=person, role="member")
    invitation = invite_member(
        organization=organization, email=f"{organization.slug}@example.org", actor=organization.owner.user
    )
    repository = Repository.objects.create(
        organization=organization, full_name="acme/shop", platform=Platform.GIT, clone_url="https://example.org/a.git"
    )
    run = Run.objects.create(
        organization=organization,
        repository=repository,
        kind=RunKind.FIRST_SCAN,
        status="failed",
        queued_at=timezone.now(),
    )
    return {
        "organization_id": str(organization.pk),
        "user_id": str(person.pk),
        "invitation_id": str(invitation.pk),
        "token": mint_token(invitation.pk) or "",
        "repository_id": str(repository.pk),
        "run_id": str(run.pk),
        "violation_id": str(_violation(repository).pk),
        "pull_request_number": str(_pull_request(repository).number),
        "feature": "prGate",
        "name": "flask",
    }


def _pull_request(repository: Repository) -> PullRequest:
    number = PullRequest.objects.count() + 1  # no other repository has the same
    return PullRequest.objects.create(repository=repository, number=number, head_sha="d" * 40, base_branch="main")


def _violation(repository: Repository) -> Violation:
    return Violation.objects.create(
        repository=repository,
        fingerprint="f" * 32,
        rule_id="rel-broad-except",
        category="reliability",
        severity="warning",
        severity_rank=1,
        confidence="high",
        file="a.py",
        line=1,
        debt_points=1,
        first_seen_at=timezone.now(),
    )


@pytest.fixture
def outsiders(as_stranger, organization) -> dict[str, Any]:
    """Callers with a valid token whom the organization does not concern."""
    removed = factories.user()
    organization.memberships.create(user=removed, role="admin").delete()
    staff = factories.user(is_staff=True, is_superuser=True)
    return {"stranger": as_stranger, "staff": client_of(staff), "removed": client_of(removed)}


@pytest.fixture
def nobodies(anonymous, owner) -> dict[str, Any]:
    """Callers without a valid token."""
    logged_out = client_of(owner)
    assert logged_out.post("/v1/auth/logout").status_code == 200
    return {"anonymous": anonymous, "logged out": logged_out, "forger": factories.client("e30.e30.e30")}


@contextmanager
def undone() -> Iterator[None]:
    """What happens inside leaves nothing behind."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_the_table_has_every_operation():
    document = SchemaGenerator().get_schema(request=None, public=True)
    served = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
        if method in METHODS
    }
    listed = {f"{operation.method} {operation.path}" for operation in OPERATIONS} | set(PUBLIC.strip().splitlines())

    assert served - listed == set()
    assert {line for line in listed - served if "/badge/" not in line} == set()


@each_operation
def test_the_three_roles_get_what_the_table_says(operation, world, as_member, as_admin, as_owner):
    answers = []
    for client in (as_member, as_admin, as_owner):
        with undone():
            answers.append(operation.sent_by(client, world.own))

    statuses = [answer.status_code for answer in answers]
    assert statuses == [operation.member, operation.admin, operation.owner], [
        answer.content[:200] for answer in answers
    ]


@each_operation
def test_nobody_gets_in_without_a_valid_token(operation, world, nobodies):
    statuses = {who: operation.sent_by(client, world.own).status_code for who, client in nobodies.items()}

    assert statuses == dict.fromkeys(nobodies, 401)


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.names(*OBJECTS)], ids=lambda one: f"{one.method} {one.path}"
)
def test_outsiders_cannot_tell_an_object_from_none(operation, world, outsiders, as_owner):
    (name,) = operation.names(*OBJECTS)
    nowhere = [{**world.own, name: key} for key in (world.foreign[name], str(uuid4()), "no-such-id")]
    places = {who: [world.own, *nowhere] for who in outsiders} | {"owner": nowhere}

    answers = {
        who: [_answer(operation.sent_by({**outsiders, "owner": as_owner}[who], place)) for place in kinds]
        for who, kinds in places.items()
    }

    first = answers["owner"][0]
    assert first[0] == 404, first
    assert answers == {who: [first] * len(kinds) for who, kinds in places.items()}


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.names(*PARTS)], ids=lambda one: f"{one.method} {one.path}"
)
def test_what_belongs_to_another_organization_is_unknown_inside_of_ours(operation, world, as_owner):
    (name,) = operation.names(*PARTS)
    answers = []
    for key in (world.foreign[name], str(uuid4()), "no-such-id"):
        with undone():
            answers.append(_answer(operation.sent_by(as_owner, {**world.own, name: key})))

    assert answers[0][0] == 404, answers
    assert answers == [answers[0]] * 3


def _answer(response: Any) -> tuple[int, Any]:
    return response.status_code, json.loads(response.content)
