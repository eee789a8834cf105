"""GET /v1/orgs/:id/members, PUT and DELETE /v1/orgs/:id/members/:userId, POST /v1/orgs/:id/leave"""

import pytest

OWNER_STAYS = "The owner's membership cannot be changed or removed; transfer ownership first"


@pytest.fixture
def members(organization):
    return f"/v1/orgs/{organization.pk}/members"


def test_the_list_shows_everybody_in_the_order_of_joining(as_member, owner, members):
    body = as_member.get(members).json()

    assert [(row["email"], row["role"]) for row in body] == [
        ("olivia@example.org", "owner"),
        ("adam@example.org", "admin"),
        ("mia@example.org", "member"),
    ]
    assert body[0] == {
        "userId": str(owner.pk),
        "name": "Olivia Owner",
        "email": "olivia@example.org",
        "role": "owner",
        "joinedAt": body[0]["joinedAt"],
    }


class TestChangeRole:
    @pytest.mark.parametrize("caller", ["as_admin", "as_owner"])
    def test_up_and_down_again(self, request, members, other, caller):
        client = request.getfixturevalue(caller)
        for role in ("admin", "member", "member"):
            response = client.put(f"{members}/{other.pk}", {"role": role})

            assert response.status_code == 200
            assert response.json() == {
                "userId": str(other.pk),
                "name": "Otto Other",
                "email": "otto@example.org",
                "role": role,
                "joinedAt": response.json()["joinedAt"],
            }

    def test_an_admin_may_step_down(self, as_admin, admin, members):
        assert as_admin.put(f"{members}/{admin.pk}", {"role": "member"}).status_code == 200
        assert as_admin.put(f"{members}/{admin.pk}", {"role": "admin"}).status_code == 403

    def test_the_owner_stays_owner(self, as_admin, as_owner, owner, members):
        for client in (as_admin, as_owner):
            response = client.put(f"{members}/{owner.pk}", {"role": "member"})

            assert response.status_code == 403
            assert response.json()["message"] == OWNER_STAYS

    @pytest.mark.parametrize("role", ["owner", "boss", "", None, 1, ["admin"], {"admin": 1}])
    def test_other_roles_cannot_be_given(self, as_owner, members, other, role):
        response = as_owner.put(f"{members}/{other.pk}", {"role": role})

        assert response.status_code == 400
        assert response.json()["message"].startswith("role: ")

    def test_who_gives_another_role_is_told_which_there_are(self, as_owner, members, other):
        response = as_owner.put(f"{members}/{other.pk}", {"role": "boss"})

        assert response.json()["message"] == "role: must be one of admin, member"

    def test_a_role_is_needed(self, as_owner, members, other):
        assert as_owner.put(f"{members}/{other.pk}", {}).status_code == 400

    def test_somebody_outside_is_unknown(self, as_owner, members, stranger):
        response = as_owner.put(f"{members}/{stranger.pk}", {"role": "admin"})

        assert response.status_code == 404
        assert response.json()["message"] == "There is no such member in this organization"


class TestRemove:
    def test_a_member_is_gone(self, as_admin, members, other):
        response = as_admin.delete(f"{members}/{other.pk}")

        assert (response.status_code, response.content) == (204, b"")
        assert "otto@example.org" not in [row["email"] for row in as_admin.get(members).json()]
        assert as_admin.delete(f"{members}/{other.pk}").status_code == 404

    def test_the_owner_cannot_be_removed(self, as_admin, owner, members):
        response = as_admin.delete(f"{members}/{owner.pk}")

        assert response.status_code == 403
        assert response.json()["message"] == OWNER_STAYS


class TestLeave:
    def test_a_member_leaves(self, as_member, as_owner, organization, members):
        response = as_member.post(f"/v1/orgs/{organization.pk}/leave")

        assert (response.status_code, response.json()) == (200, {"success": True})
        assert len(as_owner.get(members).json()) == 2

    def test_the_owner_must_transfer_first(self, as_owner, organization):
        response = as_owner.post(f"/v1/orgs/{organization.pk}/leave")

        assert response.status_code == 403
        assert response.json()["message"] == OWNER_STAYS


class TestTransferOwnership:
    @pytest.fixture
    def url(self, organization):
        return f"/v1/orgs/{organization.pk}/transfer-ownership"

    def test_the_owner_becomes_admin(self, as_owner, as_member, member, owner, organization, members, url):
        response = as_owner.post(url, {"newOwnerId": str(member.pk)})

        assert (response.status_code, response.json()) == (200, {"success": True})
        roles = {row["userId"]: row["role"] for row in as_owner.get(members).json()}
        assert (roles[str(member.pk)], roles[str(owner.pk)]) == ("owner", "admin")
        assert as_member.get(f"/v1/orgs/{organization.pk}").json()["ownerId"] == str(member.pk)

    def test_only_once(self, as_owner, member, admin, url):
        as_owner.post(url, {"newOwnerId": str(member.pk)})

        assert as_owner.post(url, {"newOwnerId": str(admin.pk)}).status_code == 403

    def test_to_oneself_makes_no_sense(self, as_owner, owner, url):
        response = as_owner.post(url, {"newOwnerId": str(owner.pk)})

        assert response.status_code == 400
        assert response.json()["message"] == "newOwnerId: is the owner already"

    def test_to_a_stranger_is_unknown(self, as_owner, stranger, url):
        assert as_owner.post(url, {"newOwnerId": str(stranger.pk)}).status_code == 404

    @pytest.mark.parametrize("body", [{}, {"newOwnerId": None}, {"newOwnerId": 7}, {"newOwnerId": ""}])
    def test_somebody_must_be_named(self, as_owner, url, body):
        assert as_owner.post(url, body).status_code == 400
