"""How the scores of a repository came from one day to another."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from uuid import UUID

from analysis.engine.score_change import Entry, explain_change
from analysis.models import Repository, Snapshot
from analysis.services.standings import load_standings


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """Two snapshots and what lies between them; `ids` are those of stored violations by fingerprint."""

    before: Snapshot | None
    after: Snapshot | None
    entries: tuple[Entry, ...]
    ids: dict[str, str]


def score_change(repository: Repository, *, since: date | None, until: date | None, limit: int) -> ScoreChange:
    """From the last snapshot of `since` or earlier to that of `until` or earlier; left out, the last two. Five
    queries."""
    snapshots = repository.snapshots.order_by("-day")
    after = (snapshots.filter(day__lte=until) if until else snapshots).first()
    if after is None:
        return ScoreChange(None, None, (), {})
    before = (snapshots.filter(day__lte=since) if since else snapshots.filter(day__lt=after.day)).first()
    if before is None:
        return ScoreChange(None, after, (), {})
    entries = _entries(repository.pk, repository.updated_at, before.day, after.day, limit)
    return ScoreChange(before, after, entries, _ids(repository, entries))


@lru_cache(
    maxsize=256
)  # tens of thousands of findings are compared for a few entries; not again until the results change
def _entries(repository_id: UUID, version: datetime, before: date, after: date, limit: int) -> tuple[Entry, ...]:
    standings = load_standings(repository_id, [before, after])
    return tuple(explain_change(standings[before], standings[after], limit=limit))


def _ids(repository: Repository, entries: Iterable[Entry]) -> dict[str, str]:
    prints = [entry.fingerprint for entry in entries if entry.fingerprint]
    rows = repository.violations.filter(fingerprint__in=prints).values_list("fingerprint", "pk")
    return {fingerprint: str(pk) for fingerprint, pk in rows}
