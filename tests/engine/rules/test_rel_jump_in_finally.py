import pytest

from tests.engine.rules.reading import marks_of

RULE = "rel-jump-in-finally"


def python(body):
    return f"def f():\n  while a():\n    try:\n        x()\n    finally:\n        {body}\n"


def script(body):
    return f"function f() {{ while (a()) {{ try {{ x() }}\nfinally {{\n{body}\n}} }} }}"


def java(body):
    return f"class A {{ void f() {{ while (a()) {{ try {{ x(); }}\nfinally {{\n{body}\n}} }} }} }}"


PYTHON_FLAGGED = ["return 1", "break", "continue", "if y: return"]
PYTHON_FINE = [
    "close()",
    "g = lambda: 1",
    "def g(): return 1",
    "for y in z: break",
    "while z: continue",
]
SCRIPT_FLAGGED = [
    "return 1;",
    "break;",
    "throw new Error('x');",
    "if (y) { continue; }",
    "switch (y) { case 1: continue; }",
]
SCRIPT_FINE = [
    "close();",
    "for (const y of z) { break; }",
    "g(() => { return 1; });",
    "switch (y) { case 1: break; }",
    "try { throw new Error('x'); } catch (e) {}",
]
JAVA_FLAGGED = ["return;", "throw new IllegalStateException();", "continue;"]
JAVA_FINE = ["close();", "for (int i : z) { break; }", "run(() -> { return; });"]


@pytest.mark.parametrize("body", PYTHON_FLAGGED)
def test_jumps_are_marked_at_the_jump(body):
    assert [(mark.line, mark.severity) for mark in marks_of(RULE, python(body))] == [(6, "")]


@pytest.mark.parametrize("body", PYTHON_FINE)
def test_jumps_that_stay_inside_are_fine(body):
    assert marks_of(RULE, python(body)) == []


def test_raise_keeps_the_context_and_is_worth_knowing_only():
    (mark,) = marks_of(RULE, python("raise ValueError"))
    assert mark.severity == "info"


def test_raise_that_a_handler_in_there_takes_is_fine():
    source = "try:\n    x()\nfinally:\n    try:\n        raise ValueError\n    except ValueError:\n        pass\n"
    assert marks_of(RULE, source) == []
    assert [mark.line for mark in marks_of(RULE, source.replace("pass", "raise"))] == [7]


@pytest.mark.parametrize("body", SCRIPT_FLAGGED)
def test_script_jumps_are_marked(body):
    assert [mark.line for mark in marks_of(RULE, script(body), "typescript")] == [3]


@pytest.mark.parametrize("body", SCRIPT_FINE)
def test_script_jumps_that_stay_inside_are_fine(body):
    assert marks_of(RULE, script(body), "typescript") == []


def test_a_labelled_break_may_leave_from_an_inner_loop():
    inner = "for (const y of z) { break outer; }"
    assert len(marks_of(RULE, f"outer: {script(inner)}", "javascript")) == 1
    assert marks_of(RULE, script(f"outer: {inner}"), "javascript") == []


@pytest.mark.parametrize("body", JAVA_FLAGGED)
def test_java_jumps_are_marked(body):
    assert [mark.line for mark in marks_of(RULE, java(body), "java")] == [3]


@pytest.mark.parametrize("body", JAVA_FINE)
def test_java_jumps_that_stay_inside_are_fine(body):
    assert marks_of(RULE, java(body), "java") == []


@pytest.mark.parametrize(("thrown", "count"), [("error", 0), ("other", 1)])
def test_what_was_caught_may_be_thrown_again(thrown, count):
    source = (
        "class A { void f() { try { x(); } catch (IOException error) {\n"
        f"try {{ tell(error); }} finally {{ throw {thrown}; }} }} }} }}"
    )
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("kept", "count"), [("error = exc", 0), ("other = exc", 1)])
def test_what_a_handler_has_kept_may_be_raised(kept, count):
    source = f"try:\n    x()\nexcept OSError as exc:\n    {kept}\nfinally:\n    if error:\n        raise error\n"
    assert len(marks_of(RULE, source)) == count


def test_a_loop_over_an_iterator_that_was_translated_throws_what_it_kept():
    body = "try { if (it.return) { it.return(); } } finally { if (failed) { throw error; } }"
    source = f"try {{ x(); }} catch (err) {{ error = err; }} finally {{ {body} }}"
    assert marks_of(RULE, source, "javascript") == []


@pytest.mark.parametrize(
    ("handler", "jump", "count"),
    [
        ("except Exception as e:\n    error = str(e)", "raise ImportFailed(error)", 0),
        ("except:\n    error = 1", "raise ImportFailed(error)", 0),
        ("except Exception as e:\n    raise", "raise ImportFailed(1)", 1),
        ("except OSError as e:\n    error = str(e)", "raise ImportFailed(error)", 1),
        ("except Exception as e:\n    error = str(e)", "return error", 1),
    ],
)
def test_nothing_is_discarded_where_all_was_caught(handler, jump, count):
    source = f"def f():\n  try:\n    x()\n  {handler}\n  finally:\n    if error:\n      {jump}\n"
    assert len(marks_of(RULE, source)) == count


@pytest.mark.parametrize(("handled", "count"), [("failed = e;", 0), ("throw e;", 1)])
def test_nothing_is_discarded_where_all_was_caught_in_script(handled, count):
    source = f"try {{ x() }} catch (e) {{ {handled} }} finally {{ if (failed) throw new Error('x'); }}"
    assert len(marks_of(RULE, source, "typescript")) == count
