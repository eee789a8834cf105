"""GET /v1/orgs, GET and PUT /v1/orgs/:id"""

import pytest

from analysis.models import Repository
from tests import factories


@pytest.fixture
def url(organization):
    return f"/v1/orgs/{organization.pk}"


class TestList:
    def test_shows_role_and_counts_of_the_callers_organizations_alone(self, as_member, member, organization):
        mine = factories.organization(owner=member, plan="free", name="Zebra")
        factories.organization()
        Repository.objects.create(organization=mine, full_name="z/one", platform="git", clone_url="https://x/z/one")

        response = as_member.get("/v1/orgs")

        assert response.status_code == 200
        assert response.json() == [
            {
                "id": str(organization.pk),
                "name": organization.name,
                "slug": organization.slug,
                "role": "member",
                "planId": "pro",
                "memberCount": 3,
                "repoCount": 0,
            },
            {
                "id": str(mine.pk),
                "name": "Zebra",
                "slug": mine.slug,
                "role": "owner",
                "planId": "free",
                "memberCount": 1,
                "repoCount": 1,
            },
        ]

    def test_is_empty_for_a_stranger(self, as_stranger, organization):
        assert as_stranger.get("/v1/orgs").json() == []


class TestRead:
    def test_shows_the_detail(self, as_member, owner, organization, url):
        body = as_member.get(url).json()

        assert body == {
            "id": str(organization.pk),
            "name": organization.name,
            "slug": organization.slug,
            "ownerId": str(owner.pk),
            "planId": "pro",
            "memberCount": 3,
            "repoCount": 0,
            "createdAt": body["createdAt"],
            "updatedAt": body["updatedAt"],
        }

    def test_an_unchanged_organization_is_not_sent_twice(self, as_member, url):
        first = as_member.get(url)

        assert as_member.get(url, headers={"If-None-Match": first["ETag"]}).status_code == 304


class TestUpdate:
    def test_changes_name_and_slug(self, as_admin, url):
        before = as_admin.get(url).json()

        response = as_admin.put(url, {"name": "New name", "slug": "new-slug"})

        after = response.json()
        assert response.status_code == 200
        assert (after["name"], after["slug"]) == ("New name", "new-slug")
        assert after["updatedAt"] > before["updatedAt"]
        assert as_admin.get(url).json() == after

    @pytest.mark.parametrize("name", ["A name before ours", "Zürich, after ours"])
    def test_a_name_may_be_any_other(self, as_admin, organization, url, name):
        organization.name = "Middle"
        organization.save()

        assert as_admin.put(url, {"name": name}).json()["name"] == name

    def test_what_is_left_out_stays(self, as_admin, organization, url):
        assert as_admin.put(url, {"name": "New name"}).json()["slug"] == organization.slug
        assert as_admin.put(url, {}).json()["name"] == "New name"

    def test_a_slug_of_somebody_else_conflicts(self, as_admin, organization, url):
        taken = factories.organization().slug

        response = as_admin.put(url, {"slug": taken, "name": "New name"})

        assert response.status_code == 409
        assert as_admin.get(url).json()["name"] == organization.name

    def test_its_own_slug_is_no_conflict(self, as_admin, organization, url):
        assert as_admin.put(url, {"slug": organization.slug}).status_code == 200

    @pytest.mark.parametrize("body", [{"slug": "NO"}, {"slug": None}, {"name": ""}, {"name": None}, {"name": 1}])
    def test_nonsense_is_refused(self, as_admin, url, body):
        assert as_admin.put(url, body).status_code == 400

    def test_plan_and_owner_cannot_be_changed_here(self, as_admin, owner, admin, url):
        after = as_admin.put(url, {"planId": "enterprise", "plan": "enterprise", "ownerId": str(admin.pk)}).json()

        assert (after["planId"], after["ownerId"]) == ("pro", str(owner.pk))
