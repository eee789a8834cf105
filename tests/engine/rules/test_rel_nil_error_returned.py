import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-nil-error-returned"


def go(block, result="(int, error)", condition="err != nil"):
    return f"package a\nfunc f() {result} {{\nv, err := x()\nif {condition} {{\n{block}\n}}\nreturn v, nil\n}}\n"


@pytest.mark.parametrize("block", ["return 0, nil", "count()\nreturn 0, nil", 'slog.Debug("no mirror")\nreturn 0, nil'])
def test_nil_for_a_known_error_is_marked_at_the_return(block):
    assert lines_of(RULE, go(block), "go") == [4 + len(block.split("\n"))]


@pytest.mark.parametrize(
    "block",
    [
        "return 0, err",
        'return 0, fmt.Errorf("x: %w", err)',
        "log.Print(err)\nreturn 0, nil",
        "if errors.Is(err, io.EOF) { return 0, nil }\nreturn 0, err",
        "return 0, nil // no file, no settings",
        "errs <- err\nreturn 0, nil",
        'log.Warn("no mirror")\nreturn 0, nil',
        'slog.Debug("no mirror", "err", err)\nreturn 0, nil',
        'l.Warning("no mirror")\nreturn 0, nil',
        "p.Status = Conflict\nreturn 0, nil",
    ],
)
def test_errors_that_are_passed_on_or_explained_are_fine(block):
    assert lines_of(RULE, go(block), "go") == []


def test_when_the_client_is_gone_nobody_is_left_to_hear_of_it():
    source = (
        go("")
        .replace("if err != nil", "if _, err := io.WriteString(w, beat); err != nil")
        .replace("{\n\n}", "{\nreturn 0, nil\n}")
    )
    assert lines_of(RULE, source, "go") == []


def test_functions_without_an_error_result_are_fine():
    assert lines_of(RULE, go("return 0, nil", "(int, *T)"), "go") == []


def test_an_error_that_is_nil_is_worth_knowing():
    (mark,) = marks_of(RULE, go("return 0, err", condition="err == nil"), "go")
    assert mark.severity == "info"


@pytest.mark.parametrize(
    "call",
    [
        "line, err := text.ReadBytes(1)",
        "_, err := os.Stat(path)",
        'cookie, err := r.Cookie("basket")',
        "_, err := prompt.Run()",
        'err := exec.Command(tool, "is-active", "shop.service").Run()',
        'err := exec.Command("service", "shop", "status").Run()',
        'tty, err := os.OpenFile("/dev/tty", 2, 0)',
    ],
)
def test_calls_that_ask_a_question_may_answer_no(call):
    assert lines_of(RULE, go("return 0, nil").replace("v, err := x()", call), "go") == []


def test_an_error_that_was_logged_before_is_told():
    source = go("return 0, nil").replace("x()", "x()\nif err != nil { log.Print(err) }")
    assert lines_of(RULE, source, "go") == []


def test_a_new_error_in_the_branch_is_another_one():
    assert marks_of(RULE, go("v, err = y()\nreturn v, err", condition="err == nil"), "go") == []


def test_who_waits_asks_again():
    source = (
        "package a\nvar f = wait(func() (bool, error) {\nerr := x()\n"
        "if err != nil {\nreturn false, nil\n}\nreturn true, nil\n})\n"
    )
    assert lines_of(RULE, source, "go") == []


@pytest.mark.parametrize(
    ("call", "beside", "count"),
    [
        ("x()", "Update400JSONResponse(text)", 0),
        ("x()", "VerdictReject", 0),
        ("uuid.Parse(name)", "name", 0),
        ("transform.String(chain, name)", "name", 0),
        ("uuid.Parse(name)", "other", 1),
        ("x()", "Update200JSONResponse(text)", 1),
        ("x()", "name", 1),
    ],
)
def test_a_result_that_says_no_or_what_came_in_is_an_answer(call, beside, count):
    assert len(lines_of(RULE, go(f"return {beside}, nil").replace("x()", call), "go")) == count


def test_both_results_of_a_call_are_passed_on_as_they_are():
    source = (
        "package a\nfunc f() (n int, err error) {\n"
        "if n, err = write(); err == nil {\nreturn n, err\n}\nreturn again()\n}\n"
    )
    assert lines_of(RULE, source, "go") == []


def test_what_is_computed_in_place_of_the_result_may_be_an_answer():
    source = (
        'package a\nfunc f() (string, error) {\nx, err := open()\nif err != nil {\nreturn "", err\n}\n'
        "v, err := read(x)\nif err != nil {\nreturn %s, nil\n}\nreturn v, nil\n}"
    )
    (computed,), (empty,) = (marks_of(RULE, source % each, "go") for each in ("fresh()", '""'))
    assert (computed.confidence, empty.confidence) == ("medium", "")


@pytest.mark.parametrize(
    ("source", "confidence"),
    [
        (
            "func f() (int, bool, error) {\nv, err := read(x)\nif err != nil {\nreturn 0, false, nil\n"
            "}\nreturn v, true, nil\n}",
            "medium",
        ),
        ("func f() (int, error) {\nv, err := read(x)\nif err != nil {\nreturn 0, nil\n}\nreturn v, nil\n}", "medium"),
        (
            "func f() (int, error) {\nx, err := open()\nif err != nil {\nreturn 0, err\n}\nv, err := read(x)\n"
            "if err != nil {\nreturn 0, nil\n}\nreturn v, nil\n}",
            "",  # it passes the other error on
        ),
        (
            "func f() {\nfilepath.Walk(root, func(path string) error {\nv, err := read(path)\n"
            "if err != nil {\nreturn nil\n}\n"
            "use(v)\nreturn nil\n})\n}",
            "low",
        ),
    ],
)
def test_a_no_beside_the_nil_and_a_walk_that_goes_on_leave_a_doubt(source, confidence):
    (mark,) = marks_of(RULE, f"package a\n{source}", "go")
    assert mark.confidence == confidence


def test_what_was_read_before_is_given_back_as_it_is():
    source = (
        "package a\nfunc f() (int, Row, error) {\nn, row := read(x)\nif n == 0 {\nreturn 0, nil, errNone\n}\n"
        "head, err := load(b)\n"
        "if err != nil {\nreturn %s, nil\n}\nreturn n, head, nil\n}"
    )
    (read,), (nothing,) = (marks_of(RULE, source % each, "go") for each in ("n, row", "0, nil"))
    assert (read.confidence, nothing.confidence) == ("medium", "")


def test_what_fails_later_gives_no_error_now():
    assert lines_of(RULE, go("return nil", "func() (int, error)"), "go") == []


@pytest.mark.parametrize(("returned", "lines"), [("n, err", []), ("0, err", [5])])
def test_both_results_of_the_call_are_given_back_as_they_are(returned, lines):
    source = (
        "package a\nfunc f() (n int, err error) {\nn, err = read(x)\n"
        f"if err == nil {{\nreturn {returned}\n}}\nreturn n, err\n}}"
    )
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("call", "confidence"), [("ParseFromAny(x)", "low"), ("meter.FromRow(x)", "low"), ("load(x)", "medium")]
)
def test_what_cannot_be_read_as_another_kind_may_be_none(call, confidence):
    source = f"package a\nfunc f() error {{\nv, err := {call}\nif err != nil {{\nreturn nil\n}}\nreturn use(v)\n}}\n"
    assert [each.confidence for each in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(("beside", "count"), [("ctrl.Result{Requeue: true}", 0), ("ctrl.Result{}", 1)])
def test_who_asks_to_be_queued_again_says_that_it_failed(beside, count):
    assert len(lines_of(RULE, go(f"return {beside}, nil", "(ctrl.Result, error)"), "go")) == count


@pytest.mark.parametrize(("beside", "count"), [("service.StatusStopped", 0), ("service.StatusRunning", 1)])
def test_a_state_beside_may_be_the_answer(beside, count):
    assert len(lines_of(RULE, go(f"return {beside}, nil", "(service.Status, error)"), "go")) == count


@pytest.mark.parametrize(("name", "confidence"), [("IsUsed", "low"), ("tokenUsed", "low"), ("load", "medium")])
def test_the_error_may_be_the_answer_of_a_question(name, confidence):
    source = go("return true, nil", "(bool, error)").replace("func f()", f"func {name}()")
    assert [each.confidence for each in marks_of(RULE, source, "go")] == [confidence]


def test_the_comment_may_stand_above_the_test():
    source = go("return 0, nil")
    assert lines_of(RULE, source.replace("if err", "// What is none of ours is left out.\nif err"), "go") == []


@pytest.mark.parametrize(("call", "confidence"), [("names.ParseNamed(x)", "low"), ("names.Load(x)", "medium")])
def test_a_text_that_is_none_of_that_kind_may_be_let_through(call, confidence):
    source = f"package a\nfunc f() error {{\nv, err := {call}\nif err != nil {{\nreturn nil\n}}\nreturn use(v)\n}}\n"
    assert [each.confidence for each in marks_of(RULE, source, "go")] == [confidence]


def test_who_visits_goes_on_with_the_next():
    body = "err := load(v)\nif err != nil {\nreturn nil\n}\nreturn use(v)"
    source = f"package a\nfunc f() error {{\nreturn tree.VisitAll(top(), func(v string) error {{\n{body}\n}})\n}}\n"
    assert [each.confidence for each in marks_of(RULE, source, "go")] == ["low"]


def test_what_has_no_key_stands_in_no_index():
    body = "v, err := read(a)\nif err != nil {\nreturn nil, nil\n}\nreturn v, nil"
    source = f"package a\nvar Of %s = func(a any) ([]string, error) {{\n{body}\n}}\n"
    assert lines_of(RULE, source % "cache.IndexFunc", "go") == []
    assert len(lines_of(RULE, source % "cache.Reader", "go")) == 1


@pytest.mark.parametrize(("call", "count"), [("ParseFromAny(x)", 0), ("load(x)", 1)])
def test_what_may_be_an_answer_is_not_told(call, count):
    source = f"package a\nfunc f() error {{\nv, err := {call}\nif err != nil {{\nreturn nil\n}}\nreturn use(v)\n}}\n"
    assert len(findings_of(RULE, {"a.go": source})) == count


def test_a_program_that_does_something_may_not_fail_unheard():
    source = go("return 0, nil").replace("v, err := x()", 'err := exec.Command("service", "shop", "restart").Run()')
    assert len(lines_of(RULE, source, "go")) == 1


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("// In case of error, the orders are given back\n// without their rates.", 0),
        ("// Rates come from another table.", 1),
    ],
)
def test_a_comment_may_speak_of_a_whole_block(said, count):
    body = "v, err := read(a)\nif err != nil {\nreturn orders, nil\n}\nuse(v)\n"
    source = (
        f"package a\nfunc f() ([]Order, error) {{\norders := load()\n{said}\n{{\n{body}}}\nreturn orders, nil\n}}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("if errors.Is(err, ErrGone) {\n\t\treturn 0, nil\n\t}", 1),
        ("if err == io.EOF {\n\t\treturn 0, nil\n\t}", 1),
        ("if errors.Is(err, ErrGone) {\n\t\tcount(err)\n\t}", 0),
        ("note(err)", 0),
    ],
)
def test_a_branch_for_one_kind_of_error_has_not_taken_the_others(before, count):
    source = (
        "package a\nfunc size(key string) (int, error) {\n\tn, err := read(key)\n"
        f"\t{before}\n\tif err != nil {{\n\t\treturn 0, nil\n\t}}\n\treturn n, nil\n}}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


GIVES_NIL = """package a

func latest(key string) (*Row, error) {
	got, err := post("/rows", nil)
	if err != nil {
		%s
	}
	var row Row
	if err := read(got, &row); err != nil {
		%s
	}
	return &row, nil
}
"""


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ("return nil, err", "return nil, nil", [10]),
        ("return nil, nil", "return nil, err", [6]),
        ("return nil, err", "return nil, err", []),
        ("return nil, err", "slog.Warn(err.Error())\n\t\treturn nil, nil", []),
    ],
)
def test_an_error_of_the_same_name_that_was_asked_before_is_another_one(first, second, lines):
    assert lines_of(RULE, GIVES_NIL % (first, second), "go") == lines
