"""Hotspots, reported once a repository has a history, and those of them that nothing tests."""

import pytest
from msgspec import structs

from analysis.engine.facts import Entry, Import
from analysis.engine.history import History
from analysis.engine.model import Severity
from analysis.engine.rules import maint_hotspot_file, maint_untested_hotspot
from tests.engine.building import function, judged, mark, only, source, touch, touched

COMPLEX = source(function("parse", cyclomatic=150), function("emit", line=40, cyclomatic=30))


class TestAHotspot:
    def test_is_reported_with_its_figures_and_worst_functions(self):
        found = only(judged({"app/a.py": COMPLEX}, maint_hotspot_file, history=touched("app/a.py", 14)))
        assert found.message == "Risk 62: complexity 181, 14 commits in 90 days; most complex: `parse` and `emit`"
        assert (found.severity, found.line, found.points) == (Severity.INFO, 1, 8)

    def test_gets_graver_with_its_findings(self):
        from tests.engine.building import a_rule

        marks = [mark(line=line, severity="critical") for line in range(1, 20)]
        facts = source(function("parse", cyclomatic=200), lines=500, marks=marks)
        report = judged({"app/a.py": facts}, a_rule(), maint_hotspot_file, history=touched("app/a.py", 30))
        found = [entry for entry in report.findings if entry.rule_id == "maint-hotspot-file"]
        assert found[0].severity is Severity.CRITICAL

    @pytest.mark.parametrize("path", ["tests/test_a.py", "app/migrations/0001_a.py", "vendor/a.py"])
    def test_is_production_code(self, path):
        assert not judged({path: COMPLEX}, maint_hotspot_file, history=touched(path, 20)).findings

    def test_needs_twenty_commits_of_history(self):
        short = History.of([touch("app/a.py")] * 19)
        assert not judged({"app/a.py": COMPLEX}, maint_hotspot_file, history=short).findings

    def test_only_the_ten_worst_are_reported(self):
        files = {f"app/m{index:02}.py": COMPLEX for index in range(15)}
        history = History.of([touch(*files)] * 20)
        report = judged(files, maint_hotspot_file, history=history)
        assert [found.file for found in report.findings] == sorted(files)[:10]

    def test_does_not_make_itself_riskier(self):
        with_rule = judged({"app/a.py": COMPLEX}, maint_hotspot_file, history=touched("app/a.py", 14))
        without = judged({"app/a.py": COMPLEX}, history=touched("app/a.py", 14))
        assert with_rule.hotspots[0].risk_score == without.hotspots[0].risk_score


class TestAnUntestedHotspot:
    def findings(self, files, path="app/a.py"):
        return judged(files, maint_untested_hotspot, history=touched(path, 14)).findings

    def test_is_one_that_no_test_imports(self):
        (found,) = self.findings({"app/a.py": COMPLEX, "tests/test_other.py": source()})
        assert (found.message, found.severity) == ("No test imports this hotspot (risk 62)", Severity.WARNING)
        assert (
            found.suggestion == "Write characterisation tests for `parse` first; the file changed 14 times in 90 days."
        )

    @pytest.mark.parametrize(
        "others",
        [
            {"tests/test_b.py": source(imports=[Import("app.a", 1)])},
            {"tests/test_a.py": source()},
            {"app/b.py": source(imports=[Import("app.a", 1)]), "tests/t.py": source(imports=[Import("app.b", 1)])},
        ],
        ids=["imported", "by name", "one level deep"],
    )
    def test_is_not_one_that_a_test_knows(self, others):
        assert not self.findings({"app/a.py": COMPLEX, **others})

    def test_a_repository_without_tests_hears_it_once(self):
        history = History.of([touch("app/a.py", "app/b.py")] * 20)
        report = judged({"app/a.py": COMPLEX, "app/b.py": COMPLEX}, maint_untested_hotspot, history=history)
        assert only(report).severity is Severity.INFO

    @pytest.mark.parametrize(("package", "count"), [("shop", 0), ("other", 1)])
    def test_java_packages_are_tested_from_inside(self, package, count):
        path, test = "src/main/java/shop/Bill.java", "src/test/java/shop/BillRoundingTest.java"
        facts = source(function("parse", cyclomatic=180), path=path, package="shop")
        assert len(self.findings({path: facts, test: source(path=test, package=package)}, path)) == count

    @pytest.mark.parametrize(
        ("name", "count"), [("routes", 0), ("route-map", 0), ("routing", 1), ("pages/shop/[id]", 0)]
    )
    def test_lists_of_routes_have_nothing_to_test(self, name, count):
        path = f"src/{name}.tsx"
        facts = source(function("parse", cyclomatic=180), path=path)
        assert len(self.findings({path: facts, "src/other.test.tsx": source(path="src/other.test.tsx")}, path)) == count

    @pytest.mark.parametrize(("test", "count"), [("tests/api/orders/test_all.py", 0), ("tests/api/test_all.py", 1)])
    def test_handlers_are_tested_by_their_routes(self, test, count):
        path = "app/api/orders/views.py"
        handlers = structs.replace(COMPLEX, entries=(Entry("parse", "request", "flask", "GET /orders"),))
        assert len(self.findings({path: handlers, test: source(path=test)}, path)) == count

    def test_go_packages_are_tested_from_inside(self):
        facts = source(function("parse", cyclomatic=180), path="p/a.go")
        assert not self.findings({"p/a.go": facts, "p/all_test.go": source(path="p/all_test.go")}, "p/a.go")
