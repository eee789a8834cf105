"""Who may do what: every operation below /v1/orgs for everybody, in one table."""

import json

import pytest
from django.urls import URLPattern

from organizations import urls
from tests import factories

CAST = ["anonymous", "stranger", "member", "admin", "owner"]
TABLE = """
    GET    orgs                                         401  200  200  200  200
    POST   orgs                                         401  201  201  201  201   name=New
    GET    orgs/{organization}                          401  404  200  200  200
    PUT    orgs/{organization}                          401  404  403  200  200   name=New
    DELETE orgs/{organization}                          401  404  403  403  204
    POST   orgs/{organization}/transfer-ownership       401  404  403  403  200   newOwnerId={other}
    POST   orgs/{organization}/leave                    401  404  200  200  403
    GET    orgs/{organization}/members                  401  404  200  200  200
    PUT    orgs/{organization}/members/{other}          401  404  403  200  200   role=admin
    DELETE orgs/{organization}/members/{other}          401  404  403  204  204
    GET    orgs/{organization}/invitations              401  404  403  200  200
    POST   orgs/{organization}/invitations              401  404  403  201  201   email=new@example.org
    DELETE orgs/{organization}/invitations/{invitation} 401  404  403  204  204
    POST   orgs/invitations/{token}/accept              401  200  400  400  400
    GET    orgs/{organization}/audit-log                401  404  403  200  200
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]
CELLS = [
    pytest.param(
        who, method, path, int(status), dict(pair.split("=") for pair in rest[5:]), id=f"{who}: {method} {path}"
    )
    for method, path, *rest in ROWS
    for who, status in zip(CAST, rest[:5], strict=True)
]
OF_ONE_ORGANIZATION = [row for row in ROWS if "{organization}" in row[1]]


@pytest.fixture
def places(organization, other, invitation, token):
    """What the placeholders of the table stand for."""
    return {"organization": organization.pk, "other": other.pk, "invitation": invitation.pk, "token": token}


def test_the_table_has_every_operation():
    served = {
        (method.upper(), str(route.pattern))
        for route in urls.urlpatterns
        if isinstance(route, URLPattern)
        for method in route.callback.actions
        if method != "head"
    }
    placeholders = {
        "organization": "<str:organization_id>",
        "other": "<str:user_id>",
        "invitation": "<str:invitation_id>",
        "token": "<str:token>",
    }

    assert {(method, path.format(**placeholders)) for method, path, *_ in ROWS} == served


@pytest.mark.parametrize(("who", "method", "path", "status", "body"), CELLS)
def test_everybody_gets_what_the_table_says(request, places, who, method, path, status, body):
    client = request.getfixturevalue("anonymous" if who == "anonymous" else f"as_{who}")

    response = client.generic(
        method, f"/v1/{path.format(**places)}", *_json({key: value.format(**places) for key, value in body.items()})
    )

    assert response.status_code == status, response.content
    if status >= 400:
        assert set(response.json()) == {"statusCode", "message", "error"}


@pytest.mark.parametrize("row", OF_ONE_ORGANIZATION, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_foreign_an_unknown_and_a_malformed_id_look_the_same(places, as_owner, row):
    method, path, *_ = row
    foreign = factories.organization().pk
    body = {"name": "New", "role": "admin", "email": "new@example.org", "newOwnerId": str(places["other"])}

    answers = [
        as_owner.generic(method, f"/v1/{path.format(**{**places, 'organization': key})}", *_json(body))
        for key in (foreign, "01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21", "no-such-id")
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert answers[0].json() == answers[1].json() == answers[2].json()


@pytest.mark.parametrize("key", ["01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21", "no-such-id", "0"])
class TestUnknownIdsInsideAnOrganization:
    def test_a_member(self, as_owner, organization, key):
        url = f"/v1/orgs/{organization.pk}/members/{key}"
        assert as_owner.put(url, {"role": "admin"}).status_code == 404
        assert as_owner.delete(url).status_code == 404

    def test_an_invitation(self, as_owner, organization, key):
        assert as_owner.delete(f"/v1/orgs/{organization.pk}/invitations/{key}").status_code == 404

    def test_an_heir(self, as_owner, organization, key):
        url = f"/v1/orgs/{organization.pk}/transfer-ownership"
        assert as_owner.post(url, {"newOwnerId": key}).status_code == 404


def test_an_invitation_of_another_organization_is_unknown(as_owner, organization):
    elsewhere = factories.organization()
    foreign = elsewhere.invitations.create(email="x@example.org", role="member", expires_at="2999-01-01T00:00:00Z")

    response = as_owner.delete(f"/v1/orgs/{organization.pk}/invitations/{foreign.pk}")

    assert response.status_code == 404
    assert elsewhere.invitations.pending().count() == 1


def test_a_removed_member_loses_access_at_once(as_owner, as_member, member, organization):
    url = f"/v1/orgs/{organization.pk}"
    assert as_member.get(url).status_code == 200

    as_owner.delete(f"{url}/members/{member.pk}")

    assert as_member.get(url).status_code == 404
    assert as_member.get("/v1/orgs").json() == []


def _json(body):
    return json.dumps(body), "application/json"
