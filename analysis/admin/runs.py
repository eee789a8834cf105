"""Runs: what was asked for, how it went, why it failed, and asking again."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from analysis.models import Repository, Run, RunStatus
from analysis.services.runs import request_run
from config.staff import DANGER, INFO, SUCCESS, WARNING, ReadOnlyAdmin, confirmed
from organizations.audit import record

STATUS_COLOURS = {
    RunStatus.QUEUED.value: WARNING,
    RunStatus.RUNNING.value: INFO,
    RunStatus.SUCCEEDED.value: SUCCESS,
    RunStatus.FAILED.value: DANGER,
    RunStatus.TIMED_OUT.value: DANGER,
}
ERROR_SHOWN = 80


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display: ClassVar = [
        "repository",
        "organization",
        "kind",
        "shown_status",
        "shown_progress",
        "queued_at",
        "seconds",
        "attempts",
        "shown_error",
    ]
    list_filter: ClassVar = ["status", "kind", ("error", admin.EmptyFieldListFilter)]
    list_select_related: ClassVar = ["repository", "organization"]
    search_fields: ClassVar = ["repository__full_name", "organization__slug", "=commit_sha", "=id"]
    search_help_text = "Repository, slug of the organization, a whole commit id or run id"
    ordering: ClassVar = ["-id"]
    # A lease is the right to write: whoever knows it could end the run.
    exclude: ClassVar = ["lease"]
    actions: ClassVar = ["rescan"]

    def name_of(self, row: Run) -> str:
        return f"{row.repository.full_name}: {row.kind} of {row.queued_at:%Y-%m-%d %H:%M}, {row.status}"

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def shown_status(self, run: Run) -> str:
        return run.status

    @display(description="Progress")
    def shown_progress(self, run: Run) -> str:
        return f"{run.progress} %, {run.phase}"

    @display(description="Seconds")
    def seconds(self, run: Run) -> str:
        return "" if run.duration_ms is None else f"{run.duration_ms / 1000:.1f}"

    @display(description="Error")
    def shown_error(self, run: Run) -> str:
        return run.error if len(run.error) <= ERROR_SHOWN else f"{run.error[: ERROR_SHOWN - 1]}…"

    @confirmed("Scan the repositories again", asks="Queue a new scan of the repositories of these runs?")
    def rescan(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        """Queue one scan of each repository that one of the chosen runs is of."""
        count = scan_again(Repository.objects.filter(runs__in=runs).distinct(), by=request.user)
        messages.success(request, f"Queued: {count}")


@transaction.atomic
def scan_again(repositories: QuerySet[Repository], *, by: Any) -> int:
    """Queue a scan of each and write it into the organization's audit trail. Their number."""
    chosen = list(repositories.select_related("organization"))
    for repository in chosen:
        request_run(repository=repository, requested_by=by)
        record(
            organization=repository.organization,
            actor=by,
            action="repository.scanned_by_staff",
            subject=repository.full_name,
        )
    return len(chosen)
