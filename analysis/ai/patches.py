"""A patch that a model proposes is believed only when it is a unified diff of the one file in question and applies.

Models count lines badly but quote them well. So the numbers in hunk headers are taken as hints: a hunk applies where
its old lines stand, at the place it names or at the only other place where they do. What is handed out is a new diff of
the file before and after, which applies as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from analysis.ai.redaction import REDACTED

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.S)
_ODD_NAME = re.compile(r'["\\\x00-\x1f\x7f]')
NO_NEWLINE = "\\ No newline at end of file\n"
MOST_HUNKS = 50
MOST_LINES = 20_000


class _NotAPatch(Exception):
    """Not a unified diff of this file, or one that does not apply."""


@dataclass(frozen=True, slots=True)
class _Hunk:
    start: int  # 1 is the first line
    old: list[str]
    new: list[str]


def checked_patch(proposed: str | None, *, path: str, text: str) -> str | None:
    """A diff that `git apply` takes and that changes `text`, the content of `path`; None unless that is proposed."""
    if not proposed or REDACTED in proposed or _ODD_NAME.search(path) or text.count("\n") > MOST_LINES:
        return None
    try:
        hunks = _hunks(proposed, path)
        ending = "\r\n" if "\r\n" in text else "\n"
        before = _split(text)
        after = _applied(hunks, before, ending)
    except _NotAPatch:
        return None
    return _diff(before, after, path) if after != before else None


def _split(text: str) -> list[str]:
    """Lines with their ends. Only a line feed ends a line, as in git."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _hunks(proposed: str, path: str) -> list[_Hunk]:
    fenced = _FENCE.match(proposed)
    lines = (fenced[1] if fenced else proposed).replace("\r\n", "\n").strip("\n").split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
    _require_file(lines[:first], path)
    hunks: list[_Hunk] = []
    for line in lines[first:]:
        if header := _HUNK.match(line):
            hunks.append(_Hunk(int(header[1]), [], []))
        else:
            _take(hunks[-1] if hunks else None, line)
    if not hunks or len(hunks) > MOST_HUNKS:
        raise _NotAPatch
    return hunks


def _require_file(header: Sequence[str], path: str) -> None:
    """Exactly one --- and one +++ line, both naming the file, and nothing that creates, renames or deletes it."""
    names = [(line[:4], line[4:].split("\t")[0].strip()) for line in header if line.startswith(("--- ", "+++ "))]
    if [mark for mark, _ in names] != ["--- ", "+++ "]:
        raise _NotAPatch
    (_, old), (_, new) = names
    if old not in (path, f"a/{path}") or new not in (path, f"b/{path}"):
        raise _NotAPatch
    others = [line for line in header if line and not line.startswith(("--- ", "+++ ", "diff --git ", "index "))]
    if others:
        raise _NotAPatch


def _take(hunk: _Hunk | None, line: str) -> None:
    kind, rest = line[:1], line[1:]
    if hunk is None or kind not in ("", " ", "+", "-", "\\"):
        raise _NotAPatch
    # An empty line is a context line whose blank got lost on the way.
    if kind in ("", " ", "-"):
        hunk.old.append(rest)
    if kind in ("", " ", "+"):
        hunk.new.append(rest)


def _applied(hunks: Sequence[_Hunk], before: Sequence[str], ending: str) -> list[str]:
    bare = [line.rstrip("\r\n") for line in before]
    after: list[str] = []
    reached = 0
    for hunk in hunks:
        at = _place(hunk, bare, reached)
        after += before[reached:at]
        after += _replaced(hunk, before[at : at + len(hunk.old)], ending)
        reached = at + len(hunk.old)
    after += before[reached:]
    return [
        line if line.endswith("\n") or number == len(after) else line + ending for number, line in enumerate(after, 1)
    ]


def _place(hunk: _Hunk, bare: Sequence[str], reached: int) -> int:
    """Where the old lines stand at or after `reached`: as named, or at the only place there is."""
    if not hunk.old:
        raise _NotAPatch  # nothing says where this belongs
    size = len(hunk.old)
    named = hunk.start - 1
    if named >= reached and list(bare[named : named + size]) == hunk.old:
        return named
    places = [at for at in range(reached, len(bare) - size + 1) if list(bare[at : at + size]) == hunk.old]
    if len(places) != 1:
        raise _NotAPatch
    return places[0]


def _replaced(hunk: _Hunk, old: Sequence[str], ending: str) -> list[str]:
    """The new lines; those that were there before keep the end that they had."""
    kept = dict(zip(hunk.old, old, strict=True))
    return [kept.get(line, line + ending) for line in hunk.new]


def _diff(before: Sequence[str], after: Sequence[str], path: str) -> str:
    # git marks the end of a name that holds a blank by a tab.
    end = "\t" if " " in path else ""
    lines = unified_diff(before, after, f"a/{path}{end}", f"b/{path}{end}")
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)
