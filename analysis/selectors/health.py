"""The course of health scores, for lists of repositories."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.db.models import Aggregate, CharField, Value
from django.db.models.functions import Cast, Concat

from analysis.models import Snapshot

COURSE_DAYS = 30


def health_courses(repositories: Iterable[str], *, today: date) -> dict[str, list[dict[str, Any]]]:
    """By repository: `{date, healthScore}` of each day of the last 30 with one, oldest first. One query."""
    first_day = today - timedelta(days=COURSE_DAYS - 1)
    rows = Snapshot.objects.filter(repository__in=list(repositories), day__gte=first_day, day__lte=today)
    # Tens of thousands of days for who belongs to many organizations: one row for each repository.
    point = Concat(Cast("day", CharField()), Value(" "), Cast("health_score", CharField()), output_field=CharField())
    courses = rows.order_by().values_list("repository_id").annotate(course=Joined(point))
    return {str(key): [_point(each) for each in sorted(course.split(","))] for key, course in courses}


def _point(text: str) -> dict[str, Any]:
    day, _, score = text.partition(" ")
    return {"date": day, "healthScore": int(score)}


class Joined(Aggregate):
    """The texts of a group with commas between them, in any order."""

    function = "STRING_AGG"
    template = "%(function)s(%(expressions)s, ',')"
    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="GROUP_CONCAT", **context)
