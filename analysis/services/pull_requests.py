"""What a code host tells of pull requests: remembered in the order it happened, and analysed when there is reason to.

Per pull request at most one analysis is queued and one is running; the queued one takes whatever the newest head is.
"""

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone

from analysis.codehosts.facts import PullRequestFact
from analysis.models import PullRequest, PullRequestPoll, Repository, Run, RunKind, RunStatus
from analysis.services import publishing
from analysis.services.hosted_repositories import followed
from analysis.services.runs import cancel_queued, nudge_worker_of, request_run
from analysis.services.verdicts import store_declined
from organizations.entitlements import Feature, FeatureNotInPlan, require_feature

CLOSED = "The pull request was closed before it was analysed."
DRAFTED = "The pull request became a draft; it is analysed when it is ready for review."


@dataclass(frozen=True, slots=True)
class _State:
    """What decides whether there is something to judge."""

    head_sha: str
    base_branch: str
    is_waiting: bool  # open and no draft


@transaction.atomic
def apply_pull_request(fact: PullRequestFact) -> None:
    """Remember the state of a pull request in each repository that may hear of it, and do what follows.

    Queues an analysis when there is a new head or base, or when it was opened or made ready; cancels the queued one
    when it was closed or made a draft; scans the default branch when it was merged there. An older fact changes
    nothing, nor does the same one again.
    """
    for repository in followed(fact.repository, fact.occurred_at):
        _apply(repository, fact)


def request_judgement(pull_request: PullRequest) -> Run | None:
    """Queue the analysis of the present head, once; None when the organization's plan has no gate."""
    try:
        require_feature(pull_request.repository.organization, Feature.PR_GATE)
    except FeatureNotInPlan as refusal:
        _decline(pull_request, f"{refusal.message}.")
        return None
    run = _take_queued(pull_request) or _queue(pull_request)
    if run is None:  # another worker has queued or claimed one in this instant
        return request_judgement(pull_request)
    publishing.announce_queued(run)
    nudge_worker_of(run)
    return run


def _apply(repository: Repository, fact: PullRequestFact) -> None:
    pull_request, is_new = _row(repository, fact)
    pull_request.repository = repository
    if pull_request.fact_at and fact.occurred_at < pull_request.fact_at:
        return
    before, was_merged = (None if is_new else _state(pull_request)), pull_request.is_merged and not is_new
    is_same_second = not is_new and fact.occurred_at == pull_request.fact_at
    _take_over(pull_request, fact)
    now = _state(pull_request)
    if is_same_second and now != before:
        _ask_soon(repository)
    if now.is_waiting and now != before:
        request_judgement(pull_request)
    elif not now.is_waiting:
        cancel_queued(pull_request, reason=DRAFTED if fact.is_open else CLOSED)
    if fact.is_merged and not was_merged and fact.base_ref == repository.default_branch:
        request_run(repository=repository)


def _row(repository: Repository, fact: PullRequestFact) -> tuple[PullRequest, bool]:
    """The pull request's row, locked; a new one when it was never heard of."""
    return PullRequest.objects.select_for_update().get_or_create(
        repository=repository,
        number=fact.number,
        defaults={"author": fact.author[:100], **_columns(fact)},
    )


def _take_over(pull_request: PullRequest, fact: PullRequestFact) -> None:
    columns = _columns(fact)
    if columns["base_branch"] != pull_request.base_branch:
        columns["judged_sha"] = ""  # the verdict that stands speaks of another change
    if not pull_request.author:
        columns["author"] = fact.author[:100]
    for name, value in columns.items():
        setattr(pull_request, name, value)
    pull_request.save(update_fields=list(columns))


def _columns(fact: PullRequestFact) -> dict[str, object]:
    """What may change from fact to fact. The author never does, though it may be told later."""
    return {
        "title": fact.title[:500],
        "head_sha": fact.head_sha,
        "head_ref": fact.head_ref[:255],
        "head_full_name": fact.head_full_name[:200],
        "base_branch": fact.base_ref[:255],
        "base_sha": fact.base_sha,
        "is_open": fact.is_open,
        "is_draft": fact.is_draft,
        "is_merged": fact.is_merged,
        "fact_at": fact.occurred_at,
    }


def _ask_soon(repository: Repository) -> None:
    """Which of two facts of one second is the later one only the host knows: its list is read again, changed or not."""
    PullRequestPoll.objects.filter(repository=repository).update(next_at=timezone.now(), etag="")


def _state(pull_request: PullRequest) -> _State:
    is_waiting = pull_request.is_open and not pull_request.is_draft
    return _State(pull_request.head_sha, pull_request.base_branch, is_waiting)


def _take_queued(pull_request: PullRequest) -> Run | None:
    """Point the queued run to the present head; None when there is none."""
    queued = pull_request.runs.filter(status=RunStatus.QUEUED)
    if not queued.update(commit_sha=pull_request.head_sha):
        return None
    return queued.select_related("repository", "pull_request").first()


def _queue(pull_request: PullRequest) -> Run | None:
    try:
        with transaction.atomic():
            return Run.objects.create(**_run_of(pull_request))
    except IntegrityError:
        return None


def _run_of(pull_request: PullRequest) -> dict[str, object]:
    return {
        "organization_id": pull_request.repository.organization_id,
        "repository": pull_request.repository,
        "pull_request": pull_request,
        "kind": RunKind.PULL_REQUEST,
        "commit_sha": pull_request.head_sha,
        "queued_at": timezone.now(),
    }


def _decline(pull_request: PullRequest, reason: str) -> None:
    """Leave a run that says why nothing is analysed: the head gets a neutral result."""
    now = timezone.now()
    ended = {"status": RunStatus.CANCELLED, "finished_at": now, "error": reason}
    run = Run.objects.create(**_run_of(pull_request), **ended)
    store_declined(run, reason)
