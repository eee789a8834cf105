"""Fill the past: one snapshot for each day of the history that has none yet, at the cost of the blobs that changed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.engine import snapshots as engine
from analysis.engine.history import History
from analysis.engine.policy import Policy
from analysis.git.history import daily_commits
from analysis.models import DayStanding, Repository, Run, Snapshot
from analysis.parsing import BlobToParse
from analysis.past_trees import Tree, daily_trees
from analysis.services.facts import store_missing_facts, stored_facts
from analysis.services.git_limits import git_limits
from analysis.services.results import snapshot_fields
from analysis.services.runs import lock_my_run
from analysis.services.standings import rows_of_days
from analysis.source_tree import FactsKey

DAYS_AT_ONCE = 30


def fill_past(
    *,
    run: Run,
    folder: Path,
    head: str,
    history: History,
    policy: Policy,
    today: date,
    on_progress: Callable[[int, int], None],
) -> None:
    """Judge each past day that has a commit and no snapshot, oldest first, by today's policy and engine."""
    days = days_to_fill(run, folder, head, today)
    done = 0
    for start in range(0, len(days), DAYS_AT_ONCE):
        part = days[start : start + DAYS_AT_ONCE]
        trees = list(daily_trees(folder, part, git_limits()))
        every_blob = {(item.blob, item.reading): item for _, tree in trees for item in tree.values()}
        store_missing_facts(list(every_blob.values()), git_dir=folder, workers=settings.WORKER_CONCURRENCY, scan=run)
        _store_days(run, dict(part), trees, every_blob, history, policy)
        done += len(part)
        on_progress(done, len(days))


def days_to_fill(run: Run, folder: Path, head: str, today: date) -> list[tuple[date, str]]:
    """Past days with a commit and without a snapshot, each with its last commit."""
    known = set(Snapshot.objects.filter(repository_id=run.repository_id).values_list("day", flat=True))
    days = daily_commits(folder, head, days=settings.HISTORY_DAYS or None, today=today, limits=git_limits())
    return [(day, sha) for day, sha in days if day not in known and day < today]


def _store_days(
    run: Run,
    shas: Mapping[date, str],
    trees: Sequence[tuple[date, Tree]],
    every_blob: Mapping[FactsKey, BlobToParse],
    history: History,
    policy: Policy,
) -> None:
    facts = dict(stored_facts(every_blob))
    days = [(day, {path: (item.blob, item.reading) for path, item in tree.items()}) for day, tree in trees]
    judged = list(engine.snapshots(days, facts.__getitem__, history, policy))
    standings = rows_of_days(run.repository_id, ((each.day, each.standing) for each in judged))
    rows = [
        Snapshot(repository_id=run.repository_id, day=each.day, commit_sha=shas[each.day], **snapshot_fields(each))
        for each in judged
    ]
    with transaction.atomic():
        lock_my_run(run)
        Snapshot.objects.bulk_create(rows, ignore_conflicts=True)
        DayStanding.objects.bulk_create(standings, ignore_conflicts=True)
        Repository.objects.filter(pk=run.repository_id).update(updated_at=timezone.now())
