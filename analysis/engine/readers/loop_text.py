"""What the text of the loop around a query says: whether it guards, tries, attempts or searches."""

import re
from collections.abc import Iterator

from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query
from analysis.engine.readers.reading import followed
from analysis.engine.readers.written_rows import SAVED

_GUARD = re.compile(
    r"\bif\b[^\n]*(?:\bnot in\b|!\s*\w+\.(?:has|includes)\(|\bcache|\bis None\b|not \w*cache)|\?\?=", re.IGNORECASE
)
# A map is asked before: `name, ok := known[key]`, `if !known.containsKey(key)`, `let name = known.get(key)`.
_ASKED_MAP = re.compile(
    r"\b\w+, (\w+) :?= ([\w.]+)\[[^\n]*\]|!\s*([\w.]+)\.containsKey\(|=\s*([\w.]+)\.get\([^\n]*\)(?:;|$)",
    re.MULTILINE,
)
_FILLED = re.compile(r"\[[^\n]*\] = |\.put(?:IfAbsent)?\(|\.set\(")
_BATCHED = re.compile(r"\s*(?:\}\s*)?if\b.*\w\)?\s*%\s*[\w.]+\)?\s*={2,3}\s*0\b")  # every so many rounds
_SELECTED = re.compile(r"^([ \t]*)if\s*\(?([\w$]+)(?:\.\w+)?\s*={2,3}\s*[\w.]+\)?\s*[:{]$", re.MULTILINE)
_NESTED = re.compile(r"\b(?:create|createMany|connect|connectOrCreate)\s*:")
_ATTEMPT = re.compile(r"retr(?:y|ies)(?![a-z])|(?:\b|max_?)(?:attempts?|tries|backoff)\b|\bsleep\(", re.IGNORECASE)
_TRY = re.compile(r"^[ \t]*(try)\s*[:{]|^[ \t}]*(except|catch|finally)\b", re.MULTILINE)
_HANDLER = re.compile(r"\s*(?:\}\s*catch\b|except\b)")
_CONDITION = re.compile(r"\s*(?:\}\s*)?(?:if|elif|else|case|switch)\b")
_TRANSACTION = re.compile(r"\s*(?:async )?with\b[^\n]*\b(?:atomic|begin|begin_nested)\(")  # one for each round
_FAILED = re.compile(r"\berr\w* != nil\s*\{\s*$")  # what follows leaves the loop only after an error
_LEAVES = re.compile(r"\s*(?:break|return)\b")
_GIVEN = re.compile(r"\s*(?::\s*[\w.]+\s*)?=(?!=)\s*|(?:\s*,\s*\w+)+\s*=(?!=)|\s+in\s")
_INNER = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_NEW_OBJECT = re.compile(rf"(?:\w+\.)*[A-Z]\w*[a-z]\w*\(((?:[^()]|{_INNER})*)\)(?!\s*\.)")
_BY_KEY = re.compile(r"(?<!\w)(?:pk|id)\s*=")
_REASON = re.compile(r"(?i)individual|one by one|\bhooks?\b|\bsignals?\b|\bdouble\b|on purpose|sequential|not possible")


def loop_notes(
    query: Query, loop: LoopDraft, lines: list[str], text: str, file: SourceFile
) -> Iterator[tuple[str, str]]:
    """What the text of the loop around a query says: see `query_text`."""
    first = file.lines.of(loop.node.start_byte)
    before = "\n".join(lines[first - 1 : query.line - 1])
    own = lines[query.line - 1]
    indent = indent_of(own)
    holds = {
        "guarded": _GUARD.search(before) or _GUARD.search(own) or _asks_map(before, loop, indent, file),
        "searched": _selects_row(before, loop, indent) or _ends_search(query, loop, lines, text, file),
        "retried": _ATTEMPT.search(lines[first - 1]) or "sleep(" in before,
        "tried": _is_in_try(before),
        "failed": is_in_block(_HANDLER, before, indent),
        "sometimes": is_in_block(_CONDITION, before, indent),
        "apart": is_in_block(_TRANSACTION, before, indent),
        "batched": is_in_block(_BATCHED, before, indent),
        "reasoned": _REASON.search(_comment_above(lines, query.line)),
        "nested": _NESTED.search(text),
        "made": query.orm == "django" and query.operation == "update" and _makes_row(query, before),
    }
    for name, is_so in holds.items():
        if is_so:
            yield name, "1"


def _selects_row(before: str, loop: LoopDraft, indent: int) -> bool:
    """Whether the query runs for those rows only that a comparison selects."""
    return any(match[2] in loop.variables and len(match[1]) < indent for match in _SELECTED.finditer(before))


def _makes_row(query: Query, before: str) -> bool:
    """Django: whether the round makes the object that it saves, so that each save inserts a row: `line = Line(…)`. By a
    key that is given it may find one."""
    saved = SAVED.fullmatch(query.anchor.partition("(")[0] + "(")
    given = [*followed(saved[1], before, _GIVEN, "_.")] if saved is not None and "." not in saved[1] else []
    return bool(given) and all(
        (made := _NEW_OBJECT.match(before, each.end())) is not None and not _BY_KEY.search(made[1]) for each in given
    )


def _ends_search(query: Query, loop: LoopDraft, lines: list[str], text: str, file: SourceFile) -> bool:
    """Whether the loop is left with the query's answer, or right after it unless the query failed. `text` is that of
    the query."""
    own, last = lines[query.line - 1], query.line + text.count("\n")
    if loop.kind == "for" and file.lines.of(loop.node.start_byte) < query.line and _LEAVES.match(own):
        return True
    if loop.kind == "callback" or last >= min(len(lines), file.lines.of(loop.node.end_byte - 1)):
        return False  # from a callback `return` only ends the round
    following = lines[last]
    is_left = _LEAVES.match(following) is not None and indent_of(following) >= indent_of(own)
    return is_left and not _FAILED.search(own)


def _is_in_try(before: str) -> bool:
    depth = 0
    for match in _TRY.finditer(before):
        depth = depth + 1 if match[1] else max(0, depth - 1)
    return depth > 0


def _asks_map(before: str, loop: LoopDraft, indent: int, file: SourceFile) -> bool:
    """Whether the round looks into a map above the query, and the loop fills it: what is known is not asked again.
    Where a map answers with nothing for what it does not hold, a branch holds the query."""
    if file.language not in ("go", "java") and not (".get(" in before and is_in_block(_CONDITION, before, indent)):
        return False
    body = file.text(loop.node)
    for found in _ASKED_MAP.finditer(before):
        name = found[2] or found[3] or found[4]
        if next(followed(name, body, _FILLED, "_."), None) is not None:
            return True
    return False


def is_in_block(head: re.Pattern[str], before: str, indent: int) -> bool:
    """Whether one of the blocks around a line of this indent, which follows the text, has such a head."""
    for line in reversed(before.split("\n")):
        if line.strip() and indent_of(line) < indent:
            indent = indent_of(line)
            if head.match(line):
                return True
    return False


def _comment_above(lines: list[str], line: int) -> str:
    """The comment that ends right above a line."""
    first = line - 1
    while first > 0 and lines[first - 1].lstrip().startswith(("#", "//", "*", "/*")):
        first -= 1
    return " ".join(lines[first : line - 1])


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())
