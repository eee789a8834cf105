"""The course of health scores, for lists of repositories."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from analysis.models import Repository, Snapshot

COURSE_DAYS = 30


def health_courses(repositories: Sequence[Repository], *, today: date) -> dict[Any, list[dict[str, Any]]]:
    """By repository: `{date, healthScore}` of each day of the last 30 with one, oldest first. One query."""
    rows = Snapshot.objects.filter(repository__in=repositories, day__gt=today - timedelta(days=COURSE_DAYS))
    courses: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for repository_id, day, score in rows.order_by("day").values_list("repository_id", "day", "health_score"):
        courses[repository_id].append({"date": day.isoformat(), "healthScore": score})
    return courses
