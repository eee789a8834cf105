import pytest

from tests.engine.rules.reading import lines_of, marks_of

RULE = "maint-commented-out-code"

FLAGGED = [
    "# x = load(1)\n# save(x)",
    "# save(order)",
    "# from a import b",
    "# if x:\n#     return y",
    "# def f(x):\n#     return x",
]
FINE = [
    "# Save the order first.",
    "# if the order is paid, return it",
    "# type: ignore[x]",
    "# noqa: F401",
    "# order = total of all items",
    "# TODO: save(x)",
    "# https://example.org/a(b)",
    "# name: value",
    "# Copyright (c) us",
    "x = 1  # save(x)",
    "# See also:\n# load(x)",
    "# returns x",
    "# order(s)",
]
BRACED_FLAGGED = [
    "// save(order);",
    "// const x = load(1);\n// save(x);",
    "/* save(order);\nload(x); */",
    "// if (x) {\n//   save(x);\n// }",
]
BRACED_FINE = [
    "// Save the order; then load it again.",
    "/** save(order); */",
    "// eslint-disable-next-line no-x",
    "// load(x) gives a promise",
    "// see https://example.org;",
    "// a, b",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_python_code_in_comments_is_marked_at_its_first_line(source):
    assert lines_of(RULE, "y = 1\n\n" + source + "\n") == [3]


@pytest.mark.parametrize("source", FINE)
def test_prose_and_directives_are_fine(source):
    assert lines_of(RULE, source + "\n") == []


@pytest.mark.parametrize("source", BRACED_FLAGGED)
def test_script_code_in_comments_is_marked(source):
    assert lines_of(RULE, f"function f() {{\n{source}\n}}\n", "typescript") == [2]


@pytest.mark.parametrize("source", BRACED_FINE)
def test_script_prose_is_fine(source):
    assert lines_of(RULE, f"function f() {{\n{source}\n}}\n", "typescript") == []


def test_java_and_go():
    assert lines_of(RULE, "class A {\n// private int x = 1;\n// void f() { save(x); }\n}", "java") == [2]
    assert lines_of(RULE, "package a\nfunc f() {\n// x := load()\n// save(x)\n}", "go") == [3]
    assert lines_of(RULE, "package a\n// F saves the order.\nfunc F() {}", "go") == []


def test_a_long_block_is_a_warning():
    (mark,) = marks_of(RULE, "".join(f"# save(x{n})\n" for n in range(15)))
    assert (mark.severity, mark.message) == ("warning", "15 lines of code are commented out (`save(x0)`)")


def test_a_star_in_the_line_of_code_before_announces_nothing():
    source = "def f(name, *, size):\n    # order.save(name)\n    return name\n"
    assert lines_of(RULE, source) == [2]
    assert lines_of(RULE, source.replace("def f(name, *, size):", "# for example:")) == []


def test_a_method_of_a_script_class():
    source = "class A {\n  // total(lines: Line[]) {\n  //   return sum(lines);\n  // }\n}\n"
    assert lines_of(RULE, source, "typescript") == [2]


def test_a_word_with_a_colon_before_a_call_is_prose():
    assert lines_of(RULE, "f();\n// Optionally: this.service.show('a');\n", "javascript") == []
    assert lines_of(RULE, "f();\n// this.service.show('a');\n", "javascript") == [2]


def test_an_element_that_is_set_is_code_of_go():
    said = '\t// sizes["all"] = most\n\t// for k := range sizes {\n\t//     show(k)\n\t// }\n'
    source = f"package a\nfunc f() {{\n\tg()\n{said}}}\n"
    assert lines_of(RULE, source, "go") == [4]


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("# total = sum(r.km for r in rows)\n# average = total / len(rows)", "python", [1]),
        ("// console.log(x)", "typescript", [1]),
        ("// const y = load(x)\n// if (!y) return\nsave(x)", "typescript", [1]),
        ("const A = () => <div>{/* <Old value={x} /> */}</div>", "tsx", [1]),
        ("const A = () => <div>{/* the old list */}</div>", "tsx", []),
        ("class A {\n// @Override\n// public void g() {\n//   super.g();\n// }\n}", "java", [2]),
        ("class A {\n// @see the other one\nvoid g() {}\n}", "java", []),
    ],
)
def test_code_in_other_styles(source, language, lines):
    assert lines_of(RULE, source, language) == lines
