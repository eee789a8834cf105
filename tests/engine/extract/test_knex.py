"""Chains of Knex as queries on tables."""

import pytest

from analysis.engine.extract import extract
from tests.engine.rules.reading import findings_of

HEAD = 'import { knex } from "./pool";\n'


def queries(line, head=HEAD):
    return extract(f"{head}async function f(id, name, trx) {{\n  {line}\n}}\n".encode(), "typescript").queries


@pytest.mark.parametrize(
    ("line", "operation", "table", "filters", "limit"),
    [
        ("return knex('visits').where({ id, state: 'open' }).first();", "select", "visits", ["id eq", "state eq"], 1),
        (
            "return knex('visits').select('id').where('day', '>', name).limit(20);",
            "select",
            "visits",
            ["day range"],
            20,
        ),
        ("return knex('visits').whereIn('id', [id]).orderBy('day');", "select", "visits", ["id in"], 0),
        ("return knex('visits').where('name', 'like', '%a');", "select", "visits", ["name contains"], 0),
        ("return knex.select('id').from('clinic.visits');", "select", "visits", [], 0),
        ("return knex('visits').count('id');", "count", "visits", [], 0),
        ("return knex('visits').sum('cents').groupBy('day');", "aggregate", "visits", [], 0),
        ("await knex('visits').where({ id }).update({ name });", "update", "visits", ["id eq"], 0),
        ("knex('visits').where({ a: [x, y, z], 'v.b': f(c) }).del();", "delete", "visits", ["a eq", "b eq"], 0),
        ("await knex('visits').where('id', id).del();", "delete", "visits", ["id eq"], 0),
        ("await knex('visits').insert({ id }).onConflict('id').ignore();", "insert", "visits", [], 0),
        ("await knex('visits').insert([{ id }]);", "bulk_insert", "visits", [], 0),
        ("await trx('visits').insert({ id });", "insert", "visits", [], 0),
    ],
)
def test_a_chain_is_one_query(line, operation, table, filters, limit):
    (query,) = queries(line)
    assert (query.operation, query.model, query.limit) == (operation, table, limit)
    assert [f"{each.column} {each.operator}" for each in query.filters] == filters


@pytest.mark.parametrize(
    "line",
    [
        "return knex.schema.createTable('visits', make);",
        "return map('visits').where(id);",
        "return knex(name).first();",
    ],
)
def test_other_calls_are_none(line):
    assert queries(line) == ()


GIVEN = 'import { db } from "./pool";\n'


@pytest.mark.parametrize(
    ("line", "operation", "table"),
    [
        ("return db('visits').where({ id }).first();", "select", "visits"),
        ("return this.db('visits').select(COLUMNS);", "select", "visits"),
        ("return context.db('visits').whereIn('id', [id]).del();", "delete", "visits"),
        ("await db.batchInsert('visits', name, 500);", "bulk_insert", "visits"),
    ],
)
def test_a_handle_of_another_file_asks_if_the_project_has_knex(line, operation, table):
    (query,) = queries(line, head=GIVEN)
    assert (query.operation, query.model, query.needs) == (operation, table, "knex")


@pytest.mark.parametrize(
    "line",
    [
        "return db('visits');",
        "return db('visits').value();",
        "return db.select().from('visits');",
        "return map('visits').where({ id });",
        "return db(name).where({ id });",
    ],
)
def test_a_handle_of_another_file_has_to_speak_as_knex_does(line):
    assert queries(line, head=GIVEN) == ()


@pytest.mark.parametrize(
    ("pool", "lines"),
    [
        ('import knex from "knex";\nexport const db = knex({ client: "pg" });\n', [4]),
        ('import { open } from "./store";\nexport const db = open();\n', []),
    ],
)
def test_rules_judge_it_where_the_project_has_knex(pool, lines):
    source = GIVEN + (
        "export async function close(ids: string[]) {\n  for (const id of ids) {\n"
        "    await db('visits').where({ id }).update({ open: false });\n  }\n}\n"
    )
    found = findings_of("perf-write-in-loop", {"src/visits.ts": source, "src/pool.ts": pool})
    assert [each.line for each in found] == lines


@pytest.mark.parametrize(
    ("lines", "columns", "limit"),
    [
        ("const q = knex('visits').where({ id });\n  q.limit(20);\n  return await q;", ["id"], 20),
        ("let q = knex('visits');\n  q = q.where('day', name).limit(5);\n  return q;", ["day"], 5),
        ("const rows = await knex('visits').where({ id });\n  return rows.limit(20);", ["id"], 0),
    ],
)
def test_steps_that_are_added_to_a_chain_with_a_name(lines, columns, limit):
    (query,) = queries(lines)
    assert ([each.column for each in query.filters], query.limit) == (columns, limit)


@pytest.mark.parametrize(
    "giver", ["const visits = () => knex('visits');", "function visits() { return knex('visits'); }"]
)
def test_a_function_that_only_gives_the_table_asks_nothing(giver):
    (query,) = queries("return visits().where({ id }).first();", head=HEAD + giver + "\n")
    assert (query.model, query.limit, query.line) == ("visits", 1, 4)
    assert queries("return other().where({ id }).first();", head=HEAD + giver + "\n") == ()


def test_a_stream_is_not_loaded():
    (streamed,) = queries("return knex('visits').where('day', '>', name).stream();")
    (loaded,) = queries("return knex('visits').where('day', '>', name);")
    assert (streamed.streaming, loaded.streaming) == (True, False)


def test_what_a_transaction_does_stands_in_one():
    (query,) = queries("await trx('visits').where({ id }).update({ name });")
    assert query.in_transaction


def test_rules_judge_them_as_sql():
    source = HEAD + (
        "export async function close(ids: string[]) {\n  for (const id of ids) {\n"
        "    await knex('visits').where({ id }).update({ open: false });\n  }\n}\n"
    )
    assert [each.line for each in findings_of("perf-write-in-loop", {"src/visits.ts": source})] == [4]
