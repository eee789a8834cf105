"""Reads behind the dashboard: overview, trends, risks and the first scan."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import CharField, QuerySet, Value
from django.db.models.functions import Cast, Concat

from analysis.engine.model import Category, Severity
from analysis.models import (
    PullRequest,
    Repository,
    ScanReport,
    Snapshot,
    Violation,
    ViolationSource,
    ViolationStatus,
)
from analysis.selectors.health import Joined
from analysis.selectors.policies import policy_notices
from analysis.shapes import gravest_shape, risk_counts_shape
from config.api.fields import timestamp
from config.compiled import CompiledQuery, CompiledRows, Key, PageOf, count_of

LISTED_RISKS = 500
RECENT_PULL_REQUESTS = 10
OVERVIEW_DAYS = 30
AVERAGED_DAYS = 30


LISTED_FIELDS = (
    "pk", "full_name", "organization_id", "platform", "health_score", "last_scan_at", "total_violations",
    "production_risk",
)  # fmt: skip


_KEY_AND_CHANGE = Concat(Cast("pk", CharField()), Value(" "), Cast("updated_at", CharField()), output_field=CharField())
_VERSIONS: CompiledQuery[str] = CompiledQuery(
    lambda: (
        Repository.objects.filter(organization__memberships__user=Key("user"))
        .order_by()
        .values_list("organization_id")
        .annotate(versions=Joined(_KEY_AND_CHANGE))
        .values_list("versions", flat=True)
    )
)
_VERSIONS_OF_PULL_REQUESTS = CompiledQuery(
    lambda: judged(PullRequest.objects.filter(repository=Key("repository"))).values_list(
        "pk", "judged_at", "updated_at"
    )[:RECENT_PULL_REQUESTS]
)
JUDGED_FIELDS = (
    "number", "title", "author", "score", "gate_result", "blocking_count", "warning_count", "judged_at",
)  # fmt: skip
_PULL_REQUESTS: CompiledQuery[dict[str, Any]] = CompiledQuery(
    lambda: judged(
        PullRequest.objects.filter(pk__in=PageOf(judged(PullRequest.objects.filter(repository=Key("repository")))))
    ).values(*JUDGED_FIELDS)
)
_NUMBER_OF_PULL_REQUESTS = CompiledQuery(
    lambda: count_of(judged(PullRequest.objects.filter(repository=Key("repository"))))
)


def repositories_of(user: Any) -> list[dict[str, Any]]:
    """Every repository of the organizations that the user belongs to, by name, in the shape of the API. One query.

    Whoever belongs to large organizations lists hundreds: made without rows of the ORM and without a serializer.
    """
    rows = Repository.objects.filter(organization__memberships__user=user).order_by("full_name", "pk")
    return [
        {
            "id": str(key), "name": full_name.rsplit("/", 1)[-1], "fullName": full_name,
            "organizationId": str(organization), "platform": platform, "healthScore": health,
            "lastScanAt": timestamp(scanned_at), "totalViolations": total, "productionRisk": risk or None,
        }
        for key, full_name, organization, platform, health, scanned_at, total, risk in rows.values_list(*LISTED_FIELDS)
    ]  # fmt: skip


def versions_of_repositories(user: Any) -> list[str]:
    """What the list of repositories and the courses of their health follow from, as the database writes it. One query.

    Hundreds of keys and moments take ten times as long to be read as values.
    """
    return sorted(version for versions in _VERSIONS.all(user=user.pk) for version in versions.split(","))


def open_violations(repository: Repository) -> QuerySet[Violation]:
    """Open violations that scans found, the gravest first."""
    return _counted(repository).order_by("-severity_rank", "-debt_points", "file", "line", "pk")


def filtered_violations(repository: Repository, **filters: str) -> QuerySet[Violation]:
    """Open violations narrowed by the filters that are not empty: category, severity, module, file, rule_id."""
    wanted: dict[str, Any] = {name: value for name, value in filters.items() if value}
    if severity := wanted.pop("severity", None):
        wanted["severity_rank"] = Severity(severity).rank  # the number that the indexes are sorted by
    return open_violations(repository).filter(**wanted)


def judged_pull_requests(repository: Repository) -> CompiledRows[dict[str, Any]]:
    """Pull requests that have a verdict, the newest first, without its details."""
    return CompiledRows(_NUMBER_OF_PULL_REQUESTS, _PULL_REQUESTS, {"repository": repository.pk})


def judged(rows: QuerySet[PullRequest]) -> QuerySet[PullRequest]:
    """Those that have a verdict, the newest first."""
    return rows.filter(judged_at__isnull=False).order_by("-judged_at", "-number")


def recent_pull_requests(repository: Repository) -> list[dict[str, Any]]:
    """Those that the overview shows."""
    return judged_pull_requests(repository)[0:RECENT_PULL_REQUESTS]


def version_of_recent_pull_requests(repository: Repository) -> str:
    """Changes with whatever the overview shows of pull requests. One query."""
    return " ".join(map(str, _VERSIONS_OF_PULL_REQUESTS.all(repository=repository.pk)))


def stored_hotspots(repository: Repository) -> list[dict[str, Any]]:
    """The hotspots of the last scan as they were stored, the riskiest first. One query."""
    if not repository.current_report_id:
        return []
    stored: list[dict[str, Any]] = ScanReport.objects.values_list("hotspots", flat=True).get(
        pk=repository.current_report_id
    )
    return stored


@dataclass(frozen=True, slots=True)
class DailySeries:
    """One value a day without holes: a day without a scan repeats the one before."""

    days: tuple[date, ...]
    snapshots: tuple[Snapshot, ...]


def daily_series(repository: Repository, *, days: int, today: date) -> DailySeries:
    """The last `days` days up to today, from the first known one on. Two queries."""
    first_day = today - timedelta(days=days - 1)
    rows = list(repository.snapshots.filter(day__gte=first_day, day__lte=today).order_by("day"))
    if not rows or rows[0].day > first_day:
        rows = [*repository.snapshots.filter(day__lt=first_day).order_by("-day")[:1], *rows]
    return _filled(rows, first_day, today)


def _filled(rows: Iterable[Snapshot], first_day: date, today: date) -> DailySeries:
    by_day = {max(row.day, first_day): row for row in rows}
    days, snapshots = [], []
    current: Snapshot | None = None
    for offset in range((today - first_day).days + 1):
        day = first_day + timedelta(days=offset)
        current = by_day.get(day, current)
        if current is not None:
            days.append(day)
            snapshots.append(current)
    return DailySeries(tuple(days), tuple(snapshots))


def trends(repository: Repository, *, days: int, today: date) -> dict[str, Any]:
    """Violations, debt scores and categories by day."""
    series = daily_series(repository, days=days, today=today)
    dated = list(zip((day.isoformat() for day in series.days), series.snapshots, strict=True))
    return {
        "violations": [
            {"date": day, "total": row.total, "critical": row.critical, "warning": row.warning} for day, row in dated
        ],
        "debtScores": [{"date": day, "score": round(row.debt_score, 1)} for day, row in dated],
        "categoryTrends": {
            category.value: [getattr(row, category) for row in series.snapshots] for category in Category
        },
    }


def debt_score_average(series: DailySeries) -> float | None:
    """Mean of the daily debt scores of the last 30 days (rules.md 8.2: points per 1000 lines of code)."""
    scores = [row.debt_score for row in series.snapshots[-AVERAGED_DAYS:]]
    return round(sum(scores) / len(scores), 1) if scores else None


def overview(repository: Repository, *, today: date) -> dict[str, Any]:
    """What the first page of a repository shows. Six queries, however much there is."""
    series = daily_series(repository, days=OVERVIEW_DAYS, today=today)
    hotspots, counts, gravest = _last_figures(repository)
    return {
        "healthScore": repository.health_score,
        "totalViolations": repository.total_violations,
        "debtScoreAvg": debt_score_average(series),
        "productionRisk": repository.production_risk or None,
        "categoryBreakdown": counts,
        "violationsTrend": [
            {"date": day.isoformat(), "count": row.total}
            for day, row in zip(series.days, series.snapshots, strict=True)
        ],
        "recentPRs": recent_pull_requests(repository),
        "topHotspots": hotspots,
        "categories": _categories(counts, hotspots, gravest),
        "notices": policy_notices(repository, today=today),
    }


def _last_figures(repository: Repository) -> tuple[list[dict[str, Any]], dict[str, int], dict[str, Any]]:
    """The top hotspots, how many violations of each category are open and the gravest ones, as the last scan or
    judgement stored them: to read the rows takes the longer the more there are. One query."""
    if not repository.current_report_id:
        return [], dict.fromkeys(Category, 0), gravest_shape(())
    stored = ScanReport.objects.values_list("top_hotspots", "category_breakdown", "gravest")
    return stored.get(pk=repository.current_report_id)


def _counted(repository: Repository) -> QuerySet[Violation]:
    return repository.violations.filter(status=ViolationStatus.OPEN, source=ViolationSource.DETERMINISTIC)


def _categories(
    counts: Mapping[str, int], hotspots: list[dict[str, Any]], gravest: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    listed = {category: {"count": counts[category], **gravest[category]} for category in gravest}
    maintainability = {"count": counts[Category.MAINTAINABILITY], "hotspots": [_brief(spot) for spot in hotspots]}
    return {**listed, Category.MAINTAINABILITY: maintainability}


def _brief(hotspot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "file": hotspot["file"],
        "complexity": hotspot["complexity"],
        "churn": hotspot["churnCount"],
        "riskScore": hotspot["riskScore"],
    }


def runtime_risks(repository: Repository, *, columns: Sequence[str]) -> dict[str, Any]:
    """Open findings of the runtime_risk category: all are counted, of the gravest the columns are listed. Two
    queries."""
    counts = _risk_counts(repository)
    risks = filtered_violations(repository, category=Category.RUNTIME_RISK).values(*columns)
    return {
        "productionRisk": repository.production_risk or None,
        "total": sum(counts["byType"].values()),
        **counts,
        "risks": list(risks[:LISTED_RISKS]),
    }


def _risk_counts(repository: Repository) -> dict[str, Any]:
    """As the last scan or judgement stored them. One query."""
    if not repository.current_report_id:
        return risk_counts_shape(())
    counts: dict[str, Any] = ScanReport.objects.values_list("risk_counts", flat=True).get(
        pk=repository.current_report_id
    )
    return counts


def first_scan(repository: Repository) -> dict[str, Any]:
    """The baseline: the report of the first run, with nulls until there is one. Three queries."""
    run = repository.first_run
    report = getattr(run, "report", None)
    violations = _in_order(repository, report.top_violations) if report else []
    return {"run": run, "report": report, "topViolations": violations}


def _in_order(repository: Repository, ids: list[str]) -> list[Violation]:
    found = {str(row.pk): row for row in repository.violations.filter(pk__in=ids)}
    return [found[id_] for id_ in ids if id_ in found]
