"""A file imports from a layer that its own layer may not use."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.graph.breaks import LayerBreak, layer_breaks
from analysis.engine.graph.paths import folder_of
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
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
GUIDE = Guide(
    why=(
        "Layers are a promise about what can change without what. One import against the direction, and the promise is "
        "gone for both."
    ),
    grades="Needs layers in the policy, outermost first.",
    flagged=(
        {
            "shop/models/order.py": """
from shop.views.orders import render


def show(order):
    return render(order)
""",
            "shop/views/orders.py": """
def render(order):
    return str(order)
""",
        },
    ),
    fine=(
        {
            "shop/views/orders.py": """
from shop.models.order import Order


def render(pk):
    return Order(pk)
""",
            "shop/models/order.py": """
class Order:
    pass
""",
        },
    ),
    policy="""
layers:
  - {name: views, path: "shop/views/**"}
  - {name: models, path: "shop/models/**"}
""",
)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per file and layer that it may not use."""
    for broken in layer_breaks(codebase.graph, codebase.files, policy):
        imported = dict.fromkeys(_imported(edge.target) for edge in broken.edges)
        targets = ", ".join(f"`{each}`" for each in imported)
        yield Finding(
            rule_id=RULE.id,
            file=broken.source,
            line=broken.edges[0].line,
            message=f"Layer {broken.layer.name} may not import from layer {broken.forbidden.name}: {targets}",
            anchor=broken.forbidden.name,
            severity=_severity(broken),
        )


def _imported(target: str) -> str:
    """What an import names: in Go a package, which is a folder, not the file that stands for it."""
    return folder_of(target) if target.endswith(".go") else target


def _severity(broken: LayerBreak) -> Severity | None:
    if broken.type_only:
        return Severity.INFO
    return Severity.CRITICAL if broken.layer.is_domain else None
