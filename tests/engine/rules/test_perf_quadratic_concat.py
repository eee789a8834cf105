import pytest

from tests.engine.rules.reading import lines_of, marks_of

RULE = "perf-quadratic-concat"


def python(start, body, tail=""):
    return f"def f(self, xs):\n    {start}\n    for x in xs:\n        {body}\n{tail}"


@pytest.mark.parametrize(
    ("start", "body", "severity"),
    [
        ("s = ''", "s += str(x)", "info"),
        ("self.s = ''", "self.s += x", ""),
        ("s = b''", "s += x", ""),
        ("s = 0", "s += x", None),
        ("s = []", "s += [x]", None),
        ("pass", "s = ''; s += x", None),
    ],
)
def test_python(start, body, severity):
    found = [mark.severity for mark in marks_of(RULE, python(start, body))]
    assert found == ([] if severity is None else [severity])


def test_a_round_that_is_the_last_and_a_small_loop_are_fine():
    assert lines_of(RULE, python("s = b''", "s += x\n        break")) == []
    assert lines_of(RULE, "s = b''\nfor x in range(3):\n    s += x\n") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('String s = "";\nfor (String x : xs) { s += x; }', [3]),
        ('String s = "";\nfor (String x : xs) { s = s + x; }', [3]),
        ("int s = 0;\nfor (int x : xs) { s += x; }", []),
        ('for (String x : xs) { String s = "";\ns += x; }', []),
        ("StringBuilder s = new StringBuilder();\nfor (String x : xs) { s.append(x); }", []),
    ],
)
def test_java(body, lines):
    assert lines_of(RULE, f"class A {{ void f() {{\n{body} }} }}", "java") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('s := ""\nfor _, x := range xs {\ns += x\n}', [5]),
        ("var s string\nfor _, x := range xs {\ns = s + x\n}", [5]),
        ("s := 0\nfor _, x := range xs {\ns += x\n}", []),
    ],
)
def test_go(body, lines):
    assert lines_of(RULE, f"package a\nfunc f() {{\n{body}\n}}", "go") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (const x of xs) {\nall = all.concat(x);\n}", [3]),
        ("for (const x of xs) {\nall = [...all, x];\n}", [3]),
        ("xs.reduce((acc, x) => ({ ...acc, [x]: 1 }), {});", [2]),
        ("xs.reduce((acc, x) => [...acc, x], []);", [2]),
        ("xs.reduce((acc, x) => acc + x, 0);", []),
        ("for (const x of xs) {\nall.push(x);\n}", []),
        ("all = [...all, x];", []),
    ],
)
def test_script(body, lines):
    assert lines_of(RULE, f"function f(xs, all, x) {{\n{body}\n}}", "typescript") == lines
