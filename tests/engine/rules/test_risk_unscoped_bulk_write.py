import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import DJANGO_MODELS, findings, lines

RULE = "risk-unscoped-bulk-write"

FLAGGED = [
    ("shop/work.py", "async def f():\n    await Order.objects.all().adelete()"),
    ("shop/work.py", "def f():\n    Order.objects.all().delete()"),
    ("shop/work.py", "def f():\n    Order.objects.update(is_paid=True)"),
    ("shop/work.py", "def f(cursor):\n    cursor.execute('DELETE FROM shop_order')"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.deleteMany();"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.deleteMany({ where: {} });"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.updateMany({ data: { status: 'x' } });"),
]
FINE = [
    ("shop/work.py", "def f(pk):\n    Order.objects.filter(pk=pk).delete()"),
    ("shop/work.py", "def f(wanted):\n    Order.objects.filter(**wanted).delete()"),
    ("shop/work.py", "def f(rows):\n    rows.delete()"),
    ("shop/work.py", "def f():\n    order = Order.objects.get(pk=1)\n    order.delete()"),
    ("shop/work.py", "def f(cursor):\n    cursor.execute('DELETE FROM shop_order WHERE id = 1')"),
    ("shop/work.py", "def f(cursor):\n    cursor.execute('DELETE FROM tmp_order')"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.deleteMany({ where: { id: { in: ids } } });"),
    ("shop/work.ts", "const f = async (where) =>\n  prisma.order.deleteMany({ where });"),
    ("shop/management/commands/cleardb.py", "def f():\n    Order.objects.all().delete()"),
    ("tests/test_work.py", "def f():\n    Order.objects.all().delete()"),
]


@pytest.mark.parametrize(("path", "source"), FLAGGED)
def test_a_write_without_a_condition_is_found(path, source):
    assert lines(RULE, source, path) == [2]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_a_write_with_one_is_fine(path, source):
    assert lines(RULE, source, path) == []


def test_the_severity_follows_the_volume():
    (finding,) = findings(RULE, "Order.objects.all().delete()", volumes={"shop_order": "XL"})
    assert finding.message == "Every row of `Order` is deleted in one statement (table `shop_order`, XL)"
    assert finding.severity == "critical"


def test_a_function_that_says_all_means_all():
    assert lines(RULE, "def delete_all():\n    Order.objects.all().delete()") == []
    for name in ("destroyAll", "invalidate_orders"):
        assert lines(RULE, f"def {name}():\n    Order.objects.all().delete()") == []
    for name in ("cleanup_orders", "clean_orders", "resetOrders"):
        assert lines(RULE, f"def {name}():\n    Order.objects.all().delete()") == [2]
    assert lines(RULE, "def delete_all():\n    Order.objects.all().delete()", volumes={"shop_order": "XL"}) == [2]


@pytest.mark.parametrize(
    ("orm", "body"),
    [
        ("typeorm", "await this.orders.delete({});"),
        ("typeorm", "await this.orders.update({}, { total: 1 });"),
        ("typeorm", "await this.orders.createQueryBuilder().delete().execute();"),
        ("typeorm", "await this.orders.createQueryBuilder().update().set({ total: 1 }).execute();"),
        ("sequelize", "await Order.destroy({ where: {} });"),
        ("sequelize", "await Order.update({ total: 1 }, { where: {} });"),
        ("mongoose", "await Order.deleteMany({});"),
        ("mongoose", "await Order.deleteMany();"),
        ("mongoose", "await Order.updateMany({}, { total: 1 });"),
        ("gorm", '	db.Where("1 = 1").Delete(&Order{})'),
        ("bun", '	db.NewDelete().Model((*Order)(nil)).Where("1 = 1").Exec(ctx)'),
        ("gorm", '	db.Session(&gorm.Session{AllowGlobalUpdate: true}).Model(&Order{}).Update("total", 1)'),
        ("jpa", "orders.deleteAll();"),
        ("jpa", "orders.deleteAllInBatch();"),
        ("jpa", 'em.createQuery("delete from Order").executeUpdate();'),
        ("jpa", 'em.createQuery("update Order o set o.total = 1").executeUpdate();'),
    ],
)
def test_the_words_of_every_orm(orm, body):
    assert orms.lines(RULE, orm, body) == [1]


@pytest.mark.parametrize(
    ("orm", "body"),
    [
        ("typeorm", "await this.orders.delete({ id: x });"),
        ("typeorm", "await this.orders.delete(x);"),
        ("typeorm", "await this.orders.createQueryBuilder().update().set({ total: 1 }).where(x).execute();"),
        ("sequelize", "await Order.destroy({ where: { id: x } });"),
        ("sequelize", "await Order.destroy({ where: x });"),
        ("mongoose", "await Order.updateMany({ reference: x }, { total: 1 });"),
        ("mongoose", "await Order.deleteMany(x);"),
        ("gorm", '	db.Model(&Order{}).Where("id = ?", x).Update("total", 1)'),
        ("gorm", "	db.Delete(&Order{}, ids)"),
        ("bun", '	db.NewDelete().Model((*Order)(nil)).Where("id = ?", x).Exec(ctx)'),
        ("bun", '	db.NewDelete().Model((*Order)(nil)).Where("?", x).Exec(ctx)'),
        ("jpa", "orders.deleteAll(ids);"),
        ("jpa", 'em.createQuery("delete from Order o where o.id = :id").setParameter("id", x).executeUpdate();'),
    ],
)
def test_conditions_of_every_orm(orm, body):
    assert orms.lines(RULE, orm, body) == []


def test_who_rebuilds_means_every_row():
    source = "def rebuild_index():\n    Order.objects.all().update(is_paid=True)"
    assert lines(RULE, source) == []
    assert lines(RULE, source, volumes={"shop_order": "XL"}) == [2]
    assert lines(RULE, source.replace("rebuild_index", "pay")) == [2]


@pytest.mark.parametrize(
    ("condition", "size", "messages"),
    [
        ("is_paid=True", "XL", ["Every row with the given `is_paid` of `Order` is deleted"]),
        ("total__lt=limit", "XL", ["Every row with the given `total` of `Order` is deleted"]),
        ("is_paid=True", "M", []),
        ("customer=customer, is_paid=True", "XL", []),
        ("pk=key", "XL", []),
    ],
)
def test_on_a_large_table_a_condition_may_leave_too_many_rows(condition, size, messages):
    source = f"def f(limit, customer, key):\n    Order.objects.filter({condition}).delete()"
    found = findings(RULE, source, volumes={"shop_order": size})
    assert [finding.message.partition(" in one")[0] for finding in found] == messages


@pytest.mark.parametrize(
    ("statement", "found"),
    [("delete(User)", 1), ("update(User).values(x=1)", 1), ("delete(User).where(User.x == 1)", 0)],
)
def test_statements_of_sqlalchemy(statement, found):
    source = (
        "from sqlalchemy import delete, update\nclass User(Base):\n    __tablename__ = 'users'\n"
        f"    id = mapped_column(Integer, primary_key=True)\ndef f(session):\n    session.execute({statement})"
    )
    assert len(findings(RULE, source)) == found


def test_a_key_that_is_written_out_names_one_row():
    source = "def f():\n    Order.objects.filter(pk=3).delete()"
    assert findings(RULE, source, volumes={"shop_order": "XL"}) == []


def test_the_policy_may_size_a_table_that_only_sql_names():
    source = "def purge(cursor):\n    cursor.execute('DELETE FROM visits')"
    (finding,) = findings(RULE, source, volumes={"visits": "XXL"})
    assert (finding.table, finding.volume, finding.severity) == ("visits", "XXL", "critical")


def test_the_query_of_a_class_of_flask_sqlalchemy():
    source = "def leave():\n    {}.delete()"
    assert len(findings(RULE, "import sqlalchemy\n" + source.format("Order.query"))) == 1
    assert findings(RULE, "import sqlalchemy\n" + source.format("Order.query.filter_by(id=1)")) == []


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("update User u set u.active = false", 1),
        ("delete from User", 1),
        ("update User u set u.active = false where u.id = :id", 0),
        ("delete from User u where u.name like concat(:start, '%')", 0),
        ("select u from User u", 0),
    ],
)
def test_a_query_that_a_repository_declares(query, count):
    entity = "import jakarta.persistence.*;\n@Entity\nclass User {\n@Id\nprivate Long id;\nprivate boolean active;\n}"
    head = "interface UserRepository extends JpaRepository<User, Long> {\n@Modifying\n"
    declared = f'{head}@Query("{query}")\nvoid expire();\n}}'
    caller = "class Work {\nprivate final UserRepository users;\nvoid f() { users.expire(); }\n}"
    files = {"src/User.java": entity, "src/Users.java": declared}
    assert [(each.file, each.line) for each in findings_of(RULE, files)] == [("src/Users.java", 4)] * count
    called = findings_of(RULE, files | {"src/Work.java": caller})
    assert [(each.file, each.line) for each in called] == [("src/Work.java", 3)] * count


@pytest.mark.parametrize(("body", "confidence"), [("all().delete()", "low"), ("update(is_paid=True)", "low")])
def test_emptying_a_table_may_be_what_is_wanted(body, confidence):
    source = f"def expire():\n    Order.objects.{body}\n"
    assert [each.confidence for each in findings(RULE, source)] == [confidence]
    assert [each.confidence for each in findings(RULE, source, volumes={"shop_order": "XL"})] == ["high"]


@pytest.mark.parametrize(
    ("path", "route", "count"),
    [
        ("src/a.js", "/all", 0),
        ("src/a.js", "/orders/all", 0),
        ("src/a.js", "/wall", 1),
        ("src/integTest/a.js", "/x", 0),
    ],
)
def test_a_route_that_says_all_and_tests_by_other_names(path, route, count):
    source = (
        "import mongoose from 'mongoose';\nconst Order = mongoose.model('Order', new mongoose.Schema({ a: String }));\n"
        f"const router = express.Router();\nrouter.delete('{route}', async (req, res) => {{\n"
        "  await Order.deleteMany({});\n});\n"
    )
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize("name", ["migrate_from_4", "check_schema", "load_test_data", "dbcheck", "release_locks"])
def test_who_changes_the_tables_means_every_row(name):
    source = "def {}():\n    Order.objects.update(is_paid=True)"
    assert lines(RULE, source.format(name)) == []
    assert lines(RULE, source.format("pay")) == [2]


def test_a_table_that_is_filled_anew_or_holds_settings_is_emptied_on_purpose():
    source = "def {}(rows):\n    Order.objects.all().delete()\n{}"
    filled = "    Order.objects.bulk_create(rows)\n"
    assert lines(RULE, source.format("take", "")) == [2]
    assert lines(RULE, source.format("take", filled)) == []
    assert lines(RULE, source.format("take", filled), volumes={"shop_order": "XL"}) == [2]
    assert lines(RULE, source.format("save_mail_settings", "")) == []


@pytest.mark.parametrize(("table", "count"), [("alembic_version", 0), ("schema_migrations", 0), ("app_version", 1)])
def test_the_row_that_holds_the_version_of_the_schema(table, count):
    source = f"def f(cursor):\n    cursor.execute('UPDATE {table} SET number = 2')"
    assert len(lines(RULE, source)) == count


def test_all_rows_of_a_table_that_nobody_calls_large_are_a_guess():
    source = "def f():\n    Order.objects.update(is_paid=True)"
    assert [each.confidence for each in findings(RULE, source)] == ["low"]
    assert [each.confidence for each in findings(RULE, source, volumes={"shop_order": "XL"})] == ["high"]


@pytest.mark.parametrize(("name", "count"), [("rate_all_orders", 0), ("rate_orders", 1)])
def test_a_name_with_all_in_it_means_all(name, count):
    assert len(lines(RULE, f"def {name}():\n    Order.objects.update(is_paid=True)")) == count


@pytest.mark.parametrize(("given", "count"), [(", rows", 0), ("", 1)])
def test_rows_that_are_given_with_their_keys(given, count):
    source = (
        "from sqlalchemy import update\nclass User(Base):\n    __tablename__ = 'users'\n"
        f"    id = mapped_column(Integer, primary_key=True)\ndef f(session, rows):\n"
        f"    session.execute(update(User){given})"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("path", "count"), [("shop/upgrades/v7_v8.py", 0), ("shop/steps/v7_v8.py", 1)])
def test_a_step_of_an_upgrade_means_every_row(path, count):
    assert len(lines(RULE, "def f():\n    Order.objects.update(is_paid=True)", path)) == count


@pytest.mark.parametrize(("more", "count"), [("", 1), ("    Line.objects.all().delete()\n", 0)])
def test_who_empties_several_tables_means_it(more, count):
    assert len(lines(RULE, f"def f():\n    Order.objects.all().delete()\n{more}")) == count


def test_between_two_keys_stand_the_rows_of_a_batch():
    source = "def f(a, b):\n    Order.objects.filter(total__gte=a, total__lt=b).delete()"
    assert findings(RULE, source, volumes={"shop_order": "XL"}) == []
    assert len(findings(RULE, source.replace("total__gte=a, ", ""), volumes={"shop_order": "XL"})) == 1


@pytest.mark.parametrize(
    ("more", "count"),
    [("", 1), ("    wanted = wanted.where(User.x == 1)\n", 0), ("    print(1)\n", 1)],
)
def test_a_statement_that_a_variable_holds(more, count):
    source = (
        "from sqlalchemy import update\nclass User(Base):\n    __tablename__ = 'users'\n"
        f"    id = mapped_column(Integer, primary_key=True)\ndef f(session):\n"
        f"    wanted = update(User).values(x=2)\n{more}    session.execute(wanted)"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("condition", "count"), [("at < %s", 1), ("at < %s AND at > %s", 0), ("id = %s", 0)])
def test_a_span_of_a_large_table_in_sql(condition, count):
    source = f"def f(cursor, day):\n    cursor.execute('DELETE FROM visits WHERE {condition}', day)"
    assert len(findings(RULE, source, volumes={"visits": "XL"})) == count
    assert findings(RULE, source) == []


TABLES = "CREATE TABLE visits (id BIGINT PRIMARY KEY, at DATE, open BOOLEAN);\n"


@pytest.mark.parametrize(
    ("script", "lines"),
    [
        ("BEGIN;\nUPDATE visits SET open = false;\nCOMMIT;\n", [2]),
        ("-- all of them\nDELETE FROM public.visits;\n", [2]),
        ("UPDATE visits\nSET open = false\nWHERE id = 3;\nDELETE FROM visits;\n", [4]),
        ("DELETE FROM other;\n", []),
        ("DELETE FROM visits WHERE at < now() - interval '1 year';\n", []),
        ("DELETE FROM visits USING old WHERE old.id = visits.id;\n", []),
        ("UPDATE visits SET open = old.open FROM old;\n", []),
        ("DELETE FROM visits LIMIT 500;\n", []),
        ("UPDATE tmp_visits SET open = false;\n", []),
        ("/* UPDATE visits SET open = false; */\nSELECT 'UPDATE x; DELETE FROM visits;';\n", []),
        ("CREATE FUNCTION f() AS $$\nDELETE FROM visits;\n$$;\n", []),
        ("DELETE FROM visits;\nINSERT INTO visits VALUES (1);\n", []),
    ],
)
def test_statements_of_a_script(script, lines):
    found = findings_of(RULE, {"db/tables.sql": TABLES, "db/jobs/night.sql": script})
    assert [each.line for each in found] == lines
    assert {each.confidence for each in found} <= {"low"}


@pytest.mark.parametrize(
    ("condition", "count"), [("at < now()", 1), ("open = true", 1), ("id = 3", 0), ("at > now() AND at < now()", 0)]
)
def test_a_script_that_changes_a_good_part_of_a_large_table(condition, count):
    files = {"db/tables.sql": TABLES, "db/jobs/night.sql": f"DELETE FROM visits WHERE {condition};\n"}
    found = findings_of(RULE, files, volumes={"visits": "XL"})
    assert [(each.confidence, each.table, each.volume, each.severity) for each in found] == [
        ("high", "visits", "XL", "critical")
    ] * count


@pytest.mark.parametrize(
    "path", ["db/migrations/a.sql", "db/V2__open.sql", "db/schema.sql", "sql/scrub_visits.sql", "seeds/visits.sql"]
)
def test_scripts_that_set_up_or_tear_down(path):
    assert findings_of(RULE, {"db/tables.sql": TABLES, path: "UPDATE visits SET open = false;\n"}) == []


def test_a_span_of_a_large_table_that_a_repository_declares():
    entity = "import jakarta.persistence.*;\n@Entity\nclass Visit {\n@Id\nprivate Long id;\nprivate Instant at;\n}"
    head = "interface VisitRepository extends JpaRepository<Visit, Long> {\n@Modifying\n"
    declared = f'{head}@Query("delete from Visit v where v.at < :day")\nint forget(Instant day);\n}}'
    caller = "class Work {\nprivate final VisitRepository visits;\nvoid f() { visits.forget(day()); }\n}"
    files = {"src/Visit.java": entity, "src/Visits.java": declared}
    assert [each.line for each in findings_of(RULE, files, volumes={"Visit": "XL"})] == [4]
    files["src/Work.java"] = caller
    assert [each.file for each in findings_of(RULE, files, volumes={"Visit": "XL"})] == ["src/Work.java"]
    assert findings_of(RULE, files) == []


@pytest.mark.parametrize(
    ("condition", "count"), [("code = '\" + code + \"'", 0), ("at < '\" + day + \"'", 1), ("is_open = 'no'", 1)]
)
def test_a_value_that_is_put_into_quotes_is_no_constant(condition, count):
    source = f'def f(cursor, code, day):\n    cursor.execute("DELETE FROM visits WHERE {condition}")'
    assert len(findings(RULE, source, volumes={"visits": "XL"})) == count


MIGRATION = """from django.db import migrations


def clear(apps, schema_editor):
    {}


class Migration(migrations.Migration):
    operations = [migrations.RunPython(clear)]
"""


@pytest.mark.parametrize(
    ("statement", "size", "count"),
    [
        ('apps.get_model("shop", "Order").objects.all().delete()', "XXL", 1),
        ('apps.get_model("shop.Order").objects.update(is_paid=False)', "XL", 1),
        ('Order = apps.get_model("shop", "Order")\n    Order.objects.all().delete()', "XL", 1),
        ('apps.get_model("shop", "Order").objects.filter(pk=7).delete()', "XXL", 0),
        ('apps.get_model("shop", "Order").objects.all().delete()', "M", 0),  # merged long ago, and soon done
    ],
)
def test_all_rows_of_a_large_table_in_a_migration(statement, size, count):
    path = "shop/migrations/0002_clear.py"
    files = {"shop/models.py": DJANGO_MODELS, path: MIGRATION.format(statement)}
    assert [each.file for each in findings_of(RULE, files, {"shop_order": size})] == [path] * count


@pytest.mark.parametrize(("size", "count"), [("XXL", 1), ("M", 0)])
def test_a_script_of_a_migration_that_empties_a_large_table(size, count):
    files = {"migrations/0003_reset.sql": "ALTER TABLE scans ADD COLUMN lane TEXT;\n\nDELETE FROM scans;\n"}
    assert [each.line for each in findings_of(RULE, files, {"scans": size})] == [3] * count


def test_a_function_that_empties_a_table_by_its_name():
    empties = "def truncate_orders():\n    Order.objects.all().delete()"
    assert findings(RULE, empties) == []
    assert len(findings(RULE, empties, volumes={"shop_order": "XL"})) == 1


def test_a_method_that_another_repository_declares_by_that_name():
    entity = "import jakarta.persistence.*;\n@Entity\nclass {} {{\n@Id\nprivate Long id;\n}}"
    declared = (
        "interface UserRepository extends JpaRepository<User, Long> {\n@Modifying\n"
        '@Query("delete from User")\nvoid delete();\n}'
    )
    plain = "interface RuleRepository extends JpaRepository<Rule, Long> {}"
    caller = "class Work {\nprivate final RuleRepository rules;\nvoid f(Rule old) { rules.delete(old); }\n}"
    files = {"src/User.java": entity.format("User"), "src/Rule.java": entity.format("Rule")}
    files |= {"src/Users.java": declared, "src/Rules.java": plain, "src/Work.java": caller}
    assert [each.file for each in findings_of(RULE, files)] == ["src/Users.java"]


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("await db.delete(lines);", 1),
        ("await db.update(lines).set({ amount: x });", 1),
        ("await db.delete(lines).where(x);", 0),
        ("await db.delete(lines).where(eq(lines.id, x));", 0),
        ("await db.delete(lines).limit(100);", 0),
    ],
)
def test_statements_of_drizzle(statement, count):
    assert len(orms.lines(RULE, "drizzle", statement, volumes={"lines": "XL"})) == count


def test_a_statement_in_small_letters_that_a_constant_holds():
    source = (
        'class A {\n  private static final String CLEAR = "update stock set quantity = 0";\n'
        "  void f(Statement statement) throws SQLException {\n    statement.executeUpdate(CLEAR);\n  }\n}\n"
    )
    table = {"db/a.sql": "CREATE TABLE stock (id bigint primary key, quantity int);"}
    assert [each.line for each in findings_of(RULE, {"src/A.java": source, **table}, {"stock": "XL"})] == [4]


@pytest.mark.parametrize(
    ("table", "count"),
    [("attempts", 1), ("contempts", 1), ("tmp_attempts", 0), ("order_temp", 0), ("temp_orders", 0), ("tmporders", 0)],
)
def test_a_table_for_scratch_by_a_whole_word_of_its_name(table, count):
    source = (
        'package a\nimport "database/sql"\nfunc retire(db *sql.DB) error {\n'
        f"\t_, err := db.Exec(`UPDATE {table} SET open = false`)\n\treturn err\n}}\n"
    )
    assert len(findings_of(RULE, {"shop/a.go": source})) == count


@pytest.mark.parametrize(("option", "count"), [("AllowGlobalUpdate: true", 1), ("DryRun: true", 0)])
def test_a_session_of_gorm_that_a_variable_holds(option, count):
    body = f'	all := db.Session(&gorm.Session{{{option}}})\n	all.Model(&Order{{}}).Update("total", 1)'
    assert orms.lines(RULE, "gorm", body) == [2] * count


@pytest.mark.parametrize(
    ("condition", "confidences"),
    [
        ("status=which", ["medium"]),
        ("status='open'", ["high"]),
        ("status=which, customer=which", []),
        ("customer=which", []),
    ],
)
def test_each_value_of_a_flag_is_that_of_many_rows(condition, confidences):
    source = f"def clear(which):\n    Order.objects.filter({condition}).delete()"
    found = findings(RULE, source, volumes={"shop_order": "XL"})
    assert [each.confidence for each in found] == confidences
    assert findings(RULE, source) == []
