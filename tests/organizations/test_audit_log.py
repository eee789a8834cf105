"""GET /v1/orgs/:id/audit-log"""

import pytest

from organizations import services
from organizations.audit import record
from organizations.models import Role


@pytest.fixture
def url(organization):
    return f"/v1/orgs/{organization.pk}/audit-log"


class TestAuditLog:
    def test_tells_of_every_change(self, as_owner, as_admin, as_stranger, organization, other, stranger, url):
        base = f"/v1/orgs/{organization.pk}"
        as_admin.put(base, {"name": "Renamed"})
        as_admin.put(f"{base}/members/{other.pk}", {"role": "admin"})
        as_admin.post(f"{base}/invitations", {"email": "sam@example.org"})
        invitation = organization.invitations.get()
        as_stranger.post(f"/v1/orgs/invitations/{services.invitations.mint_token(invitation.pk)}/accept")
        second = as_admin.post(f"{base}/invitations", {"email": "dana@example.org"}).json()
        as_admin.delete(f"{base}/invitations/{second['id']}")
        as_admin.delete(f"{base}/members/{other.pk}")
        as_owner.post(f"{base}/transfer-ownership", {"newOwnerId": str(stranger.pk)})
        as_owner.post(f"{base}/leave")

        rows = as_admin.get(url).json()["data"]

        assert [(row["actor"]["name"], row["action"], row["subject"]) for row in reversed(rows)] == [
            ("Adam Admin", "organization.updated", organization.slug),
            ("Adam Admin", "member.role_changed", "otto@example.org"),
            ("Adam Admin", "member.invited", "sam@example.org"),
            ("Sam Stranger", "member.joined", "sam@example.org"),
            ("Adam Admin", "member.invited", "dana@example.org"),
            ("Adam Admin", "member.invitation_cancelled", "dana@example.org"),
            ("Adam Admin", "member.removed", "otto@example.org"),
            ("Olivia Owner", "organization.ownership_transferred", "sam@example.org"),
            ("Olivia Owner", "member.left", "olivia@example.org"),
        ]
        assert rows[-1]["details"] == {"name": {"from": organization.name, "to": "Renamed"}}
        assert rows[-2]["details"] == {"from": "member", "to": "admin"}

    def test_a_founding_is_its_first_line(self, as_stranger):
        made = as_stranger.post("/v1/orgs", {"name": "Acme"}).json()

        (row,) = as_stranger.get(f"/v1/orgs/{made['id']}/audit-log").json()["data"]

        assert (row["action"], row["subject"]) == ("organization.created", "acme")

    def test_a_change_that_changes_nothing_leaves_no_line(self, as_admin, organization, member, url):
        as_admin.put(f"/v1/orgs/{organization.pk}", {"name": organization.name})
        as_admin.put(f"/v1/orgs/{organization.pk}/members/{member.pk}", {"role": "member"})

        assert as_admin.get(url).json()["total"] == 0

    def test_a_refused_change_leaves_no_line(self, as_admin, owner, organization, url):
        as_admin.put(f"/v1/orgs/{organization.pk}/members/{owner.pk}", {"role": "member"})

        assert as_admin.get(url).json()["total"] == 0

    def test_the_service_itself_is_no_actor(self, as_admin, organization, url):
        record(organization=organization, actor=None, action="plan.changed", subject="pro", details={"from": "free"})

        row = as_admin.get(url).json()["data"][0]

        assert row == {
            "id": row["id"],
            "action": "plan.changed",
            "actor": None,
            "subject": "pro",
            "details": {"from": "free"},
            "createdAt": row["createdAt"],
        }

    def test_comes_in_pages(self, as_admin, organization, owner, url):
        for number in range(5):
            record(organization=organization, actor=owner, action="test.line", subject=str(number))

        body = as_admin.get(f"{url}?page=2&perPage=2").json()

        assert [row["subject"] for row in body.pop("data")] == ["2", "1"]
        assert body == {"total": 5, "page": 2, "perPage": 2, "totalPages": 3}
        assert as_admin.get(f"{url}?page=9").json()["data"] == []
        assert as_admin.get(f"{url}?page=0").status_code == 400

    def test_a_token_never_stands_in_it(self, as_admin, token, stranger, url):
        services.accept_invitation(token=token, user=stranger)

        assert token not in as_admin.get(url).content.decode()


def test_a_subject_that_is_too_long_is_cut(organization):
    record(organization=organization, actor=None, action="test.line", subject="x" * 1000)

    assert len(organization.audit_entries.get().subject) == 300


def test_the_trail_survives_the_people_in_it(organization, admin, member):
    row = organization.memberships.get(user=member)
    services.change_role(member=row, role=Role.ADMIN, actor=admin)

    admin.delete()

    assert organization.audit_entries.get().actor is None


def test_who_has_a_page_gets_it_anew_after_each_change_of_it(as_admin, organization, admin, owner, url):
    record(organization=organization, actor=owner, action="test.line")
    changes = [
        lambda: record(organization=organization, actor=admin, action="test.line"),
        lambda: type(owner).objects.filter(pk=owner.pk).update(name="Olivia Other"),
        lambda: organization.audit_entries.order_by("created_at")[0].delete(),
    ]
    for change in changes:
        held = {"If-None-Match": as_admin.get(url)["ETag"]}
        assert as_admin.get(url, headers=held).status_code == 304
        change()
        assert as_admin.get(url, headers=held).status_code == 200
