"""Rows that Go asks a method for, and makes by another one when there are none, as `risk-check-then-act` sees them.

The `data` is that of `readers.checked_calls`, which knows the tables when all files are read.
"""

import re

from tree_sitter import Node

from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.checked_calls import calls_at, noted
from analysis.engine.readers.checked_rows import NEAR, acting, decoded, knows_of_others
from analysis.engine.readers.reading import followed, text_before

_WANTED = rb"[cC]reate|[iI]nsert|[sS]ave|[aA]dd|[pP]ersist|[rR]egister|[sS]tore|[pP]ut|[eE]nrol|[bB]ook"
CHECK = re.compile(
    rb"if\s+(?:(?P<not>!)?(?P<said>\w+)|(?P<none>\w+)\s*==\s*(?:nil|0)|(?P<some>(?!err\b)\w+)\s*(?:!=\s*(?:nil|0)|>\s*0)"
    rb"|(?P<other>!)?errors\.Is\(\s*(?P<failed>\w+),\s*[\w.]+\)|(?P<missed>\w+)\s*==\s*(?:\w+\.)?[eE]rr[A-Z]\w*)\s*\{"
)
_ASKED = re.compile(r"\s*(?:,\s*\w+)?\s*:?=\s*(?P<call>(?:\w+\.)+\w+)\(")
_ACTS = re.compile(rf"(?<![\w.])(?P<call>(?:\w+\.)+\w*(?:{_WANTED.decode()})\w*)\(")
_KNOWS_OF_OTHERS = re.compile(r"\bif\b[^\n{]*(?i:unique|duplicat|conflict)[^\n{]*\{")  # what the act failed with
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_NO_VALUES = frozenset({"ctx", "c", "r", "nil", "true", "false", "tx", "err", "context"})


def go_calls(branch: Node, file: SourceFile) -> dict[str, str] | None:
    """`taken, err := s.seats.Taken(ctx, no)` and then `if taken { return errTaken }`, `s.seats.Add(ctx, seat)`."""
    check = CHECK.match(file.source, branch.start_byte)
    if check is None:
        return None
    name, is_absent = _asked_for(check)
    text, first = acting(branch, file, inside=is_absent)
    acts = calls_at(_ACTS, text, first)
    if not acts or _KNOWS_OF_OTHERS.search(text):
        return None
    near = text_before(branch, file)[-NEAR:]
    asked = list(followed(name, near, _ASKED, "_."))[-1:]
    if not asked or knows_of_others(branch, file):
        return None
    rest = near[asked[0].end() :]
    asked_for = set(_WORD.findall(rest[: closing_bracket(rest, 0)])) - _NO_VALUES
    if asked_for.isdisjoint(_WORD.findall(text)):
        return None
    line = file.line(branch) - near.count("\n", asked[0].start())
    return noted(f"{asked[0]['call']}@{line}", acts, text, first)


def _asked_for(check: re.Match[bytes]) -> tuple[str, bool]:
    """The name that a branch asks, and whether the branch is taken where there is no row."""
    if check["said"]:
        return decoded(check["said"]), bool(check["not"])
    if check["none"]:
        name = decoded(check["none"])
        return name, name != "err"  # a failure that is none tells of a row
    if check["some"]:
        return decoded(check["some"]), False
    return decoded(check["failed"] or check["missed"]), not check["other"]
