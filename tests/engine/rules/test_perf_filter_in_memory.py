import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
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
    (
        "shop/work.ts",
        "async function f(limit) {\n  return (await prisma.order.findMany()).filter((row) => row.status === limit);\n}",
        2,
    ),
    (
        "shop/work.ts",
        "async function f() {\n  const rows = await prisma.order.findMany({ select: { id: true, status: true } });\n"
        "  return rows.filter((row) => row.status === 'open');\n}",
        2,
    ),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.only('status') if o.status == 'x']", 2),
]
FINE = [
    (
        "shop/work.ts",
        "async function f(limit) {\n"
        "  return (await prisma.order.findMany({ ...page, limit })).filter((row) => row.status === 'x');\n}",
    ),
    (
        "shop/work.ts",
        "async function f() {\n  const rows = await prisma.order.findMany({ select: { id: true, status: true } });\n"
        "  return rows.filter((row) => row.label === 'open');\n}",
    ),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if allowed(o)]"),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if o.is_overdue]"),
    ("shop/work.py", "def f():\n    return [o for o in Order.objects.all() if o.customer.is_paid]"),
    ("shop/work.py", "def f(few):\n    return [o for o in Order.objects.all() if o.reference not in few]"),
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
    ("shop/work.py", "def f(c):\n    return [o for o in Order.objects.filter(customer=c, reference=r) if o.is_paid]"),
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


def test_the_finding_says_when_the_rows_were_chosen_by_a_condition():
    source = "def f():\n    return [o for o in Order.objects.filter(customer__name='x') if o.is_paid]"
    (finding,) = findings(RULE, source)
    assert finding.message.startswith("All rows of `Order` that match are loaded and then filtered by `is_paid`")


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


SQLALCHEMY = """from sqlalchemy import select
class Parcel(Base):
    __tablename__ = 'parcels'
    id = mapped_column(Integer, primary_key=True)
    weight: Mapped[int]
    label: Mapped[str]

def f(session, least):
    """


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return sorted(session.scalars(select(Parcel)).all(), key=lambda p: p.weight)[:3]", [9]),
        ("return max((await session.scalars(select(Parcel))).all(), key=lambda p: p.weight)", [9]),
        (
            "rows = (await session.execute(select(Parcel))).scalars().all()\n"
            "    return [p for p in rows if p.weight > least]",
            [9],
        ),
        (
            "row = (await session.execute(select(Parcel))).first()\n    return [row for p in row if p.weight > least]",
            [],
        ),
        ("return sum(p.weight for p in session.query(Parcel).all())", [9]),
        ("return [p for p in session.query(Parcel).all() if p.weight > least]", [9]),
        ("return [p for p in session.query(Parcel).all() if p.label.lower() == 'x']", [9]),
        ("return [p for p in session.query(Parcel).all() if fits(p.label)]", []),
        ("return [p for p in session.query(Parcel).limit(9).all() if p.weight > least]", []),
        ("return {p.label: p for p in session.query(Parcel).all()}", []),
        (
            "rows = session.query(Parcel).all()\n    if not rows:\n        return 0\n"
            "    return max(p.weight for p in rows)",
            [9],
        ),
        ("n = 0\n    for p in session.query(Parcel).all():\n        n += p.weight\n    return n", [10]),
        ("n = ''\n    for p in session.query(Parcel).all():\n        n += p.label\n    return n", []),
        (
            "for p in session.query(Parcel).all():\n        if p.weight < 5:\n            continue\n        send(p)",
            [9],
        ),
        ("for p in session.query(Parcel).all():\n        if p.weight < 5:\n            send(p)\n        keep(p)", []),
    ],
)
def test_rows_of_sqlalchemy(body, found):
    assert [each.line for each in findings_of(RULE, {"shop/work.py": SQLALCHEMY + body})] == found


@pytest.mark.parametrize(
    ("orm", "body", "found"),
    [
        ("mongoose", "  return (await Order.find()).filter((row) => (row.total ?? 9) < 5);", [1]),
        ("mongoose", "  return (await Order.find().lean()).filter(({ total }) => total < 5);", [1]),
        (
            "mongoose",
            "  const rows = await Order.find({});\n  return rows.reduce((a, r) => Math.max(a, r.total), 0);",
            [1],
        ),
        (
            "mongoose",
            "  const rows = await Order.find({});\n  return rows.reduce((a, r) => Object.assign(a, r), {});",
            [],
        ),
        ("mongoose", "  return (await Order.find()).filter((row) => allowed(row.total));", []),
        ("mongoose", "  return (await Order.find().limit(5)).filter((row) => row.total < 5);", []),
        (
            "mongoose",
            "  let n = 0;\n  for (const row of await Order.find()) {\n    n += row.total;\n  }\n  return n;",
            [2],
        ),
        (
            "typeorm",
            "    const rows = await this.orders.find();\n"
            "    rows.sort((a, b) => a.total - b.total);\n    show(rows[0]);",
            [1],
        ),
        (
            "gorm",
            "\tvar rows []Order\n\tdb.Find(&rows)\n\ttotal := 0\n\tfor _, row := range rows {\n"
            "\t\ttotal += row.Total\n\t}",
            [2],
        ),
        (
            "gorm",
            "\tvar rows []Order\n\tdb.Find(&rows)\n\tfor _, row := range rows {\n"
            "\t\tif row.Total < 5 {\n\t\t\tcontinue\n\t\t}\n"
            "\t\tsend(row)\n\t}",
            [2],
        ),
        (
            "gorm",
            "\tvar rows []Order\n\tdb.Find(&rows)\n"
            "\tsort.Slice(rows, func(i, j int) bool { return rows[i].Total < rows[j].Total })\n"
            "\tshow(rows[0])",
            [2],
        ),
        (
            "gorm",
            "\tvar rows []Order\n\tdb.Find(&rows)\n\tfor _, row := range rows {\n\t\ttext += row.Reference\n\t}",
            [],
        ),
        (
            "gorm",
            "\tvar rows []Order\n\tdb.Find(&rows)\n\tsums := map[string]int{}\n\tfor _, row := range rows {\n"
            "\t\tsums[row.Reference] += row.Total\n\t}",
            [2],
        ),
        (
            "gorm",
            "\tvar rows []Order\n\tdb.Find(&rows)\n\tsums := map[string]int{}\n\tfor _, row := range rows {\n"
            "\t\tsums[row.Reference] += weigh(row)\n\t}",
            [],
        ),
        ("jpa", "    int n = 0;\n    for (Order row : orders.findAll()) {\n      n += row.getTotal();\n    }", [2]),
        (
            "jpa",
            "    for (Order row : orders.findAll()) {\n      if (row.isPaid()) {\n        send(row);\n      }\n    }",
            [1],
        ),
    ],
)
def test_rows_of_other_orms(orm, body, found):
    assert orms.lines(RULE, orm, body) == found


def test_rows_of_sql_are_read_by_their_keys():
    files = {
        "db/schema.sql": "CREATE TABLE parcels (id bigint primary key, label text, weight int);",
        "work.py": "def f(db):\n    return [r['id'] for r in db.execute('SELECT id, label FROM parcels').fetchall()"
        " if r['label'] == 'x']",
    }
    assert [each.line for each in findings_of(RULE, files)] == [2]


def test_a_limit_in_the_condition_is_none_of_the_query():
    assert lines(RULE, "def f(limit):\n    return [o for o in Order.objects.all() if o.total > limit]") == [2]


@pytest.mark.parametrize(
    "work",
    [
        "return list(filter(lambda row: row.total > 5, Order.objects.all()))",
        "for row in Order.objects.all():\n        apart[row.status].append(row)\n    return apart",
        "return Counter(row.status for row in Order.objects.all())",
    ],
)
def test_rows_that_are_picked_by_a_function_or_put_apart(work):
    assert len(findings(RULE, f"def f(apart):\n    {work}\n")) == 1


@pytest.mark.parametrize(
    ("condition", "volumes", "told"),
    [
        ("customer=c", {"Order": "XL", "Customer": "S"}, [("warning", "medium")]),
        ("customer_id=c", {"Order": "XXL", "Customer": "S"}, [("warning", "medium")]),
        ("customer=c", {"Order": "XL", "Customer": "M"}, [("warning", "low")]),
        ("customer=c", {"Customer": "S"}, [("info", "low")]),
        ("customer_id=c", {}, [("info", "low")]),
        ("reference=r", {}, []),
        ("customer=c, reference=r", {"Order": "XL", "Customer": "S"}, []),
    ],
)
def test_rows_of_one_parent_are_many_where_there_are_few_parents(condition, volumes, told):
    source = f"def f(c, r):\n    return [o for o in Order.objects.filter({condition}) if o.total < 9]"
    found = findings(RULE, source, volumes=volumes)
    assert [(str(each.severity), str(each.confidence)) for each in found] == told


@pytest.mark.parametrize(
    ("work", "found"),
    [
        ("return rows.find((row) => row.reference === x);", [1]),
        ("return ids.map((id) => rows.find((row) => row.reference === id));", []),
        ("for (const id of ids) {\n  const row = rows.find((each) => each.reference === id);\n  use(row);\n}", []),
        ("for (const row of rows) {\n  if (row.reference === x) {\n    use(row);\n  }\n}", [1]),
        ("ids.map(log);\nreturn rows.filter((row) => row.reference === x);", [1]),
    ],
)
def test_rows_that_are_looked_up_for_each_of_others_are_all_wanted(work, found):
    assert orms.lines(RULE, "drizzle", f"const rows = await db.select().from(orders);\n{work}") == found


def test_a_column_that_the_query_asks_for_already_leaves_no_more_rows_out():
    body = "const rows = await db.select().from(orders).where(%s);\nreturn rows.filter((row) => row.isPaid);"
    assert orms.lines(RULE, "drizzle", body % "eq(orders.isPaid, true)") == []
    assert orms.lines(RULE, "drizzle", body % "isNotNull(orders.reference)") == [1]


@pytest.mark.parametrize(
    ("orm", "query", "found"),
    [
        ("drizzle", "db.select().from(orders).where(eq(orders.customerId, id))", [1]),
        ("sequelize", "Order.findAll({ where: { customerId: id } })", [1]),
        ("typeorm", "repository.find({ where: { customerId: id } })", [1]),
        ("sequelize", "Order.findAll({ where: { customerId: id }, limit: 50 })", []),
        ("sequelize", "Order.findAll({ where: { reference: id } })", []),
    ],
)
@pytest.mark.parametrize("work", ["filter((row) => row.total > 5)", "sort((a, b) => b.total - a.total).slice(0, 5)"])
def test_rows_of_one_parent_are_a_guess(orm, query, found, work):
    body = f"const rows = await {query};\nreturn rows.{work};"
    body = body.replace("repository.", "source.getRepository(Order).")
    assert orms.lines(RULE, orm, body) == found
    assert {str(each.confidence) for each in orms.findings(RULE, orm, body)} <= {"low"}


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("o.getReference().isBefore(clock.instant())", 1),
        ("o.getReference().isBefore(calendar.nextHoliday())", 0),
    ],
)
def test_what_is_compared_with_the_clock_is_a_condition_too(condition, count):
    body = f"return orders.findAll().stream().filter(o -> {condition}).toList();"
    assert len(orms.lines(RULE, "jpa", body)) == count


@pytest.mark.parametrize(
    ("query", "work", "found"),
    [
        ("from Order", "\n      .stream()\n      .filter(o -> o.getTotal() < 5)\n      .toList()", 1),
        ("from Order", ".stream().filter(o -> allowed(o)).toList()", 0),
        ("select o from Order o where o.customer.id = :x", ".stream().max(Comparator.comparing(Order::getTotal))", 1),
        ("select o from Order o where o.customer.name = :x", ".stream().max(Comparator.comparing(Order::getTotal))", 0),
    ],
)
def test_the_stream_of_a_list_that_an_entity_manager_gives(query, work, found):
    body = f'    return em.createQuery("{query}", Order.class).getResultList(){work};'
    assert len(orms.lines(RULE, "jpa", body)) == found


@pytest.mark.parametrize(
    ("rows", "found"), [("session.scalars(select(Parcel)).unique()", 1), ("session.scalars(newest()).unique()", 0)]
)
def test_the_unique_objects_of_a_session(rows, found):
    source = SQLALCHEMY + f"    return [parcel for parcel in {rows} if parcel.weight > least]\n"
    assert len(findings_of(RULE, {"a.py": source})) == found


@pytest.mark.parametrize(
    ("orm", "body", "found"),
    [
        ("typeorm", "    return (await this.orders.find({ order: { id: 'ASC' } })).slice(0, 100);", [1]),
        ("typeorm", "    const rows = await this.orders.find();\n    return rows.slice(0, x);", [1]),
        ("typeorm", "    return (await this.orders.find()).slice(x);", []),
        ("typeorm", "    const rows = await this.orders.find();\n    show(rows.slice(0, 5));\n    return rows;", []),
        ("mongoose", "  return (await Order.find().lean()).sort((a, b) => b.total - a.total).slice(0, 10);", [1]),
        ("mongoose", "  return (await Order.find().lean()).sort((a, b) => rank(b) - rank(a)).slice(0, 10);", []),
        ("jpa", "    return orders.findAll().stream().limit(5).toList();", [1]),
        (
            "mongoose",
            "  const rows = await Order.find({});\n  const counts = new Map();\n  for (const row of rows) {\n"
            "    const key = String(row.reference);\n    counts.set(key, (counts.get(key) ?? 0) + 1);\n  }\n"
            "  return counts;",
            [1],
        ),
        (
            "mongoose",
            "  const rows = await Order.find({});\n  const counts = new Map();\n  for (const row of rows) {\n"
            "    const key = nameOf(row);\n    counts.set(key, (counts.get(key) ?? 0) + 1);\n  }\n"
            "  return counts;",
            [],
        ),
        (
            "jpa",
            "    for (Order row : orders.findAll()) {\n      counts.merge(row.getReference(), 1, Integer::sum);\n    }",
            [1],
        ),
        (
            "jpa",
            "    for (Order row : orders.findAll()) {\n      counts.merge(keyOf(row), 1, Integer::sum);\n    }",
            [],
        ),
    ],
)
def test_the_first_few_and_counts_by_a_column(orm, body, found):
    assert orms.lines(RULE, orm, body) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return list(Order.objects.all())[:6]", [2]),
        ("rows = list(Order.objects.all())\n    return rows[:6]", [2]),
        ("rows = Order.objects.all()\n    return rows[:6]", []),
        ("return list(Order.objects.all()[:6])", []),
        ("return list(Order.objects.all())[6]", []),
    ],
)
def test_the_first_few_of_a_list(body, found):
    assert lines(RULE, f"def f():\n    {body}") == found
