import itertools
from random import Random
from time import process_time

import rustworkx as rx
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engine.graph.cut import smallest_cut
from analysis.engine.graph.cycles import CycleFinder
from analysis.engine.graph.model import Edge
from tests.engine.graph.project import deferred, graph_of, imported, passed_on, type_only

MANY_NAMES = 3


def cycles_among(edges):
    """Cycles between files."""
    return CycleFinder().find(edges, {path: path for edge in edges for path in (edge.source, edge.target)})


def cycles_of(files):
    return [cycle.files for cycle in graph_of(files).cycles]


def is_acyclic(size, arcs):
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from_no_data(list(arcs))
    return rx.is_directed_acyclic_graph(graph)


def test_two_files_that_import_each_other():
    assert cycles_of({"a.ts": ["./b"], "b.ts": ["./a"]}) == [("a.ts", "b.ts")]


def test_a_chain_is_no_cycle():
    assert cycles_of({"a.ts": ["./b"], "b.ts": ["./c"], "c.ts": []}) == []


def test_type_only_imports_close_no_cycle():
    assert cycles_of({"a.ts": [type_only("./b")], "b.ts": ["./a"]}) == []


def test_tests_close_no_cycle():
    assert cycles_of({"a.test.ts": ["./b"], "b.ts": ["./a.test"]}) == []


def test_a_barrel_passes_on_its_own_folder_without_a_cycle():
    assert cycles_of({"ui/index.ts": [passed_on("./button")], "ui/button.ts": ["."]}) == []


def test_a_barrel_of_another_folder_counts():
    files = {"ui/index.ts": [passed_on("../core/x")], "core/x.ts": ["../ui"]}

    assert cycles_of(files) == [("core/x.ts", "ui/index.ts")]


def test_a_cycle_through_a_deferred_import_is_kept_apart():
    graph = graph_of({"a.py": ["b"], "b.py": [deferred("a")]})

    assert graph.cycles == ()
    assert [(cycle.files, cycle.deferred) for cycle in graph.deferred_cycles] == [(("a.py", "b.py"), True)]


def test_the_import_with_fewest_names_is_cut():
    graph = graph_of({"a.py": [imported("b", "x", "y")], "b.py": [imported("a", "z", line=7)]})

    (cycle,) = graph.cycles
    assert [(edge.source, edge.line) for edge in cycle.cut] == [("b.py", 7)]


def test_one_edge_that_breaks_two_circles_is_cut_before_two_that_break_one_each():
    names = [f"n{index}" for index in range(MANY_NAMES)]
    files = {"a.py": [imported("b", *names)], "b.py": ["c", "d"], "c.py": ["a"], "d.py": ["a"]}

    (cycle,) = graph_of(files).cycles
    assert [(edge.source, edge.target) for edge in cycle.cut] == [("a.py", "b.py")]


def test_java_is_judged_by_package():
    root = "src/main/java"
    files = {
        f"{root}/a/A.java": ["b.B"],
        f"{root}/a/Other.java": [],
        f"{root}/b/B.java": [],
        f"{root}/b/Else.java": ["a.Other"],
    }

    (cycle,) = graph_of(files).cycles
    assert cycle.units == (f"{root}/a", f"{root}/b")
    assert [(edge.source, edge.target) for edge in cycle.edges] == [
        (f"{root}/a/A.java", f"{root}/b/B.java"),
        (f"{root}/b/Else.java", f"{root}/a/Other.java"),
    ]


def test_go_is_judged_by_module():
    files = {
        "a/go.mod": "module m/a\n",
        "b/go.mod": "module m/b\n",
        "a/a.go": ["m/b"],
        "a/sub/sub.go": [],
        "b/b.go": ["m/a/sub"],
    }

    (cycle,) = graph_of(files).cycles
    assert cycle.units == ("a", "b")


def test_a_file_that_imports_itself_is_no_cycle_but_told():
    graph = graph_of({"a.ts": [imported("./a", line=4)]})

    assert graph.cycles == ()
    assert [(edge.source, edge.line) for edge in graph.self_imports] == [("a.ts", 4)]


arcs_of = st.integers(2, 14).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.dictionaries(
            st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda arc: arc[0] != arc[1]),
            st.integers(1, 5),
            max_size=40,
        ),
    )
)


@given(arcs_of)
def test_a_cut_breaks_every_circle_and_holds_nothing_needless(case):
    size, weights = case
    cut = set(smallest_cut(size, weights))
    left = set(weights) - cut

    assert is_acyclic(size, left)
    for arc in cut:
        assert not is_acyclic(size, left | {arc})


small_arcs = st.integers(2, 4).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.dictionaries(st.sampled_from(list(itertools.permutations(range(size), 2))), st.integers(1, 5), max_size=9),
    )
)


@settings(max_examples=60)
@given(small_arcs)
def test_the_cut_of_a_small_component_is_the_cheapest_of_all(case):
    size, weights = case
    cost = sum(weights[arc] for arc in smallest_cut(size, weights))
    cheapest = min(
        sum(weights[arc] for arc in chosen)
        for count in range(len(weights) + 1)
        for chosen in itertools.combinations(weights, count)
        if is_acyclic(size, set(weights) - set(chosen))
    )

    assert cost == cheapest


paths = st.sampled_from([f"{name}.py" for name in "abcdefgh"])
edge_lists = st.lists(st.tuples(paths, paths).filter(lambda pair: pair[0] != pair[1]), unique=True, max_size=30)


@given(edge_lists, st.randoms(use_true_random=False))
def test_cycles_do_not_depend_on_the_order_of_edges(pairs, random):
    edges = [Edge(source, target, 1, ("x",)) for source, target in pairs]
    shuffled = random.sample(edges, len(edges))

    assert cycles_among(edges) == cycles_among(shuffled)


@given(edge_lists)
def test_without_the_cuts_no_cycle_is_left(pairs):
    edges = [Edge(source, target, 1, ("x",)) for source, target in pairs]
    cut = {edge for cycle in cycles_among(edges)[0] for edge in cycle.cut}

    assert cycles_among([edge for edge in edges if edge not in cut]) == ((), ())


def test_a_large_component_is_cut_in_order_of_a_second():
    size = 300
    weights = {(node, (node * step + 1) % size): 1 for node in range(size) for step in (1, 7, 13)}
    weights = {arc: weight for arc, weight in weights.items() if arc[0] != arc[1]}

    cut = smallest_cut(size, weights)

    assert is_acyclic(size, set(weights) - set(cut))
    assert len(cut) < len(weights) / 2


def test_a_giant_component_is_cut_in_seconds_and_no_circle_is_left():
    random = Random(7)
    size = 3_000
    weights = {(random.randrange(size), random.randrange(size)): 1 for _ in range(24_000)}
    weights = {arc: weight for arc, weight in weights.items() if arc[0] != arc[1]}
    started = process_time()

    cut = set(smallest_cut(size, weights))

    assert process_time() - started < 10  # 0.4 s; a step that looks at all nodes takes much longer
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from_no_data([arc for arc in weights if arc not in cut])
    assert rx.is_directed_acyclic_graph(graph)
