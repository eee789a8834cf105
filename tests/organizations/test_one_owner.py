"""The database itself holds every organization to exactly one owner."""

import pytest
from django.core import serializers
from django.db import IntegrityError, connection, transaction
from django.db.models import RestrictedError

from config.models import new_id
from organizations.models import Membership, Organization


def commit(change):
    """Run a change and check what a commit would check."""
    with transaction.atomic():
        change()
        connection.check_constraints()


def refused(change):
    with pytest.raises(IntegrityError):
        commit(change)


class TestAtLeastOne:
    def test_an_organization_needs_an_owner(self, db):
        refused(lambda: Organization.objects.create(name="Acme", slug="acme"))

    def test_a_key_to_nobody_is_no_owner(self, db):
        key = new_id()
        refused(lambda: Organization.objects.create(id=key, owner_id=key, name="Acme", slug="acme"))

    def test_the_owner_of_another_organization_is_no_owner(self, organization):
        refused(lambda: Organization.objects.create(owner_id=organization.pk, name="Acme", slug="acme"))

    def test_the_owner_cannot_be_demoted(self, organization, owner):
        refused(lambda: organization.memberships.filter(user=owner).update(role="admin"))

    def test_the_owner_cannot_be_deleted_behind_the_models(self, organization, owner):
        refused(lambda: organization.memberships.filter(user=owner)._raw_delete("default"))

    def test_the_owners_account_cannot_be_deleted(self, organization, owner):
        with pytest.raises(RestrictedError):
            owner.delete()


class TestAtMostOne:
    def test_nobody_else_can_be_promoted(self, organization, member):
        refused(lambda: organization.memberships.filter(user=member).update(role="owner"))

    def test_a_second_owner_cannot_join(self, organization, stranger):
        refused(lambda: organization.memberships.create(user=stranger, role="owner"))


def test_a_role_that_is_unknown_is_refused(organization, member):
    refused(lambda: organization.memberships.filter(user=member).update(role="boss"))


def test_ownership_moves_in_one_transaction(organization, owner, member):
    def transfer():
        organization.memberships.filter(user=owner).update(role="admin")
        organization.memberships.filter(user=member).update(role="owner")

    commit(transfer)

    assert Organization.objects.select_related("owner__user").get().owner.user == member


def test_deleting_the_organization_takes_its_owner_along(organization):
    commit(organization.delete)

    assert Membership.objects.count() == 0


def test_a_dump_of_an_organization_keeps_its_owner(organization):
    dump = serializers.serialize("json", [organization])

    (read,) = serializers.deserialize("json", dump)

    assert (read.object.pk, read.object.owner_id) == (organization.pk, organization.owner_id)
