import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-cause-lost"


def python(body):
    return f"try:\n    x()\nexcept ValueError as exc:\n    {body}\n"


def script(body):
    return f"try {{ x(); }} catch (err) {{\n{body}\n}}"


def java(body):
    return f"class A {{ void f() {{ try {{ x(); }} catch (IOException e) {{\n{body}\n}} }} }}"


PYTHON_FLAGGED = [
    "raise OrderError('x')",
    "raise OrderError",
    "raise OrderError(str(exc))",
    "if y: raise errors.Bad(exc.args)",
    "bad = OrderError('x'); raise bad",
]
PYTHON_FINE = [
    "raise OrderError('x') from exc",
    "raise OrderError('x') from None",
    "raise",
    "raise exc",
    "raise OrderError('x', exc)",
    "raise OrderError(cause=exc)",
    "bad = OrderError(exc); raise bad",
    "bad = OrderError('x'); bad.__cause__ = exc; raise bad",
    "g = lambda: fail(OrderError())",
    "pass",
]
SCRIPT_FLAGGED = ["throw new Error('x');", "throw new Error('x' + err);", "throw new OrderError(err.message);"]
SCRIPT_FINE = [
    "throw new Error(`x ${err.message} ${err.stack}`);",
    "throw err;",
    "throw new Error('x', { cause: err });",
    "throw new OrderError('x', err);",
    "const e = new Error('x'); e.cause = err; throw e;",
]
JAVA_FLAGGED = [
    'throw new OrderException("x");',
    "throw new OrderException(e.getMessage());",
    'throw new OrderException("x" + e);',
    'OrderException o = new OrderException("x"); throw o;',
]
JAVA_FINE = [
    'throw new OrderException("x", e);',
    "throw new OrderException(e.getCause());",
    "throw e;",
    'OrderException o = new OrderException("x"); o.initCause(e); throw o;',
]


@pytest.mark.parametrize("body", PYTHON_FLAGGED)
def test_a_new_exception_without_its_cause_is_marked_at_the_raise(body):
    assert [(mark.line, mark.severity) for mark in marks_of(RULE, python(body))] == [(4, "")]


@pytest.mark.parametrize("body", PYTHON_FINE)
def test_chained_exceptions_are_fine(body):
    assert lines_of(RULE, python(body)) == []


@pytest.mark.parametrize(
    "body", ["raise Http404", "raise HTTPException(400)", "log.exception('x'); raise OrderError()"]
)
def test_answers_to_a_client_and_logged_causes_are_worth_knowing_only(body):
    assert [mark.severity for mark in marks_of(RULE, python(body))] == ["info"]


def test_a_nested_handler_has_its_own_cause():
    source = "try:\n    x()\nexcept A as a:\n    try:\n        y()\n    except B as b:\n        raise C from b\n"
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize("body", SCRIPT_FLAGGED)
def test_script(body):
    assert lines_of(RULE, script(body), "typescript") == [2]


@pytest.mark.parametrize("body", SCRIPT_FINE)
def test_script_that_keeps_the_cause_is_fine(body):
    assert lines_of(RULE, script(body), "typescript") == []


def test_script_without_a_name_for_what_was_caught():
    assert lines_of(RULE, "try { x(); } catch {\nthrow new Error('x');\n}", "typescript") == [2]


@pytest.mark.parametrize("body", JAVA_FLAGGED)
def test_java(body):
    assert lines_of(RULE, java(body), "java") == [2]


@pytest.mark.parametrize("body", JAVA_FINE)
def test_java_that_keeps_the_cause_is_fine(body):
    assert lines_of(RULE, java(body), "java") == []


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ('fmt.Errorf("read: %v", err)', [4]),
        ('fmt.Errorf("read %s: %s", name, err.Error())', [4]),
        ('fmt.Errorf("read: %w", err)', []),
        ('fmt.Errorf("read %q", name)', [4]),
        ('fmt.Errorf("%w: %v", ErrRead, err)', []),
    ],
)
def test_go(call, lines):
    source = f'package a\nimport "fmt"\nfunc f() error {{ if err := x(); err != nil {{\nreturn {call} }}; return nil }}'
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("branch", "count"),
    [
        ('return errors.New("not loaded")', 1),
        ('log.Print(err)\n\t\treturn errors.New("not loaded")', 0),
        ('// the cause is no business of the caller\n\t\treturn errors.New("not loaded")', 0),
        ('return fmt.Errorf("not loaded: %w", err)', 0),
    ],
)
def test_a_go_branch_that_forgets_what_failed(branch, count):
    source = (
        f'package a\nimport ("errors"; "fmt")\nfunc f() error {{\n\tif err := x(); err != nil {{\n\t\t{branch}\n\t}}\n'
    )
    assert len(lines_of(RULE, source + "\treturn nil\n}\n", "go")) == count


@pytest.mark.parametrize(
    ("outer", "lines"),
    [
        ("except ValueError as second:\n            raise Odd(a) from second", []),
        ("finally:\n            close()", [5]),
    ],
)
def test_what_is_raised_for_an_inner_handler_is_not_lost(outer, lines):
    source = (
        "try:\n    read(a)\nexcept ValueError:\n    if a:\n        try:\n            raise ValueError(a)\n"
        f"        {outer}\n"
    )
    assert lines_of(RULE, source) == [line + 1 for line in lines]


@pytest.mark.parametrize(
    ("asked", "before", "confidences"),
    [
        ("err != nil", "", [""]),
        ("errors.Is(err, ErrGone)", "", []),
        ("errors.Is(err, &shop.ErrGone{})", "", []),
        ("errors.Is(err, ErrGone) && last", "", ["low"]),
        ("os.IsNotExist(err)", "", ["low"]),
        ("err != nil && !errors.Is(err, ErrGone)", "", ["low"]),
        ("err != nil && !errors.Is(err, ErrGone)", 's.logger.Error("not deleted", "err", err)\n', []),
    ],
)
def test_an_error_that_was_asked_for_may_become_another_on_purpose(asked, before, confidences):
    source = (
        f'package a\nimport ("errors"; "fmt")\nfunc f() error {{\nif {asked} {{\n'
        f'{before}return fmt.Errorf("%s", err)\n}}\nreturn nil\n}}'
    )
    assert [each.confidence for each in marks_of(RULE, source, "go")] == confidences


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("err != nil", 1),
        ('err != nil || id == ""', 0),
        ("err != nil && errors.Is(err, os.ErrNotExist)", 0),
        ("_, err := os.Stat(id); err != nil && os.IsNotExist(err)", 0),
        ("err != nil && !errors.Is(err, os.ErrNotExist)", 1),
    ],
)
def test_beside_another_condition_there_may_be_no_error_or_a_known_one(condition, count):
    branch = f'if {condition} {{\nreturn errors.New("none")\n}}'
    source = f'package a\nimport "errors"\nfunc f() error {{\n{branch}\nreturn nil\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("tried", "severity"), [("kind = Kind.valueOf(text);", "info"), ("load(text);", "")])
def test_a_name_that_is_none_of_an_enum_says_it_all(tried, severity):
    source = (
        f"class A {{ void f() {{ try {{ {tried} }} catch (IllegalArgumentException e) {{ "
        "throw new ShopException(text); } } }"
    )
    assert [each.severity for each in marks_of(RULE, source, "java")] == [severity]


@pytest.mark.parametrize(("said", "count"), [("Must be a number", 0), ("size must be a number", 0), ("no size", 1)])
def test_a_message_may_say_what_is_right(said, count):
    branch = f'if err != nil {{\nreturn errors.New("{said}")\n}}'
    source = f'package a\nimport "errors"\nfunc f() error {{\n{branch}\nreturn nil\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("given", "severity"),
    [("'bad', 400", "info"), ("'bad', status_code=status.HTTP_404_NOT_FOUND", "info"), ("'bad', 4", "")],
)
def test_an_error_with_a_status_is_an_answer(given, severity):
    assert [each.severity for each in marks_of(RULE, python(f"raise ShopError({given})"))] == [severity]


@pytest.mark.parametrize(("thrown", "count"), [("OddException()", 0), ("OddException(a)", 1), ("BadException()", 1)])
def test_the_same_may_be_raised_again(thrown, count):
    source = f"class A {{ void f() {{ try {{ x(); }} catch (OddException e) {{ warn(); throw new {thrown}; }} }} }}"
    assert len(marks_of(RULE, source, "java")) == count


def test_a_status_may_come_first():
    assert [each.severity for each in marks_of(RULE, python("raise ShopError(403, 'no')"))] == ["info"]


def test_a_stack_that_was_logged_is_not_lost():
    source = script("logger.error('bad', (err as Error).stack);\nthrow new ShopError('no');")
    assert [each.severity for each in marks_of(RULE, source, "typescript")] == ["info"]


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("`no: ${(e as Error).message}`", 1),
        ("`no: ${e instanceof Error ? e.message : String(e)}`", 1),
        ("`no: ${getErrorMessage(e)}`", 1),
        ("`no: ${e?.message}`", 1),
        ("'no', wrap(e)", 0),
        ("'no', e as Error", 0),
    ],
)
def test_the_text_of_an_error_is_not_the_error(given, count):
    source = f"try {{ a(); }} catch (e) {{ throw new OrderError({given}); }}"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("value", "count"), [('"not stored"', 0), ("errors.New(text)", 1)])
def test_a_text_may_be_named_like_an_error(value, count):
    source = f'package a\n\nvar baseErr = {value}\n\nfunc f() error {{\n\treturn fmt.Errorf("%s: gone", baseErr)\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("before", "made", "confidences"),
    [
        ("err := save(x)", 'errors.New("save: " + err.Error())', [""]),
        ("err := save(x)", 'fmt.Errorf("not saved: %d", x)', ["medium"]),
        ("v, err := strconv.Atoi(x)", 'fmt.Errorf("no number: %s", x)', []),
        ("v, err := strconv.Atoi(x)", 'fmt.Errorf("no number: %s", v)', ["low"]),
        ("err := save(x)", "errors.Join(errSave, err)", []),
        ("err := save(x)", 'fmt.Errorf("not saved: %w", err)', []),
    ],
)
def test_an_error_of_go_that_is_made_anew(before, made, confidences):
    source = (
        f'package a\nimport ("errors"; "fmt"; "strconv")\nfunc f() error {{\n{before}\nif err != nil {{\n'
        f"return {made}\n}}\nreturn nil\n}}"
    )
    assert [each.confidence for each in marks_of(RULE, source, "go")] == confidences


def test_another_error_that_is_wrapped_keeps_its_cause():
    source = (
        'package a\nimport "fmt"\nfunc f() error {\nerr2 := g()\nif err2 != nil {\n'
        'return fmt.Errorf("g: %w", err2)\n}\nreturn nil\n}'
    )
    assert lines_of(RULE, source, "go") == []


@pytest.mark.parametrize(
    ("tried", "caught", "raised", "severity"),
    [
        ("kind = KINDS[name]", "KeyError", "OrderError(f'no kind {name}')", "info"),
        ("number = int(text)", "ValueError", "OrderError('no number')", "info"),
        ("number = int(text)", "ValueError", "OrderError", ""),
        ("order = load(text)", "ValueError", "NotFound('bad order')", "info"),
        ("order = load(text)", "ValueError", "OrderError('bad order')", ""),
        ("a()\n    b()", "KeyError", "OrderError('bad order')", ""),
        ("a()", "(KeyError, OSError)", "OrderError('bad order')", ""),
    ],
)
def test_a_look_up_that_fails_says_no_more_than_the_new_message(tried, caught, raised, severity):
    source = f"try:\n    {tried}\nexcept {caught}:\n    raise {raised}\n"
    confidence = "low" if severity and "NotFound" not in raised else ""
    assert [(each.severity, each.confidence) for each in marks_of(RULE, source)] == [(severity, confidence)]


@pytest.mark.parametrize(
    ("tried", "handled", "severity"),
    [
        ("await save(order)", "", ""),
        ("await save(order)", "logger.warn(e);\n", "info"),
        ("new URL(order.address)", "", "info"),
    ],
)
def test_what_was_logged_or_says_it_all_in_script(tried, handled, severity):
    source = f"try {{\n  {tried};\n}} catch (e) {{\n  {handled}throw new OrderError('bad');\n}}\n"
    assert [each.severity for each in marks_of(RULE, source, "typescript")] == [severity]


def test_an_error_is_called_by_its_class():
    source = "import OrderError from './errors/index.js';\ntry { a(); } catch (e) { throw new OrderError('bad'); }"
    assert [each.message.partition(" ")[0] for each in marks_of(RULE, source, "typescript")] == ["`OrderError`"]


@pytest.mark.parametrize(("count", "severity"), [(50, "warning"), (51, "info")])
def test_a_project_that_keeps_texts_everywhere_has_chosen_to(count, severity):
    calls = "".join(
        f'if err := a({number}); err != nil {{ return fmt.Errorf("a: %v", err) }}\n' for number in range(count)
    )
    source = f'package a\nimport "fmt"\nfunc f() error {{\n{calls}return nil\n}}\n'
    assert {each.severity for each in findings_of(RULE, {"a/a.go": source})} == {severity}


@pytest.mark.parametrize(
    ("before", "asked", "count"),
    [
        ("", "w.err != nil", 0),
        ("n, w.err = w.out.Write(p)", "w.err != nil", 1),
        ("w.err = w.flush()", "w.err != nil", 1),
        ("err := w.flush()", "err != nil", 1),
    ],
)
def test_an_error_that_a_field_keeps_was_given_by_the_call_that_failed(before, asked, count):
    source = (
        'package a\nimport "errors"\nfunc (w *writer) Write(p []byte) (int, error) {\n'
        f'{before}\nif {asked} {{\nreturn 0, errors.New("the writer has failed before")\n}}\nreturn 0, nil\n}}\n'
    )
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize("raised", ["NotFound('no such order')", "CommandError(f'no order {pk}')"])
def test_an_answer_that_says_it_all_loses_nothing(raised):
    source = f"try:\n    order = Order.objects.get(pk=pk)\nexcept Order.DoesNotExist:\n    raise {raised}\n"
    assert marks_of(RULE, source) == []


def test_an_answer_that_says_it_all_loses_nothing_in_script():
    source = "try {\n  return new URL(text);\n} catch {\n  throw new BadRequestException(`no address: ${text}`);\n}\n"
    assert marks_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(
    ("handled", "raised", "confidence"),
    [
        ("logger.exception('not loaded')", "APIException('not loaded')", "medium"),
        ("logger.exception('not loaded')", "OrderError('not loaded')", ""),
        ("use('not loaded')", "APIException('not loaded')", ""),
    ],
)
def test_an_answer_whose_cause_was_logged_is_mostly_meant(handled, raised, confidence):
    source = f"try:\n    orders = load(user)\nexcept Exception:\n    {handled}\n    raise {raised}\n"
    assert [each.confidence for each in marks_of(RULE, source)] == [confidence]


def test_what_does_not_exist_may_have_a_name_of_its_own():
    source = (
        "try:\n    shelves[name]\nexcept ShelfDoesNotExist:\n    if not wanted:\n"
        "        raise LostError(f'no shelf {name}')\n"
    )
    assert [(each.confidence, each.severity) for each in marks_of(RULE, source)] == [("low", "info")]
