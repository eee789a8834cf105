"""The identity of a finding: what stays the same when lines move and files are renamed (rules.md 1.1)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

from analysis.engine.model import Finding

DIGEST_BYTES = 16


def origins(paths: Iterable[str], aliases: Mapping[str, str]) -> dict[str, str]:
    """Each path's name for fingerprints: the first name that it was known by, unique among `paths`.

    When `a` became `b` and a new `a` was made, `b` keeps the name `a` and the new file gets one of its own.
    """
    present = sorted(paths)
    claimed: set[str] = set()
    found: dict[str, str] = {}
    for path in present:
        alias = aliases.get(path, path)
        if alias != path and alias not in claimed:
            claimed.add(alias)
            found[path] = alias
    for path in present:
        if path not in found:
            found[path] = path if path not in claimed else f"{path}\0new"
    return found


class Seen(NamedTuple):
    """What two states know of a finding."""

    fingerprint: str
    rule: str
    file: str
    function: str
    line: int
    message: str


def renamed(gone: Iterable[Seen], come: Iterable[Seen], names: Callable[[str], Collection[str]]) -> dict[str, str]:
    """Fingerprint now to fingerprint before, of findings whose function has another name now.

    `names` gives the functions that a file has now: a function that is still there was not renamed. Findings pair up
    in the order of their lines when rule, file and message agree, the names in it left out.
    """
    waiting: dict[tuple[str, ...], list[Seen]] = {}
    for old in sorted(gone, key=_by_line):
        if old.function not in names(old.file):
            waiting.setdefault(_likeness(old), []).append(old)
    pairs = {}
    for new in sorted(come, key=_by_line):
        olds = waiting.get(_likeness(new))
        if olds:
            pairs[new.fingerprint] = olds.pop(0).fingerprint
    return pairs


def _likeness(seen: Seen) -> tuple[str, str, str]:
    without = seen.message.replace(seen.function, "").replace(seen.function.rpartition(".")[2], "")
    return seen.rule, seen.file, without


def _by_line(seen: Seen) -> tuple[str, int, str]:
    return seen.file, seen.line, seen.fingerprint


class Fingerprints:
    """Gives out the fingerprints of one file's findings, which come in the order of their lines."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._seen: Counter[bytes] = Counter()

    def of(self, finding: Finding) -> str:
        """32 hexadecimal digits over rule, origin, function, statement, and an ordinal among equal ones."""
        parts = (finding.rule_id, self._origin, finding.function, finding.anchor)
        identity = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        ordinal = self._seen[identity]
        self._seen[identity] = ordinal + 1
        return blake2b(b"%s\x1f%d" % (identity, ordinal), digest_size=DIGEST_BYTES).hexdigest()
