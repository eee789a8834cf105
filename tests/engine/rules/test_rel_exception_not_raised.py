import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-exception-not-raised"

FLAGGED = [
    "ValueError('x')",
    "if a:\n    ValueError('x')",
    "errors.NotFoundError(1)",
    "raise NotImplemented",
    "raise NotImplemented('x')",
    "assert (a, 'message')",
    "class MyError(Exception): ...\nMyError()",
]
FINE = [
    "raise ValueError('x')",
    "e = ValueError('x')",
    "add(ValueError('x'))",
    "return_value.append(ValueError())",
    "raise NotImplementedError",
    "raise",
    "assert (a and 'message')",
    "assert (a), 'message'",
    "log_error('x')",
    "self.LowerError('x')",
    "cls.CheckError()",
]
SCRIPT_FLAGGED = ["new Error('x');", "if (a) { new TypeError('x'); }", "Error('x');"]
SCRIPT_FINE = ["throw new Error('x');", "const e = new Error('x');", "reject(new Error('x'));", "onError('x');"]


@pytest.mark.parametrize("source", FLAGGED)
def test_dropped_exceptions_are_marked_at_their_statement(source):
    assert lines_of(RULE, source) == [source.count("\n") + 1]


@pytest.mark.parametrize("source", FINE)
def test_exceptions_that_are_raised_or_kept_are_fine(source):
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize("source", SCRIPT_FLAGGED)
def test_dropped_script_errors_are_marked(source):
    assert lines_of(RULE, source, "javascript") == [1]


@pytest.mark.parametrize("source", SCRIPT_FINE)
def test_script_errors_that_are_used_are_fine(source):
    assert lines_of(RULE, source, "javascript") == []


def test_java():
    source = 'class A { void f() {\nnew IllegalStateException("x");\nthrow new RuntimeException(); } }'
    assert lines_of(RULE, source, "java") == [2]


def test_a_method_is_no_creation_whatever_it_is_called():
    assert lines_of(RULE, "class A { void f() {\nthis.CheckForError();\n} }", "java") == []


def test_the_message_names_the_exception():
    (mark,) = marks_of(RULE, "ValueError('x')")
    assert mark.message == "`ValueError` is created and dropped; nothing is raised here"


@pytest.mark.parametrize(
    ("statement", "count"), [("TokenError(a, 'x');", 0), ("new TokenError(a);", 1), ("TypeError(a);", 1)]
)
def test_what_is_called_without_new_is_a_function(statement, count):
    assert len(lines_of(RULE, statement, "typescript")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return switch (a) { case 1 -> new OddException(a); default -> new BadException(a); };", 0),
        ("switch (a) { case 1 -> new OddException(a); default -> stop(); }", 1),
    ],
)
def test_a_case_may_give_an_exception_as_its_value(body, count):
    assert len(marks_of(RULE, f"class A {{ Object f(int a) {{ {body} }} }}", "java")) == count


@pytest.mark.parametrize(
    ("declared", "count"),
    [
        ("class Gone extends IOException {}", 1),
        ("class Gone extends Left {} class Left extends RuntimeException {}", 1),
        ("class Gone extends Panel {}", 0),
        ("class GoneError extends Panel {}", 0),
        ("class GoneError {}", 0),
        ("class GoneError extends Trouble {}", 0),
        ("", 0),
    ],
)
def test_what_is_an_exception_is_looked_up(declared, count):
    name = "GoneError" if "GoneError" in declared else "Gone"
    source = f"class A {{ void f() {{ try {{ g(); }} catch (IOException e) {{ new {name}(e); }} }} }}"
    assert len(findings_of(RULE, {"src/A.java": source, "src/Gone.java": declared})) == count


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("a.py", "class Left(Exception): ...\n\ndef f():\n    if x:\n        raise Left()\n    Left()\n", 1),
        ("a.py", "class Left(Panel): ...\n\ndef f():\n    if x:\n        raise Odd()\n    Left()\n", 0),
        ("a.py", "class OddError: ...\nOddError()\n", 0),
        ("a.ts", "class Left extends Error {}\nfunction f() { if (x) { throw new Left(); } new Left(); }\n", 1),
        ("a.ts", "class Left extends Panel {}\nfunction f() { if (x) { throw new Odd(); } new Left(); }\n", 0),
    ],
)
def test_exceptions_with_names_of_their_own(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count
