import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings

RULE = "perf-over-fetch"


def test_all_columns_of_a_table_with_texts():
    source = "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer WHERE id = %s', [1])"
    (finding,) = findings(RULE, source, volumes={"Customer": "XL"})
    assert finding.message == "`SELECT *` fetches every column of `shop_customer`, among them `note` (3 columns)"
    assert (finding.severity, finding.table) == ("warning", "shop_customer")


def test_narrow_unknown_and_small_tables_and_named_columns_are_fine():
    for text in ("SELECT * FROM wallet", "SELECT * FROM other", "SELECT id FROM shop_customer"):
        assert findings(RULE, f"def f(cursor):\n    cursor.execute('{text}')") == []
    assert (
        findings(RULE, "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer')", volumes={"Customer": "S"})
        == []
    )


def test_the_text_may_stand_in_a_variable_or_in_a_call_that_wraps_it():
    held = "def f(cursor):\n    query = 'SELECT * FROM shop_customer'\n    cursor.execute(query)"
    wrapped = "from sqlalchemy import text\n\ndef f(session):\n    session.execute(text('SELECT * FROM shop_customer'))"
    assert len(findings(RULE, held)) == 1
    assert len(findings(RULE, wrapped)) == 1


def test_rows_that_are_kept_are_needed_whole():
    source = (
        "def f(kinds):\n    rows = list(Order.objects.filter(is_paid=True))\n"
        "    return {kind: [row for row in rows if row.status == kind] for kind in kinds}"
    )
    assert findings(RULE, source, volumes={"Order": "XL"}) == []


@pytest.mark.parametrize(("read", "count"), [("row.status", 1), ("row.customer", 0), ("row.customer.email", 0)])
def test_a_row_behind_a_key_is_no_column(read, count):
    source = f"def f():\n    rows = Order.objects.filter(is_paid=True)\n    for row in rows:\n        show({read})"
    assert len(findings(RULE, source, volumes={"Order": "XL"})) == count


def test_the_rows_of_one_parent_are_few():
    for condition, count in (("customer_id=key", 0), ("is_paid=True", 1)):
        source = (
            f"def f(key):\n    rows = Order.objects.filter({condition})\n    for row in rows:\n        show(row.status)"
        )
        assert len(findings(RULE, source, volumes={"Order": "XL"})) == count


def test_rows_that_a_value_picks_are_few():
    source = "def f(x):\n    rows = Order.objects.filter(status=x)\n    for row in rows:\n        show(row.total)"
    assert findings(RULE, source, volumes={"Order": "XL"}) == []


def test_rows_that_are_only_locked_are_not_read():
    text = "SELECT * FROM shop_customer WHERE id = 1 FOR UPDATE"
    assert findings(RULE, f"def f(cursor):\n    cursor.execute('{text}')") == []


def test_one_row_may_be_fetched_whole():
    assert findings(RULE, "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer LIMIT 1')") == []


def test_a_row_that_a_value_picks_is_a_guess():
    text = "SELECT * FROM shop_customer WHERE id = %s"
    (finding,) = findings(RULE, f"def f(cursor):\n    cursor.execute('{text}', [1])")
    assert finding.confidence == "low"


@pytest.mark.parametrize(("size", "confidence"), [("XL", "medium"), ("M", "low")])
def test_all_columns_of_a_few_rows_may_be_wanted(size, confidence):
    source = "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer')"
    (finding,) = findings(RULE, source, volumes={"Customer": size})
    assert finding.confidence == confidence


@pytest.mark.parametrize(
    ("use", "count"),
    [
        ("for row in Order.objects.all():\n        show(row.status)", 1),
        ("return [(row.status, row.total) for row in Order.objects.all()]", 1),
        ("return [(row.status, row.total, row.reference) for row in Order.objects.all()]", 0),
        ("return [show(row) for row in Order.objects.all()]", 0),
        ("return [row.label() for row in Order.objects.all()]", 0),
        ("rows = list(Order.objects.all())\n    log(len(rows))\n    return [row.status for row in rows]", 1),
        ("rows = list(Order.objects.all())\n    log(rows)\n    return [row.status for row in rows]", 0),
        ("return sum(row.total for row in Order.objects.all())", 0),  # is told as a sum
    ],
)
def test_what_loops_over_the_query_itself_read(use, count):
    assert len(findings(RULE, f"def f():\n    {use}", volumes={"Order": "XL"})) == count


@pytest.mark.parametrize(
    ("orm", "body", "count"),
    [
        ("typeorm", "    const rows = await this.orders.find();\n    return rows.map((row) => row.reference);", 1),
        ("typeorm", "    return (await this.orders.find()).map(({ reference }) => reference);", 0),
        ("typeorm", "    const rows = await this.orders.find();\n    return rows.map((row) => show(row));", 0),
        ("typeorm", "    const rows = await this.orders.find();\n    return rows.filter((row) => row.isPaid);", 0),
        ("mongoose", "  const rows = await Order.find();\n  for (const row of rows) show(row.total);", 1),
        (
            "mongoose",
            "  const rows = await Order.find({}, { total: 1 });\n  for (const row of rows) show(row.total);",
            0,
        ),
        ("mongoose", '  const rows = await Order.find({}, "total");\n  for (const row of rows) show(row.total);', 0),
        ("jpa", "    for (Order row : orders.findAll()) {\n      show(row.getReference());\n    }", 1),
        ("jpa", "    for (Order row : orders.findAll()) {\n      show(row.getCustomer());\n    }", 0),
        ("jpa", "    return orders.findAll().stream().map(Order::getReference).toList();", 1),
        ("jpa", "    return orders.findAll().stream().filter(o -> o.isPaid()).toList();", 0),
        ("gorm", "\tvar rows []Order\n\tdb.Find(&rows)\n\tfor _, row := range rows {\n\t\tshow(row.Reference)\n\t}", 1),
        ("gorm", "\tvar rows []Order\n\tdb.Find(&rows)\n\tfor _, row := range rows {\n\t\tshow(row)\n\t}", 0),
    ],
)
def test_what_loops_and_callbacks_read_of_whole_rows(orm, body, count):
    assert len(orms.findings(RULE, orm, body, volumes={"Order": "XL"})) == count


def test_a_text_may_be_a_template_or_raw_sql_of_an_orm():
    models = {"db/schema.sql": "CREATE TABLE reports (id bigint primary key, body text, scan bytea);"}
    for path, source in (
        ("a.ts", "const rows = await prisma.$queryRaw`SELECT * FROM reports WHERE kind = ${kind}`;"),
        ("a.go", 'package a\nfunc f(db *gorm.DB) {\ndb.Raw("SELECT * FROM reports").Scan(&rows)\n}'),
    ):
        assert len(findings_of(RULE, {path: source, **models})) == 1


def test_a_model_says_more_of_its_columns_than_its_migrations():
    files = {
        "a.ts": "const rows = await prisma.$queryRaw`SELECT * FROM reports`;",
        "prisma/migrations/1/migration.sql": "CREATE TABLE reports (id TEXT NOT NULL, label TEXT NOT NULL);",
    }
    model = 'model Report {\n  id String @id\n  label %s\n  @@map("reports")\n}\n'
    assert findings_of(RULE, {**files, "prisma/schema.prisma": model % "String"}) == []
    assert len(findings_of(RULE, {**files, "prisma/schema.prisma": model % "Json"})) == 1


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ('db.GetContext(ctx, &row, "SELECT * FROM reports WHERE id = $1", id)', 1),
        ('db.SelectContext(ctx, &rows, "SELECT * FROM reports")', 1),
        ('db.SelectContext(ctx, &rows, "SELECT id, body FROM reports")', 0),
        ('db.GetContext(ctx, &n, "SELECT count(*) FROM reports")', 0),
    ],
)
def test_a_text_of_sqlx_stands_behind_a_context_and_what_is_read_into(call, count):
    models = {"db/schema.sql": "CREATE TABLE reports (id bigint primary key, body text, scan bytea);"}
    assert len(findings_of(RULE, {"a.go": f"package a\nfunc f() {{\n{call}\n}}\n", **models})) == count


def test_one_row_of_spring_as_a_map():
    source = (
        "class Reports {\n  String kind(long id) {\n"
        '    Map<String, Object> row = jdbc.queryForMap("select * from reports where id = ?", id);\n'
        '    return String.valueOf(row.get("kind"));\n  }\n}\n'
    )
    table = "CREATE TABLE reports (id bigint primary key, kind varchar(9), body text);"
    assert [each.line for each in findings_of(RULE, {"src/Reports.java": source, "db/a.sql": table})] == [3]


@pytest.mark.parametrize(
    ("path", "body", "found"),
    [
        ("a.py", "def f(db, x):\n    return db.execute('SELECT * FROM reports').fetchone()", 0),
        ("a.py", "def f(db, x):\n    row = db.execute('SELECT * FROM reports').fetchone()\n    return row[0]", 1),
        ("a.py", "def f(db, x):\n    rows = db.execute('SELECT * FROM reports')\n    return rows", 0),
        ("a.ts", "async function f() {\n  const rows = await db.raw('SELECT * FROM reports');\n"
         "  return rows[0].title;\n}", 1),
        ("a.ts", "async function f() {\n  return await db.raw('SELECT * FROM reports');\n}", 0),
        ("a.ts", "async function f() {\n  return (await db.raw('SELECT * FROM reports')).length;\n}", 1),
        ("a.go", 'package a\nfunc f() (R, error) {\n\tvar r R\n\terr := db.Get(&r, "SELECT * FROM reports")\n'
         "\treturn r, err\n}", 0),
        ("a.go", 'package a\nfunc f() (int, error) {\n\tvar r R\n\terr := db.Get(&r, "SELECT * FROM reports")\n'
         "\treturn r.ID, err\n}", 1),
    ],
)  # fmt: skip
def test_rows_that_are_given_back_may_be_needed_whole(path, body, found):
    files = {"db/schema.sql": "CREATE TABLE reports (id int, title text, body text);", path: body}
    assert len(findings_of(RULE, files)) == found
