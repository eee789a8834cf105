"""What rules about `except` and `catch` read off a handler."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import DEFINITIONS, statements

TRIES = frozenset({"try_statement", "try_with_resources_statement"})
HANDLERS = frozenset({"except_clause", "catch_clause"})
_COMMENT = re.compile(r"(?:#|//|/\*|^\s*\*)([^\n]*)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_TO_TOOLS = re.compile(r"(?i)\s*(?:debt:|noqa|pylint|pragma|type:|nosec|nosonar|eslint|noinspection|todo|fixme)")
# `noqa: BLE001 - the answer must go out`, `eslint-disable-line no-empty -- may be gone`
_TO_LINTERS = re.compile(r"(?i)^\s*(?:noqa|pylint|nosec|nosonar|eslint)\b[^#\n]*?(?:\s[-\u2013\u2014]{1,2}\s|#)")
_MEANT = re.compile(r"\b(?:ignore(?:d|[A-Z]\w*)?|expected(?:[A-Z]\w*)?)\b")
_NOT_READ = re.compile(r"\b_\w*\b")  # a name that linters ask for, so it says less
_MAY_FAIL = re.compile(
    r"(?i)best[- ]effort|may (?:fail|not|be)|might|optional|ignor|can(?:not|'t)\b|not (?:critical|fatal)|no matter"
    r"|if possible|must not|should(?: not|n't)|swallow|\bin case\b|supported|\bfails?\b|fall(?:s|ing)? ?back"
)
_OF_REJECTION = re.compile(r"(?i)swallow|reject|unhandled|uncaught|error|failure")
_ABOVE = 600  # bytes before a `try` in which its comment ends
_LINES_ABOVE = re.compile(r"(?:^[ \t]*(?:#|//)[^\n]*\n)+[ \t]*\Z", re.MULTILINE)
_COMMENT_BEFORE = re.compile(
    r"(/\*(?:(?!\*/)[\s\S])*\*/|(?://[^\n]*\n\s*)+)\s*(?:@[^\n]*\n\s*)*(?:(?:export|default|async|function|public|private|protected|static"
    r"|final|const|let|[\w<>\[\]$]+\s*=)\s*)*\Z"
)
LONGEST_COMMENT = 1_000  # bytes before a function


def explaining_words(text: str) -> int:
    """How many words the comments in a text have; what speaks to tools does not count, but the reason behind it."""
    said = (_TO_LINTERS.sub("", found[1], count=1) for found in _COMMENT.finditer(text))
    return sum(len(_WORD.findall(each)) for each in said if not _TO_TOOLS.match(each))


def comment_above(attempt: Node, file: SourceFile) -> str:
    """The comment on the lines right before a `try` or another statement."""
    before = file.source[max(0, attempt.start_byte - _ABOVE) : attempt.start_byte].decode("utf-8", "replace")
    found = _LINES_ABOVE.search(before)
    return found[0] if found is not None else ""


def guarded_text(handler: Node, file: SourceFile) -> str:
    """What the `try` of a handler tries, without its brackets; what Java opens in its head stands in front."""
    attempt = handler.parent
    body = attempt.child_by_field_name("body") if attempt is not None else None
    if attempt is None or body is None:
        return ""
    opened = attempt.child_by_field_name("resources")
    head = file.text(opened)[1:-1].strip().rstrip(";") + ";\n" if opened is not None else ""
    return head + file.text(body).strip("{} \n")


def said_of_function(handler: Node, file: SourceFile) -> str:
    """The comment right before the function around a handler or another node, or its docstring."""
    function = file.enclosing_function(handler)
    if function is None:
        return ""
    if file.language == "python":
        first = next(iter(statements(function.child_by_field_name("body"))), None)
        text = file.text(first) if first is not None else ""
        return text if text.startswith(('"', "'")) else ""
    before = file.source[max(0, function.start_byte - LONGEST_COMMENT) : function.start_byte].decode("utf-8", "replace")
    found = _COMMENT_BEFORE.search(before)
    return found[1] if found is not None else ""


def says_it_may_fail(comment: str) -> bool:
    """Whether a comment speaks of failing, or of a rejection that nobody is to hear of."""
    return _MAY_FAIL.search(comment) is not None or _OF_REJECTION.search(comment) is not None


def is_explained(handler: Node, caught: str, file: SourceFile) -> bool:
    """A comment of more than one word inside, one before the `try` or last in it that says that it may fail, or a
    variable named for being ignored; where it is named for not being read, one word is enough."""
    if _MEANT.search(caught):
        return True
    enough = 1 if _NOT_READ.search(caught) else 2
    if explaining_words(comment_above(handler, file)) >= enough:
        return True
    attempt = handler.parent
    if attempt is not None and any(
        _MAY_FAIL.search(comment_above(each, file)) for each in (attempt, _only_in(attempt))
    ):
        return True
    if attempt is not None and _MAY_FAIL.search(_said_last(attempt, file)):
        return True
    return explaining_words(file.text(handler)) >= enough


def _said_last(attempt: Node, file: SourceFile) -> str:
    """The comment that a `try` ends with, right before its handler."""
    body = attempt.child_by_field_name("body")
    last = body.named_children[-1] if body is not None and body.named_child_count else None
    return file.text(last) if last is not None and "comment" in last.type else ""


def _only_in(attempt: Node) -> Node:
    """The `if` around that begins with a `try`; the `try` itself where there is none."""
    block = attempt.parent
    above = block.parent if block is not None and block.named_children[0].id == attempt.id else None
    return above if above is not None and above.type == "if_statement" else attempt


def is_caught(node: Node, file: SourceFile, kinds: re.Pattern[str]) -> bool:
    """Whether a `try` of the same function around the node has a handler for one of these kinds, or for all."""
    below, above = node, node.parent
    while above is not None and above.type not in DEFINITIONS:
        body = above.child_by_field_name("body") if above.type in TRIES else None
        if body is not None and body.id == below.id:
            clauses = (each for each in above.named_children if each.type in HANDLERS)
            if any(kinds.search(file.text(each).partition("\n")[0]) for each in clauses):
                return True
        below, above = above, above.parent
    return False
