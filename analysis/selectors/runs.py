"""The runs of a repository, as they are listed."""

from typing import Any

from django.db.models import QuerySet

from analysis.models import Repository, Run
from config.compiled import CompiledQuery, CompiledRows, Key, PageOf, count_of

LISTED_FIELDS = (
    "id", "repository_id", "kind", "status", "commit_sha", "pr_number", "queued_at", "started_at", "finished_at",
    "progress", "phase", "files_analyzed", "files_from_cache", "notes", "error",
)  # fmt: skip


def _runs() -> QuerySet[Run]:
    return Run.objects.filter(repository=Key("repository")).order_by("-queued_at")


_PAGE: CompiledQuery[dict[str, Any]] = CompiledQuery(
    lambda: (
        Run.objects.with_number_of_pull_request()
        .filter(pk__in=PageOf(_runs()))
        .order_by("-queued_at")
        .values(*LISTED_FIELDS)
    )
)
_NUMBER = CompiledQuery(lambda: count_of(_runs()))


def runs_of(repository: Repository) -> CompiledRows[dict[str, Any]]:
    """All runs, the newest first, read as columns: rows of the ORM cost as much again."""
    return CompiledRows(_NUMBER, _PAGE, {"repository": repository.pk})
