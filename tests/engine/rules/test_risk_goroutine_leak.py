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
    ],
)
def test_what_nobody_feeds_or_ends(body, lines):
    source = f'package a\nimport "time"; func f(ctx context.Context) {{\n{body}\n}}\n'
    assert lines_of(RULE, source, "go") == lines


def test_from_go_1_23_on_a_ticker_is_collected():
    source = 'package a\nimport "time"\nfunc f() {\nt := time.NewTicker(a)\n<-t.C\n}\n'
    for version, count in (("1.21", 1), ("1.23", 0)):
        assert len(findings_of(RULE, {"go.mod": f"module a\n\ngo {version}\n", "a.go": source})) == count
