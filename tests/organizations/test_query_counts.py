"""A list costs the same number of queries for one row and for many."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from analysis.models import Repository
from organizations.audit import record
from organizations.models import Invitation, Membership, Organization
from tests import factories


def queries_of(client, url):
    with CaptureQueriesContext(connection) as queries:
        response = client.get(url)
    assert response.status_code == 200
    return len(queries), response.json()


def add_members(organization, number):
    people = User.objects.bulk_create(
        User(email=f"m{index}@example.net", name=f"Member {index}", password="!") for index in range(number)
    )
    Membership.objects.bulk_create(
        Membership(organization=organization, user=person, role="member") for person in people
    )


@pytest.mark.parametrize("number", [30, 10_000])
def test_members(as_owner, organization, number):
    url = f"/v1/orgs/{organization.pk}/members"
    few, _ = queries_of(as_owner, url)
    add_members(organization, number)

    many, rows = queries_of(as_owner, url)

    assert (many, len(rows)) == (few, number + 3)
    assert many <= 3


@pytest.mark.parametrize("number", [30, 10_000])
def test_organizations(as_member, member, organization, number):
    few, _ = queries_of(as_member, "/v1/orgs")
    with_many_of(member, number)
    Repository.objects.create(organization=organization, full_name="a/b", platform="git", clone_url="https://x/a/b")

    many, rows = queries_of(as_member, "/v1/orgs")

    assert (many, len(rows)) == (few, number + 1)
    assert many <= 2
    assert {row["memberCount"] for row in rows} == {2, 3}


def with_many_of(member, number):
    """Many organizations in which somebody else is owner and the member is a member."""
    boss = factories.user()
    rows = [Organization(name=f"Many {index}", slug=f"many-{index}") for index in range(number)]
    for row in rows:
        row.owner_id = row.pk
    Organization.objects.bulk_create(rows)
    for person, role in ((boss, "owner"), (member, "member")):
        Membership.objects.bulk_create(Membership(organization=row, user=person, role=role) for row in rows)


def test_invitations(as_owner, organization):
    url = f"/v1/orgs/{organization.pk}/invitations"
    few, _ = queries_of(as_owner, url)
    next_week = timezone.now() + timedelta(days=7)
    Invitation.objects.bulk_create(
        Invitation(
            organization=organization,
            email=f"i{index}@example.net",
            role="member",
            expires_at=next_week,
            invited_by=factories.user(),
        )
        for index in range(50)
    )

    many, rows = queries_of(as_owner, url)

    assert (many, len(rows)) == (few, 50)


def test_audit_log(as_owner, organization):
    url = f"/v1/orgs/{organization.pk}/audit-log?perPage=100"
    record(organization=organization, actor=factories.user(), action="test.line")
    few, _ = queries_of(as_owner, url)
    for _ in range(40):
        record(organization=organization, actor=factories.user(), action="test.line")

    many, page = queries_of(as_owner, url)

    assert (many, len(page["data"])) == (few, 41)


def test_reading_one(as_owner, organization):
    few, _ = queries_of(as_owner, f"/v1/orgs/{organization.pk}")
    add_members(organization, 30)

    assert queries_of(as_owner, f"/v1/orgs/{organization.pk}")[0] == few


def test_deleting_costs_the_same_for_more_members(as_owner, owner):
    costs = []
    for number in (1, 200):
        organization = factories.organization(owner=owner)
        User.objects.filter(email__endswith="@example.net").delete()
        add_members(organization, number)
        with CaptureQueriesContext(connection) as queries:
            assert as_owner.delete(f"/v1/orgs/{organization.pk}").status_code == 204
        costs.append(len(queries))

    assert costs[1] - costs[0] <= 4, "rows go in batches"
