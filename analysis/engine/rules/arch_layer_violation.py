"""A file imports from a layer that its own layer may not use."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.graph.breaks import LayerBreak, layer_breaks
from analysis.engine.model import Category, Finding, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="arch-layer-violation",
    type="layer_violation",
    category=Category.ARCHITECTURE,
    title="Import against the order of layers",
    severity=Severity.WARNING,
    points=3,
    suggestion="Depend on an interface of the inner layer, or move the code.",
)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per file and layer that it may not use."""
    for broken in layer_breaks(codebase.graph, codebase.files, policy):
        targets = ", ".join(f"`{edge.target}`" for edge in broken.edges)
        yield Finding(
            rule_id=RULE.id,
            file=broken.source,
            line=broken.edges[0].line,
            message=f"Layer {broken.layer.name} may not import from layer {broken.forbidden.name}: {targets}",
            anchor=broken.forbidden.name,
            severity=_severity(broken),
        )


def _severity(broken: LayerBreak) -> Severity | None:
    if broken.type_only:
        return Severity.INFO
    return Severity.CRITICAL if broken.layer.is_domain else None
