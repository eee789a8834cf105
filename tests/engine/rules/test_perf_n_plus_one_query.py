import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-n-plus-one-query"

FLAGGED = [
    ("shop/work.py", "def f(orders):\n    for order in orders:\n        Region.objects.get(code=order.code)", 3),
    ("shop/work.py", "def f(orders):\n    return [Line.objects.filter(order=o).count() for o in orders]", 2),
    ("shop/work.py", "def f():\n    for o in Order.objects.all():\n        list(Line.objects.filter(order=o))", 3),
    (
        "shop/work.py",
        "def f(orders):\n    for o in orders.iterator(chunk_size=9):\n        Line.objects.filter(order=o).last()",
        3,
    ),
    (
        "shop/work.ts",
        "async function f(ids) {\n  for (const id of ids) {\n    await prisma.order.findUnique({ where: { id } });\n}}",
        3,
    ),
    (
        "shop/work.ts",
        "const f = (folders) => Promise.all(folders.map(async (folder) => {\n"
        "  return prisma.line.count({ where: { orderId: folder.id } });\n}));",
        2,
    ),
    (
        "shop/work.ts",
        "const f = (folders) => Promise.all(folders.map(async (folder) => {\n  const { id } = folder;\n"
        "  const lines = await prisma.line.findMany({ where: { orderId: id } });\n  return { id, lines };\n}));",
        3,
    ),
    (
        "shop/work.ts",
        "async function f(folders) {\n  for (const folder of folders) {\n    const where = {\n"
        "      orderId: folder.id,\n    };\n    use(await prisma.line.findMany({ where }));\n}}",
        6,
    ),
    ("shop/work.py", "def f(names):\n    return list(map(lambda name: Order.objects.get(reference=name), names))", 2),
    ("shop/work.py", "def f(orders):\n    return {o.pk: Region.objects.get(code=o.code).name for o in orders}", 2),
    (
        "shop/work.py",
        "def f(orders):\n    for o in orders:\n        code = Line.objects.filter(order=o).first().code",
        3,
    ),
]
FINE = [
    ("shop/work.py", "def f(o):\n    Region.objects.get(code=o.code)"),
    ("shop/work.py", "def f(orders):\n    for order in orders:\n        qs = Line.objects.filter(order=order)"),
    ("shop/work.py", "def f():\n    for code in ('a', 'b'):\n        Region.objects.get(code=code)"),
    ("shop/work.py", "def f(ids):\n    for batch in batches(ids):\n        list(Line.objects.filter(pk__in=batch))"),
    ("shop/work.py", "def f(ids):\n    for i in range(0, 9000, 500):\n        list(Line.objects.filter(pk__gt=i))"),
    (
        "shop/work.py",
        "def f(orders):\n    seen = {}\n    for order in orders:\n        if order.code not in seen:\n"
        "            seen[order.code] = Region.objects.get(code=order.code)",
    ),
    ("shop/work.py", "def f(keys):\n    rows = Line.objects.in_bulk(keys)\n    return [rows.get(key) for key in keys]"),
    ("shop/work.py", "def f(pk):\n    for attempt in range(90):\n        Line.objects.get(pk=pk)"),
    (
        "shop/work.py",
        "def f(rows):\n    for row in rows:\n        Wallet.objects.select_for_update().get(pk=row.wallet_id)",
    ),
    (
        "shop/work.py",
        "def f(rows):\n    for row in rows:\n        if row.ok:\n            return Order.objects.get(code=row.code)",
    ),
    ("db/seedOrders.ts", "for (const { id } of rows) {\n  await prisma.order.findUnique({ where: { id } });\n}"),
    ("shop/work.ts", "for (const id of [1, 2, 3]) {\n  await prisma.order.findUnique({ where: { id } });\n}"),
    (
        "shop/work.ts",
        "const f = async (ids) => prisma.order.findMany({ where: { id: { in: ids.map((id) => Number(id)) } } });",
    ),
    ("shop/work.ts", "while (cursor) {\n  row = await prisma.order.findUnique({ where: { id: cursor } });\n}"),
    ("tests/test_work.py", "def f(orders):\n    for order in orders:\n        Region.objects.get(code=order.code)"),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_a_query_that_runs_for_every_round_is_found(path, source, line):
    assert lines(RULE, source, path) == [line]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_one_query_for_all_or_for_a_few_is_fine(path, source):
    assert lines(RULE, source, path) == []


def test_the_finding_names_loop_table_and_volume_and_takes_the_larger_volume_for_its_severity():
    (finding,) = findings(
        RULE,
        "def f():\n    for o in Order.objects.all():\n        Region.objects.get(code=o.code)",
        volumes={"shop_order": "XL", "shop_region": "S"},
    )

    assert finding.message == (
        "`Region` is queried once per `o` of the loop over `Order.objects.all()` (line 4) (table `shop_region`, S)"
    )
    assert (finding.table, finding.volume, finding.severity, finding.confidence) == (
        "shop_region", "S", "critical", "high",
    )  # fmt: skip
    assert "`Region` rows" in finding.suggestion


def test_a_call_of_a_function_that_queries_is_found_one_level_deep():
    source = (
        "def region_of(order):\n    return Region.objects.get(code=order.code)\n\n"
        "def f(orders):\n    for order in orders:\n        region_of(order)\n"
    )
    (finding,) = findings(RULE, source)
    assert (finding.line, finding.confidence, finding.severity) == (8, "medium", "warning")
    assert finding.message.startswith("`region_of` queries `Region` (line 4) once per `order`")


def test_a_function_of_another_file_counts_only_when_it_is_surely_meant():
    others = {
        "shop/regions.py": "from shop.models import Region\ndef load(code):\n    return Region.objects.get(code=code)\n"
    }
    imported = "from shop.regions import load\ndef f(orders):\n    for order in orders:\n        load(order.code)"
    other = "from shop import regions\ndef f(orders):\n    for order in orders:\n        json.load(order.code)"
    assert lines(RULE, imported, others=others) == [4]
    assert lines(RULE, other, others=others) == []


def test_a_service_is_meant_by_the_property_that_is_named_after_it():
    others = {
        "shop/customer.service.ts": "import { PrismaService } from './prisma.service';\n"
        "export class CustomerService {\n  async load(name) {\n    const where = { name };\n"
        "    return this.prisma.customer.findMany({ where });\n  }\n}\n"
    }
    source = (
        "import { CustomerService } from './customer.service';\nexport class Orders {\n"
        "  constructor(private readonly customerService: CustomerService) {}\n  async all(names) {\n"
        "    for (const name of names) {\n      await this.customerService.load(name);\n    }\n  }\n}\n"
    )
    assert lines(RULE, source, "shop/orders.ts", others=others) == [6]


def test_a_function_that_asks_only_for_what_was_not_given_is_fine():
    source = (
        "def region_of(order, given):\n    return given or Region.objects.get(code=order.code)\n\n"
        "def f(orders, given):\n    for order in orders:\n        region_of(order, given)\n"
    )
    assert lines(RULE, source) == []


@pytest.mark.parametrize(
    ("path", "severity"),
    [("shop/cli.py", "info"), ("shop/cli/work.py", "info"), ("shop/client.py", "warning")],
)
def test_what_somebody_types_is_one_step_milder(path, severity):
    source = "def f(ids):\n    for pk in ids:\n        print(Customer.objects.get(pk=pk))"
    (finding,) = findings(RULE, source, path)
    assert finding.severity == severity


def test_a_command_is_one_step_milder():
    source = "def f(orders):\n    for order in orders:\n        Region.objects.get(code=order.code)"
    (finding,) = findings(RULE, source, "shop/management/commands/work.py")
    assert finding.severity == "info"


STATEMENTS = """
from sqlalchemy import select
class User(Base):
    __tablename__ = "users"
    id = mapped_column(Integer, primary_key=True)
    name = mapped_column(String)
"""


@pytest.mark.parametrize(
    "body",
    [
        "stmt = select(User).where(User.name == name)\n        await db.execute(stmt)",
        "stmt = select(User)\n        stmt = stmt.where(\n  User.name == name\n        )\n        db.scalars(stmt)",
        "query = db.query(User).filter(User.name == name)\n        query.first()",
        "db.get(User, name)",
        "use((await s.execute(select(User).where(User.name == name))).scalar_one())",
    ],
)
def test_statements_of_sqlalchemy_run_where_a_session_gets_them(body):
    source = f"{STATEMENTS}async def f(db, s, names):\n    for name in names:\n        {body}"
    assert lines(RULE, source) == [9 + body.count("\n")]


def test_a_method_of_the_same_type_is_meant_in_go():
    source = """package shop
import "gorm.io/gorm"
type Order struct {
	gorm.Model
}
func (s *Store) orders(id uint) (found []Order) {
	s.db.Where("customer_id = ?", id).Find(&found)
	return
}
func (s *Store) Export(ids []uint) {
	for _, id := range ids {
		s.orders(id)
	}
}
"""
    assert [finding.line for finding in findings_of(RULE, {"shop/store.go": source})] == [12]


def test_an_object_may_be_called_after_a_word_of_its_class():
    files = {
        "shop/models.py": "from django.db import models\n\nclass Order(models.Model):\n    code = models.CharField()\n",
        "shop/repositories.py": (
            "from shop.models import Order\n\nclass OrderRepository:\n    def with_code(self, code):\n"
            "        return Order.objects.get(code=code)\n"
        ),
        "shop/work.py": (
            "from shop.repositories import OrderRepository\n\ndef load(codes):\n    repo = OrderRepository()\n"
            "    return [repo.with_code(code) for code in codes]\n"
        ),
    }
    assert [(each.file, each.line) for each in findings_of(RULE, files)] == [("shop/work.py", 5)]


SQL = {
    "a.py": (
        'ONE = "SELECT name FROM users WHERE id = %s"\n\ndef f(cursor, ids):\n    for pk in ids:\n'
        "        cursor.execute(ONE, (pk,))\n        use(cursor.fetchone())\n"
    ),
    "a.go": (
        "package a\n\nfunc (r *Raw) Names(ids []int) {\n\tfor _, id := range ids {\n\t\tvar s string\n"
        "\t\tr.db.QueryRow(one, id).Scan(&s)\n\t}\n}\n\nconst one = `SELECT name FROM users WHERE id = $1`\n"
    ),
    "A.java": (
        'class A {\n  static final String ONE = "SELECT name FROM users WHERE id = ?";\n'
        "  void f(Connection c, List<Long> ids) {\n    for (Long id : ids) {\n"
        "      PreparedStatement ps = c.prepareStatement(ONE);\nps.setLong(1, id);\n      use(ps.executeQuery());\n"
        "    }\n  }\n}\n"
    ),
}


@pytest.mark.parametrize(("path", "line"), [("a.py", 5), ("a.go", 6), ("A.java", 7)])
def test_sql_that_a_constant_holds(path, line):
    assert [each.line for each in findings_of(RULE, {path: SQL[path]})] == [line]


def test_a_name_that_is_given_two_texts_may_hold_either():
    assert findings_of(RULE, {"a.py": SQL["a.py"] + '\nONE = "SELECT 1"\n'}) == []


def test_a_text_that_is_put_together_is_not_known():
    source = (
        "package a\n\nfunc f(db *sql.DB, id int) {\n\tq := `DELETE FROM users WHERE ` + where\n\tdb.Exec(q, id)\n}\n"
    )
    assert findings_of("risk-unscoped-bulk-write", {"a.go": source}) == []


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("ids", [4]),
        ("Kind.values()", []),
        ("Arrays.asList(Shop.Kind.values())", []),
        ("kinds.values()", [4]),
        ("Kind.choices", []),
        ("bus.listen(topic)", []),
        ("EnumSet.allOf(Kind.class)", []),
    ],
)
def test_an_enumeration_has_few_values(rows, found):
    source = (
        'class A {\n  static final String ONE = "SELECT name FROM users WHERE id = ?";\n'
        f"  void f(JdbcTemplate db) {{ for (Long id : {rows}) {{\n"
        "      use(db.queryForObject(ONE, String.class, id));\n"
        "    }\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"A.java": source})] == found


@pytest.mark.parametrize(
    ("table", "found"),
    [("db.Table(name).Find(&rows)", []), ('db.Table("lines").Where("id = ?", name).Find(&rows)', [6])],
)
def test_each_round_may_ask_another_table(table, found):
    source = (
        'package a\n\nimport "gorm.io/gorm"\n\nfunc f(db *gorm.DB, names []string) {\n\tfor _, name := range names {'
        f" var rows []map[string]any; {table} }}\n}}\n"
    )
    assert [each.line for each in findings_of(RULE, {"a.go": source})] == found


@pytest.mark.parametrize(("lock", "count"), [("", 1), (".select_for_update()", 0)])
def test_a_function_that_locks_the_row_it_is_given(lock, count):
    source = (
        f"def close(pk):\n    row = Order.objects{lock}.get(pk=pk)\n    row.close()\n\n"
        "def f(pks):\n    for pk in pks:\n        close(pk)\n"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(
    ("ending", "severity"),
    [
        ("", "warning"),
        ("\nif __name__ == '__main__':\n    f([])\n", "info"),
        ("\n@app.get('/x')\ndef show():\n    f([])\n\nif __name__ == '__main__':\n    app.run()\n", "warning"),
    ],
)
def test_a_script_is_one_step_milder_and_a_server_is_none(ending, severity):
    source = "def f(ids):\n    for pk in ids:\n        print(Customer.objects.get(pk=pk))\n"
    (finding,) = findings(RULE, source + ending)
    assert finding.severity == severity


@pytest.mark.parametrize(("clause", "found"), [("or_(*keys_of(each))", 0), ("Parcel.code == each.code", 1)])
def test_a_list_of_conditions_asks_for_many_keys(clause, found):
    source = (
        "from sqlalchemy import select, or_\nclass Parcel(Base):\n    __tablename__ = 'parcels'\n"
        "    id = mapped_column(Integer, primary_key=True)\n    code = mapped_column(String)\n"
        "def f(session, storages):\n    for each in storages:\n"
        f"        show(session.execute(select(Parcel).where({clause})).scalars().all())\n"
    )
    assert len(findings(RULE, source)) == found


REPOSITORY = """import { Feed } from "./feed.schema";

export class FeedRepository extends BaseRepository<FeedDBModel, FeedEntity> {
  constructor() {
    super(Feed, FeedEntity);
  }

  async findByTrigger(name: string) {
    const wanted = { name };
    return await this.MongooseModel.findOne(wanted);
  }
}
"""
SCHEMA = """import mongoose from "mongoose";

const feedSchema = new mongoose.Schema({ name: { type: String } });
export const Feed = mongoose.model("Feed", feedSchema);
"""
SYNC = """import { FeedRepository } from "../dal";

export class Sync {
  constructor(private feedRepository: FeedRepository) {}

  async execute(names: string[]) {
    for (const name of names) {
      await this.feedRepository.findByTrigger(name);
    }
  }
}
"""


def test_a_repository_behind_an_index_that_asks_its_own_model():
    files = {
        "src/dal/index.ts": 'export * from "./feed.repository";\n',
        "src/dal/feed.schema.ts": SCHEMA,
        "src/dal/feed.repository.ts": REPOSITORY,
        "src/api/sync.ts": SYNC,
    }
    (finding,) = findings_of(RULE, files)
    assert (finding.file, finding.line, finding.confidence) == ("src/api/sync.ts", 8, "medium")


@pytest.mark.parametrize(
    ("query", "call", "found"),
    [
        ("Order.objects.get(reference=key)", "load(each.key, shop)", ["medium"]),
        ("Order.objects.get(reference=shop)", "load(each.key, shop)", []),
        ("Order.objects.get(reference=key)", "load(code_of(each), shop)", ["medium"]),
    ],
)
def test_a_called_function_asks_for_what_changes(query, call, found):
    source = f"def load(key, shop):\n    return {query}\n\ndef f(rows, shop):\n    for each in rows:\n        {call}\n"
    assert [str(each.confidence) for each in findings(RULE, source)] == found


def test_a_query_in_a_branch_of_the_called_function_is_a_guess():
    source = (
        "def load(key):\n    if key.old:\n        return Order.objects.get(reference=key.code)\n\n"
        "def f(rows):\n    for each in rows:\n        load(each)\n"
    )
    assert [str(each.confidence) for each in findings(RULE, source)] == ["low"]


@pytest.mark.parametrize(("condition", "found"), [("reference=each.code", "high"), ("total__gt=each.least", "medium")])
def test_only_keys_can_be_asked_for_at_once(condition, found):
    source = f"def f(rows):\n    for each in rows:\n        show(list(Order.objects.filter({condition})))\n"
    assert [str(each.confidence) for each in findings(RULE, source)] == [found]


GO_LOOKUP = '\tvar order Order\n\t\tdb.Where("reference = ?", x).First(&order)\n\t}'
JAVA_LOOKUP = "\n      customers.findByEmail(x);\n    }"


@pytest.mark.parametrize(
    ("orm", "body", "found"),
    [
        ("gorm", f'\tfor _, x := range []string{{"a", "b"}} {{\n\t{GO_LOOKUP}', []),
        ("gorm", f'\tnames := []string{{"a", "b"}}\n\tfor _, x := range names {{\n\t{GO_LOOKUP}', []),
        ("gorm", f"\tfor _, x := range names {{\n\t{GO_LOOKUP}", [3]),
        ("gorm", f"\tnames := []string{{a, load()...}}\n\tfor _, x := range names {{\n\t{GO_LOOKUP}", [4]),
        ("jpa", f'    for (String x : List.of("a", "b")) {{{JAVA_LOOKUP}', []),
        ("jpa", f'    for (String x : new String[] {{"a", "b"}}) {{{JAVA_LOOKUP}', []),
        ("jpa", f'    List<String> few = Arrays.asList("a", "b");\n    for (String x : few) {{{JAVA_LOOKUP}', []),
        ("jpa", f"    for (String x : List.copyOf(given)) {{{JAVA_LOOKUP}", [2]),
        ("jpa", '    List.of("a", "b").forEach(x -> customers.findByEmail(x));', []),
    ],
)
def test_a_list_that_is_written_out_gives_few_rounds_in_any_language(orm, body, found):
    assert orms.lines(RULE, orm, body) == found


def test_brackets_around_one_query_are_no_list_of_one():
    source = (
        "def f():\n    rows = (\n        Order.objects.filter(is_paid=True)\n    )\n"
        "    for row in rows:\n        Region.objects.get(code=row.reference)"
    )
    assert lines(RULE, source) == [6]


@pytest.mark.parametrize(
    ("rows", "found"), [("batch", [3]), ("last_page", [3]), ("batches", []), ("chunked(orders)", []), ("pages", [])]
)
def test_the_rows_of_one_batch_are_gone_through_one_by_one(rows, found):
    assert lines(RULE, f"def f(orders):\n    for o in {rows}:\n        Region.objects.get(code=o.reference)") == found


@pytest.mark.parametrize(("name", "count"), [("lock_order", 0), ("load_order", 1)])
def test_rows_are_locked_one_by_one(name, count):
    source = f"def {name}(code):\n    return Order.objects.get(reference=code)\n"
    source += f"def g(codes):\n    for code in codes:\n        {name}(code)\n"
    assert len(lines(RULE, source, "shop/work.py")) == count


@pytest.mark.parametrize(("rows", "found"), [("Codes.MAPPING", []), ("codes.mapping", [3])])
def test_a_constant_of_a_class_gives_few_rounds(rows, found):
    source = f"def f(codes):\n    for code in {rows}:\n        Order.objects.get(reference=code)"
    assert lines(RULE, source) == found


@pytest.mark.parametrize(
    ("rows", "asked", "told"),
    [
        ("ids", "Order.objects.get(reference=each)", ["high"]),
        ("data", "Order.objects.get(reference=each)", ["medium"]),
        ("ids", "list(Order.objects.filter(reference=each).order_by('total')[:size])", ["low"]),
        ("ids", "Order.objects.filter(reference=each).order_by('total').first()", ["high"]),
        ("codes.mapping", "Region.objects.get(code=each)", []),
        ("codes.mapping", "Order.objects.get(reference=each)", ["low"]),
    ],
)
def test_how_many_rounds_there_may_be(rows, asked, told):
    source = f"def f(ids, data, codes, size):\n    for each in {rows}:\n        {asked}"
    assert [str(each.confidence) for each in findings(RULE, source)] == told


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ("total__gt=least", ("high", "warning")),
        ("total__gt=least, total__lt=most", ("medium", "info")),
    ],
)
def test_the_rows_of_a_span_are_few(conditions, told):
    loop = f"for o in Order.objects.filter({conditions}):"
    source = f"def f(least, most):\n    {loop}\n        Region.objects.get(code=o.reference)"
    assert [(str(each.confidence), str(each.severity)) for each in findings(RULE, source)] == [told]


@pytest.mark.parametrize(("head", "found"), [("except IntegrityError:", []), ("finally:", [6])])
def test_what_is_asked_when_something_failed_is_asked_rarely(head, found):
    source = (
        "def f(orders):\n    for order in orders:\n        try:\n            order.save()\n"
        f"        {head}\n            Region.objects.get(code=order.reference)\n"
    )
    assert lines(RULE, source) == found


@pytest.mark.parametrize(
    ("table", "found"),
    [("pg_enum", 0), ("INFORMATION_SCHEMA.KEY_COLUMN_USAGE", 0), ("user_constraints", 0), ("sizes", 1)],
)
def test_the_catalogue_of_a_database_is_small(table, found):
    source = (
        "async function f(names) {\n  for (const name of names) {\n"
        f"    await knex.raw(`SELECT a FROM {table} WHERE name = ?`, [name]);\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("name, ok := known[id]\n\t\tif !ok", 0),
        ('name := ""\n\t\tif name == ""', 1),
        ("_, ok := others[id]\n\t\tif !ok", 1),
    ],
)
def test_go_asks_a_map_before(asked, found):
    source = (
        'package shop\n\nimport "gorm.io/gorm"\n\ntype Customer struct {\n'
        '\tID uint `gorm:"primaryKey"`\n\tName string\n}\n\n'
        "func names(db *gorm.DB, ids []uint) {\n\tknown := map[uint]string{}\n\tfor _, id := range ids {\n\t\t"
        f"{asked} {{\n\t\t\tvar one Customer\n\t\t\tdb.First(&one, id)\n"
        "\t\t\tname = one.Name\n\t\t\tknown[id] = name\n\t\t}}\n"
        "\t\tshow(name)\n\t}\n}\n"
    )
    assert len(findings_of(RULE, {"shop/names.go": source})) == found


def test_a_key_that_a_session_is_asked_for():
    source = (
        "from sqlalchemy.orm import Session\n\nclass Meter(Base):\n    __tablename__ = 'meters'\n"
        "    id = mapped_column(Integer, primary_key=True)\n\ndef one(session, key):\n    "
        "return session.get(Meter, key)\n\n"
        "def many(session, keys):\n    return [one(session, key) for key in keys]\n"
    )
    assert [each.line for each in findings_of(RULE, {"shop/work.py": source})] == [11]


@pytest.mark.parametrize(
    "call",
    [
        'db.GetContext(ctx, &n, "SELECT size FROM packets WHERE device = ?", d)',
        'db.SelectContext(ctx, &n, "SELECT size FROM packets WHERE device = ?", d)',
        'db.QueryRowxContext(ctx, "SELECT size FROM packets WHERE device = ?", d).Scan(&n)',
    ],
)
def test_sqlx_asks_in_each_round(call):
    head = "package a\nfunc f(ctx context.Context, devices []string) {\n"
    source = f"{head}\tfor _, d := range devices {{\n\t\t{call}\n\t}}\n}}\n"
    assert len(findings_of(RULE, {"a/a.go": source})) == 1


@pytest.mark.parametrize(("field", "found"), [("readings", [7]), ("reading", [7]), ("store", [7])])
def test_a_field_of_java_may_be_called_after_what_its_class_keeps(field, found):
    files = {
        "db/schema.sql": "CREATE TABLE readings (id bigint primary key, meter_id bigint, kwh int);",
        "src/main/java/ReadingStore.java": (
            "class ReadingStore {\n  Long sum(long meter) {\n    return jdbc.queryForObject(\n"
            '      "select sum(kwh) from readings where meter_id = ?", Long.class, meter);\n  }\n}\n'
        ),
        "src/main/java/Bill.java": (
            f"class Bill {{\n  private final ReadingStore {field};\n  void f(List<Meter> meters) {{\n"
            "    int total = 0;\n    // one by one\n    for (Meter each : meters) {\n"
            f"      total += {field}.sum(each.id());\n    }}\n  }}\n}}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == found


@pytest.mark.parametrize(
    ("head", "given", "found"),
    [
        ("def f(rows, shop):", "text, shop", 0),
        ("def f(rows, shop):", "shop, text", 1),
        ("def f(rows):", "text, shop_of(rows)", 1),
    ],
)
def test_what_a_function_is_given_is_the_same_in_each_round(head, given, found):
    source = (
        "def kept(text, shop):\n    return Order.objects.filter(number=shop).first()\n\n\n"
        f"{head}\n    for row in rows:\n        text = read(row)\n        kept({given})\n"
    )
    assert len(findings(RULE, source)) == found


@pytest.mark.parametrize("verb", ["fetch", "fetchrow", "fetchval"])
def test_asyncpg_asks_in_each_round(verb):
    source = (
        "async def tides(pool, quays):\n    found = {}\n    for quay in quays:\n"
        f'        found[quay] = await pool.{verb}("SELECT height FROM tides WHERE quay = $1", quay)\n    return found\n'
    )
    assert [each.line for each in findings_of(RULE, {"ferry/tides.py": source})] == [4]


@pytest.mark.parametrize(
    ("collected", "count"),
    [
        ("Collectors.toMap(id -> id, id -> orders.findByReference(id))", 1),
        ("Collectors.groupingBy(id -> orders.findByReference(id))", 1),
        ("Collectors.toMap(id -> id, id -> known.get(id))", 0),
        ("Collectors.collectingAndThen(toList(), ids -> orders.findByReferenceIn(ids))", 0),
    ],
)
def test_what_a_stream_is_collected_into_is_made_for_each_element(collected, count):
    body = f"return references.stream().distinct().collect({collected});"
    assert len(orms.lines(RULE, "jpa", body)) == count


@pytest.mark.parametrize(
    ("orm", "body", "found"),
    [
        ("jpa", "int i = 0;\n    while (i < ids.size()) {\n      orders.findByReference(ids.get(i));\n"
         "      i++;\n    }", 1),
        ("jpa", "int i = 0;\n    while (i < 5) {\n      orders.findByReference(ids.get(i));\n      i++;\n    }", 0),
        ("jpa", "int i = 0;\n    while (i < ids.size()) {\n      orders.findByReference(part(i));\n"
         "      i += SIZE;\n    }", 0),
        ("jpa", "Iterator<Long> it = ids.iterator();\n    while (it.hasNext()) {\n      Long id = it.next();\n"
         "      orders.findByReference(ref(id));\n    }", 1),
        ("sequelize", "  let i = 0;\n  while (i < ids.length) {\n    const id = ids[i];\n"
         "    await Order.count({ where: { customerId: id } });\n    i += 1;\n  }", 1),
        ("sequelize", "  let i = 0;\n  while (i < ids.length) {\n    await Order.count({ where: { customerId: x } });\n"
         "    i += 1;\n  }", 0),
        ("gorm", "\tfor rows.Next() {\n\t\tvar id uint\n\t\trows.Scan(&id)\n\t\tvar order Order\n"
         '\t\tdb.Where("reference = ?", id).First(&order)\n\t}', 1),
        ("gorm", "\tfor rows.Next() {\n\t\tvar id uint\n\t\trows.Scan(&id)\n\t\tvar order Order\n"
         '\t\tdb.Where("reference = ?", x).First(&order)\n\t}', 0),
    ],
)  # fmt: skip
def test_a_while_loop_that_goes_through_all_elements(orm, body, found):
    assert len(orms.lines(RULE, orm, body)) == found


@pytest.mark.parametrize(
    ("orm", "rows", "found"),
    [
        ("jpa", "refs.subList(0, Math.min(10, refs.size()))", 0),
        ("jpa", "refs.subList(0, Math.min(100, refs.size()))", 1),
        ("jpa", "refs.subList(0, Math.min(size, refs.size()))", 1),
        ("jpa", "refs.subList(0, 5)", 0),
        ("gorm", "refs[:min(len(refs), 10)]", 0),
        ("gorm", "refs[:min(len(refs), 500)]", 1),
        ("gorm", "refs[:last]", 1),
    ],
)
def test_the_first_few_of_a_list(orm, rows, found):
    body = {
        "jpa": f"for (String x : {rows}) {{\n      orders.findByReference(x);\n    }}",
        "gorm": f"\tfor _, x := range {rows} {{\n\t\tvar order Order\n"
        '\t\tdb.Where("reference = ?", x).First(&order)\n\t}',
    }[orm]
    assert len(orms.lines(RULE, orm, body)) == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [('(["A", "B"] as const)', 0), ('[...names, "B"]', 1), ("(names as string[])", 1), ('["A", "B"]', 0)],
)
def test_a_list_that_is_written_out_in_brackets(rows, found):
    body = f"return Promise.all({rows}.map((each) => Order.count({{ where: {{ reference: each }} }})));"
    assert len(orms.lines(RULE, "sequelize", body)) == found


@pytest.mark.parametrize(("limit", "found"), [(".limit(3)", []), (".limit(300)", [7]), ("", [7])])
def test_a_query_with_a_small_limit_gives_few_rounds(limit, found):
    source = (
        "def f(session):\n    found = []\n"
        f"    for user in session.scalars(select(User).order_by(User.id){limit}):\n"
        "        found.append(session.scalar(select(func.count()).where(User.email == user.email)))\n"
    )
    head = "from sqlalchemy import func, select\nfrom shop.tables import User\n\n"
    files = {
        "shop/tables.py": "from sqlalchemy.orm import DeclarativeBase\n" + STATEMENTS,
        "shop/work.py": head + source,
    }
    assert [each.line for each in findings_of(RULE, files)] == found


@pytest.mark.parametrize(
    ("test", "filled", "found"),
    [
        ("known.get(each.reference)", "known.set(each.reference, row)", 0),
        ("known.get(each.reference)", "other.set(each.reference, row)", 1),
        ("names.of(each.reference)", "known.set(each.reference, row)", 1),
    ],
)
def test_a_script_asks_a_map_before(test, filled, found):
    body = (
        f"  for (const each of ids) {{\n    let row = {test};\n    if (row === undefined) {{\n"
        f"      row = await Order.findOne({{ where: {{ reference: each.reference }} }});\n      {filled};\n    }}\n  }}"
    )
    assert len(orms.lines(RULE, "sequelize", body)) == found


def test_what_a_single_row_has_may_be_many():
    body = (
        "  const one = await Order.findOne({ where: { reference: x }, include: ['lines'] });\n"
        "  for (const line of one.lines) {\n    await Line.findOne({ where: { amount: line.amount } });\n  }"
    )
    assert len(orms.lines(RULE, "sequelize", body)) == 1


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("Order.objects.filter(queue=queue)", 1),
        ("queue.orders.select_related('customer')", 1),
        ("queue.listen()", 0),
        ("work_queue", 0),
    ],
)
def test_rows_that_are_asked_for_by_their_queue_are_no_queue(rows, found):
    source = f"def f(queue, work_queue):\n    for o in {rows}:\n        use(Line.objects.filter(order=o).count())\n"
    assert lines(RULE, source) == [3] * found


PLACES = "import mongoose from 'mongoose';\nconst placeSchema = new mongoose.Schema({ town: String, rank: Number });\n"


@pytest.mark.parametrize(
    ("offers", "takes", "name", "found"),
    [
        ("export const PlaceModel = mongoose.model('Place', placeSchema);", "{ PlaceModel }", "PlaceModel", 1),
        ("export const Towns = mongoose.model('Place', placeSchema);", "{ Towns }", "Towns", 1),
        ("export default mongoose.model('Place', placeSchema);", "PlaceModel", "PlaceModel", 1),
        ("export const PlaceModel = makePlaces(placeSchema);", "{ Atlas }", "Atlas", 0),
    ],
)
def test_a_model_of_mongoose_by_the_name_that_it_is_imported_by(offers, takes, name, found):
    work = (
        f"import {takes} from './place.js';\nexport async function names(trips) {{\n  const all = [];\n"
        f"  for (const trip of trips) {{\n    all.push(await {name}.findById(trip.place));\n  }}\n  return all;\n}}\n"
    )
    files = {"src/place.ts": f"{PLACES}{offers}\n", "src/work.ts": work}
    assert [each.line for each in findings_of(RULE, files)] == [5] * found


def test_a_model_of_sequelize_by_the_constant_that_holds_it():
    files = {
        "src/seat.js": (
            "const { DataTypes } = require('sequelize');\n"
            "const SeatModel = sequelize.define('seat', { row: DataTypes.STRING }, { tableName: 'seats' });\n"
            "module.exports = { SeatModel };\n"
        ),
        "src/work.js": (
            "const { SeatModel } = require('./seat');\nasync function rows(tickets) {\n"
            "  for (const ticket of tickets) {\n"
            "    use(await SeatModel.findOne({ where: { row: ticket.row } }));\n  }\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == [4]


@pytest.mark.parametrize(("table", "found"), [("gauge", 1), ("pg_class", 0)])
@pytest.mark.parametrize(
    "rounds",
    ["ids.forEach(id -> seen.put(id, latest(id)));", "for (Long id : ids) {\nseen.put(id, this.latest(id)); }"],
)
def test_a_called_function_may_ask_a_table_that_no_model_describes(rounds, table, found):
    source = (
        "class Gauges {\n  private final JdbcTemplate jdbc;\n  Integer latest(long id) {\n"
        f'    return jdbc.queryForObject("SELECT level FROM {table} WHERE id = ?", Integer.class, id);\n  }}\n'
        f"  void all(List<Long> ids, Map<Long, Integer> seen) {{\n    {rounds}\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/main/java/Gauges.java": source})) == found


STOCK = """from sqlalchemy import select

class Stock:
    def __init__(self, session, model):
        self.session = session
        self._model = model

    def with_key(self, key):
        {asked}
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("return self.session.get(self._model, key)", 1),
        ("return self.session.scalars(select(self._model).where(self._model.code == key)).first()", 1),
        ("return self._model.describe(key)", 0),
    ],
)
def test_a_repository_for_any_model(asked, found):
    work = (
        "from shop.stock import Stock\n\ndef names(session, keys):\n    stock = Stock(session, Item)\n"
        "    return [stock.with_key(key).name for key in keys]\n"
    )
    files = {"shop/stock.py": STOCK.format(asked=asked), "shop/work.py": work}
    assert [(each.file, each.line) for each in findings_of(RULE, files)] == [("shop/work.py", 5)] * found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("return codes.map((code) => knex('stops').where({ code }).first());", 0),
        ("const asked = codes.map((code) => knex('stops').where({ code }).first());\n  return asked;", 0),
        ("return Promise.all(codes.map((code) => knex('stops').where({ code }).first()));", 1),
        ("const asked = codes.map((code) => knex('stops').where({ code }).first());\n  return Promise.all(asked);", 1),
        ("return codes.map(async (code) => knex('stops').where({ code }).first());", 1),
    ],
)
def test_chains_of_knex_that_are_only_made(given, found):
    source = f"import {{ knex }} from './pool';\nexport function stops(codes: string[]) {{\n  {given}\n}}\n"
    assert len(findings_of(RULE, {"src/stops.ts": source})) == found


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        (
            "src/Tolls.java",
            "class Tolls { void f(List<Long> ids) { for (long id : ids) {\n"
            'use(db.one("SELECT fee FROM toll WHERE id = ?", rs -> rs.getInt(1), id)); } } }',
            [2],
        ),
        (
            "src/tolls.ts",
            "async function f(ids) {\n  for (const id of ids) {\n"
            "    use(await db.oneOrNone('SELECT fee FROM toll WHERE id = $1', [id]));\n  }\n}",
            [3],
        ),
        (
            "src/tolls.py",
            "async def f(database, ids):\n    for pk in ids:\n"
            "        use(await database.fetch_one('SELECT fee FROM toll WHERE id = :pk', {'pk': pk}))\n",
            [3],
        ),
        (
            "src/tolls.py",
            "def f(log, ids):\n    for pk in ids:\n        log.debug('SELECT fee FROM toll WHERE id = ' + pk)\n",
            [],
        ),
    ],
)
def test_sql_that_is_handed_to_a_helper_of_the_project(path, source, found):
    assert [each.line for each in findings_of(RULE, {path: source})] == found
