import pytest

from tests.engine.rules.reading import lines_of

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
