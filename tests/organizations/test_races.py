"""Real threads at once, each with its own connection, on both engines: one gets it, and nobody gets a 500."""

import threading
from collections import Counter
from datetime import timedelta

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


def together(calls):
    """Run all calls at the same moment; the name of the refusal for each that was refused, `done` for the others."""
    barrier = threading.Barrier(len(calls))
    outcomes = Counter()

    def run(call):
        barrier.wait()
        try:
            call()
            outcomes["done"] += 1
        except Refusal as refusal:
            outcomes[type(refusal).__name__] += 1
        except Exception as error:
            outcomes[f"{type(error).__name__}: {error}"] += 1
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def invited(organization, number):
    """A token for each of a number of pending invitations."""
    next_week = timezone.now() + timedelta(days=7)
    rows = Invitation.objects.bulk_create(
        Invitation(organization=organization, email=f"{index}@example.net", role="member", expires_at=next_week)
        for index in range(number)
    )
    return [mint_token(row.pk) for row in rows]


@pytest.mark.parametrize("round_", range(3))
class TestAtOnce:
    def test_two_accept_the_last_seat(self, round_):
        Plan.objects.filter(pk="solo").update(max_members=2)
        organization = factories.organization(plan="solo")
        tokens, people = invited(organization, 6), [factories.user() for _ in range(6)]

        outcomes = together(
            [
                lambda token=token, person=person: services.accept_invitation(token=token, user=person)
                for token, person in zip(tokens, people, strict=True)
            ]
        )

        assert outcomes == {"done": 1, "NoRoom": 5}
        assert organization.memberships.count() == 2

    def test_one_token_is_used_by_many(self, round_):
        organization = factories.organization()
        (token,) = invited(organization, 1)
        people = [factories.user() for _ in range(6)]

        outcomes = together(
            [lambda person=person: services.accept_invitation(token=token, user=person) for person in people]
        )

        assert outcomes == {"done": 1, "InvitationOver": 5}
        assert organization.memberships.count() == 2

    def test_ownership_is_transferred_to_two_at_once(self, round_):
        owner, heirs = factories.user(), [factories.user() for _ in range(4)]
        organization = factories.organization(owner=owner, members=heirs)
        rows = list(Membership.objects.filter(user__in=heirs).select_related("organization", "user"))

        outcomes = together([lambda row=row: services.transfer_ownership(heir=row, actor=owner) for row in rows])

        assert outcomes == {"done": 1, "NotAllowed": 3}
        assert sorted(organization.memberships.values_list("role", flat=True)) == ["admin", *["member"] * 3, "owner"]

    def test_one_account_founds_many(self, round_):
        owner = factories.user()

        outcomes = together([lambda: services.create_organization(owner=owner, name="Acme") for _ in range(6)])

        assert outcomes == {"done": 1, "NoRoom": 5}
        assert Organization.objects.count() == 1

    def test_many_accounts_found_under_one_name(self, round_):
        people = [factories.user() for _ in range(6)]

        outcomes = together(
            [lambda person=person: services.create_organization(owner=person, name="Acme") for person in people]
        )

        assert outcomes == {"done": 6}
        slugs = set(Organization.objects.values_list("slug", flat=True))
        assert slugs == {"acme", *(f"acme-{number}" for number in range(2, 7))}

    def test_one_address_is_invited_by_many(self, round_):
        admins = [factories.user() for _ in range(6)]
        organization = factories.organization(admins=admins)

        outcomes = together(
            [
                lambda admin=admin: services.invite_member(
                    organization=organization, email="dana@example.org", actor=admin
                )
                for admin in admins
            ]
        )

        assert outcomes == {"done": 1, "InvitationPending": 5}
        assert organization.invitations.count() == 1

    def test_the_last_place_for_a_repository(self, round_):
        organization = factories.organization(plan="free")

        def connect(number):
            with transaction.atomic():
                require_room_for_repository(organization)
                organization.repositories.create(full_name=f"a/{number}", platform="git", clone_url="https://x/a")

        outcomes = together([lambda number=number: connect(number) for number in range(6)])

        assert outcomes == {"done": 2, "NoRoom": 4}

    def test_everything_at_once(self, round_):
        owner, admin = factories.user(), factories.user()
        people = [factories.user() for _ in range(3)]
        organization = factories.organization(owner=owner, admins=[admin], members=people)
        (token,) = invited(organization, 1)
        invitation, newcomer = Invitation.objects.select_related("organization").get(), factories.user()
        rows = list(Membership.objects.filter(user__in=people).select_related("organization", "user"))

        outcomes = together(
            [
                lambda: services.transfer_ownership(heir=rows[0], actor=owner),
                lambda: services.change_role(member=rows[0], role=Role.ADMIN, actor=admin),
                lambda: services.remove_member(member=rows[0], actor=admin),
                lambda: services.leave_organization(member=rows[1]),
                lambda: services.remove_member(member=rows[1], actor=owner),
                lambda: services.accept_invitation(token=token, user=newcomer),
                lambda: services.cancel_invitation(invitation=invitation, actor=admin),
                lambda: services.delete_organization(organization=organization, actor=owner),
            ]
        )

        refusals = {"NotAllowed", "OwnerStays", "UnknownMember", "UnknownOrganization", "UnknownInvitation"}
        refusals |= {"InvitationOver", "UnknownToken", "AlreadyOwner", "done"}
        assert set(outcomes) <= refusals, outcomes
        owners = Membership.objects.filter(organization=organization, role="owner").count()
        assert owners == Organization.objects.filter(pk=organization.pk).count()
