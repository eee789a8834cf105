"""What the analysis says and hears over the API, one field per line, wire names written out."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.engine.model import Category, Confidence, GateAction, Severity, Volume
from analysis.engine.scoring import ProductionRisk
from analysis.models import (
    Platform,
    RunKind,
    RunStatus,
    ScanReport,
    ViolationSource,
    ViolationStatus,
    milliseconds,
)
from config.api.fields import BlankAsNullChoiceField, BlankAsNullField, ChoiceField, TextField, TimestampField
from config.api.plain import PlainSerializer

TRENDS_PERIODS = ("7d", "14d", "30d", "60d", "90d")
# The closed sets of words that answers hold. Generated clients make an enumeration of each (ENUM_NAME_OVERRIDES).
CATEGORIES, SEVERITIES, CONFIDENCES, GATE_ACTIONS, VOLUMES, PRODUCTION_RISKS = (
    [word.value for word in words] for words in (Category, Severity, Confidence, GateAction, Volume, ProductionRisk)
)
GATE_RESULTS = ["pass", "fail"]


class ConnectRepositorySerializer(serializers.Serializer):
    orgId = TextField()
    fullName = serializers.RegexField(
        r"^\.*[\w-][\w.-]*(/\.*[\w-][\w.-]*)+$",  # no part is `.` or `..`: the name stands in addresses of the host
        max_length=200,
        source="full_name",
        error_messages={"invalid": "must have the form owner/name"},
    )
    platform = ChoiceField(Platform.choices)
    cloneUrl = TextField(max_length=1000, required=False, allow_blank=True, source="clone_url")
    defaultBranch = TextField(max_length=255, required=False, allow_blank=True, source="default_branch")


class RepositorySerializer(PlainSerializer):
    id = serializers.CharField()
    name = serializers.CharField()
    fullName = serializers.CharField(source="full_name")
    organizationId = serializers.CharField(source="organization_id")
    platform = serializers.ChoiceField(Platform.choices)
    healthScore = serializers.IntegerField(source="health_score", allow_null=True)
    lastScanAt = TimestampField(
        source="last_scan_at",
        allow_null=True,
        help_text="When the code was scanned last; to judge that scan anew, under another policy, does not move it.",
    )
    totalViolations = serializers.IntegerField(source="total_violations")
    productionRisk = BlankAsNullChoiceField(PRODUCTION_RISKS, source="production_risk")


class HealthPointSerializer(serializers.Serializer):
    date = serializers.DateField()
    healthScore = serializers.IntegerField()


class ListedRepositorySerializer(RepositorySerializer):
    """With the course of its health, where that was asked for."""

    trend = HealthPointSerializer(many=True, required=False)


class RepositoryQuerySerializer(serializers.Serializer):
    include = ChoiceField(["trend"], required=False)


class RunSerializer(PlainSerializer):
    id = serializers.CharField()
    repositoryId = serializers.CharField(source="repository_id")
    kind = serializers.ChoiceField(RunKind.choices)
    status = serializers.ChoiceField(RunStatus.choices)
    commitSha = BlankAsNullField(source="commit_sha")
    prNumber = serializers.IntegerField(source="pr_number", allow_null=True)
    queuedAt = TimestampField(source="queued_at")
    startedAt = TimestampField(source="started_at", allow_null=True)
    finishedAt = TimestampField(source="finished_at", allow_null=True)
    durationMs = serializers.IntegerField(source="duration_ms", allow_null=True)
    progress = serializers.IntegerField()
    phase = serializers.CharField()
    filesAnalyzed = serializers.IntegerField(source="files_analyzed")
    filesFromCache = serializers.IntegerField(source="files_from_cache")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What was left out on the way, and why.")
    error = BlankAsNullField()


def run_page(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A page of runs, of their columns."""
    runs = [{**row, "duration_ms": milliseconds(row["started_at"], row["finished_at"])} for row in rows]
    return [*RunSerializer(runs, many=True).data]


class AnalyzeSerializer(serializers.Serializer):
    runId = serializers.CharField()
    status = serializers.ChoiceField(RunStatus.choices)
    message = serializers.CharField()


class AboutATable(PlainSerializer):
    """`table` and `volume` stand on findings about a table only."""

    table = serializers.CharField(required=False, help_text="The table that it is about, if it is about one.")
    volume = serializers.ChoiceField(
        VOLUMES,
        required=False,
        allow_null=True,
        help_text="How large the policy says that it is; null where it does not.",
    )

    def to_representation(self, violation: Any) -> dict[str, Any]:
        return _without_absent_table(super().to_representation(violation))


def _without_absent_table(shown: dict[str, Any]) -> dict[str, Any]:
    if shown["table"]:
        shown["volume"] = shown["volume"] or None
    else:
        del shown["table"], shown["volume"]
    return shown


class ViolationSerializer(AboutATable):
    id = serializers.CharField()
    category = serializers.ChoiceField(CATEGORIES)
    type = serializers.CharField()
    ruleId = serializers.CharField(source="rule_id")
    severity = serializers.ChoiceField(SEVERITIES)
    # A field of this name, not the field's source.
    source = serializers.ChoiceField(ViolationSource.choices)  # type: ignore[assignment]
    confidence = serializers.ChoiceField(CONFIDENCES)
    file = serializers.CharField()
    line = serializers.IntegerField()
    function = serializers.CharField()
    message = serializers.CharField()
    suggestion = serializers.CharField()
    debtPoints = serializers.FloatField(source="debt_points")
    gateAction = serializers.ChoiceField(GATE_ACTIONS, source="gate_action")


def violation_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Violations that were read by the names of `ViolationSerializer.columns()`, as it shows them: at a tenth of what
    it takes for hundreds of them."""
    return [_without_absent_table(row) for row in rows]


class ViolationDetailSerializer(ViolationSerializer):
    """Lists hold what is open; by its id also one is read that is not."""

    status = serializers.ChoiceField(ViolationStatus.choices)
    suppressionReason = BlankAsNullField(
        source="suppression_reason",
        help_text="What the comment in the code or the exception of the policy gives as its reason; null unless "
        "`status` is `suppressed`.",
    )

    def to_representation(self, violation: Any) -> dict[str, Any]:
        shown = super().to_representation(violation)
        if violation.status != ViolationStatus.SUPPRESSED:
            shown["suppressionReason"] = None
        return shown


class SourceLinesSerializer(PlainSerializer):
    file = serializers.CharField()
    commitSha = serializers.CharField(source="commit_sha")
    startLine = serializers.IntegerField(source="start_line")
    endLine = serializers.IntegerField(source="end_line")
    highlight = serializers.IntegerField(help_text="The number of the violation's own line.")
    lines = serializers.ListField(child=serializers.CharField(allow_blank=True))


class FindingSerializer(AboutATable):
    file = serializers.CharField()
    line = serializers.IntegerField()
    rule = serializers.CharField()
    message = serializers.CharField()


class HotspotSerializer(PlainSerializer):
    file = serializers.CharField()
    complexity = serializers.IntegerField()
    churnCount = serializers.IntegerField()
    violationCount = serializers.IntegerField()
    riskScore = serializers.IntegerField()
    topAuthorShare = serializers.FloatField(allow_null=True)
    coupledFiles = serializers.ListField(child=serializers.CharField())


class SizedHotspotSerializer(HotspotSerializer):
    linesOfCode = serializers.IntegerField(required=False, help_text="Only where `include=lines` asked for it.")


class HotspotQuerySerializer(serializers.Serializer):
    include = ChoiceField(["lines"], required=False)


class PullRequestSerializer(PlainSerializer):
    prNumber = serializers.IntegerField(source="number")
    title = serializers.CharField()
    author = serializers.CharField()
    score = serializers.FloatField(allow_null=True)
    gateResult = serializers.ChoiceField(GATE_RESULTS, source="gate_result")
    blockingCount = serializers.IntegerField(source="blocking_count")
    warningCount = serializers.IntegerField(source="warning_count")
    date = TimestampField(source="judged_at")


class TrendPointSerializer(PlainSerializer):
    date = serializers.DateField()
    count = serializers.IntegerField()


class BriefHotspotSerializer(PlainSerializer):
    file = serializers.CharField()
    complexity = serializers.IntegerField()
    churn = serializers.IntegerField()
    riskScore = serializers.IntegerField()


class CategorySerializer(PlainSerializer):
    count = serializers.IntegerField()
    critical = FindingSerializer(many=True)
    warning = FindingSerializer(many=True)


class MaintainabilitySerializer(PlainSerializer):
    count = serializers.IntegerField()
    hotspots = BriefHotspotSerializer(many=True)


class CategoryCountsSerializer(PlainSerializer):
    architecture = serializers.IntegerField()
    runtime_risk = serializers.IntegerField()
    performance = serializers.IntegerField()
    reliability = serializers.IntegerField()
    maintainability = serializers.IntegerField()


class CategoriesSerializer(PlainSerializer):
    architecture = CategorySerializer()
    runtime_risk = CategorySerializer()
    performance = CategorySerializer()
    reliability = CategorySerializer()
    maintainability = MaintainabilitySerializer()


class NoticeSerializer(PlainSerializer):
    kind = serializers.ChoiceField(["exception_expires", "exception_expired"])
    rule = serializers.CharField()
    file = serializers.CharField()
    expires = serializers.DateField()
    daysLeft = serializers.IntegerField(help_text="Days after today on which the exception still holds.")
    message = serializers.CharField()


class OverviewSerializer(PlainSerializer):
    healthScore = serializers.IntegerField(allow_null=True)
    totalViolations = serializers.IntegerField()
    debtScoreAvg = serializers.FloatField(allow_null=True, help_text="The mean of the last 30 days.")
    productionRisk = serializers.ChoiceField(PRODUCTION_RISKS, allow_null=True)
    categoryBreakdown = CategoryCountsSerializer()
    violationsTrend = TrendPointSerializer(many=True)
    recentPRs = PullRequestSerializer(many=True)
    topHotspots = HotspotSerializer(many=True)
    categories = CategoriesSerializer()
    notices = NoticeSerializer(many=True)


class ViolationTrendSerializer(PlainSerializer):
    date = serializers.DateField()
    total = serializers.IntegerField()
    critical = serializers.IntegerField()
    warning = serializers.IntegerField()


class DebtScoreSerializer(PlainSerializer):
    date = serializers.DateField()
    score = serializers.FloatField()


class CategoryTrendsSerializer(PlainSerializer):
    architecture = serializers.ListField(child=serializers.IntegerField())
    runtime_risk = serializers.ListField(child=serializers.IntegerField())
    performance = serializers.ListField(child=serializers.IntegerField())
    reliability = serializers.ListField(child=serializers.IntegerField())
    maintainability = serializers.ListField(child=serializers.IntegerField())


class TrendsSerializer(PlainSerializer):
    violations = ViolationTrendSerializer(many=True)
    debtScores = DebtScoreSerializer(many=True)
    categoryTrends = CategoryTrendsSerializer()


class RuntimeRisksSerializer(PlainSerializer):
    productionRisk = serializers.ChoiceField(PRODUCTION_RISKS, allow_null=True)
    total = serializers.IntegerField()
    critical = serializers.IntegerField()
    warning = serializers.IntegerField()
    byType = serializers.DictField(child=serializers.IntegerField())
    risks = ViolationSerializer(many=True)


class FirstScanSerializer(PlainSerializer):
    runId = serializers.CharField(source="run.pk", default=None, allow_null=True)
    status = serializers.ChoiceField(RunStatus.choices, source="run.status", default=None, allow_null=True)
    commitSha = serializers.CharField(source="report.commit_sha", default=None, allow_null=True)
    startedAt = TimestampField(source="run.started_at", default=None, allow_null=True)
    finishedAt = TimestampField(source="run.finished_at", default=None, allow_null=True)
    durationMs = serializers.IntegerField(source="run.duration_ms", default=None, allow_null=True)
    filesAnalyzed = serializers.IntegerField(source="report.files_analyzed", default=None, allow_null=True)
    linesOfCode = serializers.IntegerField(source="report.lines_of_code", default=None, allow_null=True)
    languages = serializers.DictField(
        child=serializers.IntegerField(), source="report.languages", default=None, allow_null=True
    )
    healthScore = serializers.IntegerField(source="report.health_score", default=None, allow_null=True)
    totalViolations = serializers.IntegerField(source="report.total_violations", default=None, allow_null=True)
    debtScoreAvg = serializers.SerializerMethodField(help_text="The debt score of this one scan.")
    productionRisk = serializers.ChoiceField(
        PRODUCTION_RISKS, source="report.production_risk", default=None, allow_null=True
    )
    categoryBreakdown = CategoryCountsSerializer(source="report.category_breakdown", default=None, allow_null=True)
    topHotspots = serializers.SerializerMethodField()
    topViolations = ViolationSerializer(many=True)

    def get_debtScoreAvg(self, baseline: dict[str, Any]) -> float | None:
        report: ScanReport | None = baseline["report"]
        return round(report.debt_score, 1) if report else None

    @extend_schema_field(HotspotSerializer(many=True))
    def get_topHotspots(self, baseline: dict[str, Any]) -> list[dict[str, Any]]:
        report: ScanReport | None = baseline["report"]
        return [*HotspotSerializer(report.top_hotspots, many=True).data] if report else []


class ViolationQuerySerializer(serializers.Serializer):
    category = ChoiceField(CATEGORIES, required=False)
    severity = ChoiceField(SEVERITIES, required=False)
    module = TextField(required=False, allow_blank=True, max_length=200)
    file = TextField(required=False, allow_blank=True, max_length=1024)
    ruleId = TextField(required=False, allow_blank=True, max_length=64, source="rule_id")


class TrendsQuerySerializer(serializers.Serializer):
    period = ChoiceField(TRENDS_PERIODS, default="30d")

    @property
    def days(self) -> int:
        """The period in days."""
        return int(self.validated_data["period"].removesuffix("d"))
