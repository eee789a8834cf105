"""The runs of a repository, as they are listed."""

from typing import Any

from analysis.models import Repository, Run
from config.compiled import CompiledQuery, CompiledRows, Key, count_of

LISTED_FIELDS = (
    "id", "repository_id", "kind", "status", "commit_sha", "pr_number", "queued_at", "started_at", "finished_at",
    "progress", "phase", "files_analyzed", "files_from_cache", "error",
)  # fmt: skip

_RUNS: CompiledQuery[dict[str, Any]] = CompiledQuery(
    lambda: (
        Run.objects.with_number_of_pull_request()
        .filter(repository=Key("repository"))
        .order_by("-queued_at")
        .values(*LISTED_FIELDS)
    )
)
_NUMBER_OF_RUNS = CompiledQuery(lambda: count_of(Run.objects.filter(repository=Key("repository")), "repository"))


def runs_of(repository: Repository) -> CompiledRows[dict[str, Any]]:
    """All runs, the newest first, read as columns: rows of the ORM cost as much again."""
    return CompiledRows(_NUMBER_OF_RUNS, _RUNS, {"repository": repository.pk})
