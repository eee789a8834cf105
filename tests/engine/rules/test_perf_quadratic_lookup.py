import pytest

from tests.engine.rules.reading import lines_of

RULE = "perf-quadratic-lookup"


@pytest.mark.parametrize(
    ("start", "body", "lines"),
    [
        ("seen = []", "if x in seen: continue\n        seen.append(x)", [4]),
        ("blocked = list(load())", "if x in blocked: drop(x)", [4]),
        ("blocked = [y for y in ys]", "if x not in blocked: keep(x)", [4]),
        ("blocked = set(load())", "if x in blocked: drop(x)", []),
        ("blocked = [1, 2]", "if x in blocked: drop(x)", []),
        ("blocked = load()", "if x in blocked: drop(x)", []),
        ("blocked = list(load())", "blocked = []\n        if x in blocked: drop(x)", []),
        ("blocked = list(load())", "if x in blocked: return x", []),
    ],
)
def test_python(start, body, lines):
    assert lines_of(RULE, f"def f(xs, ys):\n    {start}\n    for x in xs:\n        {body}\n") == lines


def test_outside_of_a_loop_one_search_is_fine():
    assert lines_of(RULE, "def f(x):\n    blocked = list(load())\n    return x in blocked\n") == []


@pytest.mark.parametrize(
    ("start", "lines"),
    [
        ("const b: string[] = load();", [3]),
        ("const b = xs.map(g);", [3]),
        ("const b = new Set(xs);", []),
        ("const b = 'abc';", []),
    ],
)
def test_script(start, lines):
    assert (
        lines_of(
            RULE, f"function f(xs) {{ {start}\nfor (const x of xs) {{\nif (b.includes(x)) drop(x);\n}} }}", "typescript"
        )
        == lines
    )


def test_java_and_go():
    java = "class A {{ void f() {{ {0} b = load();\nfor (String x : xs) {{\nif (b.contains(x)) drop(x);\n}} }} }}"
    assert lines_of(RULE, java.format("List<String>"), "java") == [3]
    assert lines_of(RULE, java.format("Set<String>"), "java") == []
    go = (
        'package a\nimport "slices"\nfunc f(b []int) {\nfor _, x := range xs {\nif slices.Contains(b, x) '
        "{ drop(x) }\n}\n}"
    )
    assert lines_of(RULE, go, "go") == [5]
