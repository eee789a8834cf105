import pytest

from tests.engine.rules.reading import lines_of, marks_of

RULE = "maint-unreachable-code"


def python(*lines):
    return "import sys\ndef f(x):\n" + "".join(f"    {line}\n" for line in lines)


FLAGGED = [
    ("return 1", "x()"),
    ("raise ValueError", "x()"),
    ("sys.exit(1)", "x()"),
    ("while True: y()", "x()"),
    ("return 1  # done", "x()"),
]
FINE = [
    ("if x: return 1", "x()"),
    ("x()", "return 1"),
    ("return 1", "yield"),
    ("return (", "    1)", ""),
    ("for y in x:", "    continue", "x()"),
    ("while True:", "    break", "x()"),
    ("if x:", "    return 1", "else:", "    x()"),
    ("if DEBUG: x()",),
]


@pytest.mark.parametrize("lines", FLAGGED)
def test_python_code_after_a_jump_is_marked(lines):
    assert lines_of(RULE, python(*lines)) == [4]


@pytest.mark.parametrize("lines", FINE)
def test_python_code_that_runs_is_fine(lines):
    assert lines_of(RULE, python(*lines)) == []


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("def f(x):\n  if x:\n    return 1\n  else:\n    return 2\n  y()\n", "python", [6]),
        ("def f(x):\n  if x:\n    return 1\n  elif y:\n    raise E\n  else:\n    return 2\n  y()\n", "python", [8]),
        ("def f(x):\n  if x:\n    return 1\n  elif y:\n    z()\n  else:\n    return 2\n  y()\n", "python", []),
        ("def f(x):\n  if x:\n    return 1\n  elif y:\n    return 2\n  y()\n", "python", []),
        ("function f(x) { if (x) { return 1; } else { throw e; }\ny(); }", "javascript", [2]),
        ("function f(x) { if (x) return 1; else if (z) return 2; else return 3;\ny(); }", "javascript", [2]),
        ("function f(x) { if (x) { return 1; } else { z(); }\ny(); }", "javascript", []),
        ("class A { int f(int x) { if (x > 1) { return 1; } else { return 2; }\ny(); } }", "java", [2]),
        ("package a\nfunc f(x bool) int {\nif x {\nreturn 1\n} else {\nreturn 2\n}\ny()\n}", "go", [8]),
        ("package a\nfunc f(x bool) int {\nif x {\nreturn 1\n} else if z {\nreturn 2\n}\ny()\n}", "go", []),
    ],
)
def test_where_each_branch_leaves_nothing_after_it_runs(source, language, lines):
    assert lines_of(RULE, source, language) == lines


def test_a_condition_that_is_always_false():
    assert lines_of(RULE, "if False:\n    x()\n") == [1]
    assert lines_of(RULE, "if (false) { x(); }", "javascript") == [1]
    assert lines_of(RULE, "if TYPE_CHECKING:\n    x()\n") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("return 1;\nx();", [3]),
        ("throw new Error();\nx();", [3]),
        ("process.exit(1);\nx();", [3]),
        ("while (true) { y(); }\nx();", [3]),
        ("for (const y of z) { continue;\nx(); }", [3]),
        ("if (y) return 1;\nx();", []),
        ("return g();\nfunction g() {}", []),
        ("return 1; // done", []),
        ("switch (y) { case 1: return 1;\ncase 2: x(); }", []),
    ],
)
def test_script(body, lines):
    assert lines_of(RULE, f"function f(y, z) {{\n{body}\n}}", "javascript") == lines


def test_a_break_after_return_in_a_switch_is_worth_knowing_only():
    (mark,) = marks_of(RULE, "function f(y) { switch (y) { case 1: return 1; break; } }", "javascript")
    assert mark.severity == "info"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("return 1\nx()", [4]),
        ("panic(y)\nx()", [4]),
        ("for { y() }\nx()", [4]),
        ("if y { return 1 }\nx()", []),
        ("os.Exit(1)\nreturn 1", []),
        ("panic(y)\nreturn 1", [4]),
        ("for { break }\nx()", []),
        ("return 1\nend:\nx()", []),
    ],
)
def test_go(body, lines):
    assert lines_of(RULE, f"package a\nfunc f() int {{\n{body}\n}}\n", "go") == lines


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("def f(x):\n    if x:\n        y()\n    elif False:\n        z()\n", "python", [4]),
        ("def f(x):\n    if False and x:\n        z()\n", "python", [2]),
        ("function f(x) {\n  if (false && x) { z(); }\n}", "javascript", [2]),
        ("def f(x):\n    if 0 < x:\n        z()\n", "python", []),
        ("def f(x):\n    if True:\n        y()\n    else:\n        z()\n", "python", [4]),
        ("package a\nfunc f() {\nfor {\nselect {\ncase <-c:\nbreak\n}\n}\ny()\n}", "go", [9]),
        ("package a\nfunc f() {\nall:\nfor {\nselect {\ncase <-c:\nbreak all\n}\n}\ny()\n}", "go", []),
        ("package a\nfunc f() {\nfor {\nif x {\nbreak\n}\n}\ny()\n}", "go", []),
        ("def f():\n    while True:\n        for x in y:\n            break\n    z()\n", "python", [5]),
        ('package a\nfunc f() {\nlog.Fatalln("x")\ny()\n}', "go", [4]),
        ('package a\nfunc f() {\nlog.Panicf("x")\nreturn\n}', "go", []),
    ],
)
def test_other_ways_never_to_run(source, language, lines):
    assert lines_of(RULE, source, language) == lines


def test_behind_what_cannot_be_parsed_nothing_is_sure():
    source = "function f(a) {\n  return <p class=}</p>;\n  show(a);\n}\n"
    assert marks_of(RULE, source, "javascript") == []


def test_the_else_of_an_inner_loop_leaves_the_outer_one():
    loop = "    while True:\n        while x:\n            x -= 1\n        %s:\n            break\n    show(x)\n"
    assert lines_of(RULE, "def f(x):\n" + loop % "else") == []
    assert lines_of(RULE, "def f(x):\n" + loop % "    while x") == [7]


@pytest.mark.parametrize(
    ("end", "after", "count"),
    [
        ('panic("odd")', "a = b", 1),
        ("os.Exit(1)", "a = b", 1),
        ("stop()", "a = b", 0),
        ("os.Exit(1)", "return", 0),  # the compiler may want it
        ('panic("odd")', "return", 1),  # and does not
    ],
)
def test_a_branch_that_ends_the_process_leaves(end, after, count):
    source = (
        f'package a\nimport "os"\nfunc f() {{\n\tif x {{\n\t\treturn\n\t}} else {{\n\t\t{end}\n\t}}\n\t{after}\n}}\n'
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("after", "count"), [("raise AssertionError", 0), ("return None", 1)])
def test_what_is_thrown_behind_an_endless_loop_says_that_nobody_comes_there(after, count):
    assert len(lines_of(RULE, f"def f():\n    while True:\n        work()\n    {after}\n")) == count
