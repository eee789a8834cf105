import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-defer-in-loop"


def go(body, name="read"):
    return f"package a\nfunc {name}(xs []string) {{\n{body}\n}}\n"


FLAGGED = [
    "for _, x := range xs {\nf := open(x)\ndefer f.Close()\n}",
    "for i := 0; i < 3; i++ {\nmu.Lock()\ndefer mu.Unlock()\n}",
    "for _, x := range xs {\nif x != nil {\ndefer x.Close()\n}\n}",
]
FINE = [
    "defer f.Close()",
    "for _, x := range xs {\nfunc() {\ndefer x.Close()\n}()\n}",
    "for _, x := range xs {\nif x.ok {\ndefer x.Close()\nreturn\n}\n}",
    "for _, x := range xs {\ngo func() {\ndefer wg.Done()\n}()\n}",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_a_defer_in_a_loop_is_marked_at_its_line(body):
    assert [mark.line for mark in marks_of(RULE, go(body), "go")] == [5]


@pytest.mark.parametrize("body", FINE)
def test_a_defer_that_runs_in_time_is_fine(body):
    assert marks_of(RULE, go(body), "go") == []


def test_in_an_endless_loop_it_never_runs():
    (mark,) = marks_of(RULE, go("for {\ndefer f.Close()\n}"), "go")
    assert mark.message == "`defer f.Close()` never runs: the loop around it has no end"


def test_in_main_it_is_worth_knowing_only_and_in_tests_not_even_that():
    loop = FLAGGED[0]
    found = findings_of(RULE, {"a/a.go": go(loop), "a/a_test.go": go(loop), "cmd/b/b.go": go(loop, "main")})
    assert {finding.file: str(finding.severity) for finding in found} == {"a/a.go": "warning", "cmd/b/b.go": "info"}


def test_what_is_collected_in_the_loop_must_stay_open():
    body = "for _, p := range paths {\nf := open(p)\ndefer f.Close()\nfiles = append(files, f)\n}"
    assert marks_of(RULE, f"package a\nfunc f(paths []string) {{\n{body}\n}}", "go") == []


def test_a_loop_that_is_left_somewhere_ends():
    (mark,) = marks_of(RULE, go("for {\ndefer f.Close()\nif done() {\nbreak\n}\nnext()\n}"), "go")
    assert mark.message == "`defer f.Close()` piles up until the function returns, one for each iteration"


def test_a_suite_of_tests_is_a_test_wherever_it_stands():
    suite = go(FLAGGED[0]).replace("package a\n", 'package a\nimport "github.com/stretchr/testify/suite"\n', 1)
    assert [mark.severity for mark in marks_of(RULE, suite, "go")] == ["info"]


def test_what_undoes_all_rounds_is_meant_to_wait():
    body = "for _, p := range paths {\nopen(p)\ndefer func() {\nif !done {\nundo(p)\n}\n}()\nnext()\n}\ndone = true"
    assert marks_of(RULE, go(body), "go") == []


@pytest.mark.parametrize(
    ("head", "deferred", "count"),
    [
        ("for _, undo := range undos", "undo()", 0),
        ("for _, file := range files", "file.Close()", 1),
        ("for _, name := range names", "start(name)()", 1),
        ("for i := 0; i < n; i++", "undo()", 1),
    ],
)
def test_functions_that_are_all_to_run_at_the_end(head, deferred, count):
    source = f"package a\nfunc stop() {{\n\t{head} {{\n\t\tdefer {deferred}\n\t}}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("files[i] = open(i)\n\t\tdefer files[i].Close()", 0),
        ("if timer == nil {\n\t\t\ttimer = start()\n\t\t\tdefer timer.Stop()\n\t\t}", 0),
        ("if ready {\n\t\t\ttimer = start()\n\t\t\tdefer timer.Stop()\n\t\t}", 1),
        ("file := open(i)\n\t\tdefer file.Close()", 1),
    ],
)
def test_elements_of_a_list_and_what_is_made_once(body, count):
    source = f"package a\nfunc f(n int) {{\n\tfor i := 0; i < n; i++ {{\n\t\t{body}\n\t}}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("deferred", "confidence"), [("file.Close()", ""), ("mu.Unlock()", ""), ("mark(id, false)", "medium")]
)
def test_what_lets_nothing_go_may_be_meant_for_the_end(deferred, confidence):
    source = f"package a\nfunc f(ids []int) {{\n\tfor _, id := range ids {{\n\t\tdefer {deferred}\n\t}}\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for _, h := range hs {\nif !h.lock() {\nreturn\n}\ndefer h.Unlock()\n}", 0),
        ("for _, h := range hs {\nh.Lock()\ndefer func(h *handle) { h.Wunlock() }(h)\n}", 0),
        ("for _, h := range hs {\nh.Lock()\ndefer h.Unlock()\nwrite(h)\n}", 1),
        ("for range hs {\nmu.Lock()\ndefer mu.Unlock()\n}", 1),
        ("for _, h := range hs {\nf := open(h)\ndefer f.Close()\n}", 1),
    ],
)
def test_locks_that_are_all_held_for_what_follows(body, count):
    assert len(marks_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(("call", "count"), [("go race(part)", 0), ("race(part)", 1)])
def test_a_context_for_a_goroutine_outlives_the_round(call, count):
    body = f"for _, x := range xs {{\npart, cancel := context.WithCancel(ctx)\ndefer cancel()\n{call}\n}}"
    assert len(marks_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(("call", "count"), [("go serve(l, x)", 0), ("serve(l, x)", 1)])
def test_what_a_goroutine_works_with(call, count):
    body = f"for _, x := range xs {{\nl := listen(x)\ndefer l.Close()\n{call}\n}}"
    assert len(marks_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(("last", "count"), [("break", 0), ("next(x)", 1)])
def test_a_round_that_is_the_last(last, count):
    body = f"for _, x := range xs {{\nif x == y {{\nif ok {{\ndefer x.Close()\n}}\n{last}\n}}\n}}"
    assert len(marks_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        ("for i := range xs {\ns := serve(i)\ndefer s.Close()\nurls = append(urls, s.URL)\n}", (1, 0)),
        ("for i := range xs {\nc := prepare(i)\ndefer services.Stop(ctx, c)\nall = append(all, c)\n}", (0, 0)),
        ("for _, g := range all {\nstart(g)\ndefer services.Stop(ctx, g)\n}", (1, 0)),
        ("for i := range xs {\ns := serve(i)\ndefer s.Close()\nuse(s)\n}", (1, 0)),
        ("for _, h := range all {\ns := serve(h)\ndefer s.Close()\nh.URL = s.URL\n}", (1, 0)),
        ("for i := range xs {\nmove(i)\ndefer func(n int) {\nif err != nil {\nback(n)\n}\n}(i)\nnext()\n}", (0, 0)),
    ],
)
def test_what_serves_the_rest_of_a_test(body, counts):
    test = go(body).replace("package a\n", 'package a\nimport "testing"\n', 1)
    found = (len(findings_of(RULE, files)) for files in ({"a/a.go": go(body)}, {"a/a_test.go": test}))
    assert tuple(found) == counts


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for it.Next() {\nn++\nif n == 1 {\nmu.Lock()\ndefer mu.Unlock()\n}\nread(it)\n}", 0),
        ("for it.Next() {\nn++\nif n == m {\nmu.Lock()\ndefer mu.Unlock()\n}\nread(it)\n}", 1),
        ("for _, x := range xs {\nhub.Register(x, ch)\ndefer hub.Unregister(x, ch)\n}", 0),
        ("for _, x := range xs {\nhub.Register(x, ch)\ndefer hub.Unregister(x, ch)\nread(ch)\n}", 1),
    ],
)
def test_the_first_round_and_what_follows_the_loop(body, count):
    assert len(marks_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for _, x := range xs {\nspan := start(x)\ndefer span.End()\nif bad(x) {\nreturn\n}\nspan.End()\n}", 0),
        ("for {\ntx := begin()\ndefer tx.Rollback(ctx)\nif err := tx.Rollback(ctx); err != nil {\nreturn\n}\n}", 0),
        ("for _, x := range xs {\ntx := begin()\ndefer tx.Rollback()\nerr = tx.Commit()\n}", 0),
        ("for _, x := range xs {\nf := open(x)\ndefer f.Close()\nif last(x) {\nf.Close()\n}\n}", 1),
        ("for _, x := range xs {\nf := open(x)\ndefer f.Close()\nif bad(x) {\ncontinue\n}\nf.Close()\n}", 1),
    ],
)
def test_what_each_round_lets_go_itself_does_not_wait_for_the_end(body, count):
    assert len(marks_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(
    ("asked", "severity"),
    [
        ("res, err := client.Groups.Add(ctx, x).Member(\nMember{\nID: &x,\n},\n).Execute()", "info"),
        ("_, res, err := client.Groups.Get(ctx, x).Execute()", "info"),
        ("res, err := client.Do(x)", ""),
        ("res, err := client.Groups.Get(ctx, x).Execute()\nlog(err)\nres, err = client.Do(x)", ""),
    ],
)
def test_a_body_that_a_generated_client_has_closed(asked, severity):
    body = f"for _, x := range xs {{\n{asked}\nif res != nil {{\ndefer res.Body.Close()\n}}\nlog(err)\n}}"
    assert [mark.severity for mark in marks_of(RULE, go(body), "go")] == [severity]
