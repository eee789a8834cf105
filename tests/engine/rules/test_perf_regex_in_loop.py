import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "perf-regex-in-loop"


def java(call):
    return f"import java.util.regex.Pattern;\nclass A {{ void f() {{ for (String x : xs) {{\n{call};\n}} }} }}"


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ('Pattern.compile("a+")', [3]),
        ('x.matches("a+")', [3]),
        ('x.replaceAll("a+", "b")', [3]),
        ('x.split("a+")', [3]),
        ('x.split(",")', []),
        ('x.split("\\t")', []),
        ('x.split("\\\\.")', []),
        ('if (x.isEmpty()) { return x.replaceFirst("a+", "b"); }', []),
        ('ys.forEach(y -> { return y.replaceFirst("a+", "b"); })', [3]),
        ("Pattern.compile(x)", []),
        ("PATTERN.matcher(x)", []),
    ],
)
def test_java(call, lines):
    assert lines_of(RULE, java(call), "java") == lines


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (r'x.replaceAll("\n", " ")', ("info", "low")),
        (r'x.split("\\s")', ("info", "low")),
        (r'x.split("\\s+")', ("info", "low")),
        (r'x.split("[=:]")', ("", "low")),
        (r'x.replaceAll("\\d{4}", "")', ("", "low")),
    ],
)
def test_the_pattern_of_one_character_is_built_at_once(call, told):
    (mark,) = marks_of(RULE, java(call), "java")
    assert (mark.severity, mark.confidence) == told


def test_go():
    source = 'package a\nimport "regexp"\nfunc f() {\nfor {\nregexp.MustCompile("a+")\n}\n}'
    assert lines_of(RULE, source, "go") == [5]
    assert lines_of(RULE, 'package a\nimport "regexp"\nvar p = regexp.MustCompile("a+")', "go") == []


def test_script():
    assert lines_of(RULE, "for (const x of xs) {\nnew RegExp('a+').test(x);\n}", "typescript") == [2]
    assert lines_of(RULE, "for (const x of xs) {\nnew RegExp(x).test(y);\n}", "typescript") == []
    assert lines_of(RULE, "for (const x of xs) {\n/a+/.test(x);\n}", "typescript") == []


def test_python_caches_patterns():
    (mark,) = marks_of(RULE, "import re\nfor x in xs:\n    re.compile('a+').match(x)\n")
    assert (mark.line, mark.severity) == (3, "info")


def test_every_request_compiles_it():
    handler = "app.get('/x', (req, res) => {\n  new RegExp('a+').test(req.body);\n});\n"
    source = "import express from 'express';\nconst app = express();\n" + handler
    assert [finding.line for finding in findings_of(RULE, {"src/app.js": source})] == [4]
    assert findings_of(RULE, {"src/app.js": "export function f(x) { return new RegExp('a+').test(x); }"}) == []


def test_a_function_that_runs_for_each_element_is_a_loop():
    source = 'export const f = (rows: string[]) => rows.map((r) => new RegExp("^a+$").test(r));\n'
    assert lines_of(RULE, source, "typescript") == [1]


def test_a_constant_of_the_class_and_only_texts_count():
    source = (
        'class A {{\nstatic final String DIGITS = "\\\\d+";\nvoid f(List<Rule> rules) {{ for ({} x : rules) {{\n'
        "x.matches(DIGITS);\n}} }} }}"
    )
    assert lines_of(RULE, source.format("String"), "java") == [4]
    assert lines_of(RULE, source.format("Rule"), "java") == []


def test_what_is_made_on_first_use_is_made_once():
    source = java('if (pattern == null) {\npattern = Pattern.compile("a+");\n}')
    assert lines_of(RULE, source, "java") == []


def test_constants_of_go():
    source = 'package a\nimport "regexp"\nconst word = "a+"\nfunc f() {\nfor {\nregexp.Compile(word)\n}\n}'
    assert lines_of(RULE, source, "go") == [6]


def test_below_the_handler_it_is_likely_only():
    handler = "app.get('/x', (req, res) => {\n  res.send(check(req.body));\n});\n"
    below = "function check(text) {\n  return new RegExp('a+').test(text);\n}\n"
    source = "import express from 'express';\nconst app = express();\n" + handler + below
    assert [str(finding.confidence) for finding in findings_of(RULE, {"src/app.js": source})] == ["low"]


def test_a_variable_of_the_loop_is_no_constant():
    assert lines_of(RULE, "import re\nP = [re.compile(I) for I in ['a+', 'b+']]\n") == []


@pytest.mark.parametrize(("pattern", "count"), [("a+", 1), ("/", 0)])
def test_a_plain_text_is_quickly_compiled(pattern, count):
    source = (
        'package a\n\nimport (\n\t"net/http"\n\t"regexp"\n)\n\nfunc show(w http.ResponseWriter, r *http.Request) {\n'
        f"\tregexp.MustCompile(`{pattern}`).Split(r.URL.Path, -1)\n}}\n"
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(("pattern", "count"), [("'a' + (i + 1)", 0), ("'a' + 'b+'", 1)])
def test_a_pattern_may_change_with_the_counter(pattern, count):
    source = (
        "export function f(rows) {\n  for (let i = 0; i < rows.length; i++) {\n"
        f"    rows[i].replace(new RegExp({pattern}), '');\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"a.js": source})) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if ok := regexp.MustCompile(`^[a-z]+$`).MatchString(name); !ok {\n\t\treturn odd\n\t}", 1),
        ("if s.words == nil {\n\t\ts.words = regexp.MustCompile(`^[a-z]+$`)\n\t}", 0),
    ],
)
def test_the_head_of_a_branch_runs_with_every_call(body, count):
    source = f'package a\nimport "regexp"\nfunc (s *S) check(name string) error {{\n\t{body}\n\treturn nil\n}}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for (Row r : rows) { try { read(r); } catch (OddException e) { %s } }", 0),
        ("for (Row r : rows) { try { %s } catch (OddException e) { } }", 1),
        ("try { read(rows); } catch (OddException e) { for (Row r : rows) { %s } }", 1),
    ],
)
def test_what_is_compiled_when_a_round_fails(body, count):
    compiled = 'say(text.replaceAll("[a-z]+", ""));'
    source = f"class A {{ void f(List<Row> rows, String text) {{ {body % compiled} }} }}"
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("decorator", "count"), [('@app.get("/plates")\n', 1), ("", 0), ("@functools.cache\n", 0)])
def test_python_compiles_for_each_request_of_a_handler_itself(decorator, count):
    source = f'import re\n\n{decorator}def plate(text):\n    return re.compile(r"[^A-Z\\d-]+").sub("", text)\n'
    assert [each.severity for each in findings_of(RULE, {"garage/plates.py": source})] == ["info"] * count
