"""Past days judged in a row: each must be what a judgement from scratch says of that day."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engine.facts import Entry, Import, Model, Suppression
from analysis.engine.history import History
from analysis.engine.model import Category, Finding, Severity, Volume
from analysis.engine.policy import Exemption, Policy
from analysis.engine.rules import maint_cognitive_complexity, maint_hotspot_file, maint_long_function
from analysis.engine.scoring import debt_score
from analysis.engine.severity import WORSE_IN_HOTSPOT, WORSE_IN_REQUEST
from analysis.engine.snapshots import snapshot_of, snapshots
from tests.engine.building import TODAY, a_rule, function, judged, mark, source, touch

PATHS = ("app/a.py", "app/b.py", "app/c.py", "tests/test_a.py", "scripts/run.py", "vendor/d.py")


def judge(seen, place, codebase, policy):
    """Depends on the request path, that is on other files."""
    if seen.line % 2 and not place.in_request_path:
        return None
    return place.finding(seen, tags=frozenset({WORSE_IN_REQUEST, WORSE_IN_HOTSPOT}))


def check(codebase, policy):
    """Depends on the import graph."""
    for edge in codebase.graph.edges:
        yield Finding("arch-x", edge.target, 1, f"imported by {edge.source}", anchor=edge.source, table="orders")


RULES = (
    a_rule(),
    a_rule("risk-y", judge=judge),
    a_rule("arch-x", category=Category.ARCHITECTURE, check=check),
    maint_cognitive_complexity,
    maint_long_function,
    maint_hotspot_file,
)
POLICY = Policy(
    exemptions=(Exemption("risk-x", "app/b.py", TODAY - timedelta(days=3), "until then"),),
    data_volumes={"orders": Volume.XL},
)

severities = st.sampled_from([severity.value for severity in Severity])
contents = st.builds(
    lambda marks, cognitive, cyclomatic, imported, entry, hushed, size: source(
        function("work", cognitive=cognitive, cyclomatic=cyclomatic, code_lines=size, calls=("peer.work",)),
        marks=[mark(rule, line, 1, severity=severity) for rule, line, severity in marks],
        imports=[Import(f"app.{imported}", 1)] if imported else [],
        entries=[Entry("work", "request", "flask")] if entry else [],
        suppressions=[Suppression(3, ("risk-x",), "known")] if hushed else [],
        lines=size * 3,
    ),
    st.lists(st.tuples(st.sampled_from(["risk-x", "risk-y"]), st.integers(1, 6), severities), max_size=4),
    st.integers(0, 60),
    st.integers(1, 200),
    st.sampled_from(["", "a", "b"]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 200),
)
pools = st.lists(contents, min_size=3, max_size=6)
trees = st.lists(st.dictionaries(st.sampled_from(PATHS), st.integers(0, 5), max_size=6), min_size=2, max_size=6)
commits = st.lists(st.builds(touch, st.sampled_from(PATHS), days_ago=st.integers(0, 100)), min_size=0, max_size=60).map(
    lambda found: sorted(found, key=lambda commit: commit.days_ago)
)


class TestDailySnapshots:
    @settings(max_examples=150)
    @given(pools, trees, commits)
    def test_equal_a_judgement_from_scratch_on_each_day(self, pool, past, made):
        history = History.of(made)
        days = [(TODAY - timedelta(days=len(past) - 1 - index), tree) for index, tree in enumerate(past)]

        found = list(snapshots(days, lambda key: pool[key % len(pool)], history, POLICY, rules=RULES))

        for (day, tree), snapshot in zip(days, found, strict=True):
            files = {path: pool[key % len(pool)] for path, key in tree.items()}
            assert snapshot == snapshot_of(judged(files, *RULES, policy=POLICY, history=history, today=day))
            standing = snapshot.standing
            assert standing.health == snapshot.health_score
            assert debt_score(standing.points_tenths, standing.lines_of_code) == pytest.approx(
                snapshot.debt_score, abs=0.01
            )

    def test_know_the_model_of_each_table_with_a_finding(self):
        def check(codebase, policy):
            yield Finding("risk-x", "shop/models.py", 1, "m", table="shop_order")

        files = {"shop/models.py": source(models=(Model("django", "Order", "", 3), Model("django", "Line", "", 9)))}
        assert snapshot_of(judged(files, a_rule(check=check))).standing.models == {"shop_order": "Order"}

    def test_ask_only_for_blobs_that_are_new(self):
        asked = []

        def facts(key):
            asked.append(key)
            return source(marks=[mark()])

        trees = [{"a.py": "one", "b.py": "two"}, {"a.py": "one", "b.py": "three"}, {"a.py": "one", "c.py": "three"}]
        days = [(TODAY + timedelta(days=index), tree) for index, tree in enumerate(trees)]
        assert [entry.total for entry in snapshots(days, facts, History.empty(), Policy(), rules=RULES)] == [2, 2, 2]
        assert asked == ["one", "two", "three", "three"]

    def test_look_at_an_unchanged_file_once(self):
        looked = []

        def check_file(path, facts):
            looked.append(path)
            yield Finding("risk-x", path, 1, "m")

        days = [(TODAY + timedelta(days=index), {"a.py": 1, "b.py": index}) for index in range(3)]
        rules = (a_rule(check_file=check_file),)
        assert (
            len(list(snapshots(days, lambda key: source(lines=key + 1), History.empty(), Policy(), rules=rules))) == 3
        )
        assert sorted(looked) == ["a.py", "b.py", "b.py", "b.py"]

    def test_leave_out_what_is_not_analysed(self):
        days = [(TODAY, {"a.py": 1, "logo.png": 2, "vendor/x.py": 3})]
        facts = {1: source(lines=7), 2: None}
        (found,) = snapshots(days, facts.__getitem__, History.empty(), Policy(), rules=())
        assert found.lines_of_code == 7
