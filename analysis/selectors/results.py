"""Reads behind the dashboard: overview, trends, risks and the first scan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Count, QuerySet

from analysis.engine.model import Category, Severity
from analysis.models import PullRequest, Repository, Snapshot, Violation, ViolationSource, ViolationStatus
from analysis.selectors.policies import policy_notices

LISTED_PER_SEVERITY = 50
TOP_HOTSPOTS = 10
RECENT_PULL_REQUESTS = 10
OVERVIEW_DAYS = 30
AVERAGED_DAYS = 30


def repositories_of(user: Any) -> QuerySet[Repository]:
    """Every repository of the organizations that the user belongs to, by name."""
    return Repository.objects.filter(organization__memberships__user=user).order_by("full_name", "pk")


def open_violations(repository: Repository) -> QuerySet[Violation]:
    """Open violations that scans found, the gravest first."""
    return _counted(repository).order_by("-severity_rank", "-debt_points", "file", "line", "pk")


def filtered_violations(repository: Repository, **filters: str) -> QuerySet[Violation]:
    """Open violations narrowed by the filters that are not empty: category, severity, module, file, rule_id."""
    return open_violations(repository).filter(**{name: value for name, value in filters.items() if value})


def judged_pull_requests(repository: Repository) -> QuerySet[PullRequest]:
    """Pull requests that have a verdict, the newest first."""
    return repository.pull_requests.filter(judged_at__isnull=False).order_by("-judged_at", "-number")


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
    """What the first page of a repository shows. Eleven queries, however much there is."""
    series = daily_series(repository, days=OVERVIEW_DAYS, today=today)
    report = repository.current_report
    hotspots = list(report.hotspots[:TOP_HOTSPOTS]) if report else []
    counts = category_counts(repository)
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
        "recentPRs": list(judged_pull_requests(repository)[:RECENT_PULL_REQUESTS]),
        "topHotspots": hotspots,
        "categories": _categories(repository, counts, hotspots),
        "notices": policy_notices(repository, today=today),
    }


def category_counts(repository: Repository) -> dict[str, int]:
    """Open violations by category."""
    rows = _counted(repository).values_list("category").annotate(Count("pk"))
    found = dict(rows.order_by())
    return {category.value: found.get(category.value, 0) for category in Category}


def _counted(repository: Repository) -> QuerySet[Violation]:
    return repository.violations.filter(status=ViolationStatus.OPEN, source=ViolationSource.DETERMINISTIC)


def _categories(
    repository: Repository, counts: Mapping[str, int], hotspots: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = {}
    for category in Category:
        if category == Category.MAINTAINABILITY:
            entries[category.value] = {"count": counts[category], "hotspots": [_brief(spot) for spot in hotspots]}
            continue
        ranked = filtered_violations(repository, category=category)
        entries[category.value] = {
            "count": counts[category],
            "critical": list(ranked.filter(severity=Severity.CRITICAL)[:LISTED_PER_SEVERITY]),
            "warning": list(ranked.filter(severity=Severity.WARNING)[:LISTED_PER_SEVERITY]),
        }
    return entries


def _brief(hotspot: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "file": hotspot["file"],
        "complexity": hotspot["complexity"],
        "churn": hotspot["churnCount"],
        "riskScore": hotspot["riskScore"],
    }


def runtime_risks(repository: Repository) -> dict[str, Any]:
    """All open findings of the runtime_risk category, counted by type."""
    risks = list(filtered_violations(repository, category=Category.RUNTIME_RISK))
    severities = [risk.severity for risk in risks]
    types = sorted({risk.type for risk in risks})
    return {
        "productionRisk": repository.production_risk or None,
        "total": len(risks),
        "critical": severities.count(Severity.CRITICAL),
        "warning": severities.count(Severity.WARNING),
        "byType": {type_: sum(risk.type == type_ for risk in risks) for type_ in types},
        "risks": risks,
    }


def first_scan(repository: Repository) -> dict[str, Any]:
    """The baseline: the report of the first run, with nulls until there is one."""
    run = repository.first_run
    report = getattr(run, "report", None) if run else None
    violations = _in_order(repository, report.top_violations) if report else []
    return {"run": run, "report": report, "topViolations": violations}


def _in_order(repository: Repository, ids: list[str]) -> list[Violation]:
    found = {str(row.pk): row for row in repository.violations.filter(pk__in=ids)}
    return [found[id_] for id_ in ids if id_ in found]
