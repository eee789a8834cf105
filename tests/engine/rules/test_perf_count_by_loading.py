import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-count-by-loading"

FLAGGED = [
    ("shop/work.py", "def f(o):\n    return len(Line.objects.filter(order=o)) > 5", 2),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    if len(rows) > 5:\n        stop()", 2),
    ("shop/work.py", "def f(o):\n    rows = Line.objects.filter(order=o)\n    if rows:\n        stop()", 2),
    ("shop/work.ts", "async function f() {\n  const rows = await prisma.line.findMany();\n  return rows.length;\n}", 2),
    ("shop/work.ts", "const f = async () => (await prisma.line.findMany()).length;", 1),
    ("shop/work.py", "def f(o):\n    return len(list(Line.objects.filter(order=o)))", 2),
    ("shop/work.py", "def f(o):\n    if Line.objects.filter(order=o):\n        stop()", 2),
    ("shop/work.py", "def f(o):\n    if o and not Line.objects.filter(order=o):\n        stop()", 2),
    ("shop/work.py", "def f(o):\n    return not Line.objects.filter(order=o)", 2),
    (
        "shop/work.ts",
        "async function f() {\n  const { length } = await prisma.line.findMany();\n  return length;\n}",
        2,
    ),
]
FINE = [
    ("shop/work.py", "def f(keys):\n    rows = Line.objects.filter(pk__in=keys)\n    return len(rows) == len(keys)"),
    (
        "shop/work.py",
        "def f(o, p):\n    if o:\n        rows = Line.objects.filter(order=o)\n        if not rows:\n"
        "            return 0\n    else:\n        rows = []\n    return show(rows)",
    ),
    ("shop/work.py", "def f(o):\n    return Line.objects.filter(order=o).count()"),
    ("shop/work.py", "def f(o):\n    if Line.objects.filter(order=o).first():\n        stop()"),
    ("shop/work.py", "def f(o):\n    if Line.objects.filter(order=o).exists():\n        stop()"),
    ("shop/work.py", "def f(o, rows):\n    return rows or Line.objects.filter(order=o)"),
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


@pytest.mark.parametrize(
    ("path", "asked", "count"),
    [
        ("shop/work.ts", "await prisma.line.count({ where: { amount: x } })", 1),
        ("shop/work.ts", "await prisma.line.count({ where: { amount: x }, take: 1 })", 0),
        ("shop/work.ts", "await prisma.line.count({ where: { amount: x }, take: most })", 0),
        ("shop/work.py", "Line.objects.filter(amount=x)[:1].count()", 0),
        ("shop/work.py", "Line.objects.filter(amount=x)[:most].count()", 0),
    ],
)
def test_a_count_of_limited_rows_stops_there(path, asked, count):
    script = f"async function f(x, most) {{\n  const found = {asked};\n  return found > 0;\n}}"
    source = script if path.endswith(".ts") else f"def f(x, most):\n    return {asked} > 0"
    assert len(lines(RULE, source, path)) == count


@pytest.mark.parametrize(("limit", "count"), [("", 1), (".limit(1)", 0)])
def test_sqlalchemy_counts_what_a_limit_leaves(limit, count):
    source = (
        "class User(Base):\n    __tablename__ = 'users'\n    id = mapped_column(Integer, primary_key=True)\n"
        f"def f(session, x):\n    return session.query(User).filter(User.name == x){limit}.count() > 0"
    )
    assert len(lines(RULE, source)) == count


def test_a_limit_of_what_a_count_gives_is_none_of_what_it_counts():
    counted = "return (await orders.count({ where: { reference: text }, take: 1 })) > 0;"
    assert orms.lines(RULE, "typeorm", counted) == [1]


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
    [
        "len(session.query(User).all())",
        "rows = session.execute(select(User))\n    return len(rows.scalars().all())",
        "return len((await session.execute(select(User))).scalars().all())",
        "rows = (await session.execute(select(User))).scalars().all()\n    return len(rows)",
    ],
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


PARCELS = {"db/schema.sql": "CREATE TABLE parcels (id bigint primary key, weight int, is_lost boolean);"}
GO_QUERY = 'package a\nfunc f(x int) int {\nrows, err := db.Query("SELECT id FROM parcels WHERE weight = $1", x)\n'


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("a/a.go", GO_QUERY + "n := 0\nfor rows.Next() {\nn++\n}\nreturn n\n}", [3]),
        ("a/a.go", GO_QUERY + "for rows.Next() {\nsend()\nn++\n}\nreturn n\n}", []),
        ("a/a.go", GO_QUERY + "parcels, err := readParcels(rows)\nreturn len(parcels)\n}", [3]),
        ("a/a.go", GO_QUERY + "parcels, err := readParcels(rows)\nshow(parcels)\nreturn len(parcels)\n}", []),
        ("a/a.go", GO_QUERY + "first, err := readOne(rows)\nreturn len(first)\n}", []),
        (
            "a/work.py",
            "def f(db):\n    rows = db.execute('SELECT id FROM parcels WHERE is_lost').fetchall()\n"
            "    return len(rows)",
            [2],
        ),
        (
            "a/work.py",
            "def f(cur):\n    cur.execute('SELECT id FROM parcels')\n    rows = cur.fetchall()\n    return len(rows)",
            [2],
        ),
        (
            "a/work.py",
            "def f(db):\n    rows = db.execute('SELECT id FROM parcels').fetchall()\n    return len(rows), rows",
            [],
        ),
        ("a/work.py", "def f(db):\n    return len(db.execute('SELECT id FROM parcels').fetchall())", [2]),
    ],
)
def test_rows_of_sql_that_are_only_counted(path, source, found):
    assert [each.line for each in findings_of(RULE, {path: source, **PARCELS})] == found


@pytest.mark.parametrize(
    ("orm", "taken"),
    [
        ("sequelize", "Order.findAll({ where: { customerId: x } })"),
        ("typeorm", "this.orders.find({ where: { total: x } })"),
    ],
)
def test_a_length_may_be_taken_out_of_the_rows(orm, taken):
    assert orms.lines(RULE, orm, f"    const {{ length }} = await {taken};\n    return length;") == [1]
    assert orms.lines(RULE, orm, f"    const {{ length: total }} = await {taken};\n    return total;") == [1]


@pytest.mark.parametrize(("asked", "count"), [(".size()", 1), (".isEmpty()", 1), ("", 0)])
def test_rows_of_jdbc_that_are_only_counted(asked, count):
    source = (
        "import org.springframework.jdbc.core.JdbcTemplate;\nclass Visits {\n  JdbcTemplate jdbc;\n  Object f() {\n"
        f'    return jdbc.queryForList("SELECT id FROM visits", Long.class){asked};\n  }}\n}}\n'
    )
    assert len(findings_of(RULE, {"src/Visits.java": source})) == count


@pytest.mark.parametrize(
    ("base", "body", "found"),
    [
        ("JpaRepository<Pupil, Long>", "return pupils.findByName(name).size();", 1),
        ("JpaRepository<Pupil, Long>", "return this.pupils.findAll().size();", 1),
        ("CrudRepository<Pupil, Long>", "List<Pupil> all = pupils.findByName(name);\n        return all.size();", 1),
        ("JpaRepository<Pupil, Long>", "return pupils.countByName(name);", 0),
        ("Iterable<Pupil>", "return pupils.findByName(name).size();", 0),
    ],
)
def test_a_repository_of_java_has_any_name(base, body, found):
    files = {
        "src/a/Pupil.java": "package a;\n@Entity\npublic class Pupil {\n    @Id Long id;\n    String name;\n}\n",
        "src/a/Pupils.java": f"package a;\npublic interface Pupils extends {base} {{\n"
        "    List<Pupil> findByName(String name);\n    long countByName(String name);\n}\n",
        "src/a/Roll.java": "package a;\nimport org.springframework.stereotype.Service;\n@Service\nclass Roll {\n"
        f"    @Autowired private Pupils pupils;\n    long f(String name) {{\n        {body}\n    }}\n}}\n",
    }
    assert len(findings_of(RULE, files)) == found


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("return len(order.lines.filter(amount=1))", ["medium"]),
        ("return len(order.lines.all())", ["low"]),  # they may have been prefetched with the order
        ("lines = order.lines.exclude(amount=1)\n    return bool(lines)", ["medium"]),
        ("return order.lines.filter(amount=1).count() > 0", ["medium"]),
        ("return len(client.messages.all())", []),
        ("return order.lines.filter(amount=1).count()", []),
        ("lines = order.lines.filter(amount=1)\n    return show(lines, len(lines))", []),
    ],
)
def test_the_manager_of_a_relation_is_asked_as_well(body, confidences):
    source = f"def f(order, client):\n    {body}\n"
    assert [str(each.confidence) for each in findings(RULE, source)] == confidences


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('return (await pool.query("SELECT id FROM visits WHERE day = $1", [day])).rows.length;', 1),
        ('return (await pool.query("SELECT id FROM visits WHERE day = $1", [day])).rowCount;', 1),
        ('return (await pool.query("SELECT id FROM visits WHERE day = $1", [day])).rows.length > 0;', 0),
        ('return (await pool.query("SELECT id FROM visits WHERE id = $1", [day])).rows.length;', 0),
        ('return (await pool.query("SELECT count(*) FROM visits WHERE day = $1", [day])).rows.length;', 0),
        ('return (await pool.query("SELECT id FROM visits WHERE day = $1", [day])).rows;', 0),
    ],
)
def test_rows_of_a_driver_whose_number_is_taken_at_once(body, count):
    source = f"export async function f(pool, day) {{\n  {body}\n}}\n"
    assert len(findings_of(RULE, {"src/visits.ts": source})) == count


@pytest.mark.parametrize(
    ("orm", "body", "count"),
    [
        ("jpa", "return orders.count() > 0;", 1),
        ("jpa", "return 0 < limit && orders.count() != 0;", 1),
        ("jpa", "return orders.count() > 5;", 0),
        ("typeorm", "return (await orders.count({ where: { reference: text } })) > 0;", 1),
        ("typeorm", "return (await orders.count({ where: { reference: of(text.trim()) } })) === 0;", 1),
        ("typeorm", "return (await orders.count({ where: { reference: text } })) > limit;", 0),
    ],
)
def test_a_count_that_only_has_to_be_more_than_none(orm, body, count):
    assert [str(each.severity) for each in orms.findings(RULE, orm, body)] == ["info"] * count


CARD = "@Entity()\nexport class Card {\n  @PrimaryColumn() id: string;\n  @%s(() => Pupil)\n  pupil: Pupil;\n}\n"


@pytest.mark.parametrize(
    ("relation", "condition", "count"),
    [
        ("OneToOne", "{ pupil: { id } }", 0),
        ("OneToOne", "{ pupil: { name: id } }", 1),
        ("ManyToOne", "{ pupil: { id } }", 1),
    ],
)
def test_the_other_side_of_a_one_to_one_relation_is_one_row(relation, condition, count):
    head = "import { Entity, ManyToOne, OneToOne, PrimaryColumn, Repository } from 'typeorm';\n"
    files = {
        "src/pupil.ts": f"{head}@Entity()\nexport class Pupil {{\n  @PrimaryColumn() id: string;\n}}\n",
        "src/card.ts": f"{head}import {{ Pupil }} from './pupil';\n{CARD % relation}",
        "src/cards.ts": f"{head}import {{ Card }} from './card';\nexport class Cards {{\n"
        "  constructor(private readonly cards: Repository<Card>) {}\n  async has(id: string) {\n"
        f"    const found = await this.cards.find({{ where: {condition} }});\n    return found.length > 0;\n  }}\n}}\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize("condition", ["owner=o", "owner_id=o", "owner__pk=o"])
def test_one_to_one_in_django(condition):
    assert lines(RULE, f"def f(o):\n    return len(Wallet.objects.filter({condition})) > 0") == []


@pytest.mark.parametrize(
    ("orm", "body", "found"),
    [
        ("mongoose", "  return (await Order.find({ customer: x }).lean()).length > 5;", 1),
        ("mongoose", "  return (await Order.find({ customer: x }).lean().exec()).length;", 1),
        ("mongoose", "  return show(await Order.find({ customer: x }).lean()).length;", 0),
        ("mongoose", "  return (await Order.find({ customer: x }).lean()).map((o) => o.total);", 0),
        ("mongoose", "  const rows = (await Order.find({ customer: x }).lean()).length;\n  return rows;", 1),
    ],
)
def test_the_length_of_what_is_awaited_in_brackets(orm, body, found):
    assert len(orms.lines(RULE, orm, body)) == found


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        ('(await knex("parcels").where({ weight }).select("id")).length', 1),
        ('(await knex("parcels").where({ weight }).select("id")).map(read)', 0),
        ('(await knex("parcels").where({ weight }).count()).length', 0),
    ],
)
def test_the_length_of_what_knex_gives(chain, found):
    source = f"import knex from 'knex';\nexport async function f(weight) {{\n  return {chain};\n}}\n"
    assert len(findings_of(RULE, {"src/a.js": source, **PARCELS})) == found


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("return n > 0", 1),
        ("if n == 0 {\n\t\tstop()\n\t}", 1),
        ("return n > 10", 0),
        ("if n > 0 {\n\t\tshow(n)\n\t}", 0),
    ],
)
def test_a_count_that_a_variable_keeps_and_only_zero_is_compared_with(use, found):
    body = f'\tvar n int64\n\tdb.Model(&Order{{}}).Where("reference = ?", x).Count(&n)\n\t{use}'
    assert [(each.line, each.severity) for each in orms.findings(RULE, "gorm", body)] == [(6, "info")] * found


@pytest.mark.parametrize(("condition", "found"), [("reference = ?", 1), ("id = ?", 0)])
def test_a_count_by_a_key_stops_at_the_first_row_anyway(condition, found):
    body = f'\tvar n int64\n\tdb.Model(&Order{{}}).Where("{condition}", x).Count(&n)\n\treturn n > 0'
    assert len(orms.lines(RULE, "gorm", body)) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ('db.list("SELECT id FROM parcel", rs -> rs.getLong(1)).size()', 1),
        ('db.list("SELECT id FROM parcel LIMIT 9", rs -> rs.getLong(1)).size()', 0),
        ('db.list("SELECT count(*) FROM parcel", rs -> rs.getLong(1)).get(0)', 0),
        ('names.list("parcel").size()', 0),
    ],
)
def test_rows_that_a_helper_of_the_project_lists(asked, found):
    source = f"class Parcels {{\n  int open() {{\n    return {asked};\n  }}\n}}\n"
    assert [each.line for each in findings_of(RULE, {"src/Parcels.java": source})] == [3] * found
