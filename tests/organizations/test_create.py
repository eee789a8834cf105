"""POST /v1/orgs"""

import pytest

from organizations.models import Organization
from organizations.services.organizations import slug_of
from tests import factories


class TestCreateOrganization:
    def test_the_caller_becomes_owner_on_the_free_plan(self, as_stranger, stranger):
        response = as_stranger.post("/v1/orgs", {"name": "Acme, Inc."})

        body = response.json()
        assert response.status_code == 201
        assert body == {
            "id": body["id"],
            "name": "Acme, Inc.",
            "slug": "acme-inc",
            "ownerId": str(stranger.pk),
            "planId": "free",
            "createdAt": body["createdAt"],
        }
        assert as_stranger.get("/v1/orgs").json()[0]["role"] == "owner"

    def test_a_generated_slug_that_is_taken_gets_a_number(self, as_stranger, as_member, as_admin):
        slugs = [
            client.post("/v1/orgs", {"name": "Acme"}).json()["slug"] for client in (as_stranger, as_member, as_admin)
        ]

        assert slugs == ["acme", "acme-2", "acme-3"]

    def test_a_generated_slug_that_somebody_takes_meanwhile_gets_a_number_too(self, as_stranger, member, just_before):
        def found():
            Organization.objects.found(owner=member, name="Acme", slug="acme", plan_id="free")

        with just_before('INSERT INTO "organizations_organization"', found):
            response = as_stranger.post("/v1/orgs", {"name": "Acme"})

        assert (response.status_code, response.json()["slug"]) == (201, "acme-2")

    def test_numbers_fit_into_long_slugs(self, as_stranger, as_member):
        slugs = [client.post("/v1/orgs", {"name": "x" * 100}).json()["slug"] for client in (as_stranger, as_member)]

        assert slugs == ["x" * 48, "x" * 40 + "-2"]

    @pytest.mark.parametrize(
        ("length", "kept"), [(45, 45), (46, 46), (47, 40)], ids=["shorter", "just fits", "too long"]
    )
    def test_a_number_stands_behind_the_whole_slug_where_it_fits(self, as_stranger, as_member, length, kept):
        for client in (as_member, as_stranger):
            slug = client.post("/v1/orgs", {"name": "x" * length}).json()["slug"]

        assert slug == "x" * kept + "-2"

    def test_a_number_follows_no_hyphen(self, as_stranger, as_member):
        for client in (as_member, as_stranger):
            slug = client.post("/v1/orgs", {"name": "x" * 39 + " " + "y" * 8}).json()["slug"]

        assert slug == "x" * 39 + "-2"

    def test_a_slug_that_is_asked_for_and_taken_conflicts(self, as_stranger, as_member):
        as_member.post("/v1/orgs", {"name": "One", "slug": "acme"})

        response = as_stranger.post("/v1/orgs", {"name": "Two", "slug": "acme"})

        assert response.status_code == 409
        assert response.json()["message"] == "This slug is already taken"
        assert Organization.objects.filter(name="Two").count() == 0

    @pytest.mark.parametrize(
        "slug", ["a", "-ab", "ab-", "Ab", "a_b", "a b", "é1", "x" * 49, "", "ab\n-", 7, None, ["ab"], {}]
    )
    def test_a_slug_of_another_form_is_refused(self, as_stranger, slug):
        response = as_stranger.post("/v1/orgs", {"name": "Acme", "slug": slug})

        assert response.status_code == 400
        assert response.json()["message"].startswith("slug: ")

    @pytest.mark.parametrize("slug", ["ab", "1-2", "a--b", "x" * 48])
    def test_a_slug_of_the_right_form_is_taken(self, as_stranger, slug):
        assert as_stranger.post("/v1/orgs", {"name": "Acme", "slug": slug}).json()["slug"] == slug

    @pytest.mark.parametrize(
        "body", [{}, {"name": ""}, {"name": "  "}, {"name": "x" * 101}, {"name": 7}, {"name": None}]
    )
    def test_a_name_of_1_to_100_characters_is_needed(self, as_stranger, body):
        response = as_stranger.post("/v1/orgs", body)

        assert response.status_code == 400
        assert response.json()["message"].startswith("name: ")

    @pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u2028"], ids=["override", "isolate", "line separator"])
    def test_a_name_that_turns_the_text_around_it_is_refused(self, as_stranger, as_owner, organization, sign):
        body = {"name": f"Acme {sign}Limited"}

        for response in (as_stranger.post("/v1/orgs", body), as_owner.put(f"/v1/orgs/{organization.pk}", body)):
            assert response.status_code == 400
            assert response.json()["message"] == "name: must not contain characters that turn the direction of text"

    def test_a_name_of_which_nothing_is_seen_is_refused(self, as_stranger):
        response = as_stranger.post("/v1/orgs", {"name": "\u200b\u200d"})

        assert response.status_code == 400
        assert response.json()["message"] == "name: must contain a character that can be seen"

    @pytest.mark.parametrize("name", ["שלום", "می‌خواهم", "👩‍💻", "?", "7"])
    def test_a_name_may_be_of_any_script(self, as_stranger, name):
        assert as_stranger.post("/v1/orgs", {"name": name}).json()["name"] == name

    def test_a_plan_or_an_owner_cannot_be_asked_for(self, as_stranger, stranger, member):
        body = {"name": "Acme", "planId": "pro", "ownerId": str(member.pk), "plan": "pro", "owner": str(member.pk)}

        made = as_stranger.post("/v1/orgs", body).json()

        assert (made["planId"], made["ownerId"]) == ("free", str(stranger.pk))


class TestMaxOrgs:
    def test_the_free_plan_allows_one(self, as_stranger):
        as_stranger.post("/v1/orgs", {"name": "One"})

        response = as_stranger.post("/v1/orgs", {"name": "Two"})

        assert response.status_code == 403
        assert response.json()["message"] == (
            "The plan Free is full: it allows 1 organization; the plan Pro allows more"
        )

    def test_the_best_plan_among_the_owned_ones_decides(self, as_stranger, stranger):
        factories.organization(owner=stranger, plan="pro")
        factories.organization(owner=stranger, plan="free")

        assert as_stranger.post("/v1/orgs", {"name": "Third"}).status_code == 201
        assert as_stranger.post("/v1/orgs", {"name": "Fourth"}).status_code == 403

    def test_enterprise_knows_no_limit(self, as_stranger, stranger):
        factories.organization(owner=stranger, plan="enterprise")
        for _ in range(12):
            factories.organization(owner=stranger, plan="free")

        assert as_stranger.post("/v1/orgs", {"name": "One more"}).status_code == 201

    def test_membership_elsewhere_does_not_count(self, as_member, organization):
        assert as_member.post("/v1/orgs", {"name": "Mine"}).status_code == 201


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Acme", "acme"),
        ("Çok Güzel, Inc.", "cok-guzel-inc"),
        ("under_score", "under-score"),
        ("日本", "team"),
        ("--", "team"),
        ("X", "team-x"),
        ("XY", "xy"),
        ("a" * 60, "a" * 48),
        ("a" * 47 + " b", "a" * 47),
    ],
)
def test_slugs_from_names(name, slug):
    assert slug_of(name) == slug
