"""Handlers that do nothing about what they catch, and what is tried in front of them."""

import re
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.answers import only_closes, only_tells
from analysis.engine.readers.handlers import guarded_text
from analysis.engine.readers.reading import CALLS, function_name, statements, text_after, within
from analysis.engine.rules.base import SCRIPT

_BROAD = re.compile(r"\b(Exception|BaseException|Throwable|RuntimeException)\b")
_EMPTY_RETURN = re.compile(r"return(\s+(None|null|undefined|false|False))?;?\s*")
_NOTHING = re.compile(r"(pass|\.\.\.|continue;?|;)\s*")
_NO = re.compile(rb"\s*return\s+(?:False|None|false|null)\b")
_GIVES = re.compile(r"\breturn\s+\S")
WRITES = re.compile(
    r"(?<!hash\.)(?<!hmac\.)(?<!\)\.)(?:(?<=\.)delete\s*\(|\b(save|create|insert|update|commit|execute|charge|capture|refund|pay\w*|ack\w*)\s*\()"
)
# A file that stays behind is no lost row: `fileSystem.delete(path)`, but not `fileRepository.delete(file)`.
_REMOVES_FILES = re.compile(
    r"\b\w*?(?:[fF]s|[hH]dfs|[fF]iles?|[dD]ir(?:ectory)?|[fF]older|[pP]ath)(?:System|Operator|Operations|Utils?)?(?:\(\))?"
    r"\s*\.delete\s*\("
)
# A statement that only reads: `cursor.execute("SELECT ...")`, `session.execute(select(Order))`.
_READS_ROWS = re.compile(
    r"""\bexecute\s*\(\s*(?:\w+\.)?(?:text\s*\(\s*)?[rRbBfFuU]?["'`]*\s*(?i:SELECT|SHOW|EXPLAIN|PRAGMA|DESCRIBE)\b"""
)
SENDS = re.compile(r"\.(?:post|put|patch|send|publish|enqueue|delay|apply_async|produce)\w*\(|\bsend_\w+\(")
_REST_OF_LINE = re.compile(r"#[^\n]*")
_COMPOUND = frozenset({"if_statement", "for_statement", "while_statement", "with_statement", "try_statement"})
# What fills a list of the function, waits, checks, or speaks to a browser's event.
_LOCAL = re.compile(
    r"(?:\.(?:append|extend|push|preventDefault|stopPropagation)|\bsleep)\([^\n]*\);?\Z"
    r"|(?:await\s+)?[\w.]*?(?:assert|validate|check|ensure)(?=[A-Z_])"
)


@dataclass(frozen=True)
class SilentHandler:
    """A handler that does nothing about the error, or gives nothing because of it."""

    node: Node
    caught: str  # the header, as it is written
    held: list[Node]  # its statements
    is_broad: bool  # it takes every error; script has no other handlers
    file: SourceFile

    @cached_property
    def does_nothing(self) -> bool:
        return all(_NOTHING.fullmatch(self.file.text(each)) for each in self.held)

    @cached_property
    def gives_up(self) -> bool:
        return self.is_broad and len(self.held) == 1 and bool(_EMPTY_RETURN.fullmatch(self.file.text(self.held[0])))

    @cached_property
    def guarded(self) -> str:
        """What is tried, as text."""
        return guarded_text(self.node, self.file)

    @cached_property
    def function(self) -> str:
        return function_name(self.node, self.file)

    @property
    def is_script(self) -> bool:
        return self.file.language in SCRIPT

    @property
    def attempt(self) -> Node:
        return self.node.parent or self.node

    @cached_property
    def writes(self) -> bool:
        return WRITES.search(_READS_ROWS.sub("", _REMOVES_FILES.sub("", self.guarded))) is not None

    @cached_property
    def has_effect(self) -> bool:
        """Whether something is called for what it does, not for what it gives: that work is lost."""
        body = self.attempt.child_by_field_name("body")
        return body is not None and any(_is_done(each, self.file) for each in within(body))

    @cached_property
    def is_one_step(self) -> bool:
        """Whether one plain statement is all that is tried."""
        tried = statements(self.attempt.child_by_field_name("body"))
        return len(tried) == 1 and tried[0].type not in _COMPOUND

    @cached_property
    def gives_result(self) -> bool:
        """Whether the function gives something back in what is tried."""
        return _GIVES.search(self.guarded) is not None

    @cached_property
    def says_no_behind(self) -> bool:
        """Whether nothing, or no, is what the function gives behind it all."""
        return _NO.match(self.file.source, self.attempt.end_byte) is not None

    @cached_property
    def has_another_way(self) -> bool:
        """Whether the function gives back what it tries for, and goes on with another way to it when that fails."""
        if not self.gives_result or self.says_no_behind:
            return False
        return bool(text_after(self.attempt, self.file).strip("} \n"))


def handler_that_does_nothing(node: Node, file: SourceFile) -> SilentHandler | None:
    """The handler, when it does nothing about what it catches."""
    body = node.child_by_field_name("body") or node.named_child(node.named_child_count - 1)
    if body is None or "block" not in body.type:
        return None
    caught = _REST_OF_LINE.sub("", file.source[node.start_byte : body.start_byte].decode("utf-8", "replace"))
    held = [each for each in body.named_children if "comment" not in each.type]
    names_none = not re.search(r"\w", caught.removeprefix("except").removeprefix("catch"))
    is_broad = bool(_BROAD.search(caught)) or names_none or file.language in SCRIPT
    handler = SilentHandler(node, caught, held, is_broad, file)
    return handler if handler.does_nothing or handler.gives_up else None


def _is_done(statement: Node, file: SourceFile) -> bool:
    if statement.type != "expression_statement" or not statement.named_child_count:
        return False
    done = statement.named_children[0]
    if done.type in ("await", "await_expression") and done.named_child_count:
        done = done.named_children[0]
    text = file.text(statement)
    return done.type in CALLS and not (_LOCAL.search(text) or only_closes(text) or only_tells(text))
