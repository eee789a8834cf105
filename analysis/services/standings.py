"""What the scores of each day rest on, stored and read back: whole now and then, else as a difference."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import orjson

from analysis.engine.standing import Scored, Standing
from analysis.models import DayStanding, Repository

# Today's row is replaced by each scan of today, and clocks of workers differ: rest on older ones only.
YOUNGEST_BASE = timedelta(days=2)
LARGEST_DIFFERENCE = 0.5  # of the size of a whole one; what differs more is stored whole


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


def load_standings(repository_id: UUID, days: Sequence[date]) -> dict[date, Standing]:
    """The standings of these days, those that are stored. Two queries."""
    standings = DayStanding.objects.filter(repository=repository_id)
    rows = {row.day: row for row in standings.filter(day__in=days)}
    base_days = {row.base_day for row in rows.values() if row.base_day}
    bases = {row.day: _unpacked(row.data) for row in standings.filter(day__in=base_days)}
    made: dict[date | None, dict[str, Scored]] = {base_day: {} for base_day in (None, *bases)}
    return {
        day: _standing(_unpacked(row.data), bases[row.base_day] if row.base_day else {}, made[row.base_day])
        for day, row in rows.items()
    }


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


def _standing(document: Mapping[str, Any], base: Mapping[str, Any], made: dict[str, Scored]) -> Standing:
    """`made` are findings of the base that another day has too: most days have most of them, and each is made once."""
    away = {*document["gone"], *document["findings"]}
    kept = {print_: scored for print_, scored in base.get("findings", {}).items() if print_ not in away}
    made |= {print_: Scored(*scored) for print_, scored in kept.items() if print_ not in made}
    findings = {print_: made[print_] for print_ in kept}
    findings |= {print_: Scored(*scored) for print_, scored in document["findings"].items()}
    return Standing(
        findings=findings,
        lines_of_code=document["lines"],
        worst=tuple((file, risk) for file, risk in document["worst"]),
        cap=document["cap"],
        policy=document.get("policy", base.get("policy")),
        rules=document.get("rules", base.get("rules")),
        extractor=document["extractor"],
        models=document.get("models", base.get("models", {})),
    )


def _packed(document: Mapping[str, Any]) -> bytes:
    return zlib.compress(orjson.dumps(document), 6)


def _unpacked(data: bytes | memoryview) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads(zlib.decompress(data))
    return document
