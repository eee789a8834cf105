import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "perf-quadratic-concat"


def python(start, body, tail=""):
    return f"def f(self, xs):\n    {start}\n    for x in xs:\n        {body}\n{tail}"


@pytest.mark.parametrize(
    ("start", "body", "severity"),
    [
        ("s = ''", "s += str(x)", None),
        ("self.s = ''", "self.s += x", "info"),
        ("pass", "self.s += str(x)", "info"),
        ("pass", "x.s += str(xs)", None),
        ("pass", "x += b'1'", None),
        ("pass", "self.s += len(str(x))", None),
        ("s = b''", "s += x", "info"),
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


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(rows):\n    out = []\n    for r in rows:\n        out = out + [r]\n    return out\n", [4]),
        ("import pandas as pd\ndf = pd.DataFrame()\nfor r in rows:\n    df = df.append(r)\n", [4]),
        ("import pandas as pd\ndf = pd.DataFrame()\nfor r in rows:\n    df = pd.concat([df, r])\n", [4]),
        ("def f(rows):\n    out = []\n    for r in rows:\n        out += [r['a'] + 'x']\n    return out\n", []),
    ],
)
def test_lists_and_tables_that_are_copied(source, lines):
    assert lines_of(RULE, source) == lines


def test_python_goes_on_behind_a_loop_that_ends():
    assert lines_of(RULE, "def f(rows):\n    s = b''\n    for r in rows:\n        s += r\n    return s\n") == [4]


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        (
            "class A:\n    def __init__(self):\n        self.t = ''\n"
            "    def f(self, rows):\n        for r in rows:\n            self.t += r\n",
            "",
        ),
        ("T = ''\ndef f(rows):\n    global T\n    for r in rows:\n        T += r\n", ""),
        ("def f(rows):\n    t = start()\n    for r in rows:\n        t += f'{r},'\n", "info"),
    ],
)
def test_what_others_can_see_is_copied_in_python_too(source, severity):
    assert [mark.severity for mark in marks_of(RULE, source)] == [severity]


@pytest.mark.parametrize(
    ("source", "language"),
    [
        (
            "class A { String f(List<R> rows) { String t = head();\nfor (R r : rows) { t += r.name(); }\nreturn t; } }",
            "java",
        ),
        (
            'class A { private String log = ""; void f(List<Row> rows) {\nfor (Row r : rows) { log += r.name(); }\n} }',
            "java",
        ),
        ("package a; func f(rows []Row) (out string) {\nfor _, r := range rows { out += r.Name }\nreturn }", "go"),
        ("package a; func f(q string, rows []Row) string {\nfor _, r := range rows { q += r.Name }\nreturn q }", "go"),
        ("let all = {};\nrows.forEach((r) => { all = { ...all, [r.id]: r }; });", "typescript"),
    ],
)
def test_texts_by_their_type_and_bodies_of_call_backs(source, language):
    assert lines_of(RULE, source, language) == [2]


def test_one_finding_for_a_text_that_grows_in_several_statements():
    source = 'package a\nfunc f(rows []Row) {\ns := ""\nfor _, r := range rows {\ns += "a"\ns += r.Name\n}\n}'
    assert lines_of(RULE, source, "go") == [5]


@pytest.mark.parametrize(
    ("loop", "confidence"),
    [("while ((line = in.readLine()) != null)", ""), ("for (Row line : rows)", "low"), ("for (X line : xs)", "low")],
)
def test_the_origin_of_the_parts_decides_how_certain_it_is(loop, confidence):
    source = f'class A {{ String f() {{ String text = ""; String line;\n{loop} {{ text += line; }}\nreturn text; }} }}'
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == [confidence]


def test_parts_that_are_few_by_their_name_are_worth_knowing_and_numbers_are_fine():
    columns = (
        "package a\nfunc f(columns []string) (s string) {\nfor _, column := range columns { s += column }\nreturn }"
    )
    assert [(mark.severity, mark.confidence) for mark in marks_of(RULE, columns, "go")] == [("info", "low")]
    number = "class A { long f(Buffer b) { long n = 0;\nwhile (b.more()) { n += b.next() - '0'; }\nreturn n; } }"
    assert lines_of(RULE, number, "java") == []


def test_the_local_text_of_python_is_worth_knowing_where_it_has_many_parts():
    source = "def f({0}):\n    s = ''\n    for x in {0}:\n        s += x\n    return s\n"
    assert [mark.severity for mark in marks_of(RULE, source.format("lines"))] == ["info"]
    assert marks_of(RULE, source.format("xs")) == []


def test_a_text_that_is_emptied_in_between_stays_short():
    source = "def f(file):\n    line = b''\n    for chunk in chunks:\n        line += chunk\n"
    assert lines_of(RULE, source) == [4]
    assert lines_of(RULE, source + "        if done(line):\n            line = b''\n") == []


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("def f(rows):\n    s = ''\n    for row in rows:\n        s = s + row.name + ';'\n", "python", [4]),
        ("def f(rows):\n    s = []\n    for row in rows:\n        s = s + list(row.parts)\n", "python", [4]),
        ("def f(rows):\n    s = 0\n    for row in rows:\n        s = s + row.size\n", "python", []),
        ("class A { void f() { for (String x : lines) {\ntext = text.concat(x);\n} } }", "java", [2]),
        ("type W struct {\nbuf string\n}\nfunc (w *W) f() {\nfor _, l := range lines {\nw.buf += l\n}\n}", "go", [6]),
        ("type W struct {\nsum int\n}\nfunc (w *W) f() {\nfor _, l := range lines {\nw.sum += l\n}\n}", "go", []),
        ("for await (const chunk of req) {\ndata = Buffer.concat([data, chunk]);\n}", "javascript", [2]),
        ("users.reduce((acc, u) => Object.assign({}, acc, { [u.id]: u }), {});", "typescript", [1]),
    ],
)
def test_other_words_for_a_copy(source, language, lines):
    head = "package a\n" if language == "go" else ""
    shift = head.count("\n")
    assert [line - shift for line in lines_of(RULE, head + source, language)] == lines


@pytest.mark.parametrize(
    "source",
    [
        "['a', 'b'].reduce((acc, k) => ({ ...acc, [k]: 1 }), {});",
        "users.forEach((u) => {\n  let tags: string[] = [];\n  tags = [...tags, u.name];\n});",
        "for (const kind of ['a', 'b']) {\n  all = [...all, kind];\n}",
    ],
)
def test_few_elements_and_lists_of_one_round_are_fine(source):
    assert lines_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(
    "source",
    [
        "for (const group of groups) {\n  all = all.concat(group);\n}",
        "for (const row of rows) {\n  tags = [...tags, ...row.tags];\n}",
        "const parts = path.split('/');\nfor (const part of parts) {\n  list = [...list, part];\n}",
        "const all = groups.reduce((all, group) => [...all, ...group.users], []);",
    ],
)
def test_lists_of_few_by_their_names_are_a_guess(source):
    (mark,) = marks_of(RULE, f"let all = [];\nlet tags = [];\nlet list = [];\n{source}", "typescript")
    assert mark.confidence == "low"


def test_a_text_that_each_round_gives_away_is_copied_by_python_too():
    source = "def f(orders):\n    s = ''\n    for order in orders:\n        s += str(order)\n        {}\n"
    (kept,) = marks_of(RULE, source.format("history.append(s)"))
    (alone,) = marks_of(RULE, source.format("print(order)"))
    assert (kept.severity, alone.severity) == ("", "info")


def test_pages_that_are_asked_for_and_fields_of_new_things_are_fine():
    pages = "while (url) {\n  const data = await load(url);\n  all = all.concat(data.rows);\n  url = data.next;\n}"
    assert lines_of(RULE, pages, "typescript") == []
    fresh = 'package a\nfunc f() {\nfor _, u := range users {\nd := make(u)\nd.ID += "#x"\n}\n}'
    assert lines_of(RULE, fresh, "go") == []


def test_what_a_relation_or_a_local_text_of_python_holds_is_a_guess():
    source = "def f(self):\n    s = ''\n    for row in rows:\n        s += row.name + ' '\n"
    assert [str(mark.confidence) for mark in marks_of(RULE, source)] == ["low"]
    assert marks_of(RULE, source.replace("in rows", "in self.parts.all()")) == []


def test_tuples_and_texts_of_the_class_are_copied_too():
    assert lines_of(RULE, "def f(rows):\n    s = ()\n    for row in rows:\n        s = s + (row.id,)\n") == [4]
    method = "    def f(self, chunks):\n        for chunk in chunks:\n            self.data += chunk\n"
    source = f"class A:\n    data = b''\n{method}"
    assert lines_of(RULE, source) == [5]


@pytest.mark.parametrize("value", ['part.count("(") + part.count("[")', 'part != "end"', 'len(part + "x")'])
def test_numbers_that_are_made_of_texts_are_no_texts(value):
    assert lines_of(RULE, f"def f(parts):\n    level = 0\n    for part in parts:\n        level += {value}\n") == []


def test_markup_is_a_text_whatever_signs_it_holds():
    source = 'def f(rows):\n    page = start()\n    for row in rows:\n        page += f"<li>{row}</li>"\n'
    assert lines_of(RULE, source) == [4]


def test_the_line_is_that_of_the_copy():
    source = "const names = users.reduce((acc, user) => {\n  check(user);\n  return [...acc, user.name];\n}, []);\n"
    assert lines_of(RULE, source, "typescript") == [3]


@pytest.mark.parametrize(("head", "found"), [("", 0), ("function f(names) {\n", 1)])
def test_a_table_that_a_module_puts_together_once(head, found):
    reduce = "const table = names.reduce((all, name) => ({ ...all, [name]: 1 }), {});\n"
    assert len(findings_of(RULE, {"src/a.js": head + reduce + ("}" if head else "")})) == found


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        (
            "def f(rows):\n    all = []\n    for row in rows:\n        all = [*all, row]\n    return all\n",
            "python",
            [4],
        ),
        ("def f(rows):\n    all = {}\n    for row in rows:\n        all = {**all, row.id: row}\n", "python", [4]),
        ("def f(rows):\n    for row in rows:\n        one = {**row, 'x': 1}\n", "python", []),
        (
            "def f(chunks):\n    all = bytes()\n    for part in chunks:\n        all += part\n    return all\n",
            "python",
            [4],
        ),
        (
            "class W:\n    def __init__(self):\n        self.text = ''\n    def f(self, segments):\n"
            "        for tag, value in segments:\n            self.text += f'{tag}{value}'\n",
            "python",
            [6],
        ),
        (
            "class S {\nrows = [];\nf(more) {\nfor (const row of more) {\nthis.rows = [...this.rows, row];\n}\n}\n}",
            "typescript",
            [5],
        ),
        (
            "class A {\nString f(List<String> xs) { String s = head(); for (String x : xs) {\ns += x;\n} return s; }\n"
            "int g(List<Integer> xs) { int s = 0; for (int x : xs) { s += x; } return s; }\n}",
            "java",
            [3],
        ),
        ("package a\nfunc f(t *T, xs []int) {\nfor _, x := range xs {\nt.text += fmt.Sprint(x)\n}\n}", "go", [4]),
        (
            "package a\nfunc f(t *T, xs []string) {\nfor _, x := range xs {\nt.n += strings.Count(x, t.part)\n}\n}",
            "go",
            [],
        ),
    ],
)
def test_copies_of_fields_and_by_unpacking_and_texts_by_their_type(source, language, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(("start", "count"), [("''", 0), ("[]", 1)])
def test_a_text_of_script_is_not_copied_by_its_concat(start, count):
    source = f"let all = {start};\nfor (const row of rows) {{\n  all = all.concat(row.name);\n}}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


def test_few_problems_and_a_loop_that_nothing_is_known_of():
    source = (
        "def f({0}):\n    found = []\n    for each in {0}:\n        found = found + check(each)\n    return found\n"
    )
    (mark,) = marks_of(RULE, source.format("xs"))
    assert (mark.severity, mark.confidence) == ("info", "low")
    (mark,) = marks_of(RULE, source.format("orders"))
    assert (mark.severity, mark.confidence) == ("", "low")
    assert marks_of(RULE, source.format("orders").replace("found", "errors")) == []


def test_what_one_page_copies_is_not_much():
    source = "export const f = (xs) => xs.reduce((all, x) => ({ ...all, [x.id]: x }), {});\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/a.ts": source}
    server = {"api/package.json": '{"dependencies": {"express": "5"}}', "api/src/a.ts": source}
    assert (len(findings_of(RULE, page)), len(findings_of(RULE, server))) == (0, 1)


@pytest.mark.parametrize(("head", "count"), [("import { names } from './names';\n", 0), ("const names = load();\n", 1)])
def test_what_is_imported_is_as_long_as_the_program_makes_it(head, count):
    source = f"{head}export const f = () => names.reduce((all, x) => ({{ ...all, [x]: 1 }}), {{}});\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("name", "severity"), [("cmdList", "info"), ("commands", "info"), ("rows", "")])
def test_the_commands_of_one_step_are_few(name, severity):
    source = f'package a\nfunc f({name} []string) string {{\n\ts := ""\n\tfor _, x := range {name} {{\n'
    (mark,) = marks_of(RULE, source + "\t\ts += x\n\t}\n\treturn s\n}\n", "go")
    assert mark.severity == severity


@pytest.mark.parametrize(("found", "count"), [("errs", 0), ("result.Errors", 0), ("orders", 1)])
def test_what_went_wrong_is_told_once(found, count):
    source = f'package a\nfunc f() string {{\n\ttext := ""\n\tfor _, each := range {found} {{\n'
    source += '\t\ttext += each.Error() + "\\n"\n\t}\n\treturn text\n}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("reduce(lambda all, row: {**all, row.id: row}, rows, {})", 1),
        ("reduce(lambda all, row: [*all, row.id], rows, [])", 1),
        ("reduce(lambda all, row: all + [row.id], rows, [])", 1),
        ("reduce(lambda all, row: all | {row.id: row}, rows, {})", 1),
        ("reduce(lambda total, row: total + row.weight, rows, 0)", 0),
        ("reduce(lambda all, path: {**all, path: 1}, ('a', 'b'), {})", 0),
        ("own.reduce(lambda all, row: {**all, row.id: row}, rows, {})", 0),
    ],
)
def test_a_reduce_of_python_that_copies_what_it_has(call, count):
    assert len(lines_of(RULE, f"from functools import reduce\ndef f(rows):\n    return {call}\n")) == count


@pytest.mark.parametrize(
    ("language", "round_", "count"),
    [
        ("python", "above, key = row.pair()", 0),
        ("python", "above, key = go(row, above)", 1),
        ("python", "go(row, above, key=row)", 1),
        ("typescript", "let [above, key] = row;", 0),
        ("typescript", "let { above, key } = row;", 0),
        ("typescript", "go([above, key]);", 1),
    ],
)
def test_what_each_round_unpacks_is_another_list(language, round_, count):
    python = f"def f(rows, above):\n    for row in rows:\n        {round_}\n        above = [*above, key]\n"
    script = f"for (const row of rows) {{\n  {round_}\n  above = [...above, key];\n}}"
    assert len(lines_of(RULE, python if language == "python" else script, language)) == count


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        (
            "go",
            'package a\nfunc f(xs []T) {\nout, sep := "", ""\nfor _, x := range xs {\nout = out + sep + x\n}\n}',
            [5],
        ),
        ("go", 'package a\nfunc f(xs []T) {\nn, out := 0, ""\nfor _, x := range xs {\nout += x\n}\n}', [5]),
        ("go", 'package a\nfunc f(xs []T) {\nn, out := 0, ""\nfor _, x := range xs {\nn += x\n}\n}', []),
        ("python", "def f(rows):\n    n, out = 0, []\n    for row in rows:\n        out = out + [row]\n", [4]),
    ],
)
def test_what_is_made_together_with_others(language, source, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(
    ("language", "round_", "count"),
    [
        (
            "go",
            "if more := most - len(text); more > 0 {\nif len(x) > more {\ntext += x[:more]\n} else {\ntext += x\n}\n}",
            0,
        ),
        ("go", "if len(text) < most {\ntext += x\n}", 0),
        ("go", "if len(text) > 0 {\ntext += x\n}", 1),
        ("go", "if len(text) < 10_000_000 {\ntext += x\n}", 1),
        ("go", "if len(text) < most {\nlog(x)\n} else {\ntext += x\n}", 1),
        ("java", "if (text.length() < most) {\ntext += x;\n}", 0),
        ("java", "if (x.length() < most) {\ntext += x;\n}", 1),
    ],
)
def test_a_text_that_stops_growing_at_a_bound(language, round_, count):
    heads = {
        "go": 'package a\nfunc f(xs []string, most int) string {\ntext := ""\nfor _, x := range xs {\n',
        "java": 'class A {\nString f(List<String> xs, int most) {\nString text = "";\nfor (String x : xs) {\n',
    }
    tail = "\n}\nreturn text;\n}\n" + ("}\n" if language == "java" else "")
    assert len(lines_of(RULE, f"{heads[language]}{round_}{tail}", language)) == count


def test_a_list_of_scripts_that_stops_growing_at_a_bound():
    source = "function f(xs: string[]) {\nlet all = [];\nfor (const x of xs) {\n"
    source += "if (all.length < 10) {\nall = [...all, x];\n}\n}\n}\n"
    assert lines_of(RULE, source, "typescript") == []
    assert len(lines_of(RULE, source.replace("if (all.length < 10)", "if (x.length < 10)"), "typescript")) == 1
