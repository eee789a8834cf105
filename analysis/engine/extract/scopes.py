"""The drafts that a walk fills in: scopes as a tree of byte ranges, functions and loops being measured."""

from typing import TYPE_CHECKING

from analysis.engine.facts import LoopCall

if TYPE_CHECKING:
    from tree_sitter import Node


class Count:
    """The complexity of one piece of code that began at a depth of `nesting`."""

    __slots__ = ("cognitive", "cyclomatic", "nested", "nesting")

    def __init__(self, nesting: int) -> None:
        self.cyclomatic = 0
        self.cognitive = 0
        self.nesting = nesting
        self.nested = 0  # how many structures cost their nesting


class FunctionDraft:
    """One function while its numbers are being counted."""

    __slots__ = (
        "calls",
        "closures",
        "count",
        "decorators",
        "flags",
        "flat_cases",
        "handed",
        "has_jsx",
        "index",
        "name",
        "name_start",
        "nesting",
        "nesting_node",
        "node",
        "owner",
        "parent",
    )

    def __init__(self, index: int, node: "Node", name: str, parent: int, owner: str, flags: int) -> None:
        self.index = index
        self.node = node
        self.name = name
        self.parent = parent
        self.owner = owner
        self.flags = flags
        self.name_start = node.start_byte
        self.count = Count(0)
        self.closures: list[Count] = []  # of the functions inside that have no entry of their own
        self.nesting = 0
        self.nesting_node: Node | None = None
        self.flat_cases = 0
        self.has_jsx = False
        self.calls: dict[str, None] = {}
        self.handed: dict[str, None] = {}  # methods that it gives to others to call
        self.decorators: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """The name without what the function stands in: `close` of `OrderService.close`."""
        return self.name.rpartition(".")[2]


LONGEST_ITERABLE = 200  # characters of what a loop goes through


class LoopDraft:
    """One loop. Its `head` is the part that runs once, before the first round (the iterable)."""

    __slots__ = (
        "batched",
        "bound",
        "calls",
        "dependents",
        "function",
        "head_end",
        "head_start",
        "index",
        "iterable",
        "kind",
        "node",
        "parent",
        "variables",
    )

    def __init__(self, index: int, node: "Node", kind: str, function: int, parent: "LoopDraft | None") -> None:
        self.index = index
        self.node = node
        self.kind = kind
        self.function = function
        self.parent = parent
        self.variables: tuple[str, ...] = ()
        self.iterable = ""
        self.bound = 0
        self.batched = False
        self.head_start = self.head_end = 0
        self.dependents: frozenset[bytes] | None = None  # names that change with every round, when known
        self.calls: list[LoopCall] = []


class Scope:
    """A byte range of the source with what holds inside it. The scopes of a file form a tree by `parent`.

    Kinds: module, function, closure, class, if, loop, comprehension, switch, case, try, handler, finally, with,
    ternary, broken. `nesting` counts for cognitive complexity, `depth` counts control structures of the function.
    """

    __slots__ = (
        "broken",
        "count",
        "depth",
        "end",
        "function",
        "is_async",
        "kind",
        "loop",
        "nesting",
        "node",
        "owner",
        "parent",
        "prefix",
        "start",
    )

    def __init__(self, kind: str, node: "Node", start: int, end: int, parent: "Scope | None") -> None:
        self.kind = kind
        self.node = node
        self.start = start
        self.end = end
        self.parent = parent
        if parent is not None:
            self.function: FunctionDraft = parent.function
            self.count: Count = parent.count  # of the function, or of the closure
            self.loop: LoopDraft | None = parent.loop
            self.nesting: int = parent.nesting
            self.depth: int = parent.depth
            self.is_async: bool = parent.is_async
            self.broken: bool = parent.broken
            self.prefix: str = parent.prefix  # what names defined here begin with: `Order.` or `outer.`
            self.owner: str = parent.owner  # the class, directly inside a class only
