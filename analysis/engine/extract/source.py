"""The file as local rules see it: text, tree, names resolved through its imports, and where a node stands."""

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from tree_sitter import Node, Tree

from analysis.engine.extract.loops import WORD, dependents
from analysis.engine.extract.scopes import FunctionDraft, LoopDraft, Scope
from analysis.engine.extract.text import Lines
from analysis.engine.facts import Class, Entry, FunctionFlag, Mark, Model, Query

if TYPE_CHECKING:
    from analysis.engine.extract.dialect import ClassHeader, Dialect

LONGEST_ANCHOR = 80  # characters; longer ones are hashed

_BLOCKS = frozenset(
    [
        "module",
        "block",
        "program",
        "statement_block",
        "class_body",
        "source_file",
        "switch_case",
        "switch_default",
        "case_clause",
        "switch_block_statement_group",
        "expression_case",
        "default_case",
        "type_case",
        "communication_case",
        "interface_body",
        "enum_body",
        "enum_body_declarations",
        "object_type",
        "constructor_body",
        "statement_list",
        "ERROR",
    ]
)
_CLAUSES = frozenset({"except_clause", "catch_clause", "finally_clause", "elif_clause", "else_clause"})
_BODIES = frozenset({"block", "statement_block", "class_body", "constructor_body", "interface_body", "enum_body"})
_DEFINITIONS = frozenset({"function", "closure"})
_LITERAL = re.compile(
    rb"""[rRbBfFuU]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|`[^`]*`""", re.DOTALL
)
_DIGITS, _BLANKS = b"0123456789", b" \t\n\r\x0b\x0c"
_BLANK = bytes(each if each in b"\n\r" else ord(" ") for each in range(256))
_NUMBER = re.compile(rb"(?<![\w.])\d[\w.]*")


class SourceFile:
    """One parsed file. Rules get it beside the node they watch; nothing in it may be changed by them.

    `source` is UTF-8 (mostly: bytes that are not UTF-8 may stand in it), `tree` its tree, `language` as in FileFacts.
    """

    def __init__(self, language: str, source: bytes, tree: Tree, lines: Lines, dialect: "Dialect") -> None:
        self.language = language
        self.source = source
        self.tree = tree
        self.lines = lines
        self.dialect = dialect
        self.bindings: dict[str, str] = {}  # local name to full name, from the imports
        self.callees: dict[int, str] = {}  # of the calls, by the id of the node
        self.calls: list[Node] = []
        self.call_names: list[str] = []
        self.headers: dict[int, ClassHeader] = {}  # of the classes, by the id of the node
        self.scopes: list[Scope] = []
        self.functions: list[FunctionDraft] = []
        self.loops: list[LoopDraft] = []
        self.exports: dict[str, None] = {}
        self.classes: list[Class] = []
        self.entries: list[Entry] = []
        self.queries: list[Query] = []
        self.query_variables: set[str] = set()
        self.query_spans: dict[
            tuple[int, str, str], tuple[int, int]
        ] = {}  # bytes of the queries, by line, anchor, model
        self.models: list[Model] = []  # those that calls define
        self.prose: list[tuple[int, int]] = []  # bytes of the comments and docstrings
        self._mentions: dict[bytes, bool] = {}
        self._starts: list[int] | None = None

    # Text and names

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    @cached_property
    def code(self) -> bytes:
        """The source with blanks in place of comments and docstrings, byte for byte: what a search finds is code."""
        pieces: list[bytes] = []
        position = 0
        for start, end in sorted(self.prose):
            pieces += self.source[position:start], self.source[start:end].translate(_BLANK)
            position = end
        return b"".join((*pieces, self.source[position:]))

    def mentions(self, word: bytes) -> bool:
        """Whether the word stands anywhere in the source: a cheap first question, its answer is kept."""
        known = self._mentions.get(word)
        if known is None:
            known = self._mentions[word] = word in self.source
        return known

    def line(self, node: Node) -> int:
        return self.lines.of(node.start_byte)

    def resolve(self, dotted: str) -> str:
        """A name as written, with its first segment replaced by what the file's imports bind to it."""
        head, dot, rest = dotted.partition(".")
        bound = self.bindings.get(head)
        return bound + dot + rest if bound is not None else dotted

    def callee(self, call: Node) -> str:
        """Full name of what a call calls; arguments inside a chain are left out: `Order.objects.filter().first`."""
        if not self.callees:
            self.callees = dict(zip([each.id for each in self.calls], self.call_names, strict=True))
        if known := self.callees.get(call.id):
            return known
        start, end = self.dialect.callee(call)
        return self.resolve(plain_name(self.source[start:end]))

    def arguments(self, call: Node) -> tuple[list[Node], dict[str, Node]]:
        """Positional argument nodes and keyword arguments by name. Splats are positional (`*args`, `...rest`);
        `**options` stands under the keyword `**`."""
        positional: list[Node] = []
        keywords: dict[str, Node] = {}
        listed = call.child_by_field_name("arguments")
        for each in listed.named_children if listed is not None else ():
            if each.type == "keyword_argument":
                name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
                if name is not None and value is not None:
                    keywords[self.text(name)] = value
            elif each.type == "dictionary_splat":
                keywords["**"] = each
            elif "comment" not in each.type:
                positional.append(each)
        return positional, keywords

    # Where a node stands

    def scope_of(self, node: Node) -> Scope:
        """The innermost scope that holds the whole node."""
        return self.scope_at(node.start_byte, node.end_byte)

    def scope_at(self, start: int, end: int) -> Scope:
        """The innermost scope that holds these bytes."""
        if self._starts is None or len(self._starts) != len(self.scopes):
            self._starts = [scope.start for scope in self.scopes]
        scope = self.scopes[max(0, bisect_right(self._starts, start) - 1)]
        while scope.parent is not None and (scope.end < end or scope.end <= start):
            scope = scope.parent
        return scope

    def function_of(self, node: Node) -> int:
        """Index of the function that the node belongs to; a function belongs to itself."""
        return self.scope_of(node).function.index

    def enclosing_function(self, node: Node) -> Node | None:
        """The innermost function, method, lambda or arrow function around the node, not the node itself."""
        scope: Scope | None = self.scope_of(node)
        while scope is not None:
            if scope.kind in _DEFINITIONS and not (scope.start == node.start_byte and scope.end == node.end_byte):
                return scope.node
            scope = scope.parent
        return None

    def loop_of(self, node: Node) -> LoopDraft | None:
        """The innermost loop whose rounds run the node; the iterable of a loop is outside it."""
        return innermost_loop(self.scope_of(node), node.start_byte)

    def in_loop(self, node: Node) -> bool:
        """Whether a loop of the same function (closures count as functions here) runs the node again and again."""
        if not self.loops:
            return False
        scope: Scope | None = self.scope_of(node)
        start = node.start_byte
        while scope is not None and scope.kind not in _DEFINITIONS:
            loop = scope.loop
            if (
                scope.kind in ("loop", "comprehension")
                and loop is not None
                and scope.node.id != node.id
                and not loop.head_start <= start < loop.head_end
            ):
                return True
            scope = scope.parent
        return False

    def depends_on(self, loop: LoopDraft, node: Node) -> bool:
        """Whether the node's text names something that changes with every round of the loop."""
        text = self.source[node.start_byte : node.end_byte]
        return not dependents(loop, self.source).isdisjoint(WORD.findall(text))

    def in_async(self, node: Node) -> bool:
        return self.scope_of(node).is_async

    def is_in(self, node: Node, kind: str) -> bool:
        """Whether a scope of this kind (see `Scope`) lies around the node inside its own function. `class` looks
        through functions."""
        scope: Scope | None = self.scope_of(node)
        while scope is not None:
            if scope.kind == kind and scope.node.id != node.id:
                return True
            if scope.kind in _DEFINITIONS and kind != "class":
                return False
            scope = scope.parent
        return False

    def in_test(self, node: Node) -> bool:
        """Whether the function is named or annotated as a test."""
        return bool(self.scope_of(node).function.flags & FunctionFlag.TEST)

    def statement_of(self, node: Node) -> Node:
        """The statement, or member of a class, or `except` or `catch` clause, that holds the node."""
        scope: Scope | None = self.scope_of(node)
        while scope is not None:
            path = _path(scope.node, node)
            for inner, outer in pairwise(reversed(path)):
                if inner.type in _CLAUSES or outer.type in _BLOCKS:
                    return inner
            node, scope = path[0], scope.parent
        return node

    def parent_of(self, node: Node) -> Node | None:
        """`node.parent` walks down from the root; this one from the scope around the node."""
        scope = self.scope_of(node)
        if scope.node.id == node.id and scope.parent is not None:
            scope = scope.parent
        path = _path(scope.node, node)
        return path[-2] if len(path) > 1 else node.parent

    # Marks

    def anchor(self, node: Node) -> str:
        """Token text of the node's statement, literals and white space normalised; of a compound statement its
        header. A hash when longer than 80 characters."""
        statement = self.statement_of(node)
        end = next(
            (child.start_byte for child in statement.named_children if child.type in _BODIES), statement.end_byte
        )
        return normalised(self.source[statement.start_byte : end])

    def mark(
        self,
        rule: str,
        node: Node,
        message: str,
        *,
        severity: str = "",
        confidence: str = "",
        excess: float = 0.0,
        suggestion: str = "",
        data: dict[str, str] | None = None,
    ) -> Mark:
        """What a rule saw at this node. Severity and confidence only where they differ from the rule's own."""
        return Mark(
            rule=rule,
            line=self.line(node),
            function=self.function_of(node),
            message=message,
            anchor=self.anchor(node),
            severity=severity,
            confidence=confidence,
            excess=excess,
            suggestion=suggestion,
            data=data or {},
        )


def _path(outer: Node, inner: Node) -> list[Node]:
    """The nodes from one to another that it holds, both included."""
    path = [outer]
    while path[-1].id != inner.id:
        below = path[-1].child_with_descendant(inner)
        if below is None:
            return [inner]
        path.append(below)
    return path


def innermost_loop(scope: Scope, position: int) -> LoopDraft | None:
    """The loop whose rounds run what stands at this byte."""
    loop = scope.loop
    while loop is not None and loop.head_start <= position < loop.head_end:
        loop = loop.parent
    return loop


def normalised(text: bytes) -> str:
    """Source text as an identity: literals replaced, white space dropped, hashed when long."""
    if b'"' in text or b"'" in text or b"`" in text:
        text = _LITERAL.sub(b"''", text)
    if len(text.translate(None, _DIGITS)) < len(text):
        text = _NUMBER.sub(b"0", text)
    text = text.translate(None, _BLANKS)
    if len(text) > LONGEST_ANCHOR:
        return blake2b(text, digest_size=12).hexdigest()
    return text.decode("utf-8", "replace")


LONGEST_NAME = 300  # bytes
_PLAIN = re.compile(rb"[\w.$]+").fullmatch
_TOKEN = re.compile(
    rb"""<[\w\s,.?\[\]<>]*>|[\w$#]+|\??\.|[(\[{]|[)\]}]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|@|:"""
)
_OPENERS = {b"(": "()", b"[": "[]", b"{": "{}"}


@lru_cache(maxsize=20_000)
def plain_name(raw: bytes) -> str:
    """A callee's text as a dotted name: what stands in brackets is dropped, of very long chains only the end stays."""
    if _PLAIN(raw):
        return raw.decode("utf-8", "replace")
    if len(raw) > LONGEST_NAME:
        last = raw[-LONGEST_NAME:].rpartition(b".")[2].strip()
        return "()." + last.decode("utf-8", "replace") if _PLAIN(last) else "()"
    parts: list[str] = []
    level = 0
    for match in _TOKEN.finditer(raw):
        token = match[0]
        if token in _OPENERS:
            if level == 0:
                parts.append(_OPENERS[token])
            level += 1
        elif token in (b")", b"]", b"}"):
            level = max(0, level - 1)
        elif level == 0 and token[:1] not in b"\"'`@:<":
            parts.append("." if token == b"?." else token.decode("utf-8", "replace"))
    return "".join(parts)
