"""Connected repositories: how they are, when they were scanned, and scanning them again."""

from typing import ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from analysis.admin.runs import scan_again
from analysis.models import Repository
from config.staff import DANGER, SUCCESS, WARNING, ReadOnlyAdmin, confirmed

RISK_COLOURS = {"LOW": SUCCESS, "MEDIUM": WARNING, "HIGH": DANGER, "CRITICAL": DANGER}


@admin.register(Repository)
class RepositoryAdmin(ReadOnlyAdmin):
    list_display: ClassVar = [
        "full_name",
        "organization",
        "platform",
        "health_score",
        "risk",
        "total_violations",
        "last_scan_at",
        "created_at",
    ]
    list_filter: ClassVar = ["platform", "production_risk", ("last_scan_at", admin.EmptyFieldListFilter)]
    list_select_related: ClassVar = ["organization"]
    search_fields: ClassVar = ["full_name", "organization__slug", "=external_id", "=installation_id"]
    search_help_text = "Name, slug of the organization, or the code host's id of the repository or installation"
    ordering: ClassVar = ["-created_at"]
    fields: ClassVar = [
        "full_name",
        "organization",
        "platform",
        "clone_url",
        "default_branch",
        "external_id",
        "installation_id",
        "health_score",
        "production_risk",
        "total_violations",
        "last_scan_at",
        "created_at",
    ]
    actions: ClassVar = ["rescan"]

    @display(description="Risk", ordering="production_risk", label=RISK_COLOURS)
    def risk(self, repository: Repository) -> str:
        return repository.production_risk

    @confirmed("Scan again", asks="Queue a scan of the default branch of these repositories?")
    def rescan(self, request: HttpRequest, repositories: QuerySet[Repository]) -> None:
        """Queue a scan of each; a repository that is queued already keeps its place."""
        count = scan_again(repositories, by=request.user)
        messages.success(request, f"Queued: {count}")
