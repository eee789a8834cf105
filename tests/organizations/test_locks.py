"""The locks: what SQL they send, and in which order services take them."""

import re

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from organizations import entitlements, locks, services
from organizations.access import UnknownMember, UnknownOrganization
from organizations.models import Role

on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no row locks")


def locked_by(call):
    """Tables and strength of the row locks that a call takes, in order, each once."""
    with (
        CaptureQueriesContext(
            connection,
        ) as queries,
        transaction.atomic(),
    ):
        call()
    found = [
        (match[1], match[2])
        for query in queries
        if (match := re.search(r'FROM "(\w+)".* (FOR (?:NO KEY )?UPDATE)', query["sql"]))
    ]
    return list(dict.fromkeys(found))


USER = ("accounts_user", "FOR NO KEY UPDATE")
ORGANIZATION = ("organizations_organization", "FOR NO KEY UPDATE")
MEMBERSHIP = ("organizations_membership", "FOR NO KEY UPDATE")


@on_postgresql
class TestSql:
    def test_a_user(self, owner):
        assert locked_by(lambda: locks.lock_user(owner)) == [USER]

    def test_an_organization(self, organization):
        assert locked_by(lambda: locks.lock_organization(organization)) == [ORGANIZATION]

    def test_an_organization_to_delete(self, organization, owner):
        assert locked_by(lambda: locks.lock_organization_to_delete(owner, organization)) == [
            ("organizations_organization", "FOR UPDATE"),
            ("credits_creditaccount", "FOR UPDATE"),
        ]

    def test_a_member(self, organization):
        member = organization.memberships.first()
        assert locked_by(lambda: locks.lock_member(member)) == [MEMBERSHIP]


@on_postgresql
class TestOrder:
    def test_founding(self, stranger):
        assert locked_by(lambda: services.create_organization(owner=stranger, name="Acme")) == [USER]

    def test_inviting(self, organization, admin):
        assert locked_by(
            lambda: services.invite_member(organization=organization, email="a@example.org", actor=admin)
        ) == [ORGANIZATION]

    def test_accepting(self, token, stranger):
        assert locked_by(lambda: services.accept_invitation(token=token, user=stranger)) == [ORGANIZATION]

    def test_cancelling(self, invitation, admin):
        assert locked_by(lambda: services.cancel_invitation(invitation=invitation, actor=admin)) == [ORGANIZATION]

    def test_changing_a_role(self, organization, member, admin):
        row = organization.memberships.get(user=member)
        assert locked_by(lambda: services.change_role(member=row, role=Role.ADMIN, actor=admin)) == [
            ORGANIZATION,
            MEMBERSHIP,
        ]

    def test_removing_and_leaving(self, organization, member, admin):
        removed, leaving = (organization.memberships.get(user=person) for person in (member, admin))
        assert locked_by(lambda: services.remove_member(member=removed, actor=admin)) == [ORGANIZATION, MEMBERSHIP]
        assert locked_by(lambda: services.leave_organization(member=leaving)) == [ORGANIZATION, MEMBERSHIP]

    def test_transferring(self, organization, member, owner):
        heir = organization.memberships.get(user=member)
        assert locked_by(lambda: services.transfer_ownership(heir=heir, actor=owner)) == [ORGANIZATION, MEMBERSHIP]

    @pytest.mark.parametrize("limit", ["repository", "member", "invitation"])
    def test_asking_for_room(self, organization, limit):
        require = getattr(entitlements, f"require_room_for_{limit}")
        assert locked_by(lambda: require(organization)) == [ORGANIZATION]


class TestWhatIsGone:
    """Between a request's look-up and its lock, somebody else may have been faster."""

    def test_an_organization(self, organization):
        organization.__class__.objects.get(pk=organization.pk).delete()
        with pytest.raises(UnknownOrganization):
            locks.lock_organization(organization)

    def test_an_organization_that_is_only_read(self, as_member, organization, just_before):
        with just_before('"member_count"', organization.delete):
            assert as_member.get(f"/v1/orgs/{organization.pk}").status_code == 404

    def test_a_member(self, organization, member):
        row = organization.memberships.get(user=member)
        organization.memberships.filter(pk=row.pk).delete()
        with pytest.raises(UnknownMember):
            services.leave_organization(member=row)

    def test_the_callers_role(self, organization, admin, member):
        row = organization.memberships.get(user=member)
        organization.memberships.filter(user=admin).delete()
        with pytest.raises(UnknownOrganization):
            services.remove_member(member=row, actor=admin)
        assert organization.memberships.filter(user=member).exists()
