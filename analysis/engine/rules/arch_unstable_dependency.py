"""A stable module, on which many depend, depends on one that changes all the time."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from analysis.engine.codebase import Codebase
from analysis.engine.graph.breaks import wires_application
from analysis.engine.graph.model import Edge
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="arch-unstable-dependency",
    type="unstable_dependency",
    category=Category.ARCHITECTURE,
    title="Stable module depends on an unstable one",
    severity=Severity.INFO,
    points=4,
    suggestion="Invert the dependency or move the volatile part out of the stable module's reach.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="Many rely on a module because it is stable. When it relies on one that changes all the time, all of them do.",
    grades=(
        "A module with at least five dependents imports one that belongs to the tenth that changes most, and changes "
        "three times as often as itself."
    ),
)
FEWEST_MODULES = 6
STABLE, UNSTABLE = 0.3, 0.7
FEWEST_DEPENDENTS = 5
TIMES_THE_CHANGES = 3
TOP_SHARE = 10  # one module in ten
_SHARED = frozenset({"types", "config", "settings", "constants", "flags", "feature_flags", "conf"})


@dataclass
class _Part:
    """A module's neighbours, and how often its files changed in 90 days."""

    imports: dict[str, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    importers: set[str] = field(default_factory=set)
    changes: int = 0

    @property
    def instability(self) -> float:
        """Martin's I: fan-out / (fan-in + fan-out), counted in modules."""
        neighbours = len(self.imports) + len(self.importers)
        return len(self.imports) / neighbours if neighbours else 0.0


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per pair of modules, at the first import between them."""
    parts = _parts(codebase)
    if not parts:
        return
    changes = sorted((part.changes for part in parts.values()), reverse=True)
    top = changes[max(0, len(changes) // TOP_SHARE - 1)]
    for name, part in sorted(parts.items()):
        if part.instability > STABLE or len(part.importers) < FEWEST_DEPENDENTS:
            continue
        for other, edges in sorted(part.imports.items()):
            target = parts[other]
            if _is_shared(other) or target.instability < UNSTABLE:
                continue
            if other.startswith(f"{name}/") or name.startswith(f"{other}/"):
                continue  # a part of the module itself
            if target.changes < max(1, TIMES_THE_CHANGES * part.changes):
                continue
            yield _finding(name, other, edges, parts, top)


def _finding(name: str, other: str, edges: list[Edge], parts: Mapping[str, _Part], top: int) -> Finding:
    first = min(edges, key=lambda edge: (edge.source, edge.line))
    part, target = parts[name], parts[other]
    return Finding(
        rule_id=RULE.id,
        file=first.source,
        line=first.line,
        message=(
            f"`{name}` (instability {part.instability:.2f}, {len(part.importers)} dependents) depends on `{other}`"
            f" (instability {target.instability:.2f}), which changed {target.changes} times against {part.changes}"
        ),
        anchor=f"{name} {other}",
        severity=Severity.WARNING if target.changes >= top else None,
    )


def _parts(codebase: Codebase) -> dict[str, _Part]:
    """The modules by name; none where there are too few to compare."""
    graph = codebase.graph
    parts: dict[str, _Part] = {}
    for path in graph.nodes:
        if path not in graph.tests:
            part = parts.setdefault(graph.modules[path].name, _Part())
            part.changes += codebase.history.churn(path)
    if len(parts) < FEWEST_MODULES:
        return {}
    name_of = {path: module.name for path, module in graph.modules.items()}
    for source, edges in groupby(graph.project_edges, key=attrgetter("source")):
        here = name_of[source]
        outward = [(name_of[edge.target], edge) for edge in edges if edge.runtime and name_of[edge.target] != here]
        if outward and not wires_application(source, codebase.files.get(source)):
            for there, edge in outward:
                parts[here].imports[there].append(edge)
                parts[there].importers.add(here)
    return parts


def _is_shared(module: str) -> bool:
    return module.rpartition("/")[2].lower() in _SHARED
