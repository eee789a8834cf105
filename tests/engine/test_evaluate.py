"""From marks and facts to findings: severity, points, identity, suppression, and what a file's kind changes."""

from datetime import timedelta

import pytest

from analysis.engine.facts import Entry, Import, Model, Parameter, Suppression
from analysis.engine.history import History
from analysis.engine.model import Category, Confidence, Finding, GateAction, Ladder, Severity, Volume
from analysis.engine.policy import Exemption, Gate, Policy
from analysis.engine.severity import EXPIRED, MILDER, REQUEST_PATH, WORSE_IN_HOTSPOT, WORSE_IN_REQUEST
from tests.engine.building import TODAY, a_rule, function, judged, mark, only, source, touched

WARNING, INFO, CRITICAL = Severity.WARNING, Severity.INFO, Severity.CRITICAL


def about_table(table="orders", **fields):
    """A rule over the codebase that reports one query on `table`."""

    def check(codebase, policy):
        for path in codebase.files:
            yield Finding("risk-x", path, 10, "query", function="work", table=table, **fields)

    return check


class TestAMark:
    def test_becomes_a_finding_with_the_defaults_of_its_rule(self):
        found = only(judged({"app/a.py": source(function(), marks=[mark(function=1)])}, a_rule(points=2)))
        assert (found.severity, found.confidence, found.points) == (WARNING, Confidence.HIGH, 2)
        assert (found.function, found.line, found.message, found.suggestion) == (
            "work", 10, "is wrong", "Repair it.",
        )  # fmt: skip
        assert len(found.fingerprint) == 32

    @pytest.mark.parametrize(("confidence", "told"), [("low", 0), ("medium", 1)])
    def test_may_be_one_whose_guesses_are_not_told(self, confidence, told):
        files = {"shop/a.py": source(marks=[mark(confidence=confidence)])}
        assert len(judged(files, a_rule(rule_fields={"guesses": False})).findings) == told

    def test_may_say_its_own_severity_confidence_and_excess(self):
        seen = mark(severity="info", confidence="medium", excess=1.26, suggestion="Do this.")
        found = only(judged({"app/a.py": source(marks=[seen])}, a_rule()))
        assert (found.severity, found.confidence, found.points) == (INFO, Confidence.MEDIUM, 2.3)
        assert found.suggestion == "Do this."

    def test_of_an_unknown_rule_is_left_out(self):
        assert not judged({"app/a.py": source(marks=[mark("gone")])}, a_rule()).findings

    def test_goes_through_the_judge_of_its_rule(self):
        def judge(seen, place, codebase, policy):
            return place.finding(seen, message=f"in {place.function.name}") if seen.line > 10 else None

        facts = source(function(), marks=[mark(line=10, function=1), mark(line=12, function=1)])
        assert only(judged({"app/a.py": facts}, a_rule(judge=judge))).message == "in work"

    def test_is_not_reported_by_itself_when_the_rule_checks_the_codebase(self):
        def check(codebase, policy):
            for place, seen in codebase.marks("risk-x"):
                yield place.finding(seen, message="checked")

        assert only(judged({"app/a.py": source(marks=[mark()])}, a_rule(check=check))).message == "checked"

    def test_points_stay_between_half_a_point_and_sixty(self):
        facts = source(marks=[mark(line=1, excess=500), mark(line=2, excess=-5)])
        assert [found.points for found in judged({"app/a.py": facts}, a_rule()).findings] == [60, 0.5]

    def test_seen_twice_in_one_statement_is_one_finding(self):
        only(judged({"app/a.py": source(marks=[mark(), mark()])}, a_rule()))


class TestVolumes:
    ladders = (
        (Ladder.READ, (INFO, WARNING, CRITICAL, CRITICAL)),
        (Ladder.SCAN, (None, INFO, CRITICAL, CRITICAL)),
        (Ladder.SOFT, (None, INFO, WARNING, CRITICAL)),
        (Ladder.LOCK, (None, INFO, CRITICAL, CRITICAL)),
    )

    @pytest.mark.parametrize(("ladder", "steps"), ladders)
    def test_the_size_of_the_table_decides_the_severity(self, ladder, steps):
        rule = a_rule(ladder=ladder, points=4, check=about_table())
        for volume, factor, step in zip(Volume, (0.5, 1, 2, 3), steps, strict=True):
            report = judged({"app/a.py": source()}, rule, policy=Policy(data_volumes={"orders": volume}))
            assert [(found.severity, found.volume, found.points) for found in report.findings] == (
                [(step, volume, 4 * factor)] if step else []
            )

    def test_an_undeclared_table_is_m(self):
        found = only(judged({"app/a.py": source()}, a_rule(ladder=Ladder.READ, check=about_table())))
        assert (found.volume, found.severity) == (Volume.M, WARNING)

    def test_an_unknown_table_is_m_and_never_certain(self):
        found = only(judged({"app/a.py": source()}, a_rule(ladder=Ladder.READ, check=about_table(""))))
        assert (found.volume, found.table, found.confidence) == (None, "", Confidence.MEDIUM)

    @pytest.mark.parametrize("key", ["shop_order", "Order", "SHOP_ORDER", "public.shop_order"])
    def test_a_key_is_the_table_the_model_or_the_table_without_case_and_schema(self, key):
        files = {"shop/models.py": source(models=(Model("django", "Order", "", 3),))}
        rule = a_rule(ladder=Ladder.READ, check=about_table("shop_order"))
        assert only(judged(files, rule, policy=Policy(data_volumes={key: Volume.XL}))).volume is Volume.XL

    def test_the_exact_table_goes_before_the_model_and_that_before_other_spellings(self):
        files = {"shop/models/order.py": source(models=(Model("django", "Order", "", 3),))}
        rule = a_rule(ladder=Ladder.READ, check=about_table("shop_order"))
        declared = {"SHOP_ORDER": Volume.S, "Order": Volume.XL, "shop_order": Volume.XXL}
        for expected in (Volume.XXL, Volume.XL, Volume.S):
            assert only(judged(files, rule, policy=Policy(data_volumes=declared))).volume is expected
            declared.pop(next(key for key, volume in declared.items() if volume is expected))

    def test_a_severity_that_the_rule_decided_replaces_the_ladder(self):
        rule = a_rule(ladder=Ladder.READ, check=about_table(severity=INFO))
        found = only(judged({"app/a.py": source()}, rule, policy=Policy(data_volumes={"orders": Volume.XXL})))
        assert found.severity is INFO

    def test_one_step_down_comes_after_the_ladder(self):
        rule = a_rule(ladder=Ladder.READ, check=about_table(tags=frozenset({MILDER})))
        found = only(judged({"app/a.py": source()}, rule, policy=Policy(data_volumes={"orders": Volume.XL})))
        assert found.severity is WARNING


def tagged(tag):
    return lambda seen, place, codebase, policy: place.finding(seen, tags=frozenset({tag}))


class TestTheRequestPath:
    def files(self, *, levels=1, kind="request"):
        """A view that calls a chain of services, one file each."""
        files = {
            "app/views.py": source(
                function("show", calls=("step1",)),
                imports=[Import("app.step1", 1, ("step1",))],
                entries=[Entry("show", kind, "django")],
                marks=[mark(function=1)],
            )
        }
        for level in range(1, levels + 1):
            files[f"app/step{level}.py"] = source(
                function(f"step{level}", calls=(f"step{level + 1}",)),
                imports=[Import(f"app.step{level + 1}", 1, (f"step{level + 1}",))],
                marks=[mark(function=1)],
            )
        return files

    def paths(self, report):
        return {found.file for found in report.findings if REQUEST_PATH in found.tags}

    def test_reaches_three_calls_deep(self):
        report = judged(self.files(levels=5), a_rule())
        assert self.paths(report) == {"app/views.py", "app/step1.py", "app/step2.py", "app/step3.py"}

    def test_raises_findings_that_are_worse_there(self):
        report = judged(self.files(levels=5), a_rule(judge=tagged(WORSE_IN_REQUEST)))
        assert [found.severity for found in report.findings] == [CRITICAL] * 4 + [WARNING] * 2

    def test_a_job_is_no_request(self):
        assert not self.paths(judged(self.files(kind="job"), a_rule()))

    def test_a_place_knows_whether_a_job_reaches_it(self):
        def judge(seen, place, codebase, policy):
            return place.finding(seen) if place.in_job_path and not place.in_request_path else None

        report = judged(self.files(levels=5, kind="job"), a_rule(judge=judge))
        assert len(report.findings) == 4

    def test_low_confidence_is_capped_after_the_context(self):
        report = judged(self.files(), a_rule(judge=tagged(WORSE_IN_REQUEST), confidence=Confidence.LOW))
        assert {found.severity for found in report.findings} == {WARNING}

    def test_a_class_that_is_an_entry_brings_its_methods(self):
        files = {
            "app/views.py": source(
                function("Orders.list", owner="Orders", calls=("self.load",)),
                function("Orders.load", line=30, owner="Orders"),
                marks=[mark(line=31, function=2)],
            ),
            "app/urls.py": source(
                imports=[Import("app.views", 1, ("Orders",))], entries=[Entry("Orders", "request", "django")]
            ),
        }
        assert self.paths(judged(files, a_rule())) == {"app/views.py"}

    def test_a_call_with_more_than_four_candidates_is_not_followed(self):
        names = [f"app/m{index}.py" for index in range(5)]
        files = {path: source(function("save"), marks=[mark(function=1)]) for path in names}
        files["app/views.py"] = source(
            function("show", calls=("thing.save",)),
            imports=[Import(f"app.m{index}", 1) for index in range(5)],
            entries=[Entry("show", "request", "flask")],
        )
        assert not self.paths(judged(files, a_rule()))

    def test_functions_nested_in_a_handler_run_with_it(self):
        files = {
            "app/views.py": source(
                function("show", line=10, end_line=30),
                function("show.inner", line=12, parent=1),
                entries=[Entry("show", "request", "django")],
                marks=[mark(function=2)],
            )
        }
        assert self.paths(judged(files, a_rule())) == {"app/views.py"}


class TestKindsOfFiles:
    @pytest.mark.parametrize(
        ("path", "fields", "heard"),
        [
            ("app/a.py", {}, True),
            ("tests/test_a.py", {}, False),
            ("tests/test_a.py", {"tests_too": True}, True),
            ("app/migrations/0001_a.py", {}, False),
            ("app/migrations/0001_a.py", {"in_migrations": True}, True),
            ("scripts/a.py", {}, True),
            ("scripts/a.py", {"in_scripts": False}, False),
            ("vendor/a.py", {"tests_too": True, "in_migrations": True}, False),
            ("app/a_pb2.py", {"tests_too": True, "in_migrations": True}, False),
            ("app/a.pyi", {}, False),
        ],
    )
    def test_decide_which_rules_are_heard(self, path, fields, heard):
        report = judged({path: source(marks=[mark()])}, a_rule(rule_fields=fields))
        assert bool(report.findings) is heard

    def test_generated_by_content_is_not_analysed(self):
        report = judged({"app/a.py": source(marks=[mark()], skipped="generated")}, a_rule())
        assert (report.findings, report.files_analyzed, report.lines_of_code) == ((), 0, 0)

    def test_lines_of_tests_are_not_counted(self):
        files = {
            "a.py": source(lines=50), "b.go": source(lines=70, path="b.go"), "tests/test_a.py": source(lines=900),
            "vendor/x.py": source(lines=10), "package.json": source(path="package.json", lines=8),
        }  # fmt: skip
        report = judged(files)
        assert (report.lines_of_code, report.files_analyzed) == (120, 3)
        assert report.languages == {"Go": 70, "Python": 50}

    def test_findings_in_tests_are_marked_and_cost_nothing(self):
        report = judged({"tests/test_a.py": source(marks=[mark()])}, a_rule(rule_fields={"tests_too": True}))
        assert only(report).in_test
        assert (report.debt_points, report.health_score) == (0, 100)


class TestPrecedence:
    def judge_on(self, line, *rules):
        facts = source(function(), marks=[mark(rule, line if rule == rules[0] else 10, 1) for rule in rules])
        report = judged({"app/a.py": facts}, *(a_rule(rule) for rule in rules))
        return {found.rule_id for found in report.findings}

    def test_the_more_specific_rule_speaks(self):
        rules = ("perf-write-in-loop", "perf-n-plus-one-query", "perf-serial-await")
        assert self.judge_on(10, *rules) == {"perf-write-in-loop"}

    def test_only_about_the_same_line(self):
        rules = ("perf-missing-pagination", "perf-unbounded-query")
        assert self.judge_on(11, *rules) == set(rules)

    def test_one_overgrown_function_is_billed_once(self):
        rules = ("maint-deep-nesting", "maint-long-function", "maint-cyclomatic-complexity")
        facts = source(
            function("bad"),
            function("long", line=40),
            marks=[*(mark(rule, 10, 1) for rule in rules), mark("maint-long-function", 40, 2)],
        )
        report = judged({"app/a.py": facts}, *(a_rule(rule, points=7) for rule in rules))
        points = {(found.rule_id, found.function): found.points for found in report.findings}
        assert points == {
            ("maint-cyclomatic-complexity", "bad"): 7,
            ("maint-long-function", "bad"): 0.5,
            ("maint-deep-nesting", "bad"): 0.5,
            ("maint-long-function", "long"): 7,
        }


class TestSuppression:
    def test_a_comment_with_a_reason_takes_a_finding_out_of_the_scores(self):
        facts = source(marks=[mark(severity="critical")], suppressions=[Suppression(10, ("risk-x",), "known")])
        report = judged({"app/a.py": facts}, a_rule())
        assert report.findings == ()
        assert report.suppressed[0].suppressed_by == "known"
        assert (report.health_score, report.debt_points, report.categories["runtime_risk"]) == (100, 0, 0)

    @pytest.mark.parametrize("comment", [Suppression(11, ("risk-x",), "r"), Suppression(10, ("risk-y",), "r")])
    def test_another_line_or_rule_is_not_suppressed(self, comment):
        only(judged({"app/a.py": source(marks=[mark()], suppressions=[comment])}, a_rule()))

    def test_a_whole_file(self):
        facts = source(marks=[mark(), mark(line=70)], suppressions=[Suppression(0, ("risk-x",), "old")])
        assert len(judged({"app/a.py": facts}, a_rule()).suppressed) == 2

    def test_without_a_reason_it_is_only_noted(self):
        report = judged({"app/a.py": source(marks=[mark()], unreasoned_suppressions=(9,))}, a_rule())
        assert only(report)
        assert report.notes == ("app/a.py:9: the suppression has no effect, because it gives no reason",)


def excepting(days=0, file="app/**", rule="risk-x"):
    return Policy(exemptions=(Exemption(rule, file, TODAY + timedelta(days=days), "legacy"),))


class TestExceptionsOfThePolicy:
    files = {"app/a.py": source(marks=[mark()])}

    @pytest.mark.parametrize("glob", ["app/**", "app/a.py", "*.py", "app/", "**/a.*"])
    def test_a_glob_names_the_files(self, glob):
        assert judged(self.files, a_rule(), policy=excepting(file=glob)).suppressed[0].suppressed_by == "legacy"

    @pytest.mark.parametrize("changes", [{"file": "lib/**"}, {"rule": "risk-y"}])
    def test_other_files_and_rules_stay_open(self, changes):
        only(judged(self.files, a_rule(), policy=excepting(**changes)))

    def test_the_last_day_still_counts(self):
        assert not judged(self.files, a_rule(), policy=excepting(days=0)).findings

    def test_after_it_the_finding_returns_with_a_note(self):
        report = judged(self.files, a_rule(), policy=excepting(days=-1))
        assert EXPIRED in only(report).tags
        assert report.notes == ("exception expired: risk-x in app/** was accepted until 2026-11-19 (legacy)",)


class TestHotspots:
    def test_are_complex_files_that_change_often(self):
        files = {"app/a.py": source(function(cyclomatic=180)), "app/b.py": source(function(cyclomatic=180))}
        report = judged(files, history=touched("app/a.py", 14))
        worst = report.hotspots[0]
        assert (worst.file, worst.complexity, worst.churn_count, worst.risk_score) == ("app/a.py", 181, 14, 62)
        assert worst.is_hotspot
        assert not report.file_metrics["app/b.py"].is_hotspot

    def test_raise_findings_that_are_worse_there(self):
        files = {"app/a.py": source(function(cyclomatic=180), marks=[mark()])}
        rule = a_rule(judge=tagged(WORSE_IN_HOTSPOT))
        assert only(judged(files, rule, history=touched("app/a.py", 20))).severity is CRITICAL
        assert only(judged(files, rule, history=touched("app/a.py", 1))).severity is WARNING

    def test_tests_and_migrations_are_none(self):
        files = {path: source(function(cyclomatic=180)) for path in ("tests/a.py", "app/migrations/0001_a.py")}
        for path in files:
            assert judged(files, history=touched(path, 20)).hotspots == ()

    def test_a_rule_may_ask_for_them(self):
        def check(codebase, policy):
            for path, hotspot in codebase.hotspots.items():
                yield Finding("risk-x", path, 1, f"risk {hotspot.risk_score}")

        rule = a_rule(check=check, AFTER_HOTSPOTS=True)
        files = {"app/a.py": source(function(cyclomatic=180))}
        assert only(judged(files, rule, history=touched("app/a.py", 14))).message == "risk 62"

    def test_count_every_open_finding_of_the_file(self):
        def check(codebase, policy):
            yield from (Finding("risk-x", path, 1, "a hotspot") for path in codebase.hotspots)

        files = {"app/a.py": source(function(cyclomatic=180))}
        report = judged(files, a_rule(check=check, AFTER_HOTSPOTS=True), history=touched("app/a.py", 14))
        assert report.hotspots[0].violation_count == len(report.findings)

    def test_ties_go_to_more_violations_then_to_the_path(self):
        seen = [mark(severity="info", confidence="low")]
        files = {"c.py": source(function(cyclomatic=50)), "b.py": source(function(cyclomatic=50)),
                 "d.py": source(function(cyclomatic=50), lines=50_000, marks=seen)}  # fmt: skip
        assert [hotspot.file for hotspot in judged(files, a_rule()).hotspots] == []
        history = History.of([commit for path in files for commit in _changes_of(path)])
        assert [hotspot.file for hotspot in judged(files, a_rule(), history=history).hotspots] == [
            "d.py",
            "b.py",
            "c.py",
        ]


def _changes_of(path):
    from tests.engine.building import touch

    return [touch(path) for _ in range(5)]


class TestTheReport:
    def test_orders_by_severity_points_path_and_line(self):
        files = {
            "b.py": source(marks=[mark(line=3), mark(line=2, excess=3), mark(line=9, severity="critical")]),
            "a.py": source(marks=[mark(line=7), mark(line=1, severity="info")]),
        }
        assert [(found.file, found.line) for found in judged(files, a_rule()).findings] == [
            ("b.py", 9), ("b.py", 2), ("a.py", 7), ("b.py", 3), ("a.py", 1),
        ]  # fmt: skip

    def test_does_not_depend_on_the_order_of_the_files(self):
        files = {f"app/m{index}.py": source(function(cyclomatic=index), marks=[mark()]) for index in range(20)}
        shuffled = dict(reversed(files.items()))
        rules = (a_rule(), a_rule("risk-y", check=about_table()))
        one, other = judged(files, rules[0]), judged(shuffled, rules[0])
        assert repr(one) == repr(other)
        assert list(one.file_metrics) == list(other.file_metrics)

    def test_counts_by_category(self):
        files = {"a.py": source(marks=[mark(), mark("maint-y", 3)])}
        report = judged(files, a_rule(), a_rule("maint-y", category=Category.MAINTAINABILITY))
        assert report.categories == {
            "architecture": 0, "runtime_risk": 1, "performance": 0, "reliability": 0, "maintainability": 1,
        }  # fmt: skip

    def test_shows_what_the_gates_would_do_about_a_finding(self):
        policy = Policy(block_merge=(Gate("new_critical", ">", 0),), warn=(Gate("new_warning", ">", 0),))
        files = {"a.py": source(marks=[mark(line=1, severity="critical"), mark(line=2), mark(line=3, severity="info")])}
        actions = [found.gate_action for found in judged(files, a_rule(), policy=policy).findings]
        assert actions == [GateAction.BLOCK, GateAction.WARN, GateAction.NONE]


class TestIdentity:
    def prints(self, facts, path="app/a.py", **options):
        return [found.fingerprint for found in judged({path: facts}, a_rule(), **options).findings]

    def test_survives_moved_lines(self):
        before = source(function(), marks=[mark(line=10, function=1, anchor="call(x)")])
        after = source(function(), marks=[mark(line=90, function=1, anchor="call(x)")])
        assert self.prints(before) == self.prints(after)

    def test_survives_a_rename(self):
        facts = source(marks=[mark()])
        assert self.prints(facts) == self.prints(facts, "lib/b.py", aliases={"lib/b.py": "app/a.py"})
        assert self.prints(facts) != self.prints(facts, "lib/b.py")

    def test_tells_equal_statements_apart(self):
        facts = source(marks=[mark(line=1, anchor="call(x)"), mark(line=2, anchor="call(x)")])
        first, second = self.prints(facts)
        assert first != second

    def test_a_new_file_under_the_old_name_is_another_one(self):
        facts = source(marks=[mark()])
        report = judged({"a.py": facts, "b.py": facts}, a_rule(), aliases={"b.py": "a.py"})
        prints = {found.file: found.fingerprint for found in report.findings}
        assert prints["a.py"] != prints["b.py"]
        assert [prints["b.py"]] == self.prints(facts, "a.py")

    @pytest.mark.parametrize("path", ["app/b.py", "app/a_b.py"])
    def test_differs_by_file(self, path):
        facts = source(marks=[mark()])
        assert self.prints(facts) != self.prints(facts, path)

    def test_parameters_do_not_matter(self):
        facts = source(function(), marks=[mark(function=1)])
        changed = replace_parameters(facts)
        assert self.prints(facts) == self.prints(changed)


def replace_parameters(facts):
    from msgspec.structs import replace as struct_replace

    work = struct_replace(facts.functions[1], parameters=(Parameter("x"),))
    return struct_replace(facts, functions=(facts.functions[0], work))
