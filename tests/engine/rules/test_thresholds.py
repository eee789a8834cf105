"""The rules with thresholds: where each begins, where its severity rises, and what is no concern of it."""

import pytest

from analysis.engine.facts import Class, FunctionFlag, Parameter
from analysis.engine.model import Severity
from analysis.engine.rules import (
    maint_cognitive_complexity,
    maint_cyclomatic_complexity,
    maint_deep_nesting,
    maint_large_file,
    maint_long_function,
    maint_long_parameter_list,
)
from tests.engine.building import function, judged, only, source, touched
from tests.engine.rules.reading import findings_of

INFO, WARNING, CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL


def severity_of(rule, *functions, path="app/a.py", **fields):
    """The severity that the rule gives a file, None when it is silent."""
    found = judged({path: source(*functions, path=path, **fields)}, rule).findings
    return found[0].severity if found else None


class TestCognitiveComplexity:
    @pytest.mark.parametrize(("value", "severity"), [(15, None), (16, WARNING), (90, WARNING)])
    def test_limits(self, value, severity):
        assert severity_of(maint_cognitive_complexity, function(cognitive=value)) is severity

    @pytest.mark.parametrize(("value", "severity"), [(40, WARNING), (41, CRITICAL)])
    def test_in_a_hotspot(self, value, severity):
        files = {"app/a.py": source(function(cognitive=value, cyclomatic=180))}
        found = only(judged(files, maint_cognitive_complexity, history=touched("app/a.py", 20)))
        assert found.severity is severity

    def test_points_grow_with_the_excess(self):
        found = only(judged({"a.py": source(function("pay", 7, cognitive=25))}, maint_cognitive_complexity))
        assert (found.points, found.line, found.function) == (2, 7, "pay")
        assert found.message == "`pay` has a cognitive complexity of 25 (limit 15)"

    def test_tests_and_the_top_level_are_left_alone(self):
        flagged = function(cognitive=50, flags=FunctionFlag.TEST)
        assert severity_of(maint_cognitive_complexity, flagged) is None
        assert severity_of(maint_cognitive_complexity, function(cognitive=50), path="tests/test_a.py") is None


class TestCyclomaticComplexity:
    @pytest.mark.parametrize(
        ("value", "severity"), [(10, None), (11, INFO), (15, INFO), (16, WARNING), (50, WARNING), (51, CRITICAL)]
    )
    def test_limits(self, value, severity):
        assert severity_of(maint_cyclomatic_complexity, function(cyclomatic=value)) is severity

    def test_a_flat_switch_is_never_critical(self):
        assert severity_of(
            maint_cyclomatic_complexity, function(cyclomatic=80, flags=FunctionFlag.FLAT_SWITCH)
        ) is WARNING  # fmt: skip

    def test_points(self):
        assert only(judged({"a.py": source(function(cyclomatic=35))}, maint_cyclomatic_complexity)).points == 3.5


class TestLongFunction:
    @pytest.mark.parametrize(
        ("lines", "severity"), [(60, None), (61, INFO), (100, INFO), (101, WARNING), (300, WARNING), (301, CRITICAL)]
    )
    def test_limits(self, lines, severity):
        assert severity_of(maint_long_function, function(code_lines=lines, cyclomatic=2)) is severity

    @pytest.mark.parametrize(("lines", "points"), [(80, 1), (150, 1.5), (300, 3)])
    def test_points(self, lines, points):
        files = {"a.py": source(function(code_lines=lines, cyclomatic=2))}
        assert only(judged(files, maint_long_function)).points == points

    def test_components_may_be_twice_as_long(self):
        assert severity_of(
            maint_long_function, function(code_lines=120, cyclomatic=2, flags=FunctionFlag.COMPONENT)
        ) is None  # fmt: skip

    def test_tables_are_no_functions_to_split(self):
        assert severity_of(maint_long_function, function(code_lines=500, cyclomatic=1, calls=("dict",))) is None

    def test_an_anonymous_wrapper_counts_without_its_functions(self):
        wrapper = function("anonymous", code_lines=400, cyclomatic=9, flags=FunctionFlag.ANONYMOUS)
        inner = [function(f"f{index}", 20 + index, code_lines=59, parent=1) for index in range(6)]
        assert severity_of(maint_long_function, wrapper, *inner) is None


class TestDeepNesting:
    @pytest.mark.parametrize(("levels", "severity"), [(4, None), (5, WARNING), (6, WARNING), (7, CRITICAL)])
    def test_limits(self, levels, severity):
        assert severity_of(maint_deep_nesting, function(nesting=levels, nesting_line=14)) is severity

    def test_reports_the_first_structure_beyond_the_limit(self):
        found = only(judged({"a.py": source(function(nesting=6, nesting_line=14))}, maint_deep_nesting))
        assert (found.line, found.points) == (14, 1.5)


class TestLargeFile:
    @pytest.mark.parametrize(
        ("lines", "severity"),
        [(500, None), (501, INFO), (1000, INFO), (1001, WARNING), (3000, WARNING), (3001, CRITICAL)],
    )
    def test_limits(self, lines, severity):
        assert severity_of(maint_large_file, function(), lines=lines) is severity

    @pytest.mark.parametrize(("lines", "severity"), [(1000, None), (1001, INFO), (2001, WARNING)])
    def test_tests_may_be_twice_as_long(self, lines, severity):
        assert severity_of(maint_large_file, function(), lines=lines, path="tests/test_a.py") is severity

    def test_data_and_migrations_are_left_alone(self):
        assert severity_of(maint_large_file, lines=5000) is None
        assert severity_of(maint_large_file, function(), lines=5000, path="app/migrations/0001_a.py") is None

    def test_points(self):
        assert only(judged({"a.py": source(function(), lines=1500)}, maint_large_file)).points == 6


def parameters(count, **fields):
    return tuple(Parameter(f"p{index}", **fields) for index in range(count))


class TestLongParameterList:
    @pytest.mark.parametrize(("count", "severity"), [(5, None), (6, INFO), (7, INFO), (8, WARNING)])
    def test_limits(self, count, severity):
        assert severity_of(maint_long_parameter_list, function(parameters=parameters(count))) is severity

    @pytest.mark.parametrize(
        "first",
        [Parameter("self"), Parameter("cls"), Parameter("ctx", "context.Context")],
        ids=lambda first: first.name,
    )
    def test_receivers_and_contexts_do_not_count(self, first):
        assert severity_of(maint_long_parameter_list, function(parameters=(first, *parameters(5)))) is None

    def test_keyword_only_parameters_with_a_default_count_half(self):
        optional = parameters(10, has_default=True, keyword_only=True)
        assert severity_of(maint_long_parameter_list, function(parameters=optional)) is None
        assert severity_of(maint_long_parameter_list, function(parameters=parameters(10, keyword_only=True))) is WARNING

    @pytest.mark.parametrize(("loader", "count"), [("define", 0), ("collect", 1)])
    def test_a_loader_gives_modules_one_by_one(self, loader, count):
        source = f'{loader}(["a", "b"], function ($, _, ko, a, b, c) {{\n  return 1;\n}});\n'
        assert len(findings_of("maint-long-parameter-list", {"src/a.js": source})) == count

    @pytest.mark.parametrize(("first", "last", "count"), [("app_config", "**more", 0), ("shop", "**more", 1)])
    def test_django_gives_what_it_sends_with_a_signal(self, first, last, count):
        source = f"def made({first}, verbosity=2, interactive=True, using=None, apps=None, {last}):\n    pass\n"
        assert len(findings_of("maint-long-parameter-list", {"shop/a.py": source})) == count

    @pytest.mark.parametrize("decorator", ['app.get("/x")', "pytest.fixture", "click.command", "Autowired"])
    def test_what_a_framework_calls_may_take_ten(self, decorator):
        many = function(parameters=parameters(10), decorators=(decorator,))
        more = function(parameters=parameters(11), decorators=(decorator,))
        assert severity_of(maint_long_parameter_list, many) is None
        assert severity_of(maint_long_parameter_list, more) is WARNING

    @pytest.mark.parametrize("name", ["resolve_orders", "perform_mutation", "mutate"])
    def test_resolvers_take_the_arguments_of_their_field(self, name):
        given = (Parameter("root"), Parameter("info"), *parameters(8))
        method = function(f"Query.{name}", parameters=given, owner="Query")
        assert severity_of(maint_long_parameter_list, method) is None
        assert severity_of(maint_long_parameter_list, function(name, parameters=given)) is WARNING
        other = function(f"Query.{name}", parameters=parameters(10), owner="Query")
        assert severity_of(maint_long_parameter_list, other) is WARNING

    def test_constructors_of_injected_classes_may_take_ten(self):
        made = function("Orders.constructor", parameters=parameters(9), owner="Orders", flags=FunctionFlag.CONSTRUCTOR)
        injected = (Class("Orders", 1, 20, 20, decorators=("Injectable",)),)
        assert severity_of(maint_long_parameter_list, made, classes=injected) is None
        assert severity_of(maint_long_parameter_list, made, classes=(Class("Orders", 1, 20, 20),)) is WARNING

    def test_classes_of_typescript_are_made_by_the_framework_that_decorates_them(self):
        for decorators, severity in ((("ShopPlugin({})",), None), ((), WARNING)):
            made = function("A.constructor", parameters=parameters(9), owner="A", flags=FunctionFlag.CONSTRUCTOR)
            classes = (Class("A", 1, 20, 20, decorators=decorators),)
            found = severity_of(maint_long_parameter_list, made, classes=classes, path="a.ts")
            assert found is severity

    def test_overrides_have_no_choice(self):
        made = function(parameters=parameters(9), decorators=("Override",))
        assert severity_of(maint_long_parameter_list, made, path="A.java") is None

    def test_overload_signatures_of_typescript_are_no_functions(self):
        signature = function(parameters=parameters(9), flags=FunctionFlag.ABSTRACT)
        assert severity_of(maint_long_parameter_list, signature, path="a.ts") is None
        assert severity_of(maint_long_parameter_list, signature, path="A.java") is WARNING


@pytest.mark.parametrize(("called", "severity"), [("super().make", None), ("super().take", WARNING)])
def test_a_method_that_passes_on_to_the_one_above_takes_what_that_takes(called, severity):
    method = function("Log.make", owner="Log", parameters=parameters(9), calls=(called,))
    assert severity_of(maint_long_parameter_list, method) is severity
