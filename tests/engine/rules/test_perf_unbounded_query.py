import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-unbounded-query"

FLAGGED = [
    ("shop/work.py", "def f():\n    return list(Order.objects.all())", 2),
    (
        "shop/work.py",
        "def f(rows):\n    return list(Order.objects.annotate(n=Line.objects.values('a').annotate(b=Count(1))))",
        2,
    ),
    ("shop/work.py", "def f():\n    for order in Order.objects.filter(is_paid=True):\n        print(order)", 2),
    (
        "shop/work.py",
        "def f():\n    rows = Order.objects.exclude(status='x')\n    for row in rows:\n        print(row)",
        2,
    ),
    ("shop/work.ts", "const all = await prisma.order.findMany();", 1),
    ("shop/work.ts", "const all = await prisma.order.findMany({ where: { status: 'open' } });", 1),
]
FINE = [
    ("shop/work.py", "def f():\n    return list(Order.objects.all()[:100])"),
    ("shop/work.py", "def f():\n    return Order.objects.all()"),
    ("shop/work.py", "def f():\n    return Order.objects.count()"),
    ("shop/work.py", "def f(ids):\n    return list(Order.objects.filter(pk__in=ids))"),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.filter(reference=x))"),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.filter(reference=['shop', x]))"),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.filter(**{f'{x}__in': [1]}))"),
    ("shop/work.py", "def f():\n    return list(Order.objects.values('status').annotate(count=Count(1)))"),
    ("shop/work.py", "def f(customer):\n    return list(Order.objects.filter(customer=customer))"),
    ("shop/work.py", "def f(wanted):\n    return list(Order.objects.filter(**wanted))"),
    (
        "shop/work.py",
        "def f(wanted):\n    rows = Order.objects.filter(\n        made_of(wanted)\n    )\n"
        "    return list(rows.distinct().order_by('pk'))",
    ),
    (
        "shop/work.py",
        "def f(wanted):\n    rows = Order.objects.filter(**wanted)\n"
        "    for row in rows.values('pk'):\n        print(row)",
    ),
    (
        "shop/work.py",
        "def f(wanted):\n    return list(\n        Order.objects.order_by('pk')\n        .open(wanted)\n    .all())",
    ),
    ("shop/work.py", "def f():\n    return list(Order.objects.values_list('status', flat=True).distinct())"),
    ("shop/work.py", "def f():\n    for o in Order.objects.iterator(chunk_size=500):\n        print(o)"),
    ("shop/work.py", "def f():\n    return list(Region.objects.all())"),
    ("shop/work.ts", "const page = await prisma.order.findMany({ take: 100, cursor });"),
    ("shop/work.ts", "const some = await prisma.order.findMany({ where, take });"),
    ("shop/work.ts", "const some = await prisma.order.findMany({ where: { id: { in: ids } } });"),
    ("shop/admin_test.py", "def f():\n    return list(Order.objects.all())"),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_a_query_that_loads_a_table_is_found(path, source, line):
    assert lines(RULE, source, path) == [line]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_a_query_that_is_bounded_lazy_streamed_or_unreadable_is_fine(path, source):
    assert lines(RULE, source, path) == []


@pytest.mark.parametrize(
    ("size", "severity"), [("S", "info"), ("M", "warning"), ("XL", "critical"), ("XXL", "critical")]
)
def test_the_severity_follows_the_declared_volume(size, severity):
    (finding,) = findings(RULE, "list(Order.objects.all())", volumes={"Order": size})
    assert (finding.severity, finding.volume, finding.confidence) == (severity, size, "high")


def test_the_finding_speaks_of_the_table():
    (finding,) = findings(RULE, "list(Order.objects.filter(is_paid=True))", volumes={"shop_order": "XL"})
    assert finding.message == "All rows with a given `is_paid` of `Order` are loaded at once (table `shop_order`, XL)"
    assert finding.suggestion.endswith("`shop_order` is declared XL.")


def test_a_small_looking_table_counts_once_its_size_is_declared():
    assert len(findings(RULE, "list(Region.objects.all())", volumes={"Region": "XL"})) == 1


def test_rows_of_one_foreign_key_count_on_large_tables_only():
    source = "def f(customer):\n    return list(Order.objects.filter(customer=customer))"
    (finding,) = findings(RULE, source, volumes={"Order": "XL"})
    assert (finding.severity, finding.confidence) == ("warning", "low")


SQL = "def f(cur):\n    cur.execute({0})\n    return cur.fetchall()\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"SELECT id, name FROM parcels"', [2]),
        ('"SELECT id, name FROM parcels LIMIT 10"', []),
        ('"SELECT id FROM parcels WHERE id = %s", (1,)', []),
        ('"SELECT kind, MAX(id) FROM parcels GROUP BY kind"', []),
        ('"SELECT a.id FROM parcels a JOIN orders b ON a.id = b.parcel"', []),
    ],
)
def test_all_rows_of_a_table_by_sql(text, found):
    assert lines(RULE, SQL.format(text)) == found


def test_rows_of_sql_that_are_read_one_by_one_are_fine():
    assert lines(RULE, "def f(cur):\n    cur.execute('SELECT id FROM parcels')\n    return cur.fetchone()\n") == []


def test_a_condition_on_a_status_makes_it_a_guess():
    (finding,) = findings(RULE, "list(Order.objects.filter(is_paid=True))")
    assert finding.confidence == "low"


def test_what_fills_or_moves_data_once_is_left_alone():
    assert lines(RULE, "list(Order.objects.all())", "scripts/migration/orders.py") == []


def test_it_is_likely_where_requests_wait_and_else_a_guess():
    source = "def report():\n    mail(list(Order.objects.all()))\n"
    (guessed,) = findings(RULE, source)
    (likely,) = findings(RULE, "@app.post('/report')\n" + source)
    assert (guessed.confidence, likely.confidence) == ("low", "medium")


FLASK = """from flask_sqlalchemy import SQLAlchemy

db = SQLAlchemy()


class Parcel(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    label = db.Column(db.String)
    state = db.Column(db.String)


def f(row):
    return Parcel.query.filter_by(%s).all()
"""


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("label=row['label'].strip()", []),
        ("label=clean(row.get('label', str(row)))", []),
        ("label=row", []),
        ("*conditions", []),
        ("state='open'", [13]),
        ("", [13]),
    ],
)
def test_conditions_of_sqlalchemy_by_name(condition, found):
    assert [each.line for each in findings_of(RULE, {"shop/work.py": FLASK % condition})] == found


def test_rows_below_a_parent_are_picked():
    source = FLASK.replace("filter_by(%s)", "with_parent(row)")
    assert findings_of(RULE, {"shop/work.py": source}) == []


def test_catalogs_of_the_database_are_small():
    assert lines(RULE, SQL.format('"SELECT collname FROM pg_collation"')) == []


def test_rows_of_a_status_count_where_the_name_speaks_of_many():
    assert lines(RULE, "list(Order.objects.filter(is_paid=True))") == [1]
    assert lines(RULE, "list(Line.objects.filter(is_paid=True))") == [1]
    assert lines(RULE, "list(Widget.objects.filter(is_paid=True))") == []


def test_a_list_of_a_queryset_that_a_variable_holds():
    assert lines(RULE, "def f():\n    rows = Order.objects.all()\n    return sorted(rows, key=str)") == [2]
    assert lines(RULE, "def f():\n    rows = Order.objects.all()\n    return sorted(rows[:9], key=str)") == []


def test_results_of_sqlalchemy_that_a_variable_holds():
    model = "class Order(Base):\n    __tablename__ = 'orders'\n    id = Column(Integer, primary_key=True)\n"
    source = "from sqlalchemy import select\nasync def f(session):\n    result = await session.execute(select(Order))\n"
    for taken, expected in (("scalars().all()", [3]), ("scalars().first()", []), ("scalar_one()", [])):
        files = {"app/models.py": model, "app/work.py": source + f"    return result.{taken}\n"}
        assert [finding.line for finding in findings_of(RULE, files)] == expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("src/a.js", 'async function f() {\nreturn await pool.query("SELECT * FROM orders");\n}', [2]),
        ("src/a.js", 'async function f() {\nreturn await pool.query("SELECT * FROM orders LIMIT 9");\n}', []),
        ("src/A.java", 'class A {\nList f() { return jdbc.queryForList(\n"SELECT * FROM orders");\n} }', [2]),
        ("src/A.java", 'class A {\nvoid f() { jdbc.query(\n"SELECT * FROM orders", handler);\n} }', []),
        ("a/a.go", 'package a\nfunc f() {\ndb.Select(&out, "SELECT * FROM orders")\n}', [3]),
        (
            "a/a.go",
            'package a\nfunc f() {\nrows, err := db.Query("SELECT id FROM orders")\nfor rows.Next() {\n'
            "out = append(out, id)\n}\n}",
            [3],
        ),
        (
            "a/a.go",
            'package a\nfunc f() {\nrows, err := db.Query("SELECT id FROM orders")\nfor rows.Next() {\nsend(id)\n}\n}',
            [],
        ),
    ],
)
def test_text_of_queries_in_other_languages(path, source, expected):
    table = {"db/schema.sql": "CREATE TABLE orders (id bigint primary key, total int);"}
    assert [finding.line for finding in findings_of(RULE, {path: source, **table})] == expected


def test_rows_that_are_left_over_are_not_called_after_the_value_that_they_do_not_have():
    (finding,) = findings(
        RULE, "def f():\n    return list(Order.objects.exclude(total=0))", volumes={"shop_order": "XL"}
    )
    assert finding.message == "All rows of `Order` that match are loaded at once (table `shop_order`, XL)"


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("session.scalars(rows.order_by(Parcel.id)).all()", [14]),
        ("session.scalars(rows.order_by(Parcel.id)).fetchmany(9)", []),
        ("session.scalars(rows.where(Parcel.label == row)).all()", []),
    ],
)
def test_a_statement_gets_its_last_step_where_it_runs(run, found):
    source = FLASK.replace(
        "    return Parcel.query.filter_by(%s).all()", f"    rows = select(Parcel)\n    return {run}"
    ).replace("from flask", "from sqlalchemy import select\nfrom flask")
    assert [each.line - 1 for each in findings_of(RULE, {"shop/work.py": source})] == found


def test_conditions_of_a_statement_that_ends_where_it_runs():
    source = FLASK.replace(
        "    return Parcel.query.filter_by(%s).all()",
        "    rows = select(Parcel).filter_by(label=row)\n    return session.scalars(rows.order_by(Parcel.id)).all()",
    ).replace("from flask", "from sqlalchemy import select\nfrom flask")
    assert findings_of(RULE, {"shop/work.py": source}) == []


@pytest.mark.parametrize(("condition", "found"), [("is_paid=True", 1), ("is_superuser=True", 0)])
def test_few_rows_have_some_flags(condition, found):
    source = f"def f():\n    return list(Order.objects.filter({condition}))"
    assert len(findings(RULE, source, volumes={"shop_order": "XL"})) == found


@pytest.mark.parametrize(("added", "found"), [("where.customerId = key;", 0), ("log(key);", 1)])
def test_conditions_may_be_added_in_branches(added, found):
    source = (
        "async function f(key) {\n  const where = { status: 'open' };\n  if (key) {\n"
        f"    {added}\n  }}\n  return prisma.order.findMany({{ where: where }});\n}}"
    )
    assert len(findings(RULE, source, path="shop/work.ts", volumes={"orders": "XL"})) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [("shop/work.py", 1), ("shop/seeds/work.py", 0), ("shop/commands/generate_rows.py", 0)],
)
def test_made_up_rows_may_all_be_loaded(path, found):
    source = "def f():\n    return list(Order.objects.all())"
    assert len(findings(RULE, source, path=path, volumes={"shop_order": "XL"})) == found


def test_photos_are_no_operating_systems():
    source = (
        "from django.db import models\n\nclass %s(models.Model):\n    a = models.CharField()\n\n"
        "def f():\n    return list(%s.objects.all())"
    )
    assert [len(findings(RULE, source % (name, name))) for name in ("Photos", "OS")] == [1, 0]


@pytest.mark.parametrize("clause", ["or_(*keys)", "Parcel.boxes.any(id=keys)", "rows.c.id == keys"])
def test_conditions_that_cannot_be_read_pick_rows(clause):
    source = (
        "from sqlalchemy import select, or_\nclass Parcel(Base):\n    __tablename__ = 'parcels'\n"
        "    id = mapped_column(Integer, primary_key=True)\n"
        f"def f(session, keys):\n    return session.execute(select(Parcel).where({clause})).scalars().all()\n"
    )
    assert findings(RULE, source, volumes={"parcels": "XL"}) == []
    every = source.replace(f".where({clause})", "")
    assert len(findings(RULE, every, volumes={"parcels": "XL"})) == 1


@pytest.mark.parametrize(
    ("condition", "confidence"), [("status=Order.PENDING", "low"), ("status=Order.CLOSED", "medium")]
)
def test_few_rows_are_in_a_state_that_passes(condition, confidence):
    source = f"def f():\n    return list(Order.objects.filter({condition}))"
    (finding,) = findings(RULE, source, volumes={"shop_order": "XL"})
    assert finding.confidence == confidence


@pytest.mark.parametrize(("clause", "found"), [("or_(*keys)", 0), ("Parcel.code.is_not(None)", 1)])
def test_a_statement_for_many_keys_may_run_further_below(clause, found):
    source = (
        "from sqlalchemy import select, or_\nclass Parcel(Base):\n    __tablename__ = 'parcels'\n"
        "    id = mapped_column(Integer, primary_key=True)\n    code = mapped_column(String)\n"
        f"def f(session, keys):\n    stmt = select(Parcel).where({clause})\n    keep(keys)\n"
        "    return session.execute(stmt).scalars().all()\n"
    )
    assert len(findings(RULE, source, volumes={"parcels": "XL"})) == found


@pytest.mark.parametrize(("fill", "found"), [("bulk_create(rows)", ["low"]), ("create(code=rows)", [])])
def test_a_table_that_the_program_fills_grows(fill, found):
    source = (
        "from django.db import models\n\nclass Gadget(models.Model):\n    code = models.CharField()\n\n"
        f"def fill(rows):\n    Gadget.objects.{fill}\n\ndef f():\n    return list(Gadget.objects.all())\n"
    )
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/work.py": source})] == found


@pytest.mark.parametrize("condition", ["status__isnull=True", "status='new', is_paid=False"])
def test_rows_that_miss_something_or_meet_much_are_few(condition):
    source = f"def f():\n    return list(Order.objects.filter({condition}))"
    assert lines(RULE, source) == []


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("NOT is_lost", 1),
        ("is_lost", 1),
        ("parcels.is_lost AND weight > 0", 1),
        ("weight = %s", 0),
        ("is_lost AND label = %s", 0),
    ],
)
def test_a_flag_of_sql_stands_by_itself(condition, found):
    source = f"def f(cur):\n    return cur.execute('SELECT id FROM parcels WHERE {condition}').fetchall()"
    assert len(findings(RULE, source, volumes={"parcels": "XL"})) == found


@pytest.mark.parametrize(
    ("reads", "found"),
    [
        ("return scanParcels(rows)", [3]),
        ("out, err := scanParcels(rows)\nreturn out", [3]),
        ("return pgx.CollectRows(rows, toParcel)", [3]),
        ("return pgx.CollectOneRow(rows, toParcel)", []),
        ("return write(w, rows)", []),
        ("for rows.Next() {\np, err := scanParcel(rows)\nsend(p)\n}", []),
        ("for rows.Next() {\np, err := scanParcel(rows)\nout = append(out, p)\n}", [3]),
    ],
)
def test_rows_that_a_function_of_go_gives_back_are_kept(reads, found):
    source = f'package a\nfunc f() {{\nrows, err := db.Query("SELECT id FROM orders")\n{reads}\n}}'
    table = {"db/schema.sql": "CREATE TABLE orders (id bigint primary key, total int);"}
    assert [each.line for each in findings_of(RULE, {"a/a.go": source, **table})] == found


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("{ where: { isPaid: true } }", [2]),
        ("{ where: { isPaid: true }, limit: 9 }", []),
        ("{ where: { isPaid: true } };\n    options.limit = 9", []),
        ("{ where: { isPaid: true } };\n    page(options)", []),
    ],
)
def test_options_may_stand_in_a_variable(options, found):
    body = f"    const options = {options};\n    return Order.findAll(options);"
    assert orms.lines(RULE, "sequelize", body, volumes={"orders": "XL"}) == found


@pytest.mark.parametrize("flag", ["is_open.is_(True)", "is_open.is_(sa.false())", "is_open"])
def test_flags_of_sqlalchemy(flag):
    source = (
        "class Parcel(Base):\n    __tablename__ = 'parcels'\n    is_open: Mapped[bool]\n"
        f"def f(session):\n    return session.query(Parcel).filter(Parcel.{flag}).all()\n"
    )
    (finding,) = findings(RULE, source, volumes={"parcels": "XL"})
    assert finding.message == "All rows with a given `is_open` of `Parcel` are loaded at once (table `parcels`, XL)"


@pytest.mark.parametrize(("kind", "count"), [("implements ApplicationRunner", 0), ("extends Runner", 1)])
def test_what_runs_when_the_program_starts_needs_all(kind, count):
    files = {
        "a/Order.java": "import jakarta.persistence.*;\n@Entity\nclass Order {\n  @Id\n  long id;\n}\n",
        "a/OrderRepository.java": "interface OrderRepository extends JpaRepository<Order, Long> {}\n",
        "a/Jobs.java": (
            "import org.springframework.boot.ApplicationRunner;\n"
            f"class Jobs {kind} {{\n  private final OrderRepository orderRepository;\n"
            "  public void run(Arguments given) {\n"
            "    List<Order> orders = orderRepository.findAll();\n    orders.forEach(jobs::add);\n  }\n}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("model", "count"), [("AppMigration", 0), ("AppInvoice", 1)])
def test_the_migrations_of_a_program_are_few(model, count):
    files = {
        "prisma/schema.prisma": f"model {model} {{\n  id Int @id\n  name String\n}}\n",
        "src/a.ts": (
            f"async function f(rows) {{\n  await prisma.a{model[1:]}.create({{ data: rows[0] }});\n"
            f"  return prisma.a{model[1:]}.findMany();\n}}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("mapper", "found"),
    [("MAPPER", [3]), ("ORDER_MAPPER", [3]), ("rowMapper", [3]), ("Order::of", [3]), ("handler", [])],
)
def test_a_mapper_of_spring_makes_a_list_of_all_rows(mapper, found):
    source = (
        "class Orders {\n  List<Order> all() {\n"
        f'    return jdbc.query("select id, total from orders order by id desc", {mapper});\n  }}\n}}\n'
    )
    table = {"db/schema.sql": "CREATE TABLE orders (id bigint primary key, total int);"}
    assert [each.line for each in findings_of(RULE, {"src/Orders.java": source, **table})] == found


@pytest.mark.parametrize(
    ("sized", "body", "found"),
    [
        ("", "all.add(read(rows));", [5]),
        ("", "consumer.accept(read(rows));", []),
        ("statement.setFetchSize(500);", "all.add(read(rows));", []),
        ("", "all.add(read(rows));\n        if (all.size() > 9) { break; }", []),
    ],
)
def test_rows_of_jdbc_that_a_walk_adds_to_a_list(sized, body, found):
    source = (
        'class Orders {\n  private static final String ALL = "select id, total from orders";\n\n'
        "  void f(Connection db) throws SQLException {\n"
        "    try (PreparedStatement statement = db.prepareStatement(ALL)) {\n"
        f"      {sized}\n      ResultSet rows = statement.executeQuery();\n"
        f"      while (rows.next()) {{\n        {body}\n      }}\n    }}\n  }}\n}}\n"
    )
    table = {"db/schema.sql": "CREATE TABLE orders (id bigint primary key, total int);"}
    assert [each.line for each in findings_of(RULE, {"src/Orders.java": source, **table})] == found


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (".query(Order.class).list()", [5]),
        (".query(Order::of).optional()", []),
        (".query(Order.class).single()", []),
        (".query(Order.class).stream()", []),
        (".mapTo(Order.class).list()", [5]),
        (".fetch().all()", []),
        (".update()", []),
    ],
)
def test_a_client_of_java_that_takes_its_statement_first(steps, found):
    source = (
        "import org.springframework.jdbc.core.simple.JdbcClient;\n\n"
        "class Orders {\n  List<Order> late() {\n"
        f'    return client.sql("select " + COLUMNS + " from orders where status <> \'paid\'"){steps};\n  }}\n}}\n'
    )
    table = {"db/schema.sql": "CREATE TABLE orders (id bigint primary key, status text);"}
    assert [each.line for each in findings_of(RULE, {"src/Orders.java": source, **table})] == found
    spark = {"src/Orders.java": source.replace("JdbcClient", "SparkSession"), **table}
    assert [each.line for each in findings_of(RULE, spark)] == []


@pytest.mark.parametrize(
    ("added", "found"),
    [
        ("", [5]),
        ('sql += " order by total";', [5]),
        ('sql = sql + " limit 10";', []),
        ('if (id > 0) { sql += " where customer_id = " + id; }', []),
        ("sql = other(sql);", []),
    ],
)
def test_a_statement_that_grows_in_a_variable(added, found):
    source = (
        "class Orders {\n  List<Order> all(long id) {\n"
        f'    String sql = "select id, total from orders";\n    {added}\n'
        "    return jdbc.query(sql, MAPPER);\n  }\n}\n"
    )
    table = {"db/schema.sql": "CREATE TABLE orders (id bigint primary key, total int);"}
    assert [each.line for each in findings_of(RULE, {"src/Orders.java": source, **table})] == found


@pytest.mark.parametrize(("table", "count"), [("outbox", 1), ("sandbox", 0)])
def test_what_waits_to_be_sent_grows(table, count):
    source = (
        "package a\nfunc (s *Store) all(ctx context.Context) ([]Row, error) {\n\tvar rows []Row\n"
        f"\terr := s.db.SelectContext(ctx, &rows, `SELECT id, body FROM {table} ORDER BY id`)\n\treturn rows, err\n}}\n"
    )
    assert len(findings_of(RULE, {"shop/a.go": source})) == count


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT * FROM orders", 1),
        ("SELECT id, total FROM orders ORDER BY id", 1),
        ("SELECT * FROM orders WHERE total > 5", 0),
        ("SELECT * FROM orders LIMIT 50", 0),
        ("SELECT DISTINCT reference FROM orders", 0),
        ("SELECT o.id FROM orders o JOIN lines l ON l.order_id = o.id", 0),
    ],
)
def test_sql_that_gorm_is_given(text, found):
    body = f'\tvar rows []Order\n\tdb.Raw("{text}").Scan(&rows)\n\tshow(rows)'
    assert len(orms.lines(RULE, "gorm", body, {"orders": "XL"})) == found


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        ('await db("parcels")', 1),
        ('await db.select("id").from("parcels").where({ lost: false })', 1),
        ('await db("parcels").where({ id: 5 })', 0),
        ('await db("parcels").where({ weight })', 0),
        ('await db("parcels").first()', 0),
        ('await client.db("parcels")', 0),
    ],
)
def test_chains_of_knex_in_files_that_do_not_name_it(chain, found):
    files = {
        "src/db.js": "import knex from 'knex';\nexport const db = knex(config);\n",
        "src/work.js": (
            "import { db } from './db';\nexport async function f(weight, client) {\n"
            f"  const rows = {chain};\n  await send(rows);\n}}\n"
        ),
        "db/schema.sql": "CREATE TABLE parcels (id bigint primary key, weight int, lost boolean);",
    }
    assert len(findings_of(RULE, files, {"parcels": "XL"})) == found


@pytest.mark.parametrize(("given", "found"), [("5L", 1), ("5L, PageRequest.of(0, 50)", 0)])
def test_a_method_of_a_repository_that_also_takes_a_page(given, found):
    files = {
        **orms.JPA,
        "src/main/java/shop/LineRepository.java": (
            "package shop;\n\npublic interface LineRepository extends JpaRepository<Line, Long> {\n"
            "    Page<Line> findByOrderId(Long orderId, Pageable page);\n"
            "    List<Line> findByOrderId(Long orderId);\n}\n"
        ),
        "src/main/java/shop/Work.java": (
            "package shop;\nclass Work {\n  private final LineRepository lines;\n  void f() {\n"
            f"    send(lines.findByOrderId({given}));\n  }}\n}}\n"
        ),
    }
    assert len(findings_of(RULE, files, {"line": "XL"})) == found


@pytest.mark.parametrize(
    ("head", "volume", "found"),
    [
        ("@app.get('/sums')\n", "XL", ["warning"]),
        ("@app.get('/sums')\n", "M", []),
        ("@shared_task\n", "XL", []),
        ("", "XL", []),
    ],
)
def test_a_stream_of_a_large_table_while_a_request_waits(head, volume, found):
    source = (
        "from celery import shared_task\nfrom flask import Blueprint\napp = Blueprint('x')\n\n"
        f"{head}def sums():\n    return digest(o.total for o in Order.objects.iterator(chunk_size=500))\n"
    )
    assert [each.severity for each in findings(RULE, source, volumes={"Order": volume})] == found


@pytest.mark.parametrize(
    ("column", "size", "found"),
    [("order_id", "XL", ["low"]), ("order_id", "M", []), ("code", "XL", []), ("id", "XL", [])],
)
def test_a_column_that_is_named_after_a_key_of_others(column, size, found):
    files = {
        "db/schema.sql": "CREATE TABLE scans (id bigint primary key, order_id bigint, code text);",
        "a/work.py": (
            f"def f(db, x):\n    return db.execute('SELECT code FROM scans WHERE {column} = %s', (x,)).fetchall()\n"
        ),
    }
    assert [str(each.confidence) for each in findings_of(RULE, files, {"scans": size})] == found


@pytest.mark.parametrize(("table", "found"), [("alarm", 1), ("alarm_kinds", 0)])
def test_alarms_grow_and_their_kinds_do_not(table, found):
    source = f"def f(cursor):\n    cursor.execute('SELECT id, level FROM {table}')\n    return cursor.fetchall()\n"
    assert len(findings_of(RULE, {"mast/watch.py": source})) == found
