"""Asks the code hosts for the open pull requests, since a delivery that failed is not repeated by every host.

Each repository has its own time, spread over the interval, and its own pause after failures. A list that has not
changed is answered without content; of one that has, only what we do not know yet is applied, as events are.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from analysis.codehosts.calls import HostFailed
from analysis.codehosts.facts import PullRequestFact
from analysis.codehosts.tokens import is_set_up
from analysis.models import Platform, PullRequest, PullRequestPoll, Repository
from analysis.services.pull_requests import apply_pull_request
from analysis.services.sending import HOSTS
from config.background import nudge
from organizations.entitlements import Feature, allows

MOST_POLLS_PER_SWEEP = 100
MOST_NEW_PER_SWEEP = 500
LONGEST_PAUSE = timedelta(hours=6)

log = structlog.get_logger("polling")


def sweep(*, now: datetime) -> None:
    """Give new repositories a time, and hint at those whose time has come."""
    _enrol(now)
    due = PullRequestPoll.objects.filter(next_at__lte=now).order_by("next_at")
    for repository_id in due.values_list("repository_id", flat=True)[:MOST_POLLS_PER_SWEEP]:
        nudge("analysis.tasks.poll_pull_requests", str(repository_id))


def poll(repository_id: UUID, *, now: datetime) -> int:
    """Ask for one repository, if its time has come; how many facts were news."""
    row = PullRequestPoll.objects.select_related("repository__organization__plan").filter(repository=repository_id)
    found = row.filter(next_at__lte=now).first()
    if found is None or not _take(found, now):
        return 0
    repository = found.repository
    if not is_set_up(repository) or not allows(repository.organization, Feature.PR_GATE):
        return 0
    try:
        listed = HOSTS[Platform(repository.platform)].open_pull_requests(repository, found.etag)
    except HostFailed as failure:
        _note_failure(found, failure, now)
        return 0
    news = _news(repository, listed.facts)
    for fact in news:
        apply_pull_request(fact)
    PullRequestPoll.objects.filter(pk=found.pk).update(etag=listed.etag[:200], failures=0, error="")
    if news:
        log.info("missed pull requests", repository=str(repository.pk), count=len(news))
    return len(news)


def _enrol(now: datetime) -> None:
    hosted = Q(platform=Platform.CODEHOST1, installation_id__gt="") | Q(platform=Platform.CODEHOST2)
    new = Repository.objects.filter(hosted, poll=None).values_list("pk", flat=True)[:MOST_NEW_PER_SWEEP]
    rows = [PullRequestPoll(repository_id=pk, next_at=now + _share(pk)) for pk in new]
    PullRequestPoll.objects.bulk_create(rows, ignore_conflicts=True)


def _share(repository_id: UUID) -> timedelta:
    """Somewhere in the interval, always the same for a repository."""
    return settings.PULL_REQUEST_POLL_INTERVAL * (repository_id.int % 1000 / 1000)


def _take(row: PullRequestPoll, now: datetime) -> bool:
    """One process asks; the next time is set before, so that a process that dies costs one turn."""
    return bool(
        PullRequestPoll.objects.filter(pk=row.pk, next_at=row.next_at).update(
            next_at=now + settings.PULL_REQUEST_POLL_INTERVAL, updated_at=timezone.now()
        )
    )


def _note_failure(row: PullRequestPoll, failure: HostFailed, now: datetime) -> None:
    pause = min(settings.PULL_REQUEST_POLL_INTERVAL * 2 ** min(row.failures + 1, 10), LONGEST_PAUSE)
    PullRequestPoll.objects.filter(pk=row.pk).update(
        failures=F("failures") + 1, error=str(failure)[:300], next_at=now + pause
    )


def _news(repository: Repository, facts: Iterable[PullRequestFact]) -> list[PullRequestFact]:
    """What differs from what we know, the oldest first. One query."""
    rows = PullRequest.objects.filter(repository=repository, number__in=[fact.number for fact in facts])
    known = {row.number: (row.head_sha, row.base_branch, row.is_open, row.is_draft) for row in rows}
    nameless = {row.number for row in rows if not row.author}
    news = [
        fact
        for fact in facts
        if known.get(fact.number) != (fact.head_sha, fact.base_ref[:255], fact.is_open, fact.is_draft)
        or (fact.number in nameless and fact.author)
    ]
    return sorted(news, key=lambda fact: fact.occurred_at)
