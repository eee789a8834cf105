"""The course of health scores, for lists of repositories."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from analysis.models import Snapshot

COURSE_DAYS = 30


def health_courses(repositories: Iterable[str], *, today: date) -> dict[str, list[dict[str, Any]]]:
    """By repository: `{date, healthScore}` of each day of the last 30 with one, oldest first. One query."""
    days = {today - timedelta(days=back): (today - timedelta(days=back)).isoformat() for back in range(COURSE_DAYS)}
    rows = Snapshot.objects.filter(
        repository__in=list(repositories), day__gt=today - timedelta(days=COURSE_DAYS), day__lte=today
    )
    courses: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for repository_id, day, score in rows.order_by("day").values_list("repository_id", "day", "health_score"):
        courses[repository_id].append({"date": days[day], "healthScore": score})
    return {str(key): course for key, course in courses.items()}
