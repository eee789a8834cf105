import pytest

from tests.engine.rules import orms
from tests.engine.rules.shop import findings, lines

RULE = "perf-count-by-loading"

FLAGGED = [
    ("shop/work.py", "def f(o):\n    return len(Line.objects.filter(order=o)) > 5", 2),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    if len(rows) > 5:\n        stop()", 2),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    if rows:\n        stop()", 2),
    ("shop/work.ts", "async function f() {\n  const rows = await prisma.line.findMany();\n  return rows.length;\n}", 2),
    ("shop/work.ts", "const f = async () => (await prisma.line.findMany()).length;", 1),
    ("shop/work.py", "def f(o):\n    return len(list(Line.objects.filter(order=o)))", 2),
]
FINE = [
    ("shop/work.py", "def f(keys):\n    rows = Line.objects.filter(pk__in=keys)\n    return len(rows) == len(keys)"),
    (
        "shop/work.py",
        "def f(o, p):\n    if o:\n        rows = Line.objects.filter(order=o)\n        if not rows:\n"
        "            return 0\n    else:\n        rows = []\n    return show(rows)",
    ),
    ("shop/work.py", "def f(o):\n    return Line.objects.filter(order=o).count()"),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    if rows:\n        stop(rows[0])"),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    print(len(rows))\n    return rows"),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)[:5]\n    return len(rows)"),
    ("shop/work.py", "def f(pk):\n    row = Line.objects.filter(pk=pk).first()\n    if row:\n        stop()"),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    rows = [1]\n    return len(rows)"),
    (
        "shop/work.py",
        "def f():\n    rows = Line.objects.all()\n    if not rows:\n        rows = make()\n    return rows",
    ),
    ("shop/work.ts", "const rows = await prisma.line.findMany();\nshow(rows, rows.length);"),
    ("shop/work.ts", "const rows = await prisma.line.findMany({ take: 3 });\nshow(rows.length);"),
    (
        "shop/work.py",
        "def f(keys):\n    rows = list(\n        Order.objects.filter(reference__in=keys)\n    )\n"
        "    if len(rows) != len(keys):\n        rows = list(Order.objects.all())\n    return rows",
    ),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_rows_that_are_only_measured_are_found(path, source, line):
    assert lines(RULE, source, path) == [line]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_rows_that_are_needed_or_few_are_fine(path, source):
    assert lines(RULE, source, path) == []


def test_it_says_what_to_ask_instead_and_silences_the_unbounded_query():
    source = "rows = list(Line.objects.all())\nif rows:\n    stop()"
    (finding,) = findings(RULE, source, volumes={"shop_line": "XL"})
    assert finding.message == ("Rows of `Line` are loaded only to see whether there are any (table `shop_line`, XL)")
    assert (finding.severity, finding.suggestion) == ("critical", "Use `.exists()`; the rows are not needed.")
    assert findings("perf-unbounded-query", source) == []


def test_a_count_that_is_compared_with_zero_is_worth_knowing():
    (finding,) = findings(RULE, "def f(o):\n    return Line.objects.filter(order=o).count() > 0")
    assert (finding.severity, finding.suggestion) == ("info", "Use `.exists()`; it stops at the first row.")
    assert lines(RULE, "def f(o):\n    return Line.objects.filter(order=o).count() > 5") == []


@pytest.mark.parametrize(
    ("orm", "body"),
    [
        ("jpa", "    return orders.findByPaid(true).stream().count();"),
        ("jpa", "    List<Order> found = orders.findByPaid(true);\n    return found.isEmpty();"),
    ],
)
def test_java_measures_rows_in_streams_and_lists(orm, body):
    assert orms.lines(RULE, orm, body) == [1]


@pytest.mark.parametrize(
    "body",
    ["len(session.query(User).all())", "rows = session.execute(select(User))\n    return len(rows.scalars().all())"],
)
def test_rows_of_sqlalchemy_that_are_only_counted(body):
    source = (
        "from sqlalchemy import select\nclass User(Base):\n    __tablename__ = 'users'\n"
        f"    id = mapped_column(Integer, primary_key=True)\ndef f(session):\n    {body}"
    )
    assert lines(RULE, source) == [6]


def test_what_fills_a_database_is_started_by_hand():
    source = "def f(o):\n    return len(Line.objects.filter(order=o))"
    for path, severity in (("shop/work.py", "warning"), ("shop/seeds/work.py", "info")):
        (finding,) = findings(RULE, source, path=path)
        assert finding.severity == severity
