"""What the gate said of a pull request, kept in its row for the history, and announced to its host."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.changes import JudgedChange
from analysis.models import PullRequest, Run
from analysis.services import publishing
from analysis.shapes import unjudged_shape, verdict_shape


@transaction.atomic
def store_verdict(run: Run, judged: JudgedChange, notes: tuple[str, ...]) -> None:
    """The verdict on the run's commit, in the transaction that has locked the run."""
    verdict = judged.verdict
    _store(
        run,
        score=verdict.score,
        gate_result=verdict.result,
        blocking_count=verdict.blocking_count,
        warning_count=verdict.warning_count,
        verdict=verdict_shape(judged, notes),
    )
    publishing.announce_verdict(run)


@transaction.atomic
def store_unjudged(run: Run, reason: str) -> None:
    """The run's commit could not be judged: it passes, visibly not evaluated. A good verdict on the same commit stays.

    `reason` is a sentence for people.
    """
    _store_reason(run, reason)
    publishing.announce_unjudged(run, reason)


@transaction.atomic
def store_declined(run: Run, reason: str) -> None:
    """As `store_unjudged`, where the plan has no gate: at the host, too, nobody is held up."""
    _store_reason(run, reason)
    publishing.announce_declined(run, reason)


def _store_reason(run: Run, reason: str) -> None:
    known = PullRequest.objects.get(runs=run)
    if known.judged_sha != run.commit_sha or not known.verdict.get("evaluated"):
        _store(run, score=None, gate_result="pass", blocking_count=0, warning_count=0, verdict=unjudged_shape(reason))


def _store(run: Run, **columns: Any) -> None:
    PullRequest.objects.filter(runs=run).update(judged_sha=run.commit_sha, judged_at=timezone.now(), **columns)
