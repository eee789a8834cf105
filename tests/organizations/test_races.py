"""Real threads at once, each with its own connection, on both engines: one gets it, and nobody gets a 500."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.utils import timezone

from billing.models import Plan
from config.errors import Refusal
from organizations import services
from organizations.entitlements import require_room_for_repository
from organizations.models import Invitation, Membership, Organization, Role
from organizations.services.invitations import mint_token
from tests import factories

pytestmark = [pytest.mark.crowd, pytest.mark.django_db(transaction=True)]


WAYS = 32


class Crowd:
    """Threads that start their calls at the same moment, each with its own connection, round after round."""

    def __init__(self, pool):
        self.pool = pool

    def together(self, calls):
        """The name of the refusal for each call that was refused, `done` for the others."""
        barrier = threading.Barrier(len(calls))

        def run(call):
            barrier.wait()
            try:
                call()
            except Refusal as refusal:
                return type(refusal).__name__
            except Exception as error:
                return f"{type(error).__name__}: {error}"
            return "done"

        return Counter(self.pool.map(run, calls))


@pytest.fixture
def crowd():
    with ThreadPoolExecutor(WAYS) as pool:
        crowd = Crowd(pool)
        yield crowd
        assert crowd.together([lambda: connection.close()] * WAYS) == {"done": WAYS}


@pytest.fixture
def rounds(figure):
    return range(figure(c=10, s=100, of="rounds of 32"))


@pytest.fixture
def fewer_rounds(figure):
    """For what the specification does not name."""
    return range(figure(c=3, s=100, of="rounds of 32"))


def invited(organization, number):
    """A token for each of a number of pending invitations."""
    next_week = timezone.now() + timedelta(days=7)
    rows = Invitation.objects.bulk_create(
        Invitation(organization=organization, email=f"{index}@example.net", role="member", expires_at=next_week)
        for index in range(number)
    )
    return [mint_token(row.pk) for row in rows]


class TestAtOnce:
    def test_many_accept_the_last_seat(self, crowd, rounds):
        Plan.objects.filter(pk="solo").update(max_members=2)
        people = [factories.user() for _ in range(WAYS)]
        for _ in rounds:
            organization = factories.organization(plan="solo")
            tokens = invited(organization, WAYS)

            outcomes = crowd.together(
                [
                    partial(services.accept_invitation, token=token, user=person)
                    for token, person in zip(tokens, people, strict=True)
                ]
            )

            assert outcomes == {"done": 1, "NoRoom": WAYS - 1}
            assert organization.memberships.count() == 2

    def test_one_token_is_used_by_many(self, crowd, rounds):
        people = [factories.user() for _ in range(WAYS)]
        for _ in rounds:
            organization = factories.organization()
            (token,) = invited(organization, 1)

            outcomes = crowd.together(
                [partial(services.accept_invitation, token=token, user=person) for person in people]
            )

            assert outcomes == {"done": 1, "InvitationOver": WAYS - 1}
            assert organization.memberships.count() == 2

    def test_ownership_is_transferred_to_many_at_once(self, crowd, rounds):
        owner, heirs = factories.user(), [factories.user() for _ in range(WAYS)]
        for _ in rounds:
            organization = factories.organization(owner=owner, members=heirs)
            rows = list(organization.memberships.exclude(role="owner").select_related("organization", "user"))

            outcomes = crowd.together([partial(services.transfer_ownership, heir=row, actor=owner) for row in rows])

            assert outcomes == {"done": 1, "NotAllowed": WAYS - 1}
            roles = Counter(organization.memberships.values_list("role", flat=True))
            assert roles == {"admin": 1, "member": WAYS - 1, "owner": 1}

    def test_one_account_founds_many(self, crowd, rounds):
        for _ in rounds:
            owner = factories.user()

            outcomes = crowd.together([partial(services.create_organization, owner=owner, name="Acme")] * WAYS)

            assert outcomes == {"done": 1, "NoRoom": WAYS - 1}
            assert Organization.objects.filter(memberships__user=owner).count() == 1

    def test_many_accounts_found_under_one_name(self, crowd, fewer_rounds):
        for round_ in fewer_rounds:
            people = [factories.user() for _ in range(WAYS)]

            outcomes = crowd.together(
                [partial(services.create_organization, owner=person, name=f"Acme {round_}") for person in people]
            )

            assert outcomes == {"done": WAYS}
            slugs = set(Organization.objects.filter(name=f"Acme {round_}").values_list("slug", flat=True))
            assert slugs == {f"acme-{round_}", *(f"acme-{round_}-{number}" for number in range(2, WAYS + 1))}

    def test_one_address_is_invited_by_many(self, crowd, fewer_rounds):
        admins = [factories.user() for _ in range(WAYS)]
        for _ in fewer_rounds:
            organization = factories.organization(admins=admins)

            outcomes = crowd.together(
                [
                    partial(services.invite_member, organization=organization, email="dana@example.org", actor=admin)
                    for admin in admins
                ]
            )

            assert outcomes == {"done": 1, "InvitationPending": WAYS - 1}
            assert organization.invitations.count() == 1

    def test_the_last_places_for_a_repository(self, crowd, rounds):
        for _ in rounds:
            organization = factories.organization(plan="free")

            outcomes = crowd.together([partial(connect, organization, number) for number in range(WAYS)])

            assert outcomes == {"done": 2, "NoRoom": WAYS - 2}

    def test_everything_at_once(self, crowd, fewer_rounds):
        for _ in fewer_rounds:
            owner, admin = factories.user(), factories.user()
            people = [factories.user() for _ in range(3)]
            organization = factories.organization(owner=owner, admins=[admin], members=people)
            (token,) = invited(organization, 1)
            invitation, newcomer = organization.invitations.select_related("organization").get(), factories.user()
            rows = list(Membership.objects.filter(user__in=people).select_related("organization", "user"))

            outcomes = crowd.together(
                [
                    partial(services.transfer_ownership, heir=rows[0], actor=owner),
                    partial(services.change_role, member=rows[0], role=Role.ADMIN, actor=admin),
                    partial(services.remove_member, member=rows[0], actor=admin),
                    partial(services.leave_organization, member=rows[1]),
                    partial(services.remove_member, member=rows[1], actor=owner),
                    partial(services.accept_invitation, token=token, user=newcomer),
                    partial(services.cancel_invitation, invitation=invitation, actor=admin),
                    partial(services.delete_organization, organization=organization, actor=owner),
                ]
            )

            refusals = {"NotAllowed", "OwnerStays", "UnknownMember", "UnknownOrganization", "UnknownInvitation"}
            refusals |= {"InvitationOver", "UnknownToken", "AlreadyOwner", "done"}
            assert set(outcomes) <= refusals, outcomes
            owners = Membership.objects.filter(organization=organization, role="owner").count()
            assert owners == Organization.objects.filter(pk=organization.pk).count()


def connect(organization, number):
    with transaction.atomic():
        require_room_for_repository(organization)
        organization.repositories.create(full_name=f"a/{number}", platform="git", clone_url="https://x/a")
