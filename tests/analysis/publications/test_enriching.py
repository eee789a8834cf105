"""A model says in other words what a comment says, for credits, and never in the way of the comment."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from analysis.models import Run
from analysis.services import publishing
from tests.analysis.ai.asking import credits_of, give
from tests.analysis.publications.conftest import finding, judge, next_run, verdict
from tests.providers.chat import Chat
from tests.providers.codehosts import CodeHost1
from tests.providers.loopback import serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def chat(settings: Any) -> Iterator[Chat]:
    with serving(Chat) as server:
        settings.AI_BASE_URL, settings.AI_MODEL, settings.AI_API_KEY = server.base_url, "small-1", "key"
        server.says = "One query per order: fetch them together."
        yield server


@pytest.fixture
def judged(django_capture_on_commit_callbacks: Any) -> Callable[[Run, dict[str, Any]], None]:
    def announce(run: Run, said: dict[str, Any]) -> None:
        judge(run, said)
        with django_capture_on_commit_callbacks(execute=True):
            publishing.announce_verdict(run)

    return announce


def comment(host1: CodeHost1) -> str:
    (body,) = host1.comments.values()
    return body


def test_the_words_are_added_once_the_comment_stands(
    host1: CodeHost1, chat: Chat, run: Run, judged: Any, organization: Any
) -> None:
    give(organization, 12)

    judged(run, verdict(finding()))

    assert "> One query per order: fetch them together." in comment(host1)
    assert credits_of(run.repository)[0] == 7
    assert host1.writes.count("POST /repos/acme/shop/issues/12/comments") == 1  # plain, then edited


def test_a_push_that_changes_no_finding_keeps_the_words_and_pays_nothing(
    host1: CodeHost1, chat: Chat, run: Run, judged: Any, organization: Any
) -> None:
    give(organization, 12)
    judged(run, verdict(finding()))

    judged(next_run(run.pull_request, "c" * 40), verdict(finding(line=70)))

    assert "orders.py:70" in comment(host1)
    assert "> One query per order" in comment(host1)
    assert credits_of(run.repository)[0] == 7


def test_the_words_come_back_after_a_commit_without_a_verdict(
    host1: CodeHost1,
    chat: Chat,
    run: Run,
    judged: Any,
    organization: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    give(organization, 12)
    judged(run, verdict(finding()))
    with django_capture_on_commit_callbacks(execute=True):
        publishing.announce_unjudged(next_run(run.pull_request, "c" * 40), "The analysis did not finish in time.")
    assert "In other words" not in comment(host1)

    judged(next_run(run.pull_request, "d" * 40), verdict(finding()))

    assert "> One query per order" in comment(host1)
    assert credits_of(run.repository)[0] == 7
    assert len(chat.prompts) == 1


def test_without_credits_or_with_a_model_that_fails_the_plain_comment_stays(
    host1: CodeHost1, chat: Chat, run: Run, judged: Any, organization: Any
) -> None:
    give(organization, 7)
    chat.mood = "fails"
    judged(run, verdict(finding()))
    assert "In other words" not in comment(host1)
    assert credits_of(run.repository)[0] == 7

    give_less = next_run(run.pull_request, "c" * 40)
    chat.mood = "well"
    judged(give_less, verdict(finding(line=2), finding(line=3, message="Another")))
    judged(next_run(run.pull_request, "d" * 40), verdict(finding(message="A third")))

    assert "In other words" not in comment(host1)
    assert credits_of(run.repository)[0] == 2


def test_the_run_says_that_the_credits_do_not_suffice(
    host1: CodeHost1, chat: Chat, run: Run, judged: Any, organization: Any, as_member: APIClient
) -> None:
    give(organization, 4)

    judged(run, verdict(finding()))

    note = "The comment was not enriched: This needs 5 AI credits and 4 are left; the plan Team grants more"
    assert as_member.get(f"/v1/api/runs/{run.pk}").json()["notes"] == [note]
    listed = as_member.get(f"/v1/api/repos/{run.repository_id}/runs").json()["data"]
    assert [each["notes"] for each in listed] == [[note]]
