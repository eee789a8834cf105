"""A change against the gates: what it adds, what it takes away, what stops it (rules.md 8.6 and 8.7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analysis.engine.changes import ChangedFiles
from analysis.engine.facts import Import, Suppression
from analysis.engine.gate_metrics import METRICS
from analysis.engine.gates import compare, judge
from analysis.engine.model import Category, GateAction, Ladder, Severity, Volume
from analysis.engine.policy import Gate, Layer, Policy
from analysis.engine.rules import arch_circular_import, arch_layer_violation
from tests.engine.building import a_rule, function, judged, mark, source, touched

RULES = (
    a_rule(points=4),
    a_rule("maint-y", category=Category.MAINTAINABILITY, points=2),
    a_rule("perf-z", category=Category.PERFORMANCE, ladder=Ladder.READ),
)
NO_CHANGE = ChangedFiles()


def report(files, **options):
    return judged(files, *RULES, **options)


def delta(before, after, changed=NO_CHANGE, **options):
    return compare(report(before, **options), report(after, **options), changed)


def with_marks(*marks):
    return {"app/a.py": source(function(), marks=marks)}


def gate(metric, operator, value):
    return Policy(block_merge=(Gate(metric, operator, value),))


class TestTheDifference:
    def test_a_change_without_findings_is_neutral(self):
        found = delta(with_marks(mark()), with_marks(mark()))
        assert (found.introduced, found.resolved, found.debt_delta_score) == ((), (), 0)

    def test_moved_lines_are_no_difference(self):
        assert not delta(with_marks(mark(line=9, anchor="x")), with_marks(mark(line=99, anchor="x"))).introduced

    def test_introduced_findings_weigh_by_severity(self):
        new = [mark(line=1, severity="critical"), mark(line=2), mark(line=3, severity="info")]
        found = delta({}, with_marks(*new))
        assert found.debt_delta_score == 4 * 2 + 4 * 1 + 4 * 0.25
        assert (found.metrics["debt_added"], found.metrics["debt_removed"]) == (12, 0)

    def test_paying_debt_back_is_negative(self):
        found = delta(with_marks(mark(severity="critical"), mark(line=3)), with_marks(mark(line=3)))
        assert (found.debt_delta_score, found.metrics["debt_removed"]) == (-8, 4)

    def test_a_deleted_file_resolves_its_findings(self):
        assert len(delta(with_marks(mark()), {}).resolved) == 1

    def test_a_rename_is_neutral(self):
        base = report(with_marks(mark()))
        head = report({"lib/b.py": with_marks(mark())["app/a.py"]}, aliases={"lib/b.py": "app/a.py"})
        found = compare(base, head, ChangedFiles(renamed={"lib/b.py": "app/a.py"}))
        assert (found.introduced, found.resolved) == ((), ())

    def test_a_renamed_function_is_neutral(self):
        statement = mark(anchor="price = fetch(url)", function=1)
        base = {"app/a.py": source(function("save"), marks=[statement])}
        head = {"app/a.py": source(function("store"), marks=[statement])}
        found = delta(base, head)
        assert (found.introduced, found.resolved, found.metrics["new_violations"]) == ((), (), 0)

    def test_a_function_that_goes_to_another_file_is_neutral(self):
        statement = mark(anchor="price = fetch(url)", function=1)
        code = source(function("save"), marks=[statement])
        assert delta({"app/a.py": code}, {"app/b.py": code}).introduced == ()

    def test_a_method_that_goes_to_another_class_takes_its_measure_along(self):
        def measured(name, complexity):
            said = f"`{name}` has a cyclomatic complexity of {complexity} (limit 10)"
            return source(function(name), marks=[mark(message=said, anchor="", function=1, severity="critical")])

        before = {"app/a.py": measured("Session.process", 58)}
        assert delta(before, {"app/b.py": measured("Dispatcher.process", 58)}).introduced == ()
        assert len(delta(before, {"app/b.py": measured("Dispatcher.process", 99)}).introduced) == 1
        assert len(delta(before, {"app/b.py": measured("Dispatcher.other", 58)}).introduced) == 1

    def test_what_becomes_graver_on_the_way_is_new(self):
        def saved(name, severity):
            return {"app/a.py": source(function(name), marks=[mark(anchor="x", function=1, severity=severity)])}

        assert len(delta(saved("save", "warning"), saved("store", "critical")).introduced) == 1

    def test_the_same_statement_a_second_time_is_new(self):
        statement = mark(anchor="price = fetch(url)", function=1)
        code = source(function("save"), marks=[statement])
        assert len(delta({"app/a.py": code}, {"app/a.py": code, "app/b.py": code}).introduced) == 1

    def test_findings_in_tests_cost_nothing(self):
        rule = a_rule(rule_fields={"tests_too": True})
        base, head = judged({}, rule), judged({"tests/test_a.py": source(marks=[mark(severity="critical")])}, rule)
        found = compare(base, head, NO_CHANGE)
        assert len(found.introduced) == 1
        assert (found.metrics["new_critical"], found.debt_delta_score) == (0, 0)
        assert judge(found, gate("new_critical", ">", 0)).result == "pass"

    def test_suppressing_pays_nothing_back_and_is_counted(self):
        hushed = {"app/a.py": source(function(), marks=[mark()], suppressions=[Suppression(10, ("risk-x",), "later")])}
        found = delta(with_marks(mark()), hushed)
        assert (found.resolved, found.metrics["suppressions_added"]) == ((), 1)
        assert delta(hushed, hushed).metrics["suppressions_added"] == 0

    marks = st.lists(st.tuples(st.integers(1, 40), st.sampled_from(list(Severity))), max_size=8)

    @given(marks, marks)
    def test_there_and_back_again_cancels_out(self, before, after):
        one = with_marks(*(mark(line=line, severity=severity) for line, severity in before))
        other = with_marks(*(mark(line=line, severity=severity) for line, severity in after))
        assert delta(one, other).debt_delta_score == pytest.approx(-delta(other, one).debt_delta_score)


class TestMetrics:
    def test_every_metric_has_a_value(self):
        assert set(delta({}, with_marks(mark())).metrics) == set(METRICS)

    def test_introduced_findings_by_severity_and_category(self):
        new = [mark(line=1, severity="critical"), mark("maint-y", 2), mark("maint-y", 3, severity="info")]
        metrics = delta({}, with_marks(*new)).metrics
        counted = {name: value for name, value in metrics.items() if name.startswith("new_") and value}
        assert counted == {
            "new_violations": 2, "new_critical": 1, "new_warning": 1, "new_info": 1, "new_runtime_risk": 1,
            "new_maintainability": 1,
        }  # fmt: skip

    def test_findings_on_large_tables(self):
        from analysis.engine.model import Finding

        def check(codebase, policy):
            for path in codebase.files:
                yield Finding("perf-z", path, 1, "query", table="orders")

        rule = a_rule("perf-z", ladder=Ladder.READ, check=check)
        policy = Policy(data_volumes={"orders": Volume.XL})
        base, head = judged({}, rule, policy=policy), judged({"a.py": source()}, rule, policy=policy)
        assert compare(base, head, NO_CHANGE).metrics["new_xl_findings"] == 1

    def test_totals_and_scores_of_the_head(self):
        metrics = delta({}, with_marks(mark(line=1, severity="critical"), mark(line=2, severity="info"))).metrics
        assert (metrics["total_critical"], metrics["total_violations"]) == (1, 2)
        assert metrics["health_delta"] == metrics["health_score"] - 100 < 0
        assert (metrics["debt_score"], metrics["production_risk"]) == (8, 1)
        assert metrics["debt_ratio"] == pytest.approx(100 * 8 / 3000)

    def test_complexity_of_changed_functions(self):
        before = {"a.py": source(function("old", cognitive=50), function("grown", line=30, cognitive=3))}
        after = {"a.py": source(function("old", line=90, cognitive=50), function("grown", line=30, cognitive=9))}
        changed = ChangedFiles(modified=frozenset({"a.py"}), changed_lines=7)
        metrics = delta(before, after, changed).metrics
        assert (metrics["complexity_delta"], metrics["max_function_complexity"]) == (6, 9)
        assert metrics["changed_lines"] == 7

    def test_complexity_follows_renames(self):
        facts = source(function(cognitive=30))
        changed = ChangedFiles(renamed={"b.py": "a.py"})
        metrics = delta({"a.py": facts}, {"b.py": facts}, changed).metrics
        assert (metrics["complexity_delta"], metrics["max_function_complexity"]) == (0, 0)

    def test_hotspots_touched_by_their_risk_before(self):
        files = {"app/a.py": source(function(cyclomatic=180)), "app/b.py": source()}
        known = touched("app/a.py", 14)
        changed = ChangedFiles(modified=frozenset({"app/a.py", "app/b.py"}))
        metrics = delta(files, files, changed, history=known).metrics
        assert (metrics["hotspots_touched"], metrics["hotspot_risk_max"]) == (1, 62)
        assert delta(files, files, history=known).metrics["hotspot_risk_max"] == 0

    def test_circles_of_imports(self):
        def ring(*names):
            return {
                f"{name}.py": source(imports=[Import(following, 1)])
                for name, following in zip(names, (*names[1:], names[0]), strict=True)
            }

        def circles(before, after):
            metrics = delta(before, after).metrics
            return metrics["circular_dependencies"], metrics["new_circular_dependencies"]

        assert circles(ring("a", "b"), ring("a", "b")) == (1, 0)
        assert circles({}, ring("a", "b")) == (1, 1)
        assert circles(ring("a", "b"), ring("a", "b", "c")) == (1, 1)
        assert circles(ring("a", "b", "c"), ring("a", "b")) == (1, 0)

    def test_a_circle_that_shrinks_is_not_introduced(self):
        def ring(*names):
            files = zip(names, (*names[1:], names[0]), strict=True)
            return {f"{name}.py": source(imports=[Import(following, 1)]) for name, following in files}

        def introduced(before, after):
            reports = [judged(files, arch_circular_import) for files in (before, after)]
            return len(compare(*reports, NO_CHANGE).introduced)

        assert introduced(ring("a", "b", "c"), ring("a", "b")) == 0
        assert introduced(ring("a", "b", "c", "d"), ring("a", "b") | ring("c", "d")) == 0
        assert introduced(ring("a", "b"), ring("a", "b", "c")) == 1

    def test_imports_that_break_the_layers(self):
        policy = Policy(layers=(Layer("web", "web/"), Layer("domain", "domain/")))
        before = {"domain/a.py": source(), "web/b.py": source()}
        after = {**before, "domain/a.py": source(imports=[Import("web.b", 1)])}
        reports = [judged(files, arch_layer_violation, policy=policy) for files in (before, after)]
        assert compare(*reports, NO_CHANGE).metrics["new_layer_violations"] == 1
        assert compare(reports[1], reports[1], NO_CHANGE).metrics["new_layer_violations"] == 0
        assert compare(reports[1], reports[1], NO_CHANGE).metrics["layer_violations"] == 1


class TestTheVerdict:
    critical, warning = mark(line=1, severity="critical"), mark(line=2)

    def verdict(self, policy, *marks):
        return judge(delta({}, with_marks(*marks)), policy)

    def test_without_gates_everything_passes(self):
        verdict = self.verdict(Policy(), self.critical)
        assert (verdict.result, verdict.blocking_count, verdict.warning_count, verdict.fired) == ("pass", 0, 0, ())

    def test_a_blocking_gate_fails_the_change_and_names_its_findings(self):
        verdict = self.verdict(gate("new_critical", ">", 0), self.critical, self.warning)
        assert (verdict.result, verdict.blocking_count) == ("fail", 2)  # the gate and the finding
        assert [found.gate_action for found in verdict.findings] == [GateAction.BLOCK, GateAction.NONE]
        assert [entry.sentence for entry in verdict.fired] == ["New critical findings: 1 (the policy blocks at > 0)"]

    def test_a_gate_on_a_sum_blocks_without_blaming_a_finding(self):
        verdict = self.verdict(gate("debt_delta_score", ">", 7.5), self.critical)
        assert (verdict.result, verdict.blocking_count, verdict.score) == ("fail", 1, 8)
        assert verdict.findings[0].gate_action is GateAction.NONE
        assert verdict.fired[0].sentence == "Debt score of the change: 8 (the policy blocks at > 7.5)"

    def test_a_warning_gate_only_warns(self):
        verdict = self.verdict(Policy(warn=(Gate("new_violations", ">=", 2),)), self.critical, self.warning)
        assert (verdict.result, verdict.blocking_count, verdict.warning_count) == ("pass", 0, 3)

    def test_a_warning_in_a_blocked_count_warns(self):
        verdict = self.verdict(gate("new_violations", ">", 0), self.warning)
        assert (verdict.result, verdict.blocking_count, verdict.warning_count) == ("fail", 1, 1)

    def test_a_finding_of_low_confidence_never_blocks(self):
        verdict = self.verdict(gate("new_violations", ">", 0), mark(severity="critical", confidence="low"))
        assert verdict.findings[0].gate_action is GateAction.WARN

    @pytest.mark.parametrize(
        ("operator", "fires"), [(">", False), (">=", True), ("<", False), ("<=", True), ("==", True), ("!=", False)]
    )
    def test_the_operators(self, operator, fires):
        verdict = self.verdict(gate("new_warning", operator, 1), self.warning)
        assert (verdict.result == "fail") is fires

    @given(st.sampled_from(sorted(METRICS)), st.floats(-100, 100), st.booleans())
    def test_the_result_is_fail_exactly_when_something_blocks(self, metric, value, above):
        verdict = self.verdict(gate(metric, ">" if above else "<=", value), self.critical, self.warning)
        fired = bool(verdict.fired)
        assert (verdict.result == "fail") is fired is (verdict.blocking_count > 0)


def test_reports_are_compared_without_being_changed():
    facts = source(function(), marks=[mark()])
    base = report({"app/a.py": facts})
    before = repr(base)
    judge(compare(base, report({"app/a.py": replace(facts, lines=7)}), NO_CHANGE), gate("new_critical", ">", 0))
    assert repr(base) == before
