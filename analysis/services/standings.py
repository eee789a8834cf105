"""What the scores of each day rest on, stored and read back: whole now and then, else as a difference."""

import zlib
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db.models import DateField

from analysis.engine.standing import Scored, Standing
from analysis.models import DayStanding, Repository
from config.compiled import CompiledQuery, Key

# Today's row is replaced by each scan of today, and clocks of workers differ: rest on older ones only.
YOUNGEST_BASE = timedelta(days=2)
LARGEST_DIFFERENCE = 0.5  # of the size of a whole one; what differs more is stored whole

POINTS, WEIGHT = Scored._fields.index("points"), Scored._fields.index("weight")

_OF_TWO_DAYS = CompiledQuery(
    lambda: DayStanding.objects.filter(
        repository=Key("repository"), day__in=[Key("one", DateField()), Key("other", DateField())]
    ).values_list("day", "base_day", "data")
)


def store_standing(repository: Repository, day: date, standing: Standing) -> None:
    """The standing of a day; a later one of the same day replaces it."""
    whole = _packed(_document(standing))
    base_day, data = None, whole
    base = _newest_base(repository, day)
    if base is not None:
        difference = _packed(_difference(_unpacked(base.data), standing))
        if len(difference) < len(whole) * LARGEST_DIFFERENCE:
            base_day, data = base.day, difference
    DayStanding.objects.update_or_create(repository=repository, day=day, defaults={"base_day": base_day, "data": data})


def rows_of_days(repository_id: UUID, days: Iterable[tuple[date, Standing]]) -> list[DayStanding]:
    """Rows of days in a row, not stored yet: the first whole, each other one as its difference from that."""
    rows: list[DayStanding] = []
    whole: dict[str, Any] = {}
    for day, standing in days:
        base_day = rows[0].day if rows else None
        if not rows:
            whole = _document(standing)
        document = _difference(whole, standing) if rows else whole
        rows.append(DayStanding(repository_id=repository_id, day=day, base_day=base_day, data=_packed(document)))
    return rows


def compared_standings(repository_id: UUID, before: date, after: date) -> tuple[Standing, Standing]:
    """The standings of two days that are both stored. At most two queries.

    Thousands of findings that both have alike are added up, and no objects are made of them.
    """
    rows = _of_days(repository_id, before, after)
    rows |= _of_days(repository_id, *({base_day for base_day, _ in rows.values() if base_day} - rows.keys()))
    documents = {day: _unpacked(data) for day, (_, data) in rows.items()}
    old, new = (_whole(documents[day], documents.get(rows[day][0])) for day in (before, after))
    alike = {print_: one for print_, one in old["findings"].items() if new["findings"].get(print_) == one}
    return _standing(old, alike), _standing(new, alike)


def _of_days(repository_id: UUID, *days: date) -> dict[date | None, tuple[date | None, bytes | memoryview]]:
    """What is stored of two days or one: the day of the base, and the data."""
    if not days:
        return {}
    found = _OF_TWO_DAYS.all(repository=repository_id, one=days[0], other=days[-1])
    return {day: (base_day, data) for day, base_day, data in found}


def _newest_base(repository: Repository, day: date) -> DayStanding | None:
    whole = repository.standings.filter(base_day=None, day__lte=day - YOUNGEST_BASE)
    return whole.order_by("-day").first()


def _document(standing: Standing) -> dict[str, Any]:
    return {
        "findings": {print_: list(scored) for print_, scored in standing.findings.items()},
        "gone": [],
        "lines": standing.lines_of_code,
        "worst": standing.worst,
        "cap": standing.cap,
        "policy": standing.policy,
        "rules": standing.rules,
        "extractor": standing.extractor,
        "models": standing.models,
    }


def _difference(base: Mapping[str, Any], standing: Standing) -> dict[str, Any]:
    document = _document(standing)
    before, now = base["findings"], document["findings"]
    document["findings"] = {print_: scored for print_, scored in now.items() if before.get(print_) != scored}
    document["gone"] = [print_ for print_ in before if print_ not in now]
    for name in ("policy", "rules", "models"):
        if document[name] == base.get(name):
            del document[name]
    return document


def _whole(document: dict[str, Any], base: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a difference and its base say together."""
    if base is None:
        return document
    findings = {**base["findings"], **document["findings"]}
    for print_ in document["gone"]:
        findings.pop(print_, None)
    return {**base, **document, "findings": findings}


def _standing(document: Mapping[str, Any], alike: Mapping[str, list[Any]]) -> Standing:
    return Standing(
        findings={print_: Scored(*one) for print_, one in document["findings"].items() if print_ not in alike},
        lines_of_code=document["lines"],
        worst=tuple((file, risk) for file, risk in document["worst"]),
        cap=document["cap"],
        policy=document["policy"],
        rules=document["rules"],
        extractor=document["extractor"],
        models=document.get("models", {}),
        other_points=sum(one[POINTS] for one in alike.values()),
        other_weight=sum(one[WEIGHT] for one in alike.values()),
    )


def _packed(document: Mapping[str, Any]) -> bytes:
    return zlib.compress(orjson.dumps(document), 6)


def _unpacked(data: bytes | memoryview) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads(zlib.decompress(data))
    return document
