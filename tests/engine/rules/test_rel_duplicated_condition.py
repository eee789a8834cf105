import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-duplicated-condition"

FLAGGED = [
    "if a.id == a.id: pass",
    "x = a and a",
    "x = a.b or a.b",
    "x = total - total",
    "x = a in a",
    "x = a % a",
    "x = a or b or a",
    "x = a or b or b",
    "x = unknown.ready == unknown.ready",
    "x = a.known and a.known",
]
FINE = [
    "if a.id == b.id: pass",
    "x = a + a",
    "x = a * a",
    "x = 1 - 1",
    "x = next(a) == next(a)",
    "x = a << a",
    "x = read() and read()",
    "x = stream.eat('-') and stream.eat('-')",
    "x = SECOND / SECOND",
    "x = parser.has_next() and parser.has_next()",
    "x = read() or b or read()",
    "x = (a or b) and a",
    "x = random.random() == random.random()",
    "x = uuid4() == uuid4()",
    "x = monotonic() - monotonic()",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_equal_sides_are_marked(source):
    assert lines_of(RULE, source) == [1]


@pytest.mark.parametrize("source", FINE)
def test_sides_that_differ_or_may_be_equal_are_fine(source):
    assert lines_of(RULE, source) == []


def test_script_makes_32_bits_of_a_number_with_itself():
    assert lines_of(RULE, "hash = hash & hash;", "javascript") == []
    assert lines_of(RULE, "flags = flags & flags", "python") == [1]


def test_a_test_for_nan_is_worth_knowing_only():
    (mark,) = marks_of(RULE, "if (x !== x) { y(); }", "javascript")
    assert mark.severity == "info"


@pytest.mark.parametrize(
    ("value", "language", "severity"),
    [
        ("+width", "typescript", "info"),
        ("Number(row.id)", "javascript", "info"),
        ("Number.parseFloat(text)", "javascript", "info"),
        ("parseInt(text, 10)", "tsx", "info"),
        ("float(text)", "python", "info"),
        ("-width", "javascript", ""),
        ("Number(text).id", "javascript", ""),
        ("String(text)", "javascript", ""),
        ("int(text)", "python", ""),  # which fails for what is no number
    ],
)
def test_what_is_made_a_number_equals_itself_where_it_was_one(value, language, severity):
    operator = "==" if language == "python" else "==="
    assert [each.severity for each in marks_of(RULE, f"ok = {value} {operator} {value}", language)] == [severity]


@pytest.mark.parametrize("condition", ["a.id !== a.id", "row.collectionId !== row.collectionId", "a.name !== a.name"])
def test_what_is_no_number_was_meant_to_be_compared_with_another(condition):
    (mark,) = marks_of(RULE, f"rows.filter((row) => {condition});", "javascript")
    assert (mark.severity, mark.suggestion) == ("", "")


@pytest.mark.parametrize("second", ["a>1", "(a > 1)", "a  >  1"])
def test_blanks_and_brackets_make_no_other_condition(second):
    assert lines_of(RULE, f"if a > 1:\n    x()\nelif {second}:\n    y()\n") == [3]


def test_a_repeated_condition_of_a_chain():
    source = "if a == 1:\n    x()\nelif b:\n    y()\nelif a == 1:\n    z()\n"
    (mark,) = marks_of(RULE, source)
    assert (mark.line, mark.message) == (5, "`a == 1` was tested in line 1 already: this branch never runs")
    assert lines_of(RULE, source.replace("elif a == 1", "elif a == 2")) == []


@pytest.mark.parametrize("language", ["typescript", "java"])
def test_a_repeated_condition_of_a_braced_chain(language):
    chain = "if (a == 1) { x(); }\nelse if (b) { y(); }\nelse if (a == 1) { z(); }"
    source = chain if language == "typescript" else f"class A {{ void f() {{ {chain} }} }}"
    assert lines_of(RULE, source, language) == [3]


def test_go_statements_before_the_condition_tell_branches_apart():
    chain = "if err := {0}(); err != nil {{ x() }} else if err := {1}(); err != nil {{ y() }}"
    source = "package a\nfunc f() {{\n{0}\n}}"
    assert lines_of(RULE, source.format(chain.format("a", "b")), "go") == []
    plain = "if a == 1 { x() } else if a == 1 { y() }"
    assert lines_of(RULE, source.format(plain), "go") == [3]


def test_a_repeated_case():
    source = "switch (a) {\ncase 1: x(); break;\ncase 2: y(); break;\ncase 1: z();\n}"
    assert lines_of(RULE, source, "javascript") == [4]


def test_a_repeated_pattern():
    source = "match a:\n    case 1:\n        x()\n    case 1{guard}:\n        y()\n"
    assert lines_of(RULE, source.format(guard="")) == [4]
    assert lines_of(RULE, source.format(guard=" if b")) == []


def test_a_repeated_case_of_go():
    source = "package a\nfunc f() {\nswitch {\ncase a > 1:\nx()\ncase a > 1:\ny()\n}\n}"
    assert lines_of(RULE, source, "go") == [6]


@pytest.mark.parametrize(
    ("chain", "lines"),
    [
        ("const name = row && row.length > 0 && row;", []),
        ("const name = row && row.name && row.name;", [1]),
        ("const name = row && row.length > 0 && row && other;", [1]),
        ("const name = row || other || row;", [1]),
        ("if (row && row.length > 0 && row) { show(row); }", [1]),
        ("const name = (row && row.length > 0 && row) ? row.name : '';", [1]),
        ("const name = known ? row && row.length > 0 && row : '';", []),
    ],
)
def test_the_last_of_a_chain_is_its_value(chain, lines):
    assert lines_of(RULE, chain, "typescript") == lines


def test_the_patterns_of_an_inner_match_are_its_own():
    source = (
        "match a:\n    case 1:\n        match b:\n            case 1:\n                x()\n"
        "            case _:\n                y()\n    case _:\n        z()\n"
    )
    assert lines_of(RULE, source) == []
    assert lines_of(RULE, source.replace("    case _:\n        z", "    case 1:\n        z")) == [8]


@pytest.mark.parametrize(("name", "severity"), [("order.price", "info"), ("order.owner", "")])
def test_what_equals_itself_unless_it_is_nan(name, severity):
    (mark,) = marks_of(RULE, f"if {name} == {name}:\n    x()\n")
    assert mark.severity == severity


@pytest.mark.parametrize(
    ("condition", "confidence"),
    [("parser.ready()", "medium"), ("row.isOpen()", ""), ('name.startsWith("a")', ""), ("row.open", "")],
)
def test_what_a_call_gives_the_second_time_is_not_known(condition, confidence):
    source = f"class A {{ void f() {{ if ({condition}) {{ x(); }} else if ({condition}) {{ y(); }} }} }}"
    assert [each.confidence for each in marks_of(RULE, source, "java")] == [confidence]


def test_a_reader_goes_on_when_it_has_nothing():
    source = "class A { void f() { if (in.hasNext()) { x(); } else if (in.hasNext()) { y(); } } }"
    assert lines_of(RULE, source, "java") == []


def test_a_side_that_goes_on_is_another():
    source = "const rows = (\n  all.get(key) &&\n  all.get(key)!.map((row) => (\n    <Row key={row.id} />\n  ))\n);\n"
    assert lines_of(RULE, source, "tsx") == []
    assert lines_of(RULE, source.replace("!.map((row) => (\n    <Row key={row.id} />\n  ))", ""), "tsx") == [2]


@pytest.mark.parametrize(
    ("before", "severity"),
    [("typeof a === 'number' && ", "info"), ("type(a) === '[object Number]' && ", "info"), ("b && ", "")],
)
def test_a_number_that_equals_itself_is_a_test_for_nan(before, severity):
    assert [each.severity for each in marks_of(RULE, f"const ok = {before}a === a;", "typescript")] == [severity]


def test_a_matcher_finds_the_next_one_each_time():
    source = "class A { boolean f(Matcher matcher) { return matcher.find() && matcher.find(); } }"
    assert lines_of(RULE, source, "java") == []


def test_a_member_of_the_same_at_the_end_of_a_chain_is_another():
    source = (
        "const a = (\n  <Show\n    when={\n      b() &&\n      row.list &&\n      row.list!.length > 0\n    } />\n);\n"
    )
    assert lines_of(RULE, source, "tsx") == []


@pytest.mark.parametrize(("other", "count"), [("b", 0), ("a", 1)])
def test_what_is_tested_may_come_from_the_statement_before_it(other, count):
    body = f"if x, ok = a.(verifier); ok {{\nuse(x)\n}} else if x, ok = {other}.(verifier); ok {{\nuse(x)\n}}"
    assert len(lines_of(RULE, f"package a\nfunc f() {{\n{body}\n}}\n", "go")) == count


def test_python_once_chose_that_way():
    assert findings_of("rel-duplicated-condition", {"a.py": "x = text and text or None\n"}) == []
    assert len(findings_of("rel-duplicated-condition", {"a.py": "x = text and text\n"})) == 1


@pytest.mark.parametrize(
    ("test", "language", "count"),
    [
        ("if rand.Intn(3) == rand.Intn(3) { }", "go", 0),
        ("if a.Weight(3) == a.Weight(3) { }", "go", 1),
    ],
)
def test_chance_is_another_each_time(test, language, count):
    assert len(lines_of(RULE, f"package a\nfunc f() {{ {test} }}\n", language)) == count
