"""Files or packages import each other in a circle.

A TypeScript import that binds only types but does not say `type` counts as one at run time, although the compiler
drops it unless `verbatimModuleSyntax` is set: whether a name is a type stands in the file that exports it.
"""

from collections.abc import Collection, Iterator
from posixpath import commonpath

from analysis.engine.codebase import Codebase
from analysis.engine.graph.model import Cycle, Edge, ImportGraph
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="arch-circular-import",
    type="circular_import",
    category=Category.ARCHITECTURE,
    title="Circular import",
    severity=Severity.WARNING,
    points=4,
    suggestion="Move the shared part to a third module or invert one dependency.",
    version=2,
)
GUIDE = Guide(
    why=(
        "Files in a circle can only be understood, tested and released together, and whichever is loaded first sees the"
        " others half made."
    ),
    grades=(
        "One finding per circle, at the import that is cheapest to cut. Critical when at least three modules go in a "
        "circle, or three packages of Java that few imports would part, or modules of Go; info when it closes only "
        "through imports inside functions."
    ),
    flagged=(
        {
            "shop/orders.py": """
from shop.invoices import bill


def place(order):
    bill(order)
""",
            "shop/invoices.py": """
from shop.orders import place


def bill(order):
    return place
""",
        },
    ),
    fine=(
        {
            "shop/orders.py": """
from shop.invoices import bill


def place(order):
    bill(order)
""",
            "shop/invoices.py": """
def bill(order):
    return order.total
""",
        },
    ),
)
POINTS_PER_EDGE = 0.5
MODULES_OF_A_CRITICAL_CYCLE = 3
MOST_TO_CUT = 20  # imports; a circle of packages that more of them close is how the application was built
_NAMED_UNITS = 3
_NAMED_EDGES = 2


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per strongly connected component, at the cheapest edge to cut, and one per self import."""
    graph = codebase.graph
    for cycle in graph.cycles:
        if not _is_of_relations(cycle, codebase):
            yield _finding(cycle, _severity(cycle, graph))
    for cycle in graph.deferred_cycles:
        yield _finding(cycle, Severity.INFO)
    for edge in graph.self_imports:
        if edge.runtime and edge.source not in graph.tests:
            severity = Severity.INFO if edge.deferred else None
            message = f"`{edge.source}` imports itself"
            yield Finding(RULE.id, edge.source, edge.line, message, anchor="itself", severity=severity)


def _is_of_relations(cycle: Cycle, codebase: Codebase) -> bool:
    """Whether the circle is one of entities that name each other as relations: by functions, `() => Order`, which run
    when all files are loaded, and on both sides, since the mapping asks for it."""
    return all(_is_relation(edge, codebase) for edge in cycle.edges)


def _is_relation(edge: Edge, codebase: Codebase) -> bool:
    models = [each for each in codebase.files[edge.source].models if each.orm == "typeorm"]
    related = {relation.target for each in models for relation in each.relations}
    bases = {base for each in models for base in each.bases}
    return bool(models) and related.issuperset(edge.names) and bases.isdisjoint(edge.names)


def _severity(cycle: Cycle, graph: ImportGraph) -> Severity | None:
    """Java loads class by class: a circle of two packages, of one and those below it, or one that holds a whole
    application together, breaks nothing from one day to the next."""
    is_of_packages = set(cycle.units).isdisjoint(cycle.files)
    if is_of_packages and cycle.files[0].endswith(".java"):
        is_critical = _apart(cycle.units) >= MODULES_OF_A_CRITICAL_CYCLE and len(cycle.cut) <= MOST_TO_CUT
    else:
        is_critical = (
            is_of_packages or len({graph.modules[path] for path in cycle.files}) >= MODULES_OF_A_CRITICAL_CYCLE
        )
    return Severity.CRITICAL if is_critical else None


def _apart(packages: Collection[str]) -> int:
    """How many packages of a circle do not lie below another of it."""
    return sum(not any(each.startswith(f"{other}/") for other in packages) for each in packages)


def _finding(cycle: Cycle, severity: Severity | None) -> Finding:
    at = cycle.cut[0]
    others = f"; also cut {_edges(cycle.cut[1:])}" if len(cycle.cut) > 1 else ""
    how = " through imports inside functions" if cycle.deferred else ""
    return Finding(
        rule_id=RULE.id,
        file=at.source,
        line=at.line,
        message=f"{_units(cycle)} import each other in a circle{how}; cut the import of `{at.target}`{others}",
        anchor=" ".join(cycle.units),
        severity=severity,
        excess=POINTS_PER_EDGE * len(cycle.edges),
    )


def _units(cycle: Cycle) -> str:
    """The units of the circle, by what stands below the folder that they share."""
    shared = commonpath(cycle.units)
    names = [unit.removeprefix(shared).lstrip("/") or unit or "." for unit in cycle.units]
    named = ", ".join(f"`{name}`" for name in names[:_NAMED_UNITS])
    more = f" and {len(names) - _NAMED_UNITS} more" if len(names) > _NAMED_UNITS else ""
    return f"{named}{more} of `{shared}`" if shared else named + more


def _edges(edges: tuple[Edge, ...]) -> str:
    named = ", ".join(f"`{edge.source}` -> `{edge.target}`" for edge in edges[:_NAMED_EDGES])
    more = len(edges) - _NAMED_EDGES
    return f"{named} and {more} more" if more > 0 else named
