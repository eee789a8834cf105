"""How the scores of a repository came from one day to another."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from uuid import UUID

from django.db.models import CharField, DateField, Exists, OuterRef

from analysis.engine.score_change import Entry, explain_change
from analysis.models import DayStanding, Repository, Snapshot, Violation
from analysis.services.standings import compared_standings
from config.compiled import CompiledQuery, Key

_STANDING = DayStanding.objects.filter(repository=OuterRef("repository"), day=OuterRef("day"))
# Snapshots stay longer than what they rest on (settings.RETENTION).
_LAST_OF = CompiledQuery(
    lambda: Snapshot.objects.filter(
        Exists(_STANDING), repository=Key("repository"), day__lte=Key("day", DateField())
    ).order_by("-day")[:1]
)


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """Two snapshots and what lies between them; `ids` are those of stored violations by fingerprint."""

    before: Snapshot | None
    after: Snapshot | None
    entries: tuple[Entry, ...]
    ids: dict[str, str]


def score_change(repository: Repository, *, since: date | None, until: date | None, limit: int) -> ScoreChange:
    """From the last snapshot of `since` or earlier to that of `until` or earlier; left out, the last two. Those that
    cannot be explained any more count as none. At most five queries."""
    after = _LAST_OF.first(repository=repository.pk, day=until or date.max)
    if after is None:
        return ScoreChange(None, None, (), {})
    before = _LAST_OF.first(repository=repository.pk, day=since or after.day - timedelta(days=1))
    if before is None:
        return ScoreChange(None, after, (), {})
    entries = _entries(repository.pk, repository.updated_at, before.day, after.day, limit)
    return ScoreChange(before, after, entries, _ids(repository, entries))


# Tens of thousands of findings are compared for a few entries; not again until the results change.
@lru_cache(maxsize=256)
def _entries(repository_id: UUID, version: datetime, before: date, after: date, limit: int) -> tuple[Entry, ...]:
    return tuple(explain_change(*compared_standings(repository_id, before, after), limit=limit))


def _ids(repository: Repository, entries: Iterable[Entry]) -> dict[str, str]:
    prints = [entry.fingerprint for entry in entries if entry.fingerprint]
    keys = {f"print_{number}": print_ for number, print_ in enumerate(prints)}
    rows = _violations(tuple(keys)).all(repository=repository.pk, **keys) if keys else []
    return {fingerprint: str(pk) for fingerprint, pk in rows}


@cache
def _violations(prints: tuple[str, ...]) -> CompiledQuery[tuple[str, UUID]]:
    """Those of so many fingerprints."""
    keys = [Key(name, CharField()) for name in prints]
    rows = Violation.objects.filter(repository=Key("repository"), fingerprint__in=keys)
    return CompiledQuery(lambda: rows.values_list("fingerprint", "pk"))
