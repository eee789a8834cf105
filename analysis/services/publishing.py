"""What the code host shall show of a run: announced with the fact, sent after the commit (docs/pull-request-gate.md).

Each function is called in the transaction that makes the fact it tells of. It stores rows and nothing else; the sender
(`analysis.services.sending`) makes the host show them.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, DateTimeField, F, Q, QuerySet, Value, When
from django.utils import timezone

from analysis.codehosts import words
from analysis.codehosts.addresses import files_at, page_of
from analysis.codehosts.tokens import is_set_up
from analysis.models import (
    Installation,
    Platform,
    Publication,
    PublicationKind,
    PublicationState,
    PullRequest,
    Repository,
    Run,
    RunStatus,
)
from analysis.services.sending import hint
from analysis.shapes import unjudged_shape
from config.compiled import CompiledQuery, Key
from config.rounds import Rounds, next_turn, rounds
from organizations.entitlements import Feature

_ROUNDS: Rounds = CompiledQuery(
    lambda: rounds(
        due=Publication.objects.due(Key("now", DateTimeField())),
        waiting=Publication.objects.filter(
            state=PublicationState.WAITING, repository__organization=Key("organization")
        ),
    )
)


@transaction.atomic
def announce_queued(run: Run) -> None:
    """The head commit waits for its verdict. Earlier commits that nobody will judge any more wait no longer."""
    if _is_published(run):
        _end_superseded(run)
        _show(run, PublicationKind.STATUS, _status(run, words.queued()))


@transaction.atomic
def announce_verdict(run: Run) -> None:
    """The verdict that the pull request's row holds is the one on the run's commit."""
    if _is_published(run):
        _show_judged(run, judged_of(run))


@transaction.atomic
def announce_declined(run: Run, reason: str) -> None:
    """The organization's plan has no gate: its status says so and holds nobody up."""
    if _is_published(run):
        _show_judged(run, replace(judged_of(run), verdict=unjudged_shape(reason)))


@transaction.atomic
def announce_unjudged(run: Run, reason: str) -> None:
    """The run has ended without a verdict. `reason` is a sentence for people."""
    if not _is_published(run):
        return
    body = words.unjudged_comment(reason, _sha(run), page_of(_pull_request(run)))
    _show(run, PublicationKind.STATUS, _status(run, words.unjudged_status(reason)))
    _show(run, PublicationKind.COMMENT, {**_said_before(run), "body": body, "quiet": True})
    _show_check_run(run, words.unjudged_check_run(reason))


@transaction.atomic
def take_leave(repositories: QuerySet[Repository]) -> None:
    """For the transaction that deletes these: no commit at their hosts waits for ever for a verdict that never comes.

    What shows another state already stands as it is. The locks keep out events of the host, which would bring new
    words, and workers that have not begun to send; one that is sending says the farewell after the old words.
    """
    locked = repositories.select_for_update(no_key=True, of=("self",)).order_by("pk")
    waiting = Publication.objects.filter(
        Q(payload__state="pending") | ~Q(state=PublicationState.SENT),
        repository__in=list(locked.values_list("pk", flat=True)),
        kind=PublicationKind.STATUS,
    )
    for row in waiting.select_for_update(of=("self",)).order_by("pk"):
        if row.is_begun:
            status = {**asdict(words.farewell()), "url": settings.APP_URL, "place": _kept(row.place)}
            replace_words(row.key, payload=status, repository=None, pull_request=None, run=None)


def judged_of(run: Run) -> words.Judged:
    """The stored verdict on the run's commit, with what the words about it need."""
    row = PullRequest.objects.select_related("repository").get(pk=_pull_request(run).pk)
    return words.Judged(
        sha=_sha(run),
        base_branch=row.base_branch,
        passed=row.gate_result != "fail",
        score=row.score or 0.0,
        blocking=row.blocking_count,
        warnings=row.warning_count,
        verdict=row.verdict,
        page=page_of(row),
        files=files_at(row.repository, _sha(run)),
    )


def replace_words(key: str, **changes: Any) -> bool:
    """New words for a row that is there; False without one. A worker that is sending the old ones sends again."""
    now = timezone.now()
    row = Publication.objects.select_related("repository").filter(key=key).first()
    if row is None:
        return False
    turn = row.turn if row.state == PublicationState.WAITING or row.repository is None else _turn(row.repository, now)
    Publication.objects.filter(pk=row.pk).update(
        **changes,
        turn=turn,
        revision=F("revision") + 1,
        state=PublicationState.WAITING,
        attempts=0,
        error="",
        announced_at=now,
        next_at=Case(When(lease=None, then=Value(now)), default=F("next_at")),
        updated_at=now,
    )
    hint()
    return True


def _turn(repository: Repository, now: datetime) -> int:
    return next_turn(_ROUNDS, now=now, organization=repository.organization_id)


def _kept(pull_request: PullRequest) -> dict[str, Any]:
    """What `Publication.place` makes a pull request of: what its host knows it by."""
    return {
        "pull_request": {name: getattr(pull_request, name) for name in ("number", "head_ref", "head_full_name")},
        "repository": {
            name: getattr(pull_request.repository, name)
            for name in ("platform", "full_name", "external_id", "installation_id")
        },
    }


def _is_published(run: Run) -> bool:
    return run.pull_request_id is not None and is_set_up(run.repository) and _may_speak(run.repository)


def _may_speak(repository: Repository) -> bool:
    """Several organizations may connect one public repository; to its host speaks the one that installed the App, and
    where nobody knows that, the one that connected it first of those whose plan has the gate."""
    installed = Installation.objects.filter(platform=repository.platform, external_id=repository.installation_id)
    owner = installed.exclude(organization=None).values_list("organization_id", flat=True).first()
    if owner is not None:
        return owner == repository.organization_id
    same = Repository.objects.named(repository.full_name).filter(platform=repository.platform)
    first = same.order_by(f"-organization__plan__{Feature.PR_GATE.column}", "pk").values_list("pk", flat=True).first()
    return first == repository.pk


def _end_superseded(run: Run) -> None:
    """Let no commit wait for ever: a queued run that took a newer head leaves the older one without a verdict."""
    being_judged = Run.objects.filter(pull_request_id=run.pull_request_id, status=RunStatus.RUNNING)
    waiting = Publication.objects.filter(
        pull_request_id=run.pull_request_id, kind=PublicationKind.STATUS, payload__state="pending"
    )
    forgotten = waiting.exclude(sha=_sha(run)).exclude(sha__in=being_judged.values("commit_sha"))
    for row in forgotten:
        replace_words(row.key, payload=_status(run, words.superseded()))


def _show_judged(run: Run, judged: words.Judged) -> None:
    _show(run, PublicationKind.STATUS, _status(run, words.status(judged)))
    _show(run, PublicationKind.COMMENT, _comment(run, judged))
    _show_check_run(run, words.check_run(judged))


def _show_check_run(run: Run, check_run: words.CheckRun) -> None:
    if run.repository.platform == Platform.CODEHOST1:
        _show(run, PublicationKind.CHECK_RUN, {**asdict(check_run), "url": page_of(_pull_request(run))})


def _show(run: Run, kind: PublicationKind, payload: Mapping[str, Any]) -> None:
    """Let the place say this, whatever it was to say before."""
    pull_request, sha = _pull_request(run), _sha(run)
    key = f"{kind}:{pull_request.pk}" if kind == PublicationKind.COMMENT else f"{kind}:{pull_request.pk}:{sha}"
    if replace_words(key, run=run, payload=payload, sha=sha):
        return
    row = Publication(
        repository_id=run.repository_id,
        pull_request=pull_request,
        run=run,
        kind=kind,
        key=key,
        sha=sha,
        payload=payload,
        turn=_turn(run.repository, timezone.now()),
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
        hint()
    except IntegrityError:  # another run of the same pull request has said something in between
        replace_words(key, run=run, payload=payload, sha=sha)


def _comment(run: Run, judged: words.Judged) -> dict[str, Any]:
    """A comment that speaks of the same findings as before keeps what a model said of them."""
    body = words.comment(judged)
    if not body:
        return {"body": words.all_clear(judged), "quiet": True}
    about, said = words.about(judged), _said_before(run)
    return {**(said if said.get("about") == about else {}), "body": body, "quiet": False, "about": about}


def _said_before(run: Run) -> dict[str, Any]:
    """What a model said in the comment that stands, and about which findings: paid for, and good while they are."""
    before = Publication.objects.filter(pull_request_id=run.pull_request_id, kind=PublicationKind.COMMENT).first()
    payload = before.payload if before else {}
    return {name: payload[name] for name in ("about", "advice")} if "advice" in payload else {}


def _status(run: Run, status: words.Status) -> dict[str, Any]:
    return {**asdict(status), "url": page_of(_pull_request(run))}


def _pull_request(run: Run) -> PullRequest:
    assert run.pull_request is not None  # noqa: S101 - only runs of pull requests are published
    return run.pull_request


def _sha(run: Run) -> str:
    return run.commit_sha or _pull_request(run).head_sha
