"""What the analysis keeps for how long, and how it is let go (docs/scaling.md)."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from analysis.models import (
    BlobFacts,
    DayStanding,
    Publication,
    PublicationState,
    Repository,
    Run,
    ScanInputs,
    ScanReport,
    Snapshot,
    Violation,
    ViolationStatus,
)
from analysis.services.facts import MARK_AGAIN_AFTER, mark_used
from analysis.services.inputs import keys_of_tree
from config.pruning import Turn, in_batches, older_than, prune, take_turns

REPOSITORIES_AT_ONCE = 200
# Who was told of a report just before another one replaced it still finds its documents.
READ_UNTIL = timedelta(hours=1)


def prune_results(*, now: datetime) -> bool:
    """Let go what has had its time, each kind in a turn of its own. Whether more can go."""
    return take_turns(
        reports=lambda: _empty_superseded_reports(now),
        runs=lambda: _prune_runs(now),
        violations=lambda: _prune_resolved_violations(now),
        publications=lambda: _prune_publications(now),
        marks=lambda: _mark_facts(now),
        facts=lambda: _prune_facts(now),
    )


def prune_days(*, today: date) -> None:
    """Let go snapshots, and what their scores rest on. Days that the next scan would fill again stay."""
    snapshots = max(settings.RETENTION["snapshots"], timedelta(days=settings.HISTORY_DAYS + 1))
    keys = list(Repository.objects.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), REPOSITORIES_AT_ONCE):
        some = keys[start : start + REPOSITORIES_AT_ONCE]
        if settings.HISTORY_DAYS:
            Snapshot.objects.filter(repository__in=some, day__lt=today - snapshots).delete()
        _prune_standings(some, today - settings.RETENTION["standings"])


def _empty_superseded_reports(now: datetime) -> Turn:
    """Of a report that another one has replaced the figures stay."""
    shown = Repository.objects.filter(current_report=OuterRef("pk"))
    whole = ScanReport.objects.filter(~Q(graph=b""), ~Exists(shown), created_at__lt=now - READ_UNTIL)

    def empty(keys: Sequence[UUID]) -> int:
        reports = ScanReport.objects.filter(pk__in=keys)
        return reports.update(graph=b"", hotspots=[], gravest={}, coupling={}, aliases={})

    return in_batches(whole, empty, by="created_at")


def _prune_runs(now: datetime) -> Turn:
    """With their reports. Of each repository the first run and that of the present report stay."""
    old = older_than(Run, now - settings.RETENTION["runs"]).filter(finished_at__isnull=False)
    shown = Repository.objects.filter(Q(first_run=OuterRef("pk")) | Q(current_report__run=OuterRef("pk")))
    return prune(old.filter(~Exists(shown)))


def _first_runs() -> QuerySet[Any]:
    return Repository.objects.filter(first_run__isnull=False).values("first_run")


def _prune_resolved_violations(now: datetime) -> Turn:
    """But not those that a first scan lists for ever."""
    rows = Violation.objects.filter(
        status=ViolationStatus.RESOLVED, resolved_at__lt=now - settings.RETENTION["resolved_violations"]
    )

    def delete(keys: Sequence[UUID]) -> int:
        going = Violation.objects.filter(pk__in=keys, status=ViolationStatus.RESOLVED)
        baselines = ScanReport.objects.filter(run__in=_first_runs(), repository__in=going.values("repository"))
        listed = {id_ for ids in baselines.values_list("top_violations", flat=True) for id_ in ids}
        return going.exclude(pk__in=listed).delete()[0]

    return in_batches(rows, delete, by="resolved_at")


def _prune_publications(now: datetime) -> Turn:
    """What was said on pull requests that are closed: nothing will change it any more."""
    old = older_than(Publication, now - settings.RETENTION["publications"])
    return prune(old.exclude(state=PublicationState.WAITING).filter(pull_request__is_open=False))


def _prune_standings(repositories: Sequence[UUID], before: date) -> None:
    """A whole standing stays as long as a difference from it does."""
    resting = DayStanding.objects.filter(repository=OuterRef("repository"), base_day=OuterRef("day"), day__gte=before)
    DayStanding.objects.filter(~Exists(resting), repository__in=repositories, day__lt=before).delete()


def _mark_facts(now: datetime) -> Turn:
    """A scan marks the facts that it uses. For repositories without a scan lately that is done here."""

    def mark(keys: Sequence[UUID]) -> int:
        for key in keys:
            mark_used(keys_of_tree(key), today=now.date())
        return ScanInputs.objects.filter(pk__in=keys).update(updated_at=now)

    return in_batches(_unmarked(now), mark, by="updated_at")


def _prune_facts(now: datetime) -> Turn:
    """Facts of blobs that no scan has used for a while go; those of each repository's last scan stay, and nothing goes
    while one of them waits for its mark."""
    if _unmarked(now).exists():
        return Turn()
    return prune(BlobFacts.objects.filter(used_on__lt=now.date() - settings.RETENTION["facts"]), by="used_on")


def _unmarked(now: datetime) -> QuerySet[ScanInputs]:
    return ScanInputs.objects.filter(updated_at__lt=now - MARK_AGAIN_AFTER)
