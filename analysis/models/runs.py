"""Runs: one attempt-counted, leased piece of analysis work each."""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models

from config.models import BaseModel


class RunKind(models.TextChoices):
    FIRST_SCAN = "first_scan"
    SCAN = "scan"
    PULL_REQUEST = "pull_request"


SCANS, PULL_REQUESTS = (RunKind.FIRST_SCAN, RunKind.SCAN), (RunKind.PULL_REQUEST,)


class RunStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class RunQuerySet(models.QuerySet["Run"]):
    def unfinished(self) -> "RunQuerySet":
        """Queued or running."""
        return self.filter(status__in=[RunStatus.QUEUED, RunStatus.RUNNING])

    def abandoned(self, now: datetime) -> "RunQuerySet":
        """Running, but whoever ran it has stopped renewing the lease."""
        return self.filter(status=RunStatus.RUNNING, lease_until__lt=now)

    def with_number_of_pull_request(self) -> "RunQuerySet":
        """With `pr_number`, the number of the pull request that a run is about, or None."""
        return self.annotate(pr_number=models.F("pull_request__number"))


class Run(BaseModel):
    """The row is the queue: workers claim it by lease, and every write of an attempt names its own lease."""

    organization = models.ForeignKey("organizations.Organization", on_delete=models.CASCADE, related_name="+")
    repository = models.ForeignKey(
        "Repository",
        on_delete=models.CASCADE,
        related_name="runs",
        db_index=False,  # run_by_repository
    )
    pull_request = models.ForeignKey("PullRequest", null=True, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=16, choices=RunKind)
    status = models.CharField(max_length=16, choices=RunStatus, default=RunStatus.QUEUED)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    commit_sha = models.CharField(max_length=64, blank=True)
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    progress = models.PositiveSmallIntegerField(default=0)
    phase = models.CharField(max_length=32, default="queued")
    files_analyzed = models.PositiveIntegerField(default=0)
    files_from_cache = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)
    notes = models.JSONField(default=list)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["repository"],
                condition=models.Q(status=RunStatus.QUEUED) & ~models.Q(kind=RunKind.PULL_REQUEST),
                name="run_one_scan_queued_per_repository",
            ),
            models.UniqueConstraint(
                fields=["pull_request"],
                condition=models.Q(status=RunStatus.QUEUED, kind=RunKind.PULL_REQUEST),
                name="run_one_analysis_queued_per_pull_request",
            ),
            models.UniqueConstraint(
                fields=["repository"],
                condition=models.Q(status=RunStatus.RUNNING) & ~models.Q(kind=RunKind.PULL_REQUEST),
                name="run_one_scan_running_per_repository",
            ),
            models.UniqueConstraint(
                fields=["pull_request"],
                condition=models.Q(status=RunStatus.RUNNING, kind=RunKind.PULL_REQUEST),
                name="run_one_analysis_running_per_pull_request",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["repository", "-queued_at"], name="run_by_repository"),
            models.Index(fields=["queued_at"], condition=models.Q(status=RunStatus.QUEUED), name="run_queue"),
            models.Index(fields=["lease_until"], condition=models.Q(status=RunStatus.RUNNING), name="run_leases"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.repository_id} ({self.status})"

    @property
    def is_finished(self) -> bool:
        return self.status not in (RunStatus.QUEUED, RunStatus.RUNNING)

    @property
    def duration_ms(self) -> int | None:
        """From the start that counts to the end, in milliseconds; None while unfinished."""
        return milliseconds(self.started_at, self.finished_at)


def milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    """From the one to the other; None while one of them is to come."""
    return None if start is None or end is None else round((end - start).total_seconds() * 1000)
