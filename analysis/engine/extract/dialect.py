"""What the walk must be told about a language: which nodes mean what, and how to read a header."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Language, Node, Parser, Tree

from analysis.engine.extract.nodes import NodeQuery
from analysis.engine.facts import Entry, Function, Import, Parameter
from analysis.engine.rules.base import Look

if TYPE_CHECKING:
    from analysis.engine.extract.scopes import LoopDraft, Scope
    from analysis.engine.extract.source import SourceFile

LARGE_BYTES = 200_000
PARSE_SECONDS = 2.0  # of CPU time
# A query takes time with the square of them: 0.4 s for these, minutes for a megabyte of open brackets.
MOST_IN_AN_ERROR = 30_000


class TookTooLong(Exception):
    """A source that no parser should be given more time for."""


class Imported(NamedTuple):
    """An import statement with the local names that it binds, each to the full name it stands for."""

    fact: Import
    start: int
    end: int
    bindings: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class ClassHeader:
    name: str
    bases: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    flags: int = 0
    field_types: tuple[tuple[str, str], ...] = ()
    methods: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class FunctionHeader:
    name: str  # empty: stays part of the enclosing function
    flags: int = 0
    owner: str | None = None  # the receiver's type where the grammar does not nest methods into classes
    decorators: tuple[str, ...] = field(default=())
    name_start: int = -1  # where the name stands, unless the node begins with it


class Dialect(ABC):
    """One language. Subclasses say which grammar nodes are which event of the walk (`events`: node type to the name
    of the walk's method), and read details from nodes when the walk asks."""

    name: str
    grammar: Callable[[], object]
    events: Mapping[str, str]
    booleans: str  # query patterns of the logical operators
    imports: tuple[str, ...]
    comments: tuple[str, ...]
    watchable: Mapping[str, tuple[str, ...]]  # kind of a `Watch` to node types

    def __init__(self) -> None:
        self.language = Language(self.grammar())
        self._queries: dict[tuple[frozenset[str], bool], NodeQuery] = {}

    def nodes_of(self, kind: str) -> tuple[str, ...]:
        """Node types that a watched kind stands for; a kind not in the table is a node type or a pattern itself."""
        types = self.watchable.get(kind, (kind,))
        return tuple(each for each in types if self.has(each))

    def has(self, node_type: str) -> bool:
        """Whether the grammar knows this type of node; of a pattern the rule that brings it says so."""
        if "@n" in node_type:
            return True
        named = node_type[0].isalpha() and node_type != "else"
        return node_type == "ERROR" or self.language.id_for_node_kind(node_type, named) is not None

    def field(self, name: str) -> int:
        field_id = self.language.field_id_for_name(name)
        if field_id is None:
            raise ValueError(f"The grammar of {self.name} has no field {name}")
        return field_id

    @cached_property
    def parser(self) -> Parser:
        return Parser(self.language)

    def tree(self, source: bytes) -> Tree:
        """The syntax tree. TookTooLong when it took the parser too long, or would take a query."""
        tree = self._parsed(source)
        if tree.root_node.has_error and _is_endless(tree.root_node):
            raise TookTooLong
        return tree

    def _parsed(self, source: bytes) -> Tree:
        """TookTooLong after PARSE_SECONDS of CPU time; asked of large sources only, since asking slows a parse, and
        small ones are never that slow."""
        if len(source) < LARGE_BYTES:
            return self.parser.parse(source)
        deadline = time.thread_time() + PARSE_SECONDS
        try:
            return self.parser.parse(
                lambda offset, point: source[offset : offset + LARGE_BYTES],
                progress_callback=lambda offset, has_error: time.thread_time() > deadline,
            )
        except ValueError:
            self.parser.reset()
            raise TookTooLong from None

    def query(self, watched: frozenset[str] = frozenset(), *, with_calls: bool = True) -> NodeQuery:
        """What walks a tree. `watched` are node types that rules want to see; those of the structure and comments come
        anyway."""
        query = self._queries.get((watched, with_calls))
        if query is None:
            structure = tuple(self.structure)
            calls = [each for each, event in self.events.items() if event == "call"]
            query = self._queries[watched, with_calls] = NodeQuery(
                self.language,
                calls=calls if with_calls else (),
                imports=self.imports,
                booleans=self.booleans,
                structure=structure,
                others=(*self.comments, *sorted(watched.difference(structure, self.comments))),
            )
        return query

    @cached_property
    def structure(self) -> Mapping[str, str]:
        """Types of nodes with the method of the walk that each calls; calls are read apart from it."""
        return {each: event for each, event in self.events.items() if event != "call" and self.has(each)}

    @abstractmethod
    def callee(self, node: Node) -> tuple[int, int]:
        """Byte range of the callee's name in a call."""

    @abstractmethod
    def function(self, node: Node, scope: "Scope", file: "SourceFile") -> FunctionHeader: ...

    @abstractmethod
    def parameters(self, node: Node, file: "SourceFile") -> tuple[Parameter, ...]: ...

    @abstractmethod
    def class_(self, node: Node, scope: "Scope", file: "SourceFile") -> ClassHeader: ...

    @abstractmethod
    def loop(self, node: Node, loop: "LoopDraft", file: "SourceFile") -> None:
        """Fill in variables, iterable, head, bound and batched."""

    @abstractmethod
    def case(self, node: Node) -> tuple[bool, bool]:
        """Whether a case counts as a decision, and whether its body is one statement."""

    @abstractmethod
    def imported(self, node: Node, file: "SourceFile") -> Iterable[Imported]: ...

    def name_node(self, node: Node) -> Node:
        """Where the name of a function or class stands in its header."""
        return node.child_by_field_name("name") or node

    def operator(self, node: Node) -> tuple[int, str]:
        """Place and sign of a logical operation's operator."""
        operator = node.child_by_field_name("operator")
        return (operator.start_byte, operator.type) if operator is not None else (node.start_byte, "")

    def is_async(self, node: Node) -> bool:
        return node.child_count > 0 and node.child(0).type == "async"

    def callback(self, node: Node, file: "SourceFile") -> tuple[tuple[str, ...], str] | None:
        """Variables and iterable, when this function is called for each element of a collection."""
        return None

    def note_references(self, file: "SourceFile") -> None:
        """Note the calls that functions given by their names stand for, with the loops that repeat them."""
        return

    def docstring(self, node: Node) -> Node | None:
        """The documentation that is a statement, not a comment."""
        return None

    def imported_anywhere(self, file: "SourceFile") -> Iterable[Imported]:
        """Imports that are no statement of their own, such as `require("x")`."""
        return ()

    def is_erased(self, imported: Imported, file: "SourceFile") -> bool:
        """Whether nothing is loaded for this import, since nothing that runs uses its names. Asked when all calls were
        read."""
        return False

    def import_flags(self, scope: "Scope", file: "SourceFile") -> int:
        return 0

    def is_guard(self, node: Node) -> bool:
        """Whether an `if` only leaves: one jump in its body and no else."""
        return False

    def asks_for_error(self, node: Node) -> bool:
        """Whether an `if` asks whether the call before has failed: it guards whatever comes behind its block too."""
        return False

    def readers(self) -> Mapping[str, Look]:
        """Looks of the extractor itself at calls, by the callee's last name. They yield no marks; what they find
        they append to the file (`entries`, `queries`)."""
        return {}

    def entries(self, functions: tuple[Function, ...], file: "SourceFile") -> Iterable[Entry]:
        return ()

    def exports(self, functions: tuple[Function, ...], file: "SourceFile") -> tuple[str, ...]:
        return ()

    def annotated(self, file: "SourceFile") -> tuple[tuple[str, str], ...]:
        """Other names that the file has for classes, each with the class as it is written there."""
        return ()

    def package(self, file: "SourceFile") -> str:
        return ""

    def is_entry(self, file: "SourceFile") -> bool:
        return file.source.startswith(b"#!")

    def name_call(self, resolved: str) -> str:
        """The last segment of a callee, the key by which rules watch calls."""
        return resolved.rpartition(".")[2]


def _is_endless(root: Node) -> bool:
    """Whether a piece that the parser could not read is one flat list of very many tokens."""
    damaged = [root]
    while damaged:
        node = damaged.pop()
        if node.type == "ERROR" and node.child_count > MOST_IN_AN_ERROR:
            return True
        damaged += (child for child in node.children if child.has_error)
    return False
