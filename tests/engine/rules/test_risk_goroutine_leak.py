import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "risk-goroutine-leak"
WAIT = "select {\ncase r := <-ch:\nuse(r)\ncase <-ctx.Done():\nreturn\n}"


def go(body, name="f"):
    return f'package a\nimport "time"\nfunc {name}(ctx context.Context) {{\n{body}\n}}\n'


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("ch := make(chan int)\ngo func() { ch <- slow() }()\n" + WAIT, [5]),
        ("ch := make(chan int, 1)\ngo func() { ch <- slow() }()\n" + WAIT, []),
        ("ch := make(chan int)\ngo func() { ch <- slow() }()\nuse(<-ch)", []),
        ("ch := make(chan int)\nfor _, x := range xs {\ngo func() { ch <- slow(x) }()\n}\nuse(<-ch)", [6]),
        ("ch := make(chan int)\nfor _, x := range xs {\ngo func() { ch <- slow(x) }()\nuse(<-ch)\n}", []),
        (
            "ch := make(chan int)\nfor x := range xs {\ngo func() { ch <- slow(x) }()\n}\nfor range xs {\nuse(<-ch)\n}",
            [],
        ),
        ("go func() { wg.Add(1)\nwork() }()\nwg.Wait()", [4]),
        ("wg.Add(1)\ngo func() { work() }()\nwg.Wait()", []),
        ("t := time.NewTicker(d)\n<-t.C", [4]),
        ("t := time.NewTicker(d)\ndefer t.Stop()\n<-t.C", []),
        ("t := time.NewTicker(d)\nreturn t", []),
        ("<-time.Tick(d)", [4]),
        ("for range time.Tick(d) {\nwork()\n}", []),
    ],
)
def test_what_never_ends_is_marked(body, lines):
    assert lines_of(RULE, go(body), "go") == lines


def test_in_main_everything_ends_with_the_process():
    assert lines_of(RULE, go("t := time.NewTicker(d)\n<-t.C", "main"), "go") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("jobs := make(chan int)\ngo func() {\nfor j := range jobs {\nuse(j)\n}\n}()\njobs <- 1", [4]),
        ("jobs := make(chan int)\ngo func() {\nfor j := range jobs {\nuse(j)\n}\n}()\njobs <- 1\nclose(jobs)", []),
        ("jobs := make(chan int)\ngo func() {\nfor j := range jobs {\nuse(j)\n}\n}()\nfeed(jobs)", []),
        ("go func() {\nfor {\nwork()\n}\n}()", [3]),
        ("go func() {\nfor {\nselect {\ncase <-ctx.Done():\nreturn\n}\n}\n}()", []),
        ("ch := make(chan int)\ngo func() {\nch <- slow()\n}()\nif bad() {\nreturn\n}\nuse(<-ch)", [4]),
        ("ch := make(chan int)\ngo func() {\nch <- slow()\n}()\nuse(<-ch)", []),
        ("t := time.NewTicker(a)\nfor {\n<-t.C\nwork()\n}", []),
        ("t := time.NewTicker(a)\nfor range t.C {\nwork()\n}", []),
        ("t := time.NewTicker(a)\nfor range t.C {\nif done() {\nreturn\n}\n}", [3]),
    ],
)
def test_what_nobody_feeds_or_ends(body, lines):
    source = f'package a\nimport "time"; func f(ctx context.Context) {{\n{body}\n}}\n'
    assert lines_of(RULE, source, "go") == lines


def test_from_go_1_23_on_a_ticker_is_collected():
    source = 'package a\nimport "time"\nfunc f() {\nt := time.NewTicker(a)\n<-t.C\n}\n'
    for version, count in (("1.21", 1), ("1.23", 0)):
        assert len(findings_of(RULE, {"go.mod": f"module a\n\ngo {version}\n", "a.go": source})) == count


HEAD = 'package a\nimport ("context"; "time"; "sync")\n'


@pytest.mark.parametrize(
    ("worker", "count"),
    [
        ("for {\n\t\tpoll()\n\t\ttime.Sleep(time.Second)\n\t}", 1),
        (
            "t := time.NewTicker(d)\n\tdefer t.Stop()\n\tfor {\n\t\tselect {\n\t\tcase <-t.C:\n\t\t\tpoll()\n"
            "\t\t}\n\t}",
            1,
        ),
        ("for range time.Tick(d) {\n\t\tpoll()\n\t}", 1),
        ("for {\n\t\tselect {\n\t\tcase <-t.C:\n\t\t\tpoll()\n\t\tcase <-ctx.Done():\n\t\t\treturn\n\t\t}\n\t}", 0),
        ("for range queue {\n\t\tpoll()\n\t}", 0),
        ("for i := 0; i < 3; i++ {\n\t\tpoll()\n\t}", 0),
    ],
)
def test_a_worker_without_a_way_out_in_place_and_by_name(worker, count):
    in_place = f"{HEAD}func f() {{\n\tgo func() {{\n\t{worker}\n\t}}()\n}}\n"
    by_name = f"{HEAD}func f() {{\n\tgo work()\n}}\nfunc work() {{\n\t{worker}\n}}\n"
    assert lines_of(RULE, in_place, "go") == [4] * count
    assert lines_of(RULE, by_name, "go") == [4] * count


@pytest.mark.parametrize(
    ("made", "worker", "count"),
    [
        ("make(chan int)", "func ask(out chan<- int) {\n\tout <- slow()\n}", 1),
        ("make(chan int, 1)", "func ask(out chan<- int) {\n\tout <- slow()\n}", 0),
        ("make(chan int)", "func ask(out chan<- int) {\n\tselect {\n\tcase out <- slow():\n\tdefault:\n\t}\n}", 0),
    ],
)
def test_a_function_that_is_given_the_channel(made, worker, count):
    body = (
        f"ch := {made}\n\tgo ask(ch)\n\tselect {{\n\tcase v := <-ch:\n\t\tuse(v)\n\tcase <-ctx.Done():\n"
        "\t\treturn\n\t}"
    )
    source = f"{HEAD}func f(ctx context.Context) {{\n\t{body}\n}}\n{worker}\n"
    assert lines_of(RULE, source, "go") == [5] * count


@pytest.mark.parametrize(
    ("made", "taken", "count"),
    [
        ("make(chan int)", "if <-ch < 0 {\n\t\t\treturn\n\t\t}", 1),
        ("make(chan int, len(xs))", "if <-ch < 0 {\n\t\t\treturn\n\t\t}", 0),
        ("make(chan int)", "use(<-ch)", 0),
    ],
)
def test_who_collects_from_many_takes_all(made, taken, count):
    body = (
        f"ch := {made}\n\tfor _, x := range xs {{\n\t\tgo func() {{ ch <- run(x) }}()\n\t}}\n"
        f"\tfor range xs {{\n\t\t{taken}\n\t}}\n\tdone()"
    )
    assert lines_of(RULE, f"{HEAD}func f(xs []int) {{\n\t{body}\n}}\n", "go") == [6] * count


def test_blocks_in_the_cases_and_a_function_that_sends():
    wait = (
        "\tselect {\n\tcase r := <-ch:\n\t\tif r > 0 {\n\t\t\tuse(r)\n\t\t}\n\tcase <-time.After(1):\n\t\treturn\n\t}"
    )
    made = "\tch := make(chan int)\n"
    assert lines_of(RULE, go(made + "\tgo func() { ch <- slow() }()\n" + wait), "go") == [5]
    sends = "func fetch(url string, out chan<- int) {\n\tout <- slow(url)\n}\n"
    assert lines_of(RULE, go(made + '\tgo fetch("a", ch)\n' + wait) + sends, "go") == [5]
    asks = sends.replace("out <- slow(url)", "select {\n\tcase out <- slow(url):\n\tdefault:\n\t}")
    assert lines_of(RULE, go(made + '\tgo fetch("a", ch)\n' + wait) + asks, "go") == []


def test_a_ticker_that_another_function_stops():
    source = (
        HEAD + "var ticker *time.Ticker\nfunc start(done chan bool) {\n\tticker = time.NewTicker(d)"
        "\n\tgo func() {\n\t\tfor {\n"
        "\t\t\tselect {\n\t\t\tcase <-done:\n\t\t\t\treturn\n\t\t\tcase <-ticker.C:\n\t\t\t\tpoll()\n"
        "\t\t\t}\n\t\t}\n\t}()\n}\n"
    )
    assert lines_of(RULE, source, "go") == [5]
    assert lines_of(RULE, source + "func stop() {\n\tticker.Stop()\n}\n", "go") == []


@pytest.mark.parametrize(
    ("taken", "count"),
    [
        ("for r := range rows {\n\t\tuse(r)\n\t}\n\treturn <-ch", 0),
        ("go func() {\n\t\tif closed() {\n\t\t\treturn\n\t\t}\n\t\tuse(1)\n\t}()\n\treturn <-ch", 0),
        ("if closed() {\n\t\treturn nil\n\t}\n\treturn <-ch", 1),
    ],
)
def test_who_returns_what_it_takes_leaves_nobody_waiting(taken, count):
    body = f"ch := make(chan error)\n\tgo func() {{\n\t\tch <- run()\n\t}}()\n\t{taken}"
    assert lines_of(RULE, f"{HEAD}func f() error {{\n\t{body}\n}}\n", "go") == [5] * count


def test_what_a_once_starts_lives_as_long_as_the_process():
    worker = "go func() {\n\t\tfor range time.Tick(d) {\n\t\t\tpoll()\n\t\t}\n\t}()"
    assert lines_of(RULE, f"{HEAD}func f() {{\n\tpolling.Do(func() {{\n\t{worker}\n\t}})\n}}\n", "go") == [5]
    assert lines_of(RULE, f"{HEAD}func f() {{\n\tstartOnce.Do(func() {{\n\t{worker}\n\t}})\n}}\n", "go") == []


@pytest.mark.parametrize(("caller", "count"), [("init", 0), ("Open", 1)])
def test_what_init_starts_lives_as_long_as_the_process(caller, count):
    worker = "go func() {\n\t\tfor range time.Tick(d) {\n\t\t\tpoll()\n\t\t}\n\t}()"
    source = f"{HEAD}func {caller}() {{\n\tpolls(time.Hour)\n}}\nfunc polls(d time.Duration) {{\n\t{worker}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


def test_what_a_once_makes_before_it_starts_the_worker():
    worker = "go func() {\n\t\tfor range time.Tick(d) {\n\t\t\tpoll()\n\t\t}\n\t}()"
    source = (
        f"{HEAD}func f() {{\n\tonce.Do(func() {{\n\tc = &cache{{rows: map[string]int{{}}}}\n\t}})\n\t{worker}\n}}\n"
    )
    assert lines_of(RULE, source, "go") == [7]
    assert lines_of(RULE, source.replace("\t})\n", "").replace("}()\n}", "}()\n\t})\n}"), "go") == []


@pytest.mark.parametrize(("end", "lines"), [("close(w.C)", []), ("use(w)", [4])])
def test_a_channel_called_c_that_somebody_closes(end, lines):
    body = f"go func() {{\n\t\tfor range w.C {{\n\t\t\tpoll()\n\t\t}}\n\t}}()\n\t{end}"
    assert lines_of(RULE, f"{HEAD}func f(w *writer) {{\n\t{body}\n}}\n", "go") == lines


@pytest.mark.parametrize(
    ("name", "confidence"), [("configureStore", "low"), ("cacheInit", "low"), ("fetchRows", "medium")]
)
def test_who_sets_up_may_mean_it_to_run_for_ever(name, confidence):
    body = "go func() {\n\t\tfor range time.Tick(d) {\n\t\t\tpoll()\n\t\t}\n\t}()"
    (finding,) = findings_of(RULE, {"a.go": f"{HEAD}func {name}() {{\n\t{body}\n}}\n"})
    assert finding.confidence == confidence


@pytest.mark.parametrize(("method", "count"), [("Close", 1), ("Rows", 0)])
def test_the_worker_of_what_nobody_stops_ends_with_the_process(method, count):
    worker = "go func() {\n\t\tfor range time.Tick(d) {\n\t\t\tpoll()\n\t\t}\n\t}()"
    source = f"{HEAD}func NewStore() *Store {{\n\t{worker}\n\treturn s\n}}\nfunc (s *Store) {method}() {{}}\n"
    files = {"store/a.go": source, "main.go": "package main\nfunc main() {\n\tserve(NewStore())\n}\n"}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("path", "count"), [("lntest/a.go", 0), ("latest/b/a.go", 1), ("rpc/a.go", 1)])
def test_helpers_of_tests_end_with_them(path, count):
    body = "ch := make(chan int)\n\tgo func() { ch <- slow() }()\n\tselect {\n\tcase <-ch:\n\tcase <-ctx.Done():\n\t}"
    assert len(findings_of(RULE, {path: f"{HEAD}func f(ctx context.Context) {{\n\t{body}\n}}\n"})) == count


@pytest.mark.parametrize(("loop", "count"), [("for range tick {", 0), ("for range rows {", 2)])
def test_a_ticker_beside_the_one_that_a_loop_waits_for(loop, count):
    waits = "select {\n\t\tcase <-more:\n\t\t\twork()\n\t\t}"
    body = f"tick := time.Tick(d)\n\tmore := time.Tick(e)\n\t{loop}\n\t\t{waits}\n\t}}"
    assert len(lines_of(RULE, f"{HEAD}func f() {{\n\t{body}\n}}\n", "go")) == count


@pytest.mark.parametrize(
    ("field", "count"),
    [("done chan struct{}", 1), ("stopAll context.CancelFunc", 1), ("doneCount int", 0), ("rows chan int", 0)],
)
def test_a_worker_of_a_type_that_is_made_to_end(field, count):
    source = f"package a\ntype Shop struct {{\n\tname string\n\t{field}\n}}\n"
    source += "func (s *Shop) Start() {\n\tgo func() {\n\t\tfor {\n\t\t\ts.sell()\n\t\t}\n\t}()\n}\n"
    files = {"shop/shop.go": source, "main.go": "package main\nfunc main() {\n\tshop.Start()\n}\n"}
    assert len(findings_of(RULE, files)) == count


def test_a_ticker_of_another_function_by_the_same_name_is_another_one():
    source = """package a

import "time"

func wait(limit int) bool {
	t := time.NewTicker(time.Second)
	for i := 0; i < limit; i++ {
		<-t.C
	}
	return false
}

func other() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	<-t.C
}
"""
    assert lines_of(RULE, source, "go") == [6]


@pytest.mark.parametrize(("declared", "count"), [("var bucket *Bucket\n", 0), ("", 1)])
def test_a_worker_of_the_only_object_of_a_package(declared, count):
    source = f"""package a

{declared}
func Instance() *Bucket {{
	if bucket == nil {{
		bucket = &Bucket{{}}
		go func() {{
			for {{
				time.Sleep(time.Minute)
				bucket.store()
			}}
		}}()
	}}
	return bucket
}}
"""
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("calls", "confidences"),
    [
        ("", ["low"]),
        ("\tp := &pool.Pool{}\n\tp.Begin()\n", []),
        ("\tsql.Begin()\n", ["low"]),
    ],
)
def test_a_worker_that_nobody_is_seen_to_start(calls, confidences):
    worker = (
        "package pool\n\nfunc (p *Pool) Begin() {\n\tgo func() {\n\t\tfor {\n\t\t\tp.drain()\n"
        "\t\t\ttime.Sleep(time.Second)\n\t\t}\n\t}()\n}\n"
    )
    main = f'package main\n\nimport "database/sql"\n\nfunc main() {{\n{calls}}}\n'
    found = findings_of(RULE, {"pool/pool.go": worker, "main.go": main})
    assert [each.confidence for each in found] == confidences


@pytest.mark.parametrize(("sent", "confidence"), [("s.server.ListenAndServe()", "low"), ("s.ask()", "medium")])
def test_a_server_whose_end_nobody_waits_for(sent, confidence):
    source = f"""package a

func (s *Shop) Open(ctx context.Context) error {{
	errs := make(chan error)
	go func() {{
		errs <- {sent}
	}}()
	select {{
	case <-ctx.Done():
		return nil
	case err := <-errs:
		return err
	}}
}}
"""
    found = findings_of(RULE, {"a/a.go": source})
    assert [each.confidence for each in found] == [confidence]


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("for range time.Tick(d) {\nif done() {\nreturn\n}\n}", True),
        ("for range time.Tick(d) {\nif done() {\nbreak\n}\n}", True),
        ("for at := range time.Tick(d) {\nif done(at) {\nreturn\n}\n}", True),
        ("for range time.Tick(d) {\nwork()\n}", False),
        ("for range time.Tick(d) {\nswitch n {\ncase 1:\nbreak\n}\n}", False),
    ],
)
def test_a_loop_over_a_tick_that_ends(body, is_told):
    source = f'package a\nimport "time"\nfunc wait() {{\n{body}\n}}\n'
    assert bool(lines_of(RULE, source, "go")) == is_told
