import re
from datetime import date
from pathlib import Path

import rustworkx as rx
from hypothesis import given
from hypothesis import strategies as st

import analysis
from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.graph import architecture_graph, build_graph
from analysis.engine.graph.view import LAYER_COLORS
from analysis.engine.history import History
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Finding
from analysis.engine.policy import Policy
from analysis.engine.rules import arch_circular_import, arch_deep_import, arch_layer_violation
from tests.engine.graph.project import codebase_of, files_of, imported, policy_of

RULES = (arch_layer_violation, arch_circular_import, arch_deep_import)
LEAST_CONTRAST = 3
HOTSPOTS = (Hotspot("src/api/a.ts", 90, 20, 1, 88), Hotspot("src/domain/b.ts", 5, 1, 0, 12))


def view_of(contents, policy=None, findings=None, hotspots=()):
    policy = policy or Policy()
    codebase = codebase_of(contents, policy)
    if findings is None:
        findings = [finding for rule in RULES for finding in rule.check(codebase, policy)]
    return architecture_graph(codebase.graph, policy, findings, codebase.files, hotspots)


def marked(view):
    return {(edge["source"], edge["target"]): edge["violationType"] for edge in view["edges"] if edge["isViolation"]}


def test_a_node_tells_all_that_the_specification_names():
    policy = policy_of("api=src/api/**", "domain=src/domain/**")
    findings = [Finding("x", "src/api/a.ts", 1, "m"), Finding("x", "src/api/a.ts", 2, "m", suppressed_by="known")]
    view = view_of({"src/api/a.ts": ["../domain/b"], "src/domain/b.ts": []}, policy, findings, HOTSPOTS)

    assert view["nodes"][0] == {
        "id": "src/api/a.ts",
        "label": "a.ts",
        "module": "api",
        "layer": "api",
        "type": "file",
        "violations": 1,
        "complexity": 0,
        "linesOfCode": 0,
        "isHotspot": True,
    }
    assert [node["isHotspot"] for node in view["nodes"]] == [True, False]
    assert view["edges"] == [
        {
            "source": "src/api/a.ts",
            "target": "src/domain/b.ts",
            "type": "import",
            "isViolation": False,
            "violationType": None,
            "message": None,
        }
    ]
    assert view["modules"][0] == {"name": "api", "path": "src/api", "nodeCount": 1, "violations": 1}
    assert view["stats"] == {
        "totalNodes": 2,
        "totalEdges": 1,
        "violationEdges": 0,
        "circularEdges": 0,
        "modules": 2,
        "layers": 2,
    }


def test_an_upward_import_is_marked_with_the_message_of_its_finding():
    policy = policy_of("api=src/api/**", "domain=src/domain/**")
    view = view_of({"src/api/a.ts": [], "src/domain/b.ts": ["../api/a"]}, policy)

    assert marked(view) == {("src/domain/b.ts", "src/api/a.ts"): "layer_violation"}
    assert view["edges"][0]["message"].startswith("Layer domain may not import from layer api")


def test_of_a_cycle_only_the_cut_is_a_violation_and_all_edges_are_circular():
    view = view_of({"a.py": [imported("b", "x", "y")], "b.py": [imported("a", "z")]})

    assert marked(view) == {("b.py", "a.py"): "circular_import"}
    assert view["stats"]["circularEdges"] == 2


def test_a_suppressed_finding_marks_no_edge():
    files = {"a.py": [imported("b", "x", "y")], "b.py": [imported("a", "z")]}
    findings = [
        finding.with_(suppressed_by="reason") for finding in arch_circular_import.check(codebase_of(files), Policy())
    ]

    assert marked(view_of(files, findings=findings)) == {}


def test_tests_are_not_in_the_picture():
    view = view_of({"a.py": [], "tests/test_a.py": ["a"]})

    assert [node["id"] for node in view["nodes"]] == ["a.py"]
    assert view["edges"] == []


def contrast(one, other):
    def luminance(color):
        channels = (int(color[index : index + 2], 16) / 255 for index in (1, 3, 5))
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_of_layers_are_distinct_stable_and_readable_on_light_and_dark():
    view = view_of({}, policy_of("a=a/**", "b=b/**"))

    assert [layer["color"] for layer in view["layers"]] == list(LAYER_COLORS[:2])
    assert len(set(LAYER_COLORS)) == len(LAYER_COLORS)
    for color in LAYER_COLORS:
        assert re.fullmatch("#[0-9a-f]{6}", color)
        assert contrast(color, "#ffffff") >= LEAST_CONTRAST
        assert contrast(color, "#111111") >= LEAST_CONTRAST


names = [f"{layer}/{name}.py" for layer in ("api", "service", "domain", "tests") for name in ("a", "b", "c")]
imports = st.lists(st.sampled_from([name[:-3].replace("/", ".") for name in names]), max_size=5, unique=True)
projects = st.dictionaries(st.sampled_from(names), imports, max_size=len(names))
OWN_POLICY = policy_of(
    "services=analysis/services/**", "engine=analysis/engine/**", "models=analysis/models/**", "views=analysis/views/**"
)
POLICY = policy_of("api=api/**", "service=service/**", "domain=domain/**")


@given(projects)
def test_statistics_agree_with_nodes_and_edges(files):
    assert_agrees(view_of(files, POLICY))


@given(projects)
def test_cutting_what_the_cycles_name_leaves_none(files):
    view = view_of(files, POLICY)
    cut = {(edge["source"], edge["target"]) for cycle in view["cycles"] for edge in cycle["cut"]}
    kept = [(edge["source"], edge["target"]) for edge in view["edges"] if (edge["source"], edge["target"]) not in cut]
    assert rx.is_directed_acyclic_graph(digraph(kept))
    marked_cuts = {pair for pair, kind in marked(view).items() if kind == "circular_import"}
    assert marked_cuts <= cut


def test_the_graph_of_this_project_agrees_with_itself_and_with_its_findings():
    folder = Path(analysis.__file__).parent
    files = {
        f"analysis/{path.relative_to(folder)}": extract(path.read_bytes(), "python") for path in folder.rglob("*.py")
    }
    report = evaluate(files=files, history=History.empty(), policy=OWN_POLICY, today=date(2026, 1, 1))
    view = architecture_graph(report.graph, OWN_POLICY, report.findings, report.files, report.hotspots)

    assert view["stats"]["totalNodes"] > 200
    assert_agrees(view)
    layer_findings = [finding for finding in report.findings if finding.rule_id == "arch-layer-violation"]
    assert layer_findings
    assert {finding.file for finding in layer_findings} == {
        source for (source, _), kind in marked(view).items() if kind == "layer_violation"
    }
    open_findings = [finding for finding in report.findings if not finding.in_test]
    assert sum(node["violations"] for node in view["nodes"]) == len(open_findings)


def digraph(pairs):
    graph = rx.PyDiGraph()
    number = {name: graph.add_node(name) for name in {name for pair in pairs for name in pair}}
    graph.add_edges_from_no_data([(number[source], number[target]) for source, target in pairs])
    return graph


def assert_agrees(view):
    """Nodes, edges, modules, layers, cycles and statistics tell one story."""
    nodes, edges, stats = view["nodes"], view["edges"], view["stats"]
    known = {node["id"] for node in nodes}

    assert stats["totalNodes"] == len(nodes) == len(known) == sum(module["nodeCount"] for module in view["modules"])
    assert stats["totalEdges"] == len(edges) == len({(edge["source"], edge["target"]) for edge in edges})
    assert stats["violationEdges"] == sum(edge["isViolation"] for edge in edges)
    hard = [cycle for cycle in view["cycles"] if not cycle["deferred"]]
    assert stats["circularEdges"] == sum(cycle["edges"] for cycle in hard)
    for cycle in view["cycles"]:
        assert set(cycle["files"]) <= known
        assert cycle["modules"] == sorted({node["module"] for node in nodes if node["id"] in cycle["files"]})
        assert 0 < len(cycle["cut"]) <= cycle["edges"]
    assert {node["layer"] for node in nodes} - {None} <= {layer["name"] for layer in view["layers"]}
    assert stats["modules"] == len({node["module"] for node in nodes})
    assert sum(node["violations"] for node in nodes) == sum(module["violations"] for module in view["modules"])
    for edge in edges:
        assert {edge["source"], edge["target"]} <= known
        assert edge["isViolation"] == (edge["violationType"] is not None) == (edge["message"] is not None)


@given(projects, st.randoms(use_true_random=False))
def test_the_same_files_in_another_order_give_the_same_graph(files, random):
    facts = files_of(files)
    shuffled = dict(random.sample(list(facts.items()), len(facts)))

    assert build_graph(facts) == build_graph(shuffled)
