import pytest

from analysis.engine.extract import extract

FLAGGED = [
    "def f(a=[]): ...",
    "def f(*, a={}): ...",
    "def f(a: list = list()): ...",
    "async def f(a={1}): ...",
    "g = lambda a=[]: a",
    "def f(a=[x for x in y]): ...",
    "def f(a: Annotated[list[str], 'the names'] = []): ...",
    "from collections import defaultdict as d\ndef f(a=d(int)): ...",
]
FINE = [
    "def f(a=()): ...",
    "def f(a=None): ...",
    "def f(a: Sequence[int] = []): ...",
    "def f(_cache={}): ...",
    "def f(_tokens={}):\n    _tokens[1] = 2",
    "def f(a=frozenset()): ...",
    "def f(a=Depends(list)): ...",
    "def f(a=map(g, [1])): ...",
    "async def f(a: Annotated[list[str], Query(max_length=9)] = []): ...",
]


def marks(source):
    return [mark for mark in extract(source.encode(), "python").marks if mark.rule == "risk-mutable-default-argument"]


@pytest.mark.parametrize("source", FLAGGED)
def test_shared_defaults_are_marked_at_the_parameter(source):
    assert [mark.line for mark in marks(source)] == [source.count("\n") + 1]


@pytest.mark.parametrize("source", FINE)
def test_defaults_that_nobody_can_change_are_fine(source):
    assert marks(source) == []


@pytest.mark.parametrize(
    ("body", "confidence"), [("a.append(1)", ""), ("return a", ""), ("b = a", ""), ("print(a)", "medium")]
)
def test_certainty_is_high_when_the_default_gets_out(body, confidence):
    (mark,) = marks(f"def f(a=[]):\n    {body}\n")
    assert mark.confidence == confidence


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("for x in a: print(x)", "info"),
        ("print(len(a), **a)", "info"),
        ("return a.get(1) or a[2]", "info"),
        ("a[0].append(1)", ""),
        ("a.get(1).append(2)", ""),
        ("a['k']['j'] = 1", ""),
        ("self.rows = given or a", ""),
        ("send(a)", ""),
        ("for x in a: keep(a)", ""),
        ("pass", ""),
        ("if a:\n        self.names.update(a)", "info"),
        ("cursor.execute(query, a)", "info"),
        ("cursor.execute(query, send(a))", ""),
        ('"""Fills a."""\n    if not a:\n        a = [1]\n    a.append(2)\n    return a', "info"),
        ("a = list(a)\n    a.append(2)\n    return a", "info"),
        ("a = [*a, 1]\n    return a", "info"),
    ],
)
def test_a_default_that_is_only_read_does_little_harm(body, severity):
    (mark,) = marks(f"def f(a=[]):\n    {body}\n")
    assert (mark.confidence, mark.severity) == ("medium", severity)
