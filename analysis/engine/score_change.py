"""Why health and debt score changed between two states: signed entries that add up to the change exactly.

Health is no sum of its findings, so what each one did to it is a question of fairness. The answer here is Shapley's
value (1953) over what a score rests on: the debt part on points and lines, the severity part on weight and lines. Each
of the two causes is averaged over both orders of applying them, and the share of points or weight is spread over the
findings in proportion to their own, which is the price of Aumann and Shapley (1974) for equals. Hotspots enter health
as a sum, file by file. What caps and rounding do is told as such. In the end hundredths are given out by the largest
remainder, so the entries add up to the last digit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from analysis.engine.globs import glob
from analysis.engine.model import Volume
from analysis.engine.scoring import (
    DEBT_SHARE,
    HOTSPOT_SHARE,
    SEVERITY_SHARE,
    WORST_FILES,
    debt_part,
    debt_ratio,
    debt_score,
    severity_part,
)
from analysis.engine.standing import EXPIRED_AGAIN, SUPPRESSED, Scored, Standing
from analysis.engine.volumes import Volumes

# Rules that read layers or the style of architecture: when these change, so do their findings.
READ_LAYERS = frozenset({"arch-layer-violation", "arch-domain-imports-framework", "arch-controller-uses-orm"})

Score = Callable[[int, int], float]  # of an amount (points or weight) and lines of code


class Cause(StrEnum):
    """Why a score moved. `rounding`: health is a whole number; `other`: the sum of what is not listed."""

    FINDING_ADDED = "finding_added"
    FINDING_FIXED = "finding_fixed"
    FINDING_CHANGED = "finding_changed"
    SUPPRESSED = "suppressed"
    SUPPRESSION_LIFTED = "suppression_lifted"
    EXCEPTION_EXPIRED = "exception_expired"
    POLICY_CHANGE = "policy_change"
    ENGINE_UPGRADE = "engine_upgrade"
    CODE_SIZE = "code_size"
    HOTSPOT = "hotspot"
    CAP = "cap"
    ROUNDING = "rounding"
    OTHER = "other"


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One cause with its place. `health` and `debt_score` are what it added, in points of each score."""

    cause: Cause
    message: str
    health: float = 0.0
    debt_score: float = 0.0
    rule: str = ""
    severity: str = ""
    file: str = ""
    line: int = 0
    fingerprint: str = ""
    count: int = 1  # how many entries an `other` stands for


@dataclass(frozen=True, slots=True)
class _Shares:
    """What moving from one state to another costs: per tenth of a point, per hundredth of weight, and by size."""

    per_point: float
    per_weight: float
    debt_per_point: float
    of_size: float
    debt_of_size: float


def explain_change(before: Standing, after: Standing, *, limit: int) -> list[Entry]:
    """At most `limit` entries, the largest first, then one for the rest and one for rounding. Their `health` adds up
    to the change of the whole numbers, their `debt_score` to that of the scores of two decimals."""
    entries = sorted(_entries(before, after), key=_size)
    if len(entries) > limit:
        entries = [*entries[:limit], _rest(entries[limit:])]
    entries += _of_rounding(before, after)
    health = _given_out([entry.health for entry in entries], 100 * (after.health - before.health))
    debt = _given_out([entry.debt_score for entry in entries], _hundredths(after) - _hundredths(before))
    return [
        replace(entry, health=one / 100, debt_score=other / 100)
        for entry, one, other in zip(entries, health, debt, strict=True)
    ]


def _entries(before: Standing, after: Standing) -> Iterator[Entry]:
    shares = _shares(before, after)
    yield from _of_findings(before, after, shares)
    if before.lines_of_code != after.lines_of_code:
        grown = after.lines_of_code - before.lines_of_code
        message = f"{abs(grown):,} {'more' if grown > 0 else 'fewer'} lines of code, {after.lines_of_code:,} now"
        yield Entry(Cause.CODE_SIZE, message, shares.of_size, shares.debt_of_size)
    yield from _of_hotspots(before, after)
    yield from _of_caps(before, after)


def _shares(before: Standing, after: Standing) -> _Shares:
    points = (before.points_tenths, after.points_tenths)
    weights = (before.weight_hundredths, after.weight_hundredths)
    lines = (before.lines_of_code, after.lines_of_code)
    per_point, debt_by_lines = _shapley(_debt_health, points, lines)
    per_weight, weight_by_lines = _shapley(_severity_health, weights, lines)
    debt_per_point, debt_of_size = _shapley(debt_score, points, lines)
    return _Shares(per_point, per_weight, debt_per_point, debt_by_lines + weight_by_lines, debt_of_size)


def _debt_health(points: int, lines: int) -> float:
    return DEBT_SHARE * debt_part(debt_ratio(debt_score(points, lines)))


def _severity_health(weight: int, lines: int) -> float:
    return SEVERITY_SHARE * severity_part(weight, lines)


def _shapley(score: Score, amounts: tuple[int, int], lines: tuple[int, int]) -> tuple[float, float]:
    """What a unit of the amount did to a score, and what the lines did: each averaged over both orders."""
    (old, new), (few, many) = amounts, lines
    change = score(new, many) - score(old, few)
    if old == new:  # findings came and went in balance: the price is the slope
        price = (score(old + 1, few) - score(old, few) + score(old + 1, many) - score(old, many)) / 2
        return price, change
    by_amount = (score(new, few) - score(old, few) + score(new, many) - score(old, many)) / 2
    return by_amount / (new - old), change - by_amount


def _of_findings(before: Standing, after: Standing, shares: _Shares) -> Iterator[Entry]:
    causes = _Causes(before, after)
    prints = (before.findings.keys() | after.findings.keys()) - _moved(before, after)
    for print_ in sorted(each for each in prints if before.findings.get(each) != after.findings.get(each)):
        old, new = before.findings.get(print_), after.findings.get(print_)
        points = (new.points if new else 0) - (old.points if old else 0)
        weight = (new.weight if new else 0) - (old.weight if old else 0)
        known = new or old
        if known is None or not (points or weight):
            continue
        yield Entry(
            cause=causes.of(old, new),
            message=known.message,
            health=points * shares.per_point + weight * shares.per_weight,
            debt_score=points * shares.debt_per_point,
            rule=known.rule,
            severity=known.severity,
            file=known.file,
            line=known.line,
            fingerprint=print_,
        )


def _moved(before: Standing, after: Standing) -> set[str]:
    """Findings that left one place and came to another, the same in all that counts: together they moved nothing."""
    gone: dict[tuple[object, ...], list[str]] = {}
    for print_ in before.findings.keys() - after.findings.keys():
        gone.setdefault(_likeness(before.findings[print_]), []).append(print_)
    moved: set[str] = set()
    for print_ in sorted(after.findings.keys() - before.findings.keys()):
        twins = gone.get(_likeness(after.findings[print_]))
        if twins:
            moved |= {print_, twins.pop()}
    return moved


def _likeness(finding: Scored) -> tuple[object, ...]:
    return finding.rule, finding.message, finding.state, finding.points, finding.weight


class _Causes:
    """Tells why a finding came, went or weighs otherwise. The engine goes first, then the policy, then the code."""

    def __init__(self, before: Standing, after: Standing) -> None:
        rules = before.rules.keys() | after.rules.keys()
        self._changed_rules = {rule for rule in rules if before.rules.get(rule) != after.rules.get(rule)}
        self._new_extractor = before.extractor != after.extractor
        one, other = before.policy, after.policy
        self._layers = any(one.get(name) != other.get(name) for name in ("layers", "architecture"))
        self._volumes = [_volumes_of(policy) for policy in (one, other)]
        self._models = {**before.models, **after.models}
        exceptions = (one.get("exceptions", []), other.get("exceptions", []))
        self._exceptions = [
            entry for side in exceptions for entry in side if (entry in exceptions[0]) != (entry in exceptions[1])
        ]

    def of(self, old: Scored | None, new: Scored | None) -> Cause:
        """The cause of one difference; at least one of the two is there."""
        known = new or old
        assert known is not None  # noqa: S101
        if known.rule in self._changed_rules or (self._new_extractor and old and new and old.message != new.message):
            return Cause.ENGINE_UPGRADE
        if old and new and old.state == SUPPRESSED and new.state == EXPIRED_AGAIN:
            return Cause.EXCEPTION_EXPIRED
        if self._is_by_policy(old, new, known):
            return Cause.POLICY_CHANGE
        if old is None:
            return Cause.FINDING_ADDED
        if new is None:
            return Cause.FINDING_FIXED
        if (old.state == SUPPRESSED) == (new.state == SUPPRESSED):
            return Cause.FINDING_CHANGED
        return Cause.SUPPRESSED if new.state == SUPPRESSED else Cause.SUPPRESSION_LIFTED

    def _is_by_policy(self, old: Scored | None, new: Scored | None, known: Scored) -> bool:
        if old and new and (old.state == SUPPRESSED) != (new.state == SUPPRESSED):
            return any(
                entry["rule"] == known.rule and glob(entry["file"]).matches(known.file) for entry in self._exceptions
            )
        if old and new and old.volume != new.volume:
            return True
        if self._layers and known.rule in READ_LAYERS:
            return True
        return bool(known.table) and self._is_resized(known.table)

    def _is_resized(self, table: str) -> bool:
        old, new = (volumes.of(table, self._models.get(table, "")) for volumes in self._volumes)
        return old != new


def _volumes_of(policy: Mapping[str, Any]) -> Volumes:
    return Volumes({name: Volume(size) for name, size in policy.get("data_volumes", {}).items()})


def _of_hotspots(before: Standing, after: Standing) -> Iterator[Entry]:
    was, is_ = dict(before.worst), dict(after.worst)
    for file in sorted(was.keys() | is_.keys()):
        risk, old = is_.get(file, 0), was.get(file, 0)
        if risk == old:
            continue
        if not old:
            message = f"Now one of the {WORST_FILES} riskiest files, risk {risk}"
        elif not risk:
            message = f"No longer one of the {WORST_FILES} riskiest files, risk was {old}"
        else:
            message = f"Risk {risk}, was {old}, among the {WORST_FILES} riskiest files"
        yield Entry(Cause.HOTSPOT, message, HOTSPOT_SHARE * (old - risk) / WORST_FILES, file=file)


def _of_caps(before: Standing, after: Standing) -> Iterator[Entry]:
    held, was_held = after.health - round(after.raw_health), before.health - round(before.raw_health)
    if held == was_held:
        return
    if held:
        message = (
            f"Health is held at {after.cap} while such grave findings are open; without them {round(after.raw_health)}"
        )
    else:
        message = f"Health is no longer held at {before.cap}"
    yield Entry(Cause.CAP, message, held - was_held)


def _of_rounding(before: Standing, after: Standing) -> Iterator[Entry]:
    rounding = (round(after.raw_health) - after.raw_health) - (round(before.raw_health) - before.raw_health)
    if rounding:
        yield Entry(Cause.ROUNDING, "Health is shown as a whole number", rounding)


def _rest(entries: Sequence[Entry]) -> Entry:
    return Entry(
        Cause.OTHER,
        f"{len(entries):,} smaller changes",
        sum(entry.health for entry in entries),
        sum(entry.debt_score for entry in entries),
        count=len(entries),
    )


def _size(entry: Entry) -> tuple[float, float, str, int, str]:
    return -abs(entry.health), -abs(entry.debt_score), entry.file, entry.line, entry.message


def _hundredths(state: Standing) -> int:
    return round(round(debt_score(state.points_tenths, state.lines_of_code), 2) * 100)


def _given_out(shares: Sequence[float], total: int) -> list[int]:
    """Shares as whole hundredths that add up to `total`: rounded down, the rest to the largest remainders."""
    exact = [share * 100 for share in shares]
    whole = [int(value // 1) for value in exact]
    missing = total - sum(whole)
    by_remainder = sorted(range(len(exact)), key=lambda index: (whole[index] - exact[index], index))
    for step in range(abs(missing)):
        whole[by_remainder[step % len(exact)]] += 1 if missing > 0 else -1
    return whole
