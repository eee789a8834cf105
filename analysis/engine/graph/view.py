"""The architecture graph of the API, in the words of the specification."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from analysis.engine.graph.breaks import Files, deep_imports, layer_breaks
from analysis.engine.graph.layers import assign_layers
from analysis.engine.graph.model import Cycle, Edge, ImportGraph
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Finding
from analysis.engine.policy import Policy

# Middle tones with a contrast of at least 3 to 1 on white and on near-black (WCAG 2.2, 1.4.11), outermost first.
LAYER_COLORS = (
    "#3b82f6",
    "#0d9488",
    "#d97706",
    "#a855f7",
    "#e11d48",
    "#16a34a",
    "#0891b2",
    "#db2777",
    "#7c7c2d",
    "#78716c",
)

LAYER, CYCLE, DEEP = "layer_violation", "circular_import", "deep_import"
_RULE_OF = {LAYER: "arch-layer-violation", CYCLE: "arch-circular-import", DEEP: "arch-deep-import"}
EdgeKey = tuple[str, str]


def architecture_graph(
    graph: ImportGraph, policy: Policy, findings: Iterable[Finding], files: Files, hotspots: Iterable[Hotspot]
) -> dict[str, Any]:
    """Nodes, edges, modules, layers and statistics of the project without its tests.

    `findings` are those of the whole scan; only open ones count. `hotspots` are the ranked files of the scan.
    An edge is a violation when an open finding stands for it. Domain files that import frameworks leave the project,
    so they mark no edge. Statistics are counted from the nodes and edges of the answer.
    """
    open_findings = [finding for finding in findings if not finding.suppressed_by and not finding.in_test]
    places = assign_layers(graph.nodes, policy)
    hot = {hotspot.file for hotspot in hotspots if hotspot.is_hotspot}
    per_file = Counter(finding.file for finding in open_findings)
    nodes = []
    for path in graph.nodes:
        if path in graph.tests:
            continue
        place = places[path]
        nodes.append(
            {
                "id": path,
                "label": path.rpartition("/")[2],
                "module": graph.modules[path].name,
                "layer": place.name if place else None,
                "type": "file",
                "violations": per_file[path],
                "complexity": files[path].complexity,
                "linesOfCode": files[path].code_lines,
                "isHotspot": path in hot,
            }
        )
    edges = _edges(graph, _violations(graph, policy, open_findings, files))
    modules = _modules(graph, nodes)
    layers = layer_colors(policy)
    circular = {(edge.source, edge.target) for cycle in graph.cycles for edge in cycle.edges}
    return {
        "nodes": nodes,
        "edges": edges,
        "modules": modules,
        "layers": layers,
        "cycles": [_cycle(cycle, graph) for cycle in (*graph.cycles, *graph.deferred_cycles)],
        "stats": {
            "totalNodes": len(nodes),
            "totalEdges": len(edges),
            "violationEdges": sum(1 for edge in edges if edge["isViolation"]),
            "circularEdges": sum(1 for edge in edges if (edge["source"], edge["target"]) in circular),
            "modules": len(modules),
            "layers": len(layers),
        },
    }


def layer_colors(policy: Policy) -> list[dict[str, str]]:
    """Each layer's name once and its colour, which depends on its place only."""
    names = dict.fromkeys(layer.name for layer in policy.layers)
    return [{"name": name, "color": LAYER_COLORS[height % len(LAYER_COLORS)]} for height, name in enumerate(names)]


def _cycle(cycle: Cycle, graph: ImportGraph) -> dict[str, Any]:
    """A circle of imports and the fewest of them that break it. A deferred one closes only inside functions, and
    counts neither in the statistics nor as a violation of its edges."""
    return {
        "files": list(cycle.files),
        "modules": sorted({graph.modules[path].name for path in cycle.files}),
        "edges": len(cycle.edges),
        "deferred": cycle.deferred,
        "cut": [{"source": edge.source, "target": edge.target, "line": edge.line} for edge in cycle.cut],
    }


def _edges(graph: ImportGraph, violations: dict[EdgeKey, tuple[str, str]]) -> list[dict[str, Any]]:
    rows = []
    for edge in graph.project_edges:
        kind, message = violations.get((edge.source, edge.target), (None, None))
        rows.append(
            {
                "source": edge.source,
                "target": edge.target,
                "type": "import",
                "isViolation": kind is not None,
                "violationType": kind,
                "message": message,
            }
        )
    return rows


def _modules(graph: ImportGraph, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    counts: Counter[str] = Counter()
    violations: Counter[str] = Counter()
    path_of: dict[str, str] = {}
    for node in nodes:
        module = graph.modules[node["id"]]
        counts[module.name] += 1
        violations[module.name] += node["violations"]
        path_of[module.name] = min(path_of.get(module.name, module.path), module.path)
    return [
        {"name": name, "path": path_of[name], "nodeCount": counts[name], "violations": violations[name]}
        for name in sorted(counts)
    ]


def _violations(
    graph: ImportGraph, policy: Policy, findings: list[Finding], files: Files
) -> dict[EdgeKey, tuple[str, str]]:
    """Edges with an open finding. Of several the layers come first, then cycles, then deep imports."""
    told = {(finding.rule_id, finding.file, finding.line): finding.message for finding in findings}
    marked: dict[EdgeKey, tuple[str, str]] = {}

    def mark(kind: str, at: Edge, edges: Iterable[Edge]) -> None:
        message = told.get((_RULE_OF[kind], at.source, at.line))
        if message is not None:
            for edge in edges:
                marked.setdefault((edge.source, edge.target), (kind, message))

    for broken in layer_breaks(graph, files, policy):
        mark(LAYER, broken.edges[0], broken.edges)
    for cycle in graph.cycles:
        mark(CYCLE, cycle.cut[0], cycle.cut)
    for deep in deep_imports(graph, files):
        mark(DEEP, deep.edge, (deep.edge,))
    return marked
