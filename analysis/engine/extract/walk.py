"""One pass over the nodes that make structure, in document order, with the scopes around them.

The query of the dialect brings the nodes; nothing here descends into the tree. Counting follows
`metrics/complexity.py`.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.dialect import Dialect, Imported
from analysis.engine.extract.loops import bound_of, walked
from analysis.engine.extract.nodes import Nodes
from analysis.engine.extract.scopes import Count, FunctionDraft, LoopDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Class, FunctionFlag, Import, ImportFlag
from analysis.engine.metrics.complexity import DEEP, runs

LONGEST_DECORATOR = 160  # characters

_ADJACENT = re.compile(
    rb"(?:\s|#[^\n]*\n|//[^\n]*\n|export\b|default\b|abstract\b|public\b|private\b|protected\b|static\b)*"
)
_SPACE = re.compile(rb"\s*")


class Walk:
    """Fills a SourceFile with scopes, functions, loops and classes."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.source = file.source
        self.dialect: Dialect = file.dialect
        self.imported: list[Imported] = []
        self.error_bytes = 0
        self.awaited: set[int] = set()  # where expressions end that are awaited
        self._decorators: list[Node] = []
        self._else_if = -1  # where an `if` must start to be an `else if`

    def run(self, nodes: Nodes) -> None:
        for node in nodes.imports:
            self.imported.extend(self.dialect.imported(node, self.file))
        self.imported.extend(self.dialect.imported_anywhere(self.file))
        for imported in self.imported:
            self.file.bindings.update(imported.bindings)
        self._open_module(self.file.tree.root_node)
        self._walk(nodes.structure)
        self._count_booleans(nodes.booleans)

    def _open_module(self, root: Node) -> None:
        module = FunctionDraft(0, root, "module", -1, "", 0)
        scope = Scope("module", root, 0, len(self.source) + 1, None)
        scope.function, scope.count, scope.loop = module, module.count, None
        scope.nesting = scope.depth = 0
        scope.is_async = scope.broken = False
        scope.prefix = scope.owner = ""
        self.file.functions.append(module)
        self.file.scopes.append(scope)
        self.scope = scope
        self._document(root)

    def _walk(self, nodes: list[tuple[int, Node]]) -> None:
        handlers = _handlers(self.dialect)
        for number, node in nodes:
            start = node.start_byte
            scope = self.scope
            while start >= scope.end:
                scope = scope.parent  # type: ignore[assignment]
            self.scope = scope
            handlers[number](self, node, start, scope)

    def _open(self, kind: str, node: Node, start: int, parent: Scope) -> Scope:
        scope = Scope(kind, node, start, node.end_byte, parent)
        self.file.scopes.append(scope)
        self.scope = scope
        return scope

    # Definitions

    def function(self, node: Node, start: int, scope: Scope) -> None:
        header = self.dialect.function(node, scope, self.file)
        if not header.name:
            self.closure(node, start, scope)
            return
        owner = scope.owner if header.owner is None else header.owner
        name = f"{owner}.{header.name}" if header.owner else scope.prefix + header.name
        draft = FunctionDraft(len(self.file.functions), node, name, scope.function.index, owner, header.flags)
        draft.name_start = start if header.name_start < 0 else header.name_start
        draft.decorators = header.decorators + self._take_decorators(start)
        self.file.functions.append(draft)
        inner = self._open("function", node, start, scope)
        self._mend(inner, scope)
        inner.nesting = scope.nesting + 1 if scope.function.index and not scope.owner else 0
        inner.depth = 0
        inner.loop = scope.loop if header.flags & FunctionFlag.ANONYMOUS else None
        inner.function, inner.is_async = draft, bool(header.flags & FunctionFlag.ASYNC)
        inner.count = draft.count
        inner.count.nesting = inner.nesting
        inner.prefix, inner.owner = name + ".", ""
        self._document(node)
        if header.flags & FunctionFlag.ANONYMOUS:
            self._open_callback(inner)

    def closure(self, node: Node, start: int, scope: Scope) -> None:
        """A function without an entry of its own: its contents count for the function around it, a level deeper."""
        inner = self._open("closure", node, start, scope)
        inner.nesting += 1
        inner.count = Count(inner.nesting)
        inner.function.closures.append(inner.count)
        inner.is_async = self.dialect.is_async(node)
        self._open_callback(inner)

    def _open_callback(self, inner: Scope) -> None:
        """A function given to `forEach` or `map` is the body of a loop."""
        callback = self.dialect.callback(inner.node, self.file)
        if callback is not None and not inner.broken:
            loop = LoopDraft(len(self.file.loops), inner.node, "callback", inner.function.index, inner.loop)
            loop.variables, loop.iterable = callback
            loop.bound = bound_of(loop.iterable, inner.node.start_byte, self.file.source)
            self.file.loops.append(loop)
            inner.loop = loop

    def class_(self, node: Node, start: int, scope: Scope) -> None:
        header = self.dialect.class_(node, scope, self.file)
        if not header.name:
            return
        name = scope.prefix + header.name
        inner = self._open("class", node, start, scope)
        self._mend(inner, scope)
        inner.prefix, inner.owner, inner.loop = name + ".", name, None
        self._document(node)
        self.file.headers[node.id] = header
        lines = self.file.lines
        fact = Class(
            name=name,
            line=lines.of(self.dialect.name_node(node).start_byte),
            end_line=lines.of(max(start, node.end_byte - 1)),
            code_lines=0,
            bases=header.bases,
            decorators=header.decorators + self._take_decorators(start),
            fields=header.fields,
            flags=header.flags,
            field_types=header.field_types,
            methods=header.methods,
        )
        self.file.classes.append(fact)

    def decorator(self, node: Node, start: int, scope: Scope) -> None:
        self._decorators.append(node)

    def _take_decorators(self, start: int) -> tuple[str, ...]:
        """The decorators right before a definition; those of fields and parameters are dropped. What stands in a
        decorator takes none: `@Module({ useFactory: () => made })`."""
        taken: list[str] = []
        while self._decorators and self._decorators[-1].end_byte <= start:
            node = self._decorators.pop()
            if not _ADJACENT.fullmatch(self.source, node.end_byte, start):
                self._decorators.clear()
                break
            taken.append(decorator_text(self.file, node))
            start = node.start_byte
        return tuple(reversed(taken))

    def _document(self, node: Node) -> None:
        docstring = self.dialect.docstring(node)
        if docstring is not None:
            self.file.lines.blank_out(self.source, docstring.start_byte, docstring.end_byte)
            self.file.prose.append((docstring.start_byte, docstring.end_byte))

    def broken(self, node: Node, start: int, scope: Scope) -> None:
        """Outside whole functions and classes nothing inside a broken node counts."""
        if not scope.broken:
            self.error_bytes += node.end_byte - start
        self._open("broken", node, start, scope).broken = True

    def _mend(self, inner: Scope, outer: Scope) -> None:
        if outer.broken:
            inner.broken = False
            self.error_bytes -= inner.end - inner.start

    # Control structures

    def branch(self, node: Node, start: int, scope: Scope) -> None:
        if scope.broken:
            return
        scope.count.cyclomatic += 1
        if start == self._else_if:
            self._open("if", node, start, scope)
            return
        self._weigh(scope)
        self._deeper("if", node, start, scope)

    def alternative(self, node: Node, start: int, scope: Scope) -> None:
        """A Python `elif`: a decision, flat."""
        scope.count.cyclomatic += not scope.broken
        scope.count.cognitive += not scope.broken

    def otherwise(self, node: Node, start: int, scope: Scope) -> None:
        """`else` of an `if` or a loop; of a `try` it adds nothing."""
        if scope.kind in ("if", "loop"):
            scope.count.cognitive += not scope.broken

    def else_word(self, node: Node, start: int, scope: Scope) -> None:
        """The word alone, where `else if` is an `if` inside the `else` of another."""
        self.otherwise(node, start, scope)
        self._else_if = _SPACE.match(self.source, node.end_byte).end()  # type: ignore[union-attr]

    def loop(self, node: Node, start: int, scope: Scope) -> None:
        if scope.broken:
            return
        scope.count.cyclomatic += 1
        self._weigh(scope)
        self.open_loop(self._deeper("loop", node, start, scope), "while" if "for" not in node.type else "for")

    def comprehension(self, node: Node, start: int, scope: Scope) -> None:
        if not scope.broken:
            self.open_loop(self._open("comprehension", node, start, scope), "comprehension")

    def open_loop(self, inner: Scope, kind: str) -> None:
        loop = LoopDraft(len(self.file.loops), inner.node, kind, inner.function.index, inner.loop)
        self.file.loops.append(loop)
        self.dialect.loop(inner.node, loop, self.file)
        if loop.kind == "while":
            loop.variables = walked(loop, self.file.source)
        inner.loop = loop

    def decision(self, node: Node, start: int, scope: Scope) -> None:
        scope.count.cyclomatic += not scope.broken

    def ternary(self, node: Node, start: int, scope: Scope) -> None:
        self._branch("ternary", node, start, scope)

    def switch(self, node: Node, start: int, scope: Scope) -> None:
        if scope.broken:
            return
        self._weigh(scope)
        self._deeper("switch", node, start, scope)

    def case(self, node: Node, start: int, scope: Scope) -> None:
        if scope.broken:
            return
        decides, is_flat = self.dialect.case(node)
        scope.count.cyclomatic += decides
        scope.function.flat_cases += decides and is_flat
        self._open("case", node, start, scope)

    def attempt(self, node: Node, start: int, scope: Scope) -> None:
        self._deeper("try", node, start, scope, nesting=0)

    def handler(self, node: Node, start: int, scope: Scope) -> None:
        self._branch("handler", node, start, scope)

    def _branch(self, kind: str, node: Node, start: int, scope: Scope) -> None:
        if scope.broken:
            return
        scope.count.cyclomatic += 1
        self._weigh(scope)
        self._open(kind, node, start, scope).nesting += 1

    def cleanup(self, node: Node, start: int, scope: Scope) -> None:
        self._open("finally", node, start, scope)

    def resource(self, node: Node, start: int, scope: Scope) -> None:
        self._deeper("with", node, start, scope, nesting=0)

    def jump(self, node: Node, start: int, scope: Scope) -> None:
        """A jump to a label costs a reader one; a plain one nothing."""
        if node.named_child_count and not scope.broken:
            scope.count.cognitive += 1

    def awaiting(self, node: Node, start: int, scope: Scope) -> None:
        self.awaited.add(node.end_byte)

    def yields(self, node: Node, start: int, scope: Scope) -> None:
        scope.function.flags |= FunctionFlag.GENERATOR

    def markup(self, node: Node, start: int, scope: Scope) -> None:
        scope.function.has_jsx = True

    def _weigh(self, scope: Scope) -> None:
        """A structure costs a reader one, and one more for each level around it."""
        count = scope.count
        count.cognitive += 1 + scope.nesting
        count.nested += 1

    def _deeper(self, kind: str, node: Node, start: int, scope: Scope, nesting: int = 1) -> Scope:
        """Open a control structure. Beyond four levels a guard clause does not count as a level: an `if` that only
        leaves, in front of what it guards. As the last of its block it is what all the levels around are for."""
        inner = self._open(kind, node, start, scope)
        inner.nesting += nesting
        depth = scope.depth + 1
        if depth > DEEP and kind == "if" and self._is_guard(node):
            return inner
        inner.depth = depth
        draft = scope.function
        if depth > draft.nesting:
            draft.nesting = depth
            if depth == DEEP + 1:
                draft.nesting_node = node
        return inner

    def _is_guard(self, node: Node) -> bool:
        return self.dialect.is_guard(node) and (_is_followed(node) or self.dialect.asks_for_error(node))

    def _count_booleans(self, nodes: list[Node]) -> None:
        """Each logical operator is a decision; a run of like ones in one expression costs a reader one.

        An operand that is itself an operation shares the start or the end of the one around it.
        """
        nodes.sort(key=_place)
        outer: list[tuple[int, int, list[tuple[int, str]]]] = []
        expressions: list[tuple[Count, list[tuple[int, str]]]] = []
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            scope = self.file.scope_of(node)
            if scope.broken:
                continue
            scope.count.cyclomatic += 1
            while outer and outer[-1][1] <= start:
                outer.pop()
            if outer and (start == outer[-1][0] or end == outer[-1][1]):
                operators = outer[-1][2]
            else:
                operators = []
                expressions.append((scope.count, operators))
            operators.append(self.dialect.operator(node))
            outer.append((start, end, operators))
        for count, operators in expressions:
            count.cognitive += runs(operators)

    def imports(self) -> tuple[Import, ...]:
        """Imports with what their place and the use of their names say about them."""
        scopes = self.file.scopes
        top_end = scopes[1].start if len(scopes) > 1 else len(self.source)
        return tuple([self._import(each, is_top=each.end <= top_end) for each in self.imported])

    def _import(self, imported: Imported, *, is_top: bool) -> Import:
        fact = imported.fact
        flags = fact.flags | ImportFlag.ERASED * self.dialect.is_erased(imported, self.file)
        if not is_top:
            scope = self.file.scope_at(imported.start, imported.end)
            flags |= self.dialect.import_flags(scope, self.file)
            if scope.function.index:
                flags |= ImportFlag.DEFERRED
        return fact if flags == fact.flags else structs.replace(fact, flags=flags)


def decorator_text(file: SourceFile, node: Node) -> str:
    """A decorator or annotation without its sign, its name resolved, its arguments as written up to a limit."""
    text = file.text(node).lstrip("@").strip()
    name, bracket, rest = text.partition("(")
    return " ".join((file.resolve(name) + bracket + rest).split())[:LONGEST_DECORATOR]


def _is_followed(statement: Node) -> bool:
    """Whether another statement stands behind this one in its block."""
    after = statement.next_named_sibling
    while after is not None and "comment" in after.type:
        after = after.next_named_sibling
    return after is not None


def _place(node: Node) -> int:
    """Orders nodes as the document does, the outer before the inner."""
    return (node.start_byte << 32) - node.end_byte


@lru_cache(maxsize=16)
def _handlers(dialect: Dialect) -> tuple[Callable[[Walk, Node, int, Scope], None], ...]:
    """The method of the walk for each type of node."""
    return tuple(getattr(Walk, event) for event in dialect.structure.values())
