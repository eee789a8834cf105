"""Fill the past: one snapshot for each day of the history that has none yet, at the cost of the blobs that changed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from django.conf import settings
from django.db import transaction

from analysis.engine import snapshots as engine
from analysis.engine.history import History
from analysis.engine.policy import Policy
from analysis.git.history import daily_commits
from analysis.git.tree import changed_entries, list_tree
from analysis.models import Run, Snapshot
from analysis.parsing import BlobToParse
from analysis.services.facts import store_missing_facts, stored_facts
from analysis.services.git_limits import git_limits
from analysis.services.results import snapshot_fields
from analysis.services.runs import lock_my_run
from analysis.source_tree import FactsKey, blob_of, source_tree

DAYS_AT_ONCE = 30
TYPICAL_BLOB_BYTES = 4000  # the size of a blob that a diff names without its size

Tree = dict[str, BlobToParse]


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
    days = _days_to_fill(run, folder, head, today)
    done = 0
    for start in range(0, len(days), DAYS_AT_ONCE):
        part = days[start : start + DAYS_AT_ONCE]
        trees = list(_daily_trees(folder, part))
        every_blob = {(item.blob, item.language): item for _, tree in trees for item in tree.values()}
        store_missing_facts(list(every_blob.values()), git_dir=folder, workers=settings.WORKER_CONCURRENCY)
        _store_days(run, dict(part), trees, every_blob, history, policy)
        done += len(part)
        on_progress(done, len(days))


def _days_to_fill(run: Run, folder: Path, head: str, today: date) -> list[tuple[date, str]]:
    known = set(Snapshot.objects.filter(repository_id=run.repository_id).values_list("day", flat=True))
    days = daily_commits(folder, head, days=settings.HISTORY_DAYS or None, today=today, limits=git_limits())
    return [(day, sha) for day, sha in days if day not in known and day < today]


def _daily_trees(folder: Path, days: Sequence[tuple[date, str]]) -> Iterator[tuple[date, Tree]]:
    tree: Tree = {}
    previous = ""
    for day, sha in days:
        tree = _next_tree(folder, tree, previous, sha) if previous else _whole_tree(folder, sha)
        previous = sha
        yield day, tree


def _whole_tree(folder: Path, sha: str) -> Tree:
    return dict(source_tree(list_tree(folder, sha, limits=git_limits()).entries).blobs)


def _next_tree(folder: Path, tree: Tree, base: str, head: str) -> Tree:
    changes = changed_entries(folder, base, head, limits=git_limits())
    gone = {change.old_path for change in changes}
    tree = {path: item for path, item in tree.items() if path not in gone}
    for change in changes:
        if change.new_path and change.new_blob:
            item = blob_of(change.new_path, change.new_blob, TYPICAL_BLOB_BYTES)
            if item:
                tree[change.new_path] = item
    return tree


def _store_days(
    run: Run,
    shas: Mapping[date, str],
    trees: Sequence[tuple[date, Tree]],
    every_blob: Mapping[FactsKey, BlobToParse],
    history: History,
    policy: Policy,
) -> None:
    facts = dict(stored_facts(every_blob))
    days = [(day, {path: (item.blob, item.language) for path, item in tree.items()}) for day, tree in trees]
    judged = engine.snapshots(days, facts.__getitem__, history, policy)
    rows = [
        Snapshot(repository_id=run.repository_id, day=each.day, commit_sha=shas[each.day], **snapshot_fields(each))
        for each in judged
    ]
    with transaction.atomic():
        lock_my_run(run)
        Snapshot.objects.bulk_create(rows, ignore_conflicts=True)
