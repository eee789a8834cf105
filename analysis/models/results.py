"""What a scan found out."""

from typing import ClassVar

from django.db import models

from config.models import BaseModel, DocumentDecoder


class ScanReportManager(models.Manager["ScanReport"]):
    """Leaves the documents of a report, hundreds of kilobytes, in the database until somebody asks for them."""

    def get_queryset(self) -> models.QuerySet["ScanReport"]:
        return super().get_queryset().defer("hotspots", "gravest", "coupling", "aliases", "graph")


class ScanReport(BaseModel):
    """The figures of one finished scan. The findings themselves are `Violation` rows."""

    run = models.OneToOneField("Run", on_delete=models.CASCADE, related_name="report")
    repository = models.ForeignKey(
        "Repository",
        on_delete=models.CASCADE,
        related_name="reports",
        db_index=False,  # report_by_repository
    )
    commit_sha = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=32)
    judged_from = models.CharField(max_length=64)  # a digest: a scan of what has the same finds the same
    health_score = models.PositiveSmallIntegerField()
    debt_score = models.FloatField()
    debt_points = models.FloatField()
    production_risk = models.CharField(max_length=8)
    total_violations = models.PositiveIntegerField()
    suppressed = models.PositiveIntegerField(default=0)
    files_analyzed = models.PositiveIntegerField()
    lines_of_code = models.PositiveIntegerField()
    languages = models.JSONField(default=dict)
    category_breakdown = models.JSONField(default=dict)
    top_hotspots = models.JSONField(default=list)  # the first of them: what overviews show
    hotspots = models.JSONField(default=list, decoder=DocumentDecoder)
    # How many runtime risks there are: `critical`, `warning` and `byType`.
    risk_counts = models.JSONField(default=dict)
    # Of each category the findings that the overview lists, by severity.
    gravest = models.JSONField(default=dict, decoder=DocumentDecoder)
    top_violations = models.JSONField(default=list)
    coupling = models.JSONField(default=dict, decoder=DocumentDecoder)  # the answer of the coupling endpoint
    # Paths of renamed files to the path they were first known by: the part of a violation's identity that moves.
    aliases = models.JSONField(default=dict, decoder=DocumentDecoder)
    graph = models.BinaryField(default=bytes)  # the architecture graph's answer: JSON, gzip

    objects: ClassVar[ScanReportManager] = ScanReportManager()

    class Meta:
        base_manager_name = "objects"
        indexes: ClassVar = [
            models.Index(fields=["repository", "-created_at"], name="report_by_repository"),
            models.Index(fields=["created_at"], condition=~models.Q(graph=b""), name="report_whole"),
        ]

    def __str__(self) -> str:
        return f"{self.repository_id} at {self.commit_sha[:12]}"


class ViolationStatus(models.TextChoices):
    OPEN = "open"
    SUPPRESSED = "suppressed"
    RESOLVED = "resolved"


class ViolationSource(models.TextChoices):
    """Who found it. What a model found is advice: it counts in no score, list or gate, and scans leave it alone."""

    DETERMINISTIC = "deterministic"
    AI = "ai"


COUNTED = models.Q(status=ViolationStatus.OPEN, source=ViolationSource.DETERMINISTIC)


class Violation(BaseModel):
    """A finding as stored. It keeps its id while it is the same finding, wherever its lines or its file go."""

    repository = models.ForeignKey(
        "Repository",
        on_delete=models.CASCADE,
        related_name="violations",
        db_index=False,  # the unique pair
    )
    fingerprint = models.CharField(max_length=32)
    status = models.CharField(max_length=12, choices=ViolationStatus)
    rule_id = models.CharField(max_length=64)
    category = models.CharField(max_length=16)
    type = models.CharField(max_length=40)
    severity = models.CharField(max_length=8)
    severity_rank = models.PositiveSmallIntegerField()
    source = models.CharField(max_length=16, default="deterministic")
    confidence = models.CharField(max_length=8)
    file = models.CharField(max_length=1024)
    line = models.PositiveIntegerField()
    function = models.CharField(max_length=300)
    module = models.CharField(max_length=200, blank=True)
    message = models.CharField(max_length=1000)
    suggestion = models.CharField(max_length=500)
    debt_points = models.FloatField()
    gate_action = models.CharField(max_length=8, default="none")
    table = models.CharField(max_length=200, blank=True)
    volume = models.CharField(max_length=4, blank=True)
    suppression_reason = models.CharField(max_length=500, blank=True)
    first_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "fingerprint"], name="violation_once_per_finding")
        ]
        # The lists show what is open and was found by a scan; counting it reads these indexes alone.
        indexes: ClassVar = [
            models.Index(
                fields=["repository", "-severity_rank", "-debt_points", "file", "line", "id"],
                condition=COUNTED,
                name="violation_list",
            ),
            models.Index(
                fields=["repository", "category", "-severity_rank", "-debt_points", "file", "line", "id"],
                condition=COUNTED,
                name="violation_by_category",
            ),
            models.Index(
                fields=["repository", "module", "-severity_rank", "-debt_points"],
                condition=COUNTED,
                name="violation_by_module",
            ),
            models.Index(fields=["repository", "file", "-severity_rank"], condition=COUNTED, name="violation_by_file"),
            models.Index(
                fields=["repository", "rule_id", "-severity_rank"], condition=COUNTED, name="violation_by_rule"
            ),
            models.Index(fields=["resolved_at"], condition=models.Q(status="resolved"), name="violation_resolved"),
        ]

    def __str__(self) -> str:
        return f"{self.rule_id} at {self.file}:{self.line}"


class Snapshot(models.Model):
    """The totals of one day: the last state of the default branch on that day (UTC)."""

    repository = models.ForeignKey(
        "Repository",
        on_delete=models.CASCADE,
        related_name="snapshots",
        db_index=False,  # the unique pair
    )
    day = models.DateField()
    commit_sha = models.CharField(max_length=64)
    total = models.PositiveIntegerField()
    critical = models.PositiveIntegerField()
    warning = models.PositiveIntegerField()
    architecture = models.PositiveIntegerField()
    runtime_risk = models.PositiveIntegerField()
    performance = models.PositiveIntegerField()
    reliability = models.PositiveIntegerField()
    maintainability = models.PositiveIntegerField()
    debt_score = models.FloatField()
    health_score = models.PositiveSmallIntegerField()
    lines_of_code = models.PositiveIntegerField()
    production_risk = models.CharField(max_length=8)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["repository", "day"], name="snapshot_one_per_day")]

    def __str__(self) -> str:
        return f"{self.repository_id} on {self.day}"


class DayStanding(models.Model):
    """What the scores of a snapshot's day rest on, compressed (`analysis.services.standings`).

    A whole one has no `base_day`; of others `data` holds what differs from the whole one of that day.
    """

    repository = models.ForeignKey(
        "Repository",
        on_delete=models.CASCADE,
        related_name="standings",
        db_index=False,  # the unique pair
    )
    day = models.DateField()
    base_day = models.DateField(null=True)
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["repository", "day"], name="standing_one_per_day")]

    def __str__(self) -> str:
        return f"standing of {self.repository_id} on {self.day}"
