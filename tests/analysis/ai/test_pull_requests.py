"""Words of a model in the comment on a pull request."""

from typing import Any

import pytest
from django.utils import timezone

from analysis.ai.answers import read_comment
from analysis.engine.model import Finding, Severity
from analysis.models import Platform, Repository, Run, RunKind
from analysis.services.ai import Enrichment, enrich_pull_request_comment
from credits.models import CreditAccount
from tests.analysis.ai.asking import give
from tests.providers.chat import Chat

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

FINDING = Finding(
    rule_id="risk-http-no-timeout",
    file="shop/client.py",
    line=8,
    message="`requests.get` has no timeout",
    severity=Severity.CRITICAL,
)


@pytest.fixture
def run(organization: Any) -> Run:
    """A run of a pull request, in an organization with 12 credits."""
    give(organization, 12)
    repository = Repository.objects.create(organization=organization, full_name="acme/shop", platform=Platform.GIT)
    made: Run = Run.objects.create(
        organization=organization, repository=repository, kind=RunKind.SCAN, queued_at=timezone.now()
    )
    return made


def enrich(run: Run, **changes: Any) -> Enrichment:
    asked: dict[str, Any] = {"title": "Charge in one transaction", "verdict": "fail", "findings": [FINDING]}
    return enrich_pull_request_comment(run=run, **asked | changes)


def balance(run: Run) -> int:
    return CreditAccount.objects.get(organization=run.organization).available


def test_it_costs_five_credits(run: Run, chat: Chat) -> None:
    chat.says = "Give the call a time-out."

    assert enrich(run) == Enrichment(text="Give the call a time-out.")
    assert balance(run) == 7
    assert "Charge in one transaction" in chat.prompts[0]
    assert "critical risk-http-no-timeout at shop/client.py:8" in chat.prompts[0]


def test_a_run_that_another_worker_repeats_pays_once(run: Run, chat: Chat) -> None:
    assert enrich(run).text == enrich(run).text
    assert balance(run) == 7


def test_too_few_credits_leave_a_note(run: Run, chat: Chat) -> None:
    for _ in range(2):
        assert enrich(run).text
        run.id = Run._meta.pk.get_default()

    assert (
        enrich(run).note
        == "The comment was not enriched: This needs 5 AI credits and 2 are left; the plan Team grants more"
    )
    assert balance(run) == 2


@pytest.mark.parametrize("mood", ["fails", "hangs", "lies", "is silent"])
def test_a_failure_leaves_a_note_and_costs_nothing(run: Run, chat: Chat, mood: str) -> None:
    chat.mood = mood

    enrichment = enrich(run, seconds=0.3)

    assert enrichment.text == ""
    assert enrichment.note.startswith("The comment was not enriched: The AI service")
    assert balance(run) == 12


def test_after_a_failure_a_repeated_run_asks_no_more(run: Run, chat: Chat) -> None:
    chat.mood = "fails"
    enrich(run)
    chat.mood = "well"

    assert enrich(run).note == "The comment was not enriched: The AI service failed on an earlier attempt"
    assert (len(chat.asked), balance(run)) == (1, 12)


def test_nothing_is_asked_without_findings(run: Run, chat: Chat) -> None:
    assert enrich(run, findings=[]) == Enrichment()
    assert chat.asked == []


def test_nothing_is_said_when_ai_is_off(run: Run, settings: Any) -> None:
    settings.AI_BASE_URL = ""

    assert enrich(run) == Enrichment()
    assert balance(run) == 12


@pytest.mark.parametrize(
    ("said", "posted"),
    [
        ("Ask @dana about it.", "Ask dana about it."),
        ("See https://evil.example.org/x?y=1 now", "See (link removed) now"),
        ("![a](//evil.example.org/a.png)", "![a] (//evil.example.org/a.png)"),
        ("[a]: //evil.example.org", "[a] : //evil.example.org"),
        ("Fixes #12 and !13.", "Fixes 12 and 13."),
        ("<img src=x> & more", "&lt;img src=x> &amp; more"),
        ("Use `a == b`; it's 3!", "Use `a == b`; it's 3!"),
    ],
)
def test_the_words_call_nobody_and_link_nowhere(said: str, posted: str) -> None:
    assert read_comment(said) == posted
