"""What staff see of the events, and how they run one again."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from tests import factories
from tests.webhooks.conftest import note, noted, stored
from webhooks import inbox
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db

LIST = "/admin/webhooks/webhookevent/"


@pytest.fixture
def as_staff(client):
    staff = factories.user("sam@example.org", name="Sam Staff")
    staff.is_staff = staff.is_superuser = True
    staff.save(update_fields=["is_staff", "is_superuser"])
    client.force_login(staff)
    return client


def run_again(client, *events):
    form = {"action": "replay", "confirmed": "yes", "_selected_action": [str(event.pk) for event in events]}
    return client.post(LIST, form, follow=True)


def test_the_list_tells_at_a_glance_what_waits(as_staff):
    stored("e-1", next_at=timezone.now() - timedelta(seconds=90))
    stored("e-2", state=State.DEAD, error="Trouble: no luck")

    page = as_staff.get(LIST).content.decode()

    assert re.search(r"1 waiting, the oldest for 9\d s, 1 dead", page)
    assert "Trouble: no luck" in page


def test_an_empty_inbox_says_so(as_staff):
    assert "nothing is waiting, 0 dead" in as_staff.get(LIST).content.decode()


def test_events_are_found_by_id_and_subject(as_staff):
    stored("evt_wanted", subject="sub_other")
    stored("evt_other", subject="sub_wanted")
    stored("evt_neither", subject="sub_neither")

    for words, count in (("evt_wanted", 1), ("sub_wanted", 1), ("_other", 2), ("nothing", 0)):
        assert as_staff.get(LIST, {"q": words}).context["cl"].result_count == count


@pytest.mark.parametrize(
    "query", ["state__exact=dead", "source__exact=codehost2", "type=Test+Hook", "handled__exact=0"]
)
def test_the_list_can_be_filtered(as_staff, query):
    stored("e-1", state=State.DEAD)

    assert as_staff.get(f"{LIST}?{query}").context["cl"].result_count == 1


def test_a_dead_event_is_run_again(as_staff, handled_by):
    handled_by(note)
    dead = stored("e-1", state=State.DEAD, attempts=8, finished_at=timezone.now())
    waiting = stored("e-2", next_at=timezone.now() + timedelta(hours=1))

    page = run_again(as_staff, dead, waiting).content.decode()
    inbox.drain()

    assert "1 woken; 1 left alone" in page
    assert noted() == ["e-1"]
    assert WebhookEvent.objects.get(pk=dead.pk).state == State.DONE


def test_who_runs_everything_again_reads_of_nothing_that_was_left(as_staff, handled_by):
    handled_by(note)
    dead = stored("e-1", state=State.DEAD, attempts=8, finished_at=timezone.now())

    page = run_again(as_staff, dead).content.decode()

    assert "1 woken; 0 left alone" in page
    assert "Bodies are kept" not in page


def test_the_body_is_shown_escaped_and_nothing_can_be_changed(as_staff):
    event = stored("e-1")
    WebhookEvent.objects.update(body=b'{"a": "<script>alert(1)</script>"}')

    page = as_staff.get(f"{LIST}{event.pk}/change/").content.decode()

    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert as_staff.post(f"{LIST}{event.pk}/change/", {"state": "done"}).status_code == 403
    assert as_staff.post(f"{LIST}{event.pk}/delete/", {"post": "yes"}).status_code == 403
    assert as_staff.get(f"{LIST}add/").status_code == 403


def test_staff_who_may_only_look_cannot_run_events_again(client):
    viewer = factories.user("vera@example.org", name="Vera Viewer")
    viewer.is_staff = True
    viewer.save(update_fields=["is_staff"])
    viewer.user_permissions.add(Permission.objects.get(codename="view_webhookevent"))
    client.force_login(viewer)
    dead = stored("e-1", state=State.DEAD)

    assert client.get(LIST).status_code == 200
    run_again(client, dead)

    assert WebhookEvent.objects.get().state == State.DEAD
