"""Random walks through all that can be done to organizations, over HTTP, compared with a reference at each step."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from billing.models import Plan
from organizations.models import Invitation, Organization
from organizations.services.invitations import mint_token
from tests import factories
from tests.organizations.machine import Reference

PEOPLE = ["ada", "ben", "cleo", "dan", "eve"]
people = st.sampled_from(PEOPLE)
addresses = st.sampled_from([*PEOPLE, "outsider"])
any_number = st.integers(1, 12)
# Most callers have something to say in the organization; a blind choice would walk from one 404 to the next.
callers = st.tuples(st.sampled_from(["insider", "owner", "insider", "anybody"]), st.integers(0, len(PEOPLE) - 1))
guests = st.tuples(st.sampled_from(["outsider", "outsider", "anybody"]), st.integers(0, len(PEOPLE) - 1))
Caller = tuple[str, int]
somewhere = precondition(lambda self: self.reference.teams)
invited = precondition(lambda self: self.letters)


class Organizations(RuleBasedStateMachine):
    """Each walk runs in a transaction of its own that is rolled back at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.walk = transaction.atomic()
        self.walk.__enter__()
        self.reference = Reference()
        self.keys: dict[int, Any] = {}  # of organizations and invitations, by the reference's number
        self.letters: list[tuple[int, int, str]] = []  # organization, invitation, token
        self.users = {name: factories.user(f"{name}@example.org", name=name) for name in PEOPLE}
        self.clients = {name: _client_of(user) for name, user in self.users.items()}

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.walk.__exit__(None, None, None)

    def call(self, actor: str, method: str, path: str, **body: Any) -> Any:
        return getattr(self.clients[actor], method)(f"/v1/orgs{path}", body)

    def team(self, pick: int) -> int:
        """The number of one of the living organizations."""
        numbers = sorted(self.reference.teams)
        return numbers[pick % len(numbers)]

    def person(self, caller: Caller, number: int) -> str:
        """The owner, somebody in the organization, somebody outside, or anybody."""
        kind, index = caller
        team = self.reference.teams.get(number)
        if team is None or kind == "anybody":
            return PEOPLE[index]
        if kind == "outsider":
            outside = sorted(set(PEOPLE) - set(team.roles)) or PEOPLE
            return outside[index % len(outside)]
        return team.owner if kind == "owner" else sorted(team.roles)[index % len(team.roles)]

    @initialize()
    def a_team_of_two_that_grows(self) -> None:
        self.create("ada")
        self.change_plan(0, "team")
        self.invite(0, ("owner", 0), "ben", "admin")
        self.accept(0, ("anybody", PEOPLE.index("ben")))
        self.invite(0, ("owner", 0), "cleo", "member")
        self.invite(0, ("owner", 0), "dan", "admin")

    @rule(actor=people)
    def create(self, actor: str) -> None:
        status, number = self.reference.create(actor)

        response = self.call(actor, "post", "", name="Team")

        assert response.status_code == status
        if status == 201:
            self.keys[number] = response.json()["id"]

    @somewhere
    @rule(pick=any_number, plan=st.sampled_from(["free", "pro", "team"]))
    def change_plan(self, pick: int, plan: str) -> None:
        number = self.team(pick)
        self.reference.teams[number].plan = plan
        Organization.objects.filter(pk=self.keys[number]).update(plan=plan)

    @somewhere
    @rule(pick=any_number, caller=callers, email=addresses, role=st.sampled_from(["member", "admin"]))
    def invite(self, pick: int, caller: Caller, email: str, role: str) -> None:
        number = self.team(pick)
        actor = self.person(caller, number)
        status, asked = self.reference.invite(number, actor, email, role)

        path = f"/{self.keys[number]}/invitations"
        response = self.call(actor, "post", path, email=f"{email}@example.org", role=role)

        assert response.status_code == status
        if status == 201:
            self.keys[asked] = response.json()["id"]
            self.letters.append((number, asked, mint_token(self.keys[asked]) or ""))

    def letter(self, pick: int) -> tuple[int, int, str]:
        """Mostly one that can still be accepted, now and then any."""
        pending = [letter for letter in self.letters if self.is_pending(letter)]
        choice = pending if pending and pick % 5 else self.letters
        return choice[pick % len(choice)]

    def is_pending(self, letter: tuple[int, int, str]) -> bool:
        number, asked, _ = letter
        team = self.reference.teams.get(number)
        return team is not None and team.invitations[asked].status == "pending"

    @invited
    @rule(pick=any_number, caller=guests)
    def accept(self, pick: int, caller: Caller) -> None:
        number, asked, token = self.letter(pick)
        actor = self.person(caller, number)
        status = self.reference.accept(number, asked, actor)

        assert self.call(actor, "post", f"/invitations/{token}/accept").status_code == status

    @invited
    @rule(pick=any_number, caller=callers)
    def cancel(self, pick: int, caller: Caller) -> None:
        number, asked, _ = self.letter(pick)
        actor = self.person(caller, number)
        status = self.reference.cancel(number, asked, actor)

        path = f"/{self.keys[number]}/invitations/{self.keys[asked]}"
        assert self.call(actor, "delete", path).status_code == status

    @invited
    @rule(pick=any_number)
    def lapse(self, pick: int) -> None:
        number, asked, _ = self.letter(pick)
        self.reference.lapse(number, asked)
        past = timezone.now() - timedelta(seconds=1)
        Invitation.objects.filter(pk=self.keys[asked]).update(expires_at=past)

    @somewhere
    @rule(pick=any_number, caller=callers, subject=callers, role=st.sampled_from(["member", "admin", "owner"]))
    def change_role(self, pick: int, caller: Caller, subject: Caller, role: str) -> None:
        number = self.team(pick)
        actor, whom = self.person(caller, number), self.person(subject, number)
        status = self.reference.change_role(number, actor, whom, role)

        path = f"/{self.keys[number]}/members/{self.users[whom].pk}"
        assert self.call(actor, "put", path, role=role).status_code == status

    @somewhere
    @rule(pick=any_number, caller=callers, subject=callers)
    def remove(self, pick: int, caller: Caller, subject: Caller) -> None:
        number = self.team(pick)
        actor, whom = self.person(caller, number), self.person(subject, number)
        status = self.reference.remove(number, actor, whom)

        path = f"/{self.keys[number]}/members/{self.users[whom].pk}"
        assert self.call(actor, "delete", path).status_code == status

    @somewhere
    @rule(pick=any_number, caller=callers)
    def leave(self, pick: int, caller: Caller) -> None:
        number = self.team(pick)
        actor = self.person(caller, number)
        status = self.reference.leave(number, actor)

        assert self.call(actor, "post", f"/{self.keys[number]}/leave").status_code == status

    @somewhere
    @rule(pick=any_number, caller=callers, subject=callers)
    def transfer(self, pick: int, caller: Caller, subject: Caller) -> None:
        number = self.team(pick)
        actor, heir = self.person(caller, number), self.person(subject, number)
        status = self.reference.transfer(number, actor, heir)

        path = f"/{self.keys[number]}/transfer-ownership"
        assert self.call(actor, "post", path, newOwnerId=str(self.users[heir].pk)).status_code == status

    @precondition(lambda self: len(self.reference.teams) > 2)
    @rule(pick=any_number, caller=callers)
    def delete(self, pick: int, caller: Caller) -> None:
        number = self.team(pick)
        actor = self.person(caller, number)
        status = self.reference.delete(number, actor)

        assert self.call(actor, "delete", f"/{self.keys[number]}").status_code == status

    @invariant()
    def the_database_equals_the_reference(self) -> None:
        connection.check_constraints()
        stored = {str(row.pk): row for row in Organization.objects.prefetch_related("memberships__user", "invitations")}
        assert set(stored) == {self.keys[number] for number in self.reference.teams}
        for number, team in self.reference.teams.items():
            row = stored[self.keys[number]]
            assert {place.user.name: place.role for place in row.memberships.all()} == team.roles
            pending = {f"{asked.email}@example.org": asked.role for asked in team.pending.values()}
            assert {asked.email: asked.role for asked in row.invitations.pending()} == pending


def _client_of(user: Any) -> Any:
    client = factories.client()
    client.force_authenticate(user)
    return client


# A walk that fails is made shorter for up to five minutes before it is shown.
@pytest.mark.timeout(600)
def test_the_service_never_differs_from_the_reference(db):
    Plan.objects.filter(pk="pro").update(max_members=3)
    run_state_machine_as_test(
        Organizations,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
