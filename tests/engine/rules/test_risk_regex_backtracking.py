import pytest

from analysis.engine.rules.risk_regex_backtracking import backtracks
from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-regex-backtracking"


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"^(.*)*x", r"(\w+\s?)*$", r"^([a-z]+)*$", r"(?:\d+)+,", r"((a*)*)b", r"^((\w+)\s*)+$"]
)
def test_patterns_that_backtrack(pattern):
    assert backtracks(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(\w+,)*$",
        r"(a+)",
        r"a+b+$",
        r"(ab)+$",
        r"(\d+)?$",
        r"(a+){2,3}$",
        r"(a+)+",
        r"(",
        r"(\.\w+)*$",
        r"^((\w+)\s+)+$",
    ],
)
def test_patterns_that_do_not(pattern):
    assert not backtracks(pattern)


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ('import re\nNAME = re.compile(r"^(a+)+$")\n', "python", [2]),
        ('import re\nNAME = re.compile(r"^a+$")\n', "python", []),
        ('names.compile(r"^(a+)+$")\n', "python", []),
        ("const name = /^(a+)+$/.test(text);\n", "typescript", [1]),
        ("const name = /^a+$/.test(text);\n", "typescript", []),
        ('class A { Pattern p = Pattern.compile("^(\\\\w+\\\\s?)*$"); }\n', "java", [1]),
    ],
)
def test_literals_of_each_language(source, language, lines):
    assert lines_of(RULE, source, language) == lines


def test_on_the_path_of_a_request_it_is_critical():
    source = (
        "import re\nfrom flask import Flask\napp = Flask(__name__)\n\n@app.get('/x')\ndef f():\n"
        '    return re.match(r"^(a+)+$", request.args["q"])\n'
    )
    (finding,) = findings_of(RULE, {"a.py": source})
    assert (finding.severity, finding.confidence) == ("critical", "medium")


@pytest.mark.parametrize("pattern", [r"^(a|aa)+$", r"(a|a)*b", r"^(\\w|\\d)+$", r"(.|\\s)*;", r"^(?:ab|a|b)*$"])
def test_a_repeated_choice_whose_branches_overlap(pattern):
    assert len(marks_of(RULE, f'const a = new RegExp("{pattern}");', "typescript")) == 1


@pytest.mark.parametrize("pattern", [r"^(a|b)+$", r"^(?:[a-z]|\\d)+$", r"(foo|bar)*;", r"(\\w+|,)"])
def test_a_repeated_choice_of_different_signs_is_fine(pattern):
    assert marks_of(RULE, f'const a = new RegExp("{pattern}");', "typescript") == []


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ('import re\nWORDS = r"^(\\w+\\s?)*$"\ndef f(s):\n    return re.match(WORDS, s)\n', "python", [4]),
        ('import re\nWORDS = r"^(\\w+,)*$"\ndef f(s):\n    return re.match(WORDS, s)\n', "python", []),
        (
            'import java.util.regex.Pattern;\nclass A { String W = "^(a+)+$";\nPattern p = Pattern.compile(W); }',
            "java",
            [3],
        ),
    ],
)
def test_a_pattern_behind_a_name(source, language, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ('class A { boolean f(String s) { return s.matches("(\\\\w+\\\\s?)*"); } }', "java", [1]),
        ('class A { boolean f(String s) { return s.matches("(\\\\w++)+"); } }', "java", []),
        ("import re\nre.fullmatch(r'(a+)+', s)", "python", [2]),
    ],
)
def test_a_pattern_for_the_whole_text_can_fail_at_its_end(source, language, lines):
    assert lines_of(RULE, source, language) == lines


def test_a_pattern_of_another_dialect_is_read_without_a_warning():
    assert lines_of(RULE, "const sign = /[[0-9a-f]+(_+[0-9a-f]+)*/;", "typescript") == []


@pytest.mark.parametrize(
    ("pattern", "count"), [('"\\\\.(?:"+all.join("|")+")$"', 0), ('"^(a|a)*" + end', 0), ('"^(a|a)*$"', 1)]
)
def test_a_pattern_that_is_put_together_is_not_read(pattern, count):
    assert len(lines_of(RULE, f"function f(all, end) {{\n  return new RegExp({pattern});\n}}", "javascript")) == count


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        (r"^(?:[0-9]+|[0-9a-f]+)*;$", 1),  # each branch alone repeats itself
        (r"^(\w+|-)*$", 1),
        (r"^(\w-|;)*$", 0),
        (r"(\.*,*)+$", 1),  # all of it may be empty
        (r"(,*\d)+$", 0),
        (r"(?:\w+|-)*", 0),  # nothing that follows can fail
    ],
)
def test_branches_and_parts_that_may_be_empty(pattern, count):
    assert len(lines_of(RULE, f"import re\nre.match(r'{pattern}', text)\n")) == count


def test_java_remembers_where_a_group_has_failed():
    source = 'class Names {\n    boolean fits(String name) { return name.matches("(\\\\w+\\\\s?)*"); }\n}\n'
    (finding,) = findings_of(RULE, {"shop/Names.java": source})
    assert (finding.severity, finding.confidence) == ("warning", "low")
    assert "time with the square of its length" in finding.message


@pytest.mark.parametrize(
    ("before", "subject", "lines"),
    [
        ("    name = form['name'][:40]\n", "name", []),
        ("    name = form['name'][:4000]\n", "name", [4]),
        ("    name = form['name'][2:]\n", "name", [4]),
        ("", "name[:LONGEST]", []),
        ("    if len(name) > 30: return None\n", "name", []),
        ("    if len(other) > 30: return None\n", "name", [4]),
        ("    if len(name) > 30: log(name)\n", "name", [4]),
    ],
)
def test_texts_that_are_known_to_be_short(before, subject, lines):
    before = before or "    pass\n"
    assert (
        lines_of(RULE, f"import re\ndef f(form, name, other):\n{before}    re.match(r'^(\\w+ ?)*$', {subject})\n")
        == lines
    )


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("if (name.length > 64) return false; return /^(a+)+$/.test(name);", 0),
        ("if (name.length > 64) { throw new Error(name); } return /^(a+)+$/.test(name);", 0),
        ("return name.length <= 64 && /^(a+)+$/.test(name);", 0),
        ("const head = name.slice(0, 64); return head.match(/^(a+)+$/);", 0),
        ("const head = name.slice(64); return head.match(/^(a+)+$/);", 1),
        ("if (name.length > 64) { name = other; } return /^(a+)+$/.test(name);", 1),
    ],
)
def test_texts_of_scripts_that_are_known_to_be_short(line, count):
    assert len(lines_of(RULE, f"function f(name, other) {{\n  {line}\n}}\n", "javascript")) == count


@pytest.mark.parametrize(("limit", "count"), [("if (code.length() > 20) { return false; }", 0), ("", 1)])
def test_texts_of_java_that_are_known_to_be_short(limit, count):
    source = f'class Codes {{ boolean fits(String code) {{ {limit} return code.matches("(\\\\w+)+;"); }} }}'
    assert len(lines_of(RULE, source, "java")) == count
