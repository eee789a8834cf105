"""Tables and statements of Drizzle."""

import pytest

from analysis.engine.extract import extract
from tests.engine.rules.reading import findings_of

HEAD = (
    'import { and, eq, like, sql } from "drizzle-orm";\nimport { db } from "@/db";\n'
    'import * as schema from "@/db/schema";\nimport { visits, owners as people } from "@/db/schema";\n'
)


def queries(body, head=HEAD, language="typescript"):
    return extract(f"{head}async function f(id, ids, name, tx) {{\n{body}\n}}\n".encode(), language).queries


def models(source):
    return extract(f'import {{ pgTable, index }} from "drizzle-orm/pg-core";\n{source}'.encode(), "typescript").models


@pytest.mark.parametrize(
    ("body", "operation", "table", "terminal", "limit"),
    [
        ("return db.select().from(visits).limit(20);", "select", "visits", "select", 20),
        ("const rows = await db.select().from(schema.visits);", "select", "visits", "select", 0),
        ("return this.db\n  .select() // all of it\n  .from(people)\n  .limit(id);", "select", "owners", "select", -1),
        ("return (await getDb()).select().from(visits);", "select", "visits", "select", 0),
        ("return ctx.db.query.visits.findMany({ limit: 9 });", "select", "visits", "findMany", 9),
        ("const row = await db.query.visits.findFirst();", "select", "visits", "findFirst", 1),
        ("return db.select({ n: count() }).from(visits);", "count", "visits", "select", 0),
        ("return db.select({ n: sql<number>`count(*)` }).from(visits);", "count", "visits", "select", 0),
        ("return db.$count(visits, eq(visits.id, id));", "count", "visits", "$count", 0),
        ("return db.select({ n: sum(visits.cents) }).from(visits);", "aggregate", "visits", "select", 0),
        (
            "return db.select({ day: visits.day }).from(visits).groupBy(visits.day);",
            "aggregate",
            "visits",
            "select",
            0,
        ),
        ("await db.insert(visits).values({ id });", "insert", "visits", "insert", 0),
        ("await db.insert(visits).values(ids.map((id) => ({ id })));", "bulk_insert", "visits", "insert", 0),
        ("await db.insert(visits).values([{ id }]).onConflictDoNothing();", "bulk_insert", "visits", "insert", 0),
        ("await tx.update(visits).set({ name }).where(eq(visits.id, id));", "update", "visits", "update", 0),
        ("await db.delete(visits);", "delete", "visits", "delete", 0),
        ("db.delete(visits).where(eq(visits.id, id)).run();", "delete", "visits", "delete", 0),
        ("const row = db.select().from(visits).get();", "select", "visits", "select", 1),
        ("await Promise.all([db.delete(visits), other()]);", "delete", "visits", "delete", 0),
        ("const later = db.select().from(visits);\n  use(later);", "select", "visits", "", 0),
        ("const later = db.select().from(visits);\n  use(await later);", "select", "visits", "select", 0),
        ("const a = db.select().from(visits);\n  await Promise.all([a, b]);", "select", "visits", "select", 0),
        ("const sub = db.select().from(visits).as('sub');", "select", "visits", "", 0),
        ("const open = db.select().from(visits).$dynamic();", "select", "visits", "", 0),
        ("const asked = db.select().from(visits).prepare('visits');", "select", "visits", "", 0),
        ("db.insert(visits).values({ id });", "insert", "visits", "", 0),
        ("async function g(db, schema) {\n  await db.delete(schema.visits);\n}", "delete", "visits", "delete", 0),
    ],
)  # fmt: skip
def test_a_chain_is_one_query(body, operation, table, terminal, limit):
    (query,) = queries(body)
    assert (query.orm, query.operation, query.model) == ("drizzle", operation, table)
    assert (query.terminal, query.limit) == (terminal, limit)


@pytest.mark.parametrize(
    ("where", "filters", "is_opaque"),
    [
        ("eq(visits.id, id)", ["id eq"], False),
        ("eq(id, visits.id)", ["id eq"], False),
        ("and(eq(visits.day, 'monday'), inArray(visits.id, ids))", ["day eq 1", "id in"], False),
        ("or(eq(visits.a, id), isNull(visits.b))", ["a eq", "b null 1"], False),
        ("not(eq(visits.a, id))", ["a other"], False),
        ("and(gt(visits.a, id), lte(visits.a, 5))", ["a range", "a range 1"], False),
        ("between(visits.b, id, 2)", ["b range"], False),
        ("like(visits.name, `%${name}%`)", ["name contains"], False),
        ("like(visits.name, `${name}%`)", ["name like"], False),
        ("ilike(visits.name, name)", ["name contains"], False),
        ("eq(sql`lower(${visits.name})`, name)", ["name function"], False),
        ("eq(lower(visits.name), name)", ["name function"], False),
        ("sql`lower(${visits.name}) = ${name} and ${visits.a} > ${id}`", ["name function", "a range"], False),
        ("eq(people.id, id)", ["owners.id eq"], False),
        ("eq(schema.visits.id, id)", ["id eq"], False),
        ("eq(id ? visits.a : visits.b, id)", [], True),
        ("id ? eq(visits.a, id) : undefined", [], True),
        ("and(eq(visits.a, id), name ? eq(visits.b, name) : undefined)", ["a eq"], True),
        ("filters", [], True),
        ("exists(db.select().from(schema.pets))", [], True),
        ("undefined", [], False),
    ],
)  # fmt: skip
def test_the_conditions_of_a_chain(where, filters, is_opaque):
    query = queries(f"return db.select().from(visits).where({where});")[0]
    assert [f"{each.column} {each.operator}{' 1' * each.constant}" for each in query.filters] == filters
    assert query.raw == is_opaque


@pytest.mark.parametrize(
    ("where", "filters"),
    [
        ("eq(visits.id, id)", ["id eq"]),
        ("(visit, { and, eq }) => and(eq(visit.id, id), eq(visit.name, name))", ["id eq", "name eq"]),
        ("({ day }, { gt }) => gt(day, id)", ["day range"]),
        ("(visit, { eq }) => {\n  return eq(visit.id, id);\n}", ["id eq"]),
        ("{ id, day: { gt: id } }", ["id eq", "day range"]),
    ],
)
def test_the_conditions_of_a_relational_query(where, filters):
    (query,) = queries(f"return db.query.visits.findMany({{ where: {where} }});")
    assert ([f"{each.column} {each.operator}" for each in query.filters], query.raw) == (filters, False)


def test_the_parts_of_a_relational_query():
    options = (
        "columns: { id: true, day: true }, orderBy: (visit, { desc }) => [desc(visit.day)], limit, offset: 20",
        "with: { pets: { limit: 5, with: { owner: true } }, vet: true }",
    )
    (query,) = queries(f"return db.query.visits.findMany({{ {', '.join(options)} }});")
    assert (query.columns, query.order, query.eager) == (("id", "day"), ("day",), ("pets", "pets.owner", "vet"))
    assert (query.limit, query.offset) == (-1, 20)


@pytest.mark.parametrize(
    ("held", "filters", "is_opaque"),
    [
        ("const where = and(eq(visits.id, id));\n", ["id"], False),
        ("const where = id ? eq(visits.id, id) : undefined;\n", [], True),
        ("let where = eq(visits.id, id);\n  where = and(where, eq(visits.a, 1));\n", [], True),
        ("const all = [eq(visits.id, id)];\n  all.push(more);\n  const where = and(...all);\n", ["id"], True),
    ],
)  # fmt: skip
def test_conditions_that_a_variable_holds(held, filters, is_opaque):
    (query,) = queries(f"  {held}  return db.select().from(visits).where(where);")
    assert ([each.column for each in query.filters], query.raw) == (filters, is_opaque)


def test_the_parts_of_a_chain():
    (query,) = queries(
        "const [row] = await db.select({ id: visits.id, by: people.name }).from(visits)\n"
        "  .leftJoin(people, eq(people.id, visits.ownerId)).where(eq(visits.day, name))\n"
        "  .orderBy(desc(visits.day), visits.id).offset(id).for('update');"
    )
    assert (query.columns, query.order, query.offset) == (("id", "owners.name"), ("day", "id"), -1)
    assert (query.limit, query.variable, query.lock, query.raw) == (1, "row", True, False)


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ("const [row] = await db.select().from(visits);", 0),
        ("const [row] = await db.select().from(visits).where(eq(visits.day, name));", 1),
        ("const [row, other] = await db.select().from(visits).where(eq(visits.day, name));", 0),
        ("return (await db.select().from(visits).where(eq(visits.day, name)))[0];", 1),
        ("return (await db.select().from(visits).where(eq(visits.day, name))).at(0);", 1),
        ("return db.select().from(visits).where(eq(visits.day, name)).then((rows) => rows[0]);", 1),
        ("return db.select().from(visits).where(eq(visits.day, name)).then(([row]) => row);", 1),
        ("return db.select().from(visits).where(eq(visits.day, name)).then(takeFirst);", 1),
        ("return db.select().from(visits).where(eq(visits.day, name)).then((rows) => rows);", 0),
    ],
)
def test_the_first_row_alone_is_one_where_a_condition_picks_it(body, limit):
    assert queries(body)[0].limit == limit


def test_joins_that_leave_rows_out_are_conditions_that_nobody_reads():
    assert queries("return db.select().from(visits).innerJoin(people, eq(people.id, visits.ownerId));")[0].raw


def test_rows_that_are_only_counted():
    assert queries("return (await db.select().from(visits)).length;")[0].counted == "len"
    assert queries("const { length } = await db.query.visits.findMany();")[0].counted == "len"


@pytest.mark.parametrize(
    "body",
    [
        "await tx.insert(visits).values({ id });",
        "await db.transaction(async (inner) => {\n  await inner.insert(visits).values({ id });\n});",
        "await db.batch([db.insert(visits).values({ id })]);",
    ],
)
def test_statements_inside_of_a_transaction(body):
    assert queries(body)[0].in_transaction


@pytest.mark.parametrize(
    "body",
    [
        "cache.delete(visits);",
        "cache.delete(id);",
        "names.update(visits);",
        "rows.insert(visits);",
        "Array.from(visits);",
        "db.query.findMany({});",
        "await db.select().from(id);",
        "const hash = createHash('md5').update(visits).digest();",
    ],
)
def test_what_is_called_the_same_elsewhere(body):
    assert queries(body) == ()


def test_a_table_that_nobody_defines_is_no_table():
    files = {"src/f.ts": f"{HEAD}export async function f() {{\n  return (await db.delete(visits)).rows;\n}}\n"}
    volumes = {"visits": "XXL"}
    assert findings_of("risk-unscoped-bulk-write", files, volumes=volumes) == []
    files["src/db/schema.ts"] = (
        'import { pgTable } from "drizzle-orm/pg-core";\nexport const visits = pgTable("visits", {});\n'
    )
    assert len(findings_of("risk-unscoped-bulk-write", files, volumes=volumes)) == 1


def test_other_names_of_a_table():
    (query,) = queries(
        "const parent = alias(visits, 'parent');\n  return db.select().from(parent).where(eq(parent.a, id));"
    )
    assert (query.model, [each.column for each in query.filters]) == ("visits", ["a"])


def test_statements_of_sql_in_a_template():
    (query,) = queries("await db.execute(sql`SELECT * FROM ${visits} WHERE ${visits.day} = ${name} LIMIT 5`);")
    assert (query.orm, query.model, query.limit) == ("sql", "visits", 5)
    assert [each.column for each in query.filters] == ["day"]


# Tables


def test_columns_keys_and_references():
    (table,) = models(
        'const kind = pgEnum("kind", ["a", "b"]);\nexport const visits = pgTable("vet_visits", {\n'
        '  id: serial("id").primaryKey(),\n  email: varchar("mail", { length: 9 }).notNull().unique(),\n'
        '  cents: doublePrecision(),\n  kind: kind("kind"),\n  note: text("note"),\n  meta: jsonb(),\n'
        "  petId: integer()\n    .notNull()\n"
        "    .references((): AnyPgColumn => pets.id, { onDelete: 'set null' }),\n});\n"
    )
    assert (table.orm, table.name, table.table) == ("drizzle", "visits", "vet_visits")
    columns = {each.name: each for each in table.columns}
    assert [each.type for each in table.columns] == [
        *("serial", "varchar", "double precision", "kind", "string", "JSONB", "integer"),
    ]
    assert (columns["id"].primary_key, columns["email"].unique, columns["email"].stored) == (True, True, "mail")
    assert (columns["kind"].enumerated, columns["petId"].nullable, columns["note"].nullable) == (True, False, True)
    (pet,) = table.relations
    assert (pet.name, pet.kind, pet.target, pet.on_delete, pet.line) == ("petId", "to_one", "pets", "set_null", 12)


@pytest.mark.parametrize(
    "beside",
    [
        "(t) => [index('i').on(t.day.desc(), t.name), uniqueIndex('u').on(t.mail), index('g').using('gin', t.text)]",
        "(t) => ({ a: index('i').on(desc(t.day), t.name), b: unique().on(t.mail),\n"
        "  c: index('x').on(sql`lower(${t.text})`) })",
        "(t) => {\n  return { a: index('i').using('btree', t.day.asc(), t.name), b: uniqueIndex('u').on(t.mail),\n"
        "    c: index('x').on(lower(t.text)) };\n}",
    ],
)  # fmt: skip
def test_indexes_beside_the_columns(beside):
    columns = "{ day: date(), name: text(), mail: text(), text: text() }"
    (table,) = models(f"export const visits = pgTable('visits', {columns}, {beside});\n")
    assert table.indexes == (("day", "name"),)
    assert {each.removesuffix("()") for each in table.searchable} == {"text"}
    assert [each.name for each in table.columns if each.unique and each.indexed] == ["mail"]


def test_keys_of_several_columns_and_indexes_over_some_rows():
    (table,) = models(
        "export const pets = pgTable('pets', (t) => ({ a: t.integer(), b: t.integer(), c: t.integer() }), (t) => [\n"
        "  primaryKey({ columns: [t.a, t.b] }), uniqueIndex('u').on(t.c).where(sql`b > 0`),\n"
        "  foreignKey({ columns: [t.c], foreignColumns: [owners.id] }).onDelete('cascade'),\n"
        "  check('c', sql`a > 0`),\n]);\n"
    )
    assert table.indexes == (("a", "b"), ("c",))
    assert [each.unique for each in table.columns] == [False, False, False]
    assert [(each.name, each.target, each.on_delete) for each in table.relations] == [("c", "owners", "cascade")]


@pytest.mark.parametrize(
    "source",
    [
        "export const visits = createTable('visits', { id: serial() });",
        "const clinic = pgSchema('clinic');\nexport const visits = clinic.table('visits', { id: serial() });",
        "const shared = { id: serial() };\nexport const visits = sqliteTable('visits', { ...shared });",
        "export const visits = mysqlTable('visits', { id: serial() } as const);",
    ],
)
def test_more_ways_to_make_a_table(source):
    (table,) = models(source)
    assert (table.name, table.table, [each.name for each in table.columns]) == ("visits", "visits", ["id"])


def test_relations_add_to_the_table():
    (added,) = models(
        'import { relations } from "drizzle-orm";\nexport const visitRelations = relations(schema.visits, '
        "({ one, many }) => ({\n  owner: one(owners, { fields: [visits.ownerId], references: [owners.id] }),\n"
        "  pets: many(schema.pets),\n}));\n"
    )
    assert (added.name, added.abstract) == ("visits", True)
    assert [(each.name, each.kind, each.target) for each in added.relations] == [
        ("owner", "to_one", "owners"),
        ("pets", "to_many", "pets"),
    ]


def test_a_file_without_drizzle_has_no_tables():
    assert extract(b"export const visits = pgTable('visits', { id: serial() });\n", "typescript").models == ()


@pytest.mark.parametrize(
    ("rows", "operation"),
    [("s", "insert"), ("visit", "insert"), ("visits", "bulk_insert"), ("all.slice(0, 500)", "bulk_insert")],
)
def test_a_short_name_is_that_of_one_row(rows, operation):
    (query,) = queries(f"await db.insert(visits).values({rows});")
    assert query.operation == operation
