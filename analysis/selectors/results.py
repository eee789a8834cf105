"""Reads behind the dashboard: overview, trends, risks and the first scan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Cast, Concat

from analysis.engine.model import Category, Severity
from analysis.models import (
    PullRequest,
    Repository,
    Run,
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


Columns = tuple[tuple[str, str], ...]  # under which name, which one
GRAVEST_FIRST = ("-severity_rank", "-debt_points", "file", "line", "pk")
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
_RUN = CompiledQuery(lambda: Run.objects.filter(pk=Key("run")))
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
    return _gravest_first(repository.violations.all())


def filtered_violations(repository: Repository, **filters: str) -> QuerySet[Violation]:
    """Open violations narrowed by the filters that are not empty: category, severity, module, file, rule_id."""
    return open_violations(repository).filter(**_wanted(filters))


def listed_violations(
    repository: Repository, *, columns: Mapping[str, str], **filters: str
) -> CompiledRows[dict[str, Any]]:
    """The same to be listed page by page: columns of theirs under the names given."""
    wanted = _wanted(filters)
    counted, page = _violation_queries(tuple(sorted(wanted)), tuple(columns.items()))
    return CompiledRows(counted, page, {"repository": repository.pk, **wanted})


@cache
def _violation_queries(
    filters: tuple[str, ...], columns: Columns
) -> tuple[CompiledQuery[int], CompiledQuery[dict[str, Any]]]:
    """How many there are, and a page of them. The page is found in the index alone: to go through the rows of the
    pages before it takes the longer the later it is."""

    def rows() -> QuerySet[Violation]:
        narrowed = {name: Key(name, getattr(Violation, name).field) for name in filters}
        return _gravest_first(Violation.objects.filter(repository=Key("repository"), **narrowed))

    def page() -> QuerySet[Violation, dict[str, Any]]:
        return _named(Violation.objects.filter(pk__in=PageOf(rows())).order_by(*GRAVEST_FIRST), columns)

    return CompiledQuery(lambda: count_of(rows())), CompiledQuery(page)


def _named(rows: QuerySet[Violation], columns: Columns) -> QuerySet[Violation, dict[str, Any]]:
    same = [name for name, column in columns if name == column]
    return rows.values(*same, **{name: F(column) for name, column in columns if name != column})


def _wanted(filters: Mapping[str, str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {name: value for name, value in filters.items() if value}
    if severity := wanted.pop("severity", None):
        wanted["severity_rank"] = Severity(severity).rank  # the number that the indexes are sorted by
    return wanted


def _gravest_first(rows: QuerySet[Violation]) -> QuerySet[Violation]:
    counted = rows.filter(status=ViolationStatus.OPEN, source=ViolationSource.DETERMINISTIC)
    return counted.order_by(*GRAVEST_FIRST)


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
    (hotspots,) = _of_last_report(repository, "hotspots") or ([],)
    return hotspots


def _of_last_report(repository: Repository, *columns: str) -> tuple[Any, ...] | None:
    """What the last scan or judgement stored; None before the first one. One query."""
    return _report(columns).first(report=repository.current_report_id) if repository.current_report_id else None


@cache
def _report(columns: tuple[str, ...]) -> CompiledQuery[tuple[Any, ...]]:
    return CompiledQuery(lambda: ScanReport.objects.filter(pk=Key("report")).values_list(*columns))


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
    stored = _of_last_report(repository, "top_hotspots", "category_breakdown", "gravest")
    return stored or ([], dict.fromkeys(Category, 0), gravest_shape(()))


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


def runtime_risks(repository: Repository, *, columns: Mapping[str, str]) -> dict[str, Any]:
    """Open findings of the runtime_risk category: all are counted, of the gravest the columns are listed under the
    names given. Two queries."""
    (counts,) = _of_last_report(repository, "risk_counts") or (risk_counts_shape(()),)
    return {
        "productionRisk": repository.production_risk or None,
        "total": sum(counts["byType"].values()),
        **counts,
        "risks": _gravest_risks(tuple(columns.items())).all(repository=repository.pk),
    }


@cache
def _gravest_risks(columns: Columns) -> CompiledQuery[dict[str, Any]]:
    risks = Violation.objects.filter(repository=Key("repository"), category=Category.RUNTIME_RISK)
    return CompiledQuery(lambda: _named(_gravest_first(risks), columns)[:LISTED_RISKS])


def first_run_of(repository: Repository) -> Run | None:
    """The run that took the baseline. One query."""
    return _RUN.first(run=repository.first_run_id) if repository.first_run_id else None


def first_scan(repository: Repository, run: Run | None) -> dict[str, Any]:
    """The baseline: the report of the first run, with nulls until there is one. Two queries."""
    report = getattr(run, "report", None)
    violations = _in_order(repository, report.top_violations) if report else []
    return {"run": run, "report": report, "topViolations": violations}


def _in_order(repository: Repository, ids: list[str]) -> list[Violation]:
    found = {str(row.pk): row for row in repository.violations.filter(pk__in=ids)}
    return [found[id_] for id_ in ids if id_ in found]
