"""The admin pages of organizations."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from organizations import farewells
from organizations.audit import record
from organizations.models import Farewell
from organizations.services import invite_member
from tests import factories

PAGES = ["organization", "membership", "invitation", "auditentry", "farewell"]


@pytest.fixture
def staff(db):
    client = Client()
    client.force_login(User.objects.create_superuser("staff@example.org", "Correct-horse-9", name="Staff"))
    return client


def fill(number):
    """Organizations with one row on each page."""
    for index in range(number):
        boss, guest = factories.user(), factories.user()
        organization = factories.organization(owner=boss, members=[guest])
        invite_member(organization=organization, email="dana@example.org", actor=boss)
        record(organization=organization, actor=boss, action="test.line", subject=str(index))
        Farewell.objects.create(kind="test.thing", organization_id=organization.pk, notes={})


def url_of(page, key=None):
    return f"/admin/organizations/{page}/" + (f"{key}/change/" if key else "")


@pytest.mark.parametrize("page", PAGES)
class TestPages:
    def test_a_list_costs_the_same_for_few_and_many(self, staff, page):
        fill(2)
        staff.get(url_of(page))
        counts = []
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                assert staff.get(url_of(page)).status_code == 200
            counts.append(len(queries))
            fill(15)

        assert counts[0] == counts[1]

    def test_a_row_is_shown_and_never_written(self, staff, page):
        fill(1)
        model = apps.get_model("organizations", page)
        row = model.objects.first()

        shown = staff.get(url_of(page, row.pk))

        assert shown.status_code == 200
        assert staff.post(url_of(page, row.pk), {"name": "x"}).status_code == 403
        assert staff.get(f"{url_of(page)}add/").status_code == 403
        assert staff.post(f"{url_of(page)}{row.pk}/delete/", {"post": "yes"}).status_code == 403

    def test_nobody_else_gets_in(self, db, page):
        assert Client().get(url_of(page)).status_code == 302


@pytest.mark.parametrize(
    ("page", "query", "found"),
    [
        ("organization", "mia@example.org", 1),
        ("organization", "nobody@example.org", 0),
        ("membership", "mia@example.org", 1),
        ("invitation", "dana@example.org", 1),
        ("auditentry", "adam@example.org", 1),
    ],
)
def test_search_by_address(staff, organization, invitation, page, query, found):
    response = staff.get(url_of(page), {"q": query})

    assert response.context["cl"].result_count == found


def test_search_by_slug(staff, organization, invitation):
    factories.organization()
    for page, found in {"organization": 1, "membership": 3, "invitation": 1, "auditentry": 1}.items():
        response = staff.get(url_of(page), {"q": organization.slug})
        assert response.context["cl"].result_count == found, page


def test_neither_token_nor_hash_is_shown(staff, invitation, token):
    invitation.refresh_from_db()
    for url in (url_of("invitation"), url_of("invitation", invitation.pk)):
        page = staff.get(url).content.decode()
        assert token not in page
        assert invitation.token_hash not in page


def test_a_farewell_is_tried_at_once(staff, monkeypatch, django_capture_on_commit_callbacks):
    done = []
    monkeypatch.setattr(farewells, "KINDS", {})
    farewells.register("test.thing", note=lambda organization: [], settle=done.append)
    later = timezone.now() + timedelta(hours=5)
    row = Farewell.objects.create(
        kind="test.thing", organization_id=factories.organization().pk, notes={"id": 1}, next_at=later
    )

    with django_capture_on_commit_callbacks(execute=True):
        staff.post(url_of("farewell"), {"action": "try_now", "confirmed": "yes", "_selected_action": [str(row.pk)]})

    assert done == [{"id": 1}]
    assert Farewell.objects.count() == 0
