import pytest

from analysis.engine.copies import Copies
from analysis.engine.extract import extract
from tests.engine.rules.reading import findings_of

RULE = "maint-duplicated-block"


def block(rows: int, indent: str = "    ", start: int = 0) -> str:
    """So many lines of code that differ from each other."""
    names = [chr(97 + index // 26) + chr(97 + index % 26) for index in range(start, start + rows)]
    return "".join(f"{indent}value_{name} = compute_{name}(value_before, amount * rate)\n" for name in names)


def function(name: str, body: str) -> str:
    return f"def {name}(value_before, amount, rate):\n{body}\n\n"


def found(files: dict[str, str]) -> list[tuple[str, int, str]]:
    return [(each.file, each.line, each.severity) for each in findings_of(RULE, files)]


def test_the_second_copy_is_found_where_it_begins():
    first = function("first", block(12))
    second = function("second", "    rate = rate / 7\n" + block(12))

    (finding,) = findings_of(RULE, {"a.py": first, "b.py": second})

    assert (finding.file, finding.line, finding.function) == ("b.py", 3, "second")
    assert finding.message == "These 12 lines stand at `a.py:2` too"
    assert finding.suggestion == "Extract the 12 lines into one function, also for `a.py:2`."
    assert (finding.severity, finding.confidence, finding.points) == ("info", "high", 2.2)


def test_literals_white_space_and_comments_make_no_difference():
    copy = block(6).replace("rate", "rate,  'b'") + "    # a word\n\n" + block(6, start=6).replace("rate", "rate, 'b'")
    first = block(12).replace("rate", 'rate, "abc"')
    assert found({"a.py": function("first", first), "b.py": function("second", copy)})


@pytest.mark.parametrize("rows", [31, 60])
def test_thirty_lines_are_a_warning(rows):
    files = {"a.py": function("first", block(rows)), "b.py": function("second", block(rows))}
    assert found(files) == [("b.py", 2, "warning")]


def test_three_places_are_a_warning_and_two_findings():
    one = function("work", block(12))
    assert found({"a.py": one, "b.py": one, "c.py": one}) == [("b.py", 1, "warning"), ("c.py", 1, "warning")]


@pytest.mark.parametrize(("rows", "severity"), [(4, "info"), (9, "warning")])
def test_a_small_function_in_three_places(rows, severity):
    one = function("work", block(rows))
    assert found({"a.py": one, "b.py": one, "c.py": one}) == [("b.py", 1, severity), ("c.py", 1, severity)]


def test_a_block_twice_in_one_function():
    body = block(12) + "    value_before = 1\n" + block(12)
    assert found({"a.py": function("work", body)}) == [("a.py", 15, "info")]


@pytest.mark.parametrize("shift", range(8))
def test_a_copy_is_found_wherever_it_stands(shift):
    """Ten lines and one more, after other lines: no position hides them."""
    other = block(shift, start=200)
    files = {"a.py": function("first", block(11)), "b.py": function("second", other + block(11))}
    assert found(files) == [("b.py", 2 + shift, "info")]


def test_functions_with_an_equal_body_of_three_statements():
    body = block(4)
    files = {"a.py": function("first", body), "b.py": function("second", body)}
    (finding,) = findings_of(RULE, files)
    assert (finding.file, finding.line) == ("b.py", 1)
    assert finding.message == "This function's body stands at `a.py:1` too"


SMALL = function("work", "    return amount\n")
IMPORTS = "".join(f"from shop.models import name_of_model_{index} as other_{index}\n" for index in "abcdefghijklmno")
TABLE = (
    "NAMES = {\n" + "".join(f"    'name_{index}': ('one', 'two', 'three', {index}),\n" for index in range(30)) + "}\n"
)
FIELDS = "class A:\n" + "".join(f"    field_{name}: int = read('{name}')\n" for name in "abcdefghijklmnop")


@pytest.mark.parametrize("text", [SMALL, IMPORTS, TABLE, FIELDS, function("work", block(9)[:100])])
def test_what_may_stand_twice(text):
    assert found({"a.py": text, "b.py": text}) == []


def test_tests_and_migrations_are_not_compared():
    text = function("work", block(40))
    files = {"tests/test_a.py": text, "tests/test_b.py": text, "a.py": text, "shop/migrations/0001_first.py": text}
    assert findings_of(RULE, files) == []


def test_other_languages_are_no_copies_and_scripts_are_of_one_family():
    java = "class A {\n  void work() {\n" + block(14).replace("\n", ";\n") + "  }\n}\n"
    script = "function work() {\n" + block(14).replace("\n", ";\n") + "}\n"
    files = {"A.java": java, "a.ts": script, "b.tsx": script.replace("work", "other")}
    assert [(each.file, each.line) for each in findings_of(RULE, files)] == [("b.tsx", 2)]


def test_go_functions():
    go = "package a\n\nfunc work() {\n" + block(14, "\t").replace(" = ", " := ") + "}\n"
    assert found({"a.go": go, "b.go": go.replace("work", "other")}) == [("b.go", 4, "info")]


def test_a_changed_state_is_compared_as_if_it_were_the_first():
    def facts(text):
        return extract(text.encode(), "python")

    first = {"a.py": facts(function("a", block(20))), "b.py": facts(function("b", block(20)))}
    second = {"b.py": first["b.py"], "c.py": facts(function("c", block(4, start=90) + block(14)))}
    copies = Copies()

    assert [(copy.path, copy.line) for copy in copies.among(first)] == [("b.py", 2)]
    assert copies.among(second) == Copies().among(second)
    assert copies.among(first) == Copies().among(first)
    assert copies.among({}) == []


STEPS = "    total = amount * rate / 100\n    total = total + value_before\n    return round(total)\n"


def test_three_statements_are_a_body_wherever_its_header_ends():
    long = "def second(\n    value_before,\n    amount,\n    rate,\n):\n" + STEPS
    assert found({"a.py": function("first", STEPS), "b.py": long}) == [("b.py", 1, "info")]


def test_a_function_of_ten_lines_is_compared_without_its_header():
    body = "".join(f"    step_{letter}(amount)\n" for letter in "abcdefghi")
    files = {"a.py": function("first", body), "b.py": function("second", body)}
    assert found(files) == [("b.py", 1, "info")]


def test_statements_inside_of_statements_count():
    body = "    for each in rate:\n        start(each, amount)\n        finish(each, amount, value_before)\n"
    assert found({"a.py": function("first", body), "b.py": function("second", body)}) == [("b.py", 1, "info")]


INNER = """
export function %s({ value, onChange, width }) {
    const { filled, setFilled } = useField(value, width);
    const handleChange = (event) => {
        if (value === undefined) {
            setFilled(event.target.value.length > 0);
        }
        onChange(event.target.value, width);
    };
    return <Field filled={filled} onChange={handleChange} kind="%s" />;
}
"""


def test_functions_inside_of_functions_are_compared_and_told_once():
    other = (INNER % ("Area", "area")).replace("useField", "useArea").replace("filled={filled}", "className='area'")

    assert found({"a.tsx": INNER % ("Input", "input"), "b.tsx": other}) == [("b.tsx", 4, "info")]
    assert found({"a.tsx": INNER % ("Input", "input"), "b.tsx": INNER % ("Area", "area")}) == [("b.tsx", 2, "info")]


def test_functions_inside_of_tests_are_not_compared():
    inside = "".join(f"    {line}\n" for line in function("work", STEPS).splitlines())
    assert found({"a.py": f"def test_a():\n{inside}", "b.py": f"def test_b():\n{inside}"}) == []


@pytest.mark.parametrize(
    "body",
    [
        '    """Say what it does."""\n    start(amount, rate, value_before, amount)\n    return finish(amount, rate)\n',
        "    return start(\n        amount,\n        rate,\n        value_before,\n        kind=value_before,\n    )\n",
    ],
)
def test_two_statements_may_stand_twice(body):
    assert found({"a.py": function("first", body), "b.py": function("second", body)}) == []


def test_a_constructor_that_only_keeps_what_it_is_given():
    java = (
        "class A extends B {\n  A() {\n    super(\n        new Part(),\n        'work',\n        'does it');\n  }\n}\n"
    )
    python = "class A:\n    def __init__(self, one, two, three):\n" + "".join(
        f"        self.{name} = {name}\n" for name in ("amount", "currency", "customer")
    )
    for suffix, source in (("java", java.replace("'", '"')), ("py", python)):
        assert found({f"a.{suffix}": source, f"b.{suffix}": source}) == []


@pytest.mark.parametrize(
    "row", ["        'name_{0}': {{'a': 1, 'b': None}},\n", "        name_{0}='a text', count=1,\n"]
)
def test_a_table_inside_of_a_function(row):
    rows = "".join(row.format(letter) for letter in "abcdefghijklmnopqrst")
    first = "    keep(\n" + rows + "    )\n"
    assert found({"a.py": function("first", first), "b.py": function("second", "    begin()\n" + first)}) == []


RENAMED = """def bill(orders, rate, limit):
    total = 0
    for order in orders:
        if order.is_open and order.amount > limit:
            price = order.amount * rate / 100
            total += round(price + order.shipping, 2)
            order.mark_as_billed(price, reason="monthly")
        else:
            order.remind(after=limit, rate=rate)
            log.info("reminded", order=order.number, amount=order.amount)
    if total > limit:
        raise TooMuch(total, limit)
    return notify(orders, total=total, rate=rate)
"""
OTHER_NAMES = (
    RENAMED.replace("bill", "charge").replace("order", "invoice").replace("total", "amount_due").replace("rate", "tax")
)


def test_a_function_with_other_names_is_a_copy_of_confidence_medium():
    (finding,) = findings_of(RULE, {"a.py": RENAMED, "b.py": "import log\n\n" + OTHER_NAMES})

    assert (finding.file, finding.line, finding.function) == ("b.py", 3, "charge")
    assert finding.message == "This function of 13 lines stands with other names at `a.py:1` too"
    assert (finding.severity, finding.confidence) == ("info", "medium")


def test_a_copy_with_the_same_names_is_told_once():
    assert found({"a.py": RENAMED, "b.py": RENAMED}) == [("b.py", 1, "info")]


EQUALS = """
class %s {
    @Override
    public boolean equals(Object o) {
        if (this == o) {
            return true;
        }
        if (o == null || getClass() != o.getClass()) {
            return false;
        }
        %s that = (%s) o;
        return Objects.equals(%s, that.%s)
            && Objects.equals(name, that.name)
            && Objects.equals(value, that.value)
            && Objects.equals(kind, that.kind)
            && Objects.equals(customer, that.customer)
            && Objects.equals(currency, that.currency)
            && Objects.equals(createdAt, that.createdAt);
    }
}
"""
TABLE_OF_CASES = (
    "package a\n\nfunc of%s(kind int, data []byte) any {\n\tswitch kind {\n"
    + "".join(f"\tcase %s{letter}:\n\t\treturn parse%s{letter}(data, kind)\n" for letter in "ABCDEFGHIJ")
    + "\t}\n\treturn nil\n}\n"
)


@pytest.mark.parametrize(
    ("suffix", "first", "second"),
    [
        ("py", RENAMED, OTHER_NAMES.replace("remind(after=limit", "remind(after=tax")),
        ("py", RENAMED, OTHER_NAMES.replace("if amount_due > limit", "while amount_due > limit")),
        ("py", function("work", block(14)), function("work", block(14, start=50))),
        ("java", EQUALS % ("A", "A", "A", "id", "id"), EQUALS % ("B", "B", "B", "key", "key")),
        ("go", TABLE_OF_CASES.replace("%s", "Request"), TABLE_OF_CASES.replace("%s", "Response")),
    ],
    ids=["another-name-once", "another-word", "no-decisions", "equals", "table-of-cases"],
)
def test_functions_that_only_look_alike(suffix, first, second):
    assert found({f"a.{suffix}": first, f"b.{suffix}": second}) == []


@pytest.mark.parametrize(("call", "confidence"), [("told", "medium"), ("strings.ToLower", "high")])
def test_the_same_words_may_name_functions_of_two_packages_of_go(call, confidence):
    steps = "".join(f"\tv{number} := {call}(a)\n\tuse(v{number})\n" for number in range(12))
    source = (
        'package {0}\nimport "strings"\nfunc told(a string) string {{ return strings.ToUpper(a + "{0}") }}\n'
        f"func parse(a string) string {{{{\n{steps}\treturn a\n}}}}\n"
    )
    files = {f"forge/{name}/parse.go": source.format(name) for name in ("first", "second")}
    (finding,) = [each for each in findings_of(RULE, files) if each.function == "parse"]
    assert finding.confidence == confidence
