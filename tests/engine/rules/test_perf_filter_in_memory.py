import pytest

from tests.engine.rules.shop import findings, lines

RULE = "perf-filter-in-memory"

FLAGGED = [
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if o.is_paid]", 2),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if o.total > 5 and not o.is_paid]", 2),
    ("shop/work.py", "def f():\n    rows = Order.objects.all()\n    return [o.pk for o in rows if o.status == 'x']", 2),
    ("shop/work.py", "def f():\n    rows = Order.objects.all()\n    return sum(o.total for o in rows)", 2),
    (
        "shop/work.ts",
        "async function f() {\n  const rows = await prisma.order.findMany();\n"
        "  return rows.filter((row) => row.status === 'open');\n}",
        2,
    ),
    (
        "shop/work.py",
        "def f():\n    n = 0\n    rows = Order.objects.all()\n    for o in rows:\n        if o.is_paid:\n"
        "            n += 1\n    return n",
        3,
    ),
    (
        "shop/work.py",
        "def f():\n    rows = Order.objects.all()\n    rows = sorted(rows, key=lambda o: o.total)\n    return rows",
        2,
    ),
    ("shop/work.py", "def f():\n    return any(not o.is_paid for o in Order.objects.all())", 2),
    ("shop/work.py", "def f():\n    rows = Order.objects.all()\n    return max(o.total for o in rows)", 2),
    (
        "shop/work.ts",
        "async function f() {\n  const rows = await prisma.order.findMany();\n"
        "  rows.sort((a, b) => a.status - b.status);\n  return rows;\n}",
        2,
    ),
    (
        "shop/work.ts",
        "async function f() {\n  const rows = await prisma.order.findMany();\n  const open = [];\n"
        "  for (const row of rows) {\n    if (row.status === 'open') {\n      open.push(row);\n    }\n  }\n"
        "  return open;\n}",
        2,
    ),
]
FINE = [
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if allowed(o)]"),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if o.is_overdue]"),
    (
        "shop/work.py",
        "def f():\n    rows = Order.objects.all()\n    for o in rows:\n        if o.is_paid:\n            show(o)\n"
        "        else:\n            hide(o)",
    ),
    (
        "shop/work.py",
        "def f():\n    rows = Order.objects.all()\n    best = sorted(rows, key=lambda o: o.total)\n    f(rows, best)",
    ),
    (
        "shop/work.py",
        "def f():\n    for o in Order.objects.all():\n        if o.is_paid:\n            print(o)\n"
        "            continue\n        remind(o)",
    ),
    ("shop/work.py", "def f(c):\n    return [o for o in Order.objects.filter(customer=c) if o.is_paid]"),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all()[:50] if o.is_paid]"),
    (
        "shop/work.py",
        "def f():\n    rows = Order.objects.all()\n    show(rows)\n    return [o for o in rows if o.is_paid]",
    ),
    (
        "shop/work.ts",
        "const rows = await prisma.order.findMany();\nsend(rows);\nconst open = rows.filter((r) => r.status === 'x');",
    ),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_work_that_the_database_could_do_is_found(path, source, line):
    assert lines(RULE, source, path) == [line]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_work_that_needs_the_program_or_few_rows_is_fine(path, source):
    assert lines(RULE, source, path) == []


def test_the_finding_names_the_columns_and_silences_the_unbounded_query():
    source = "def f():\n    return [o for o in Order.objects.all() if o.is_paid]"
    (finding,) = findings(RULE, source, volumes={"shop_order": "XXL"})
    assert finding.message == (
        "All rows of `Order` are loaded and then filtered by `is_paid` (table `shop_order`, XXL)"
    )
    assert (finding.severity, finding.points) == ("critical", 9)
    assert findings("perf-unbounded-query", source) == []


@pytest.mark.parametrize(("name", "confidence"), [("Paper", "high"), ("PaperType", "low")])
def test_a_table_that_stays_small_is_a_guess(name, confidence):
    source = (
        f"from django.db import models\n\nclass {name}(models.Model):\n    title = models.CharField(max_length=9)\n\n"
        f"def f(x):\n    return [each for each in {name}.objects.all() if each.title == x]\n"
    )
    assert [str(each.confidence) for each in findings(RULE, source)] == [confidence]


def test_a_script_may_take_all_rows():
    source = "def f():\n    return [o for o in Order.objects.all() if o.is_paid]"
    (finding,) = findings(RULE, source, path="shop/cli.py")
    assert (finding.severity, finding.confidence) == ("info", "low")
