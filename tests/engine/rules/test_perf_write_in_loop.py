import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-write-in-loop"

FLAGGED = [
    ("shop/work.py", "def f(rows):\n    for row in rows:\n        Line.objects.create(amount=row.amount)", 3),
    ("shop/work.py", "def f():\n    for o in Order.objects.all():\n        o.total = 1\n        o.save()", 4),
    ("shop/work.py", "def f(rows):\n    for row in rows:\n        Line.objects.filter(pk=row.pk).delete()", 3),
    (
        "shop/work.py",
        "def f(session, rows):\n    for row in rows:\n        session.add(row)\n        session.commit()",
        4,
    ),
    (
        "shop/work.py",
        "def f(session, rows):\n    for n, row in enumerate(rows):\n        if n % 500 == 0:\n            print(n)\n"
        "        session.commit()",
        5,
    ),
    (
        "shop/work.ts",
        "async function f(rows) {\n  for (const row of rows) {\n    await prisma.line.create({ data: row });\n}}",
        3,
    ),
    (
        "shop/work.py",
        "def f(db, table, ids):\n    for pk in ids:\n        db.execute(f'DELETE FROM {table} WHERE id = %s', [pk])",
        3,
    ),
]
FINE = [
    (
        "shop/work.ts",
        "const f = async () => {\n  const names = ['a', 'b'];\n  await Promise.all(names.map((name) => "
        "prisma.line.create({ data: { name } })));\n};",
    ),
    (
        "shop/work.py",
        "def f(session, num_retries):\n    for i in range(num_retries):\n        session.add(Line())\n"
        "        session.commit()",
    ),
    (
        "shop/work.ts",
        "async function f(em, rows) {\n  for (const [n, row] of rows) {\n    if (n % 50 === 0) {\n"
        "      await em.flush();\n"
        "    }\n  }\n}",
    ),
    ("shop/work.py", "def f(rows):\n    Line.objects.bulk_create([Line(amount=row.amount) for row in rows])"),
    ("shop/work.py", "def f():\n    for amount in (1, 2, 3):\n        Line.objects.create(amount=amount)"),
    ("shop/work.py", "def f(rows):\n    for chunk in chunks(rows):\n        Line.objects.bulk_create(chunk)"),
    ("shop/work.py", "def f(session, rows):\n    for row in rows:\n        session.add(row)\n    session.commit()"),
    ("shop/work.py", "def f(db, rows):\n    for row in rows:\n        db.session.delete(row)\n    db.session.commit()"),
    ("shop/work.py", "def f(order):\n    order.save()"),
    (
        "shop/work.py",
        "def f(session, rows):\n    for n, row in enumerate(rows):\n        session.add(row)\n"
        "        if n % 500 == 0:\n            session.commit()",
    ),
    (
        "shop/work.py",
        "def f(rows, key):\n    for row in rows:\n        if row.key == key:\n            Line.objects.create(a=row.a)",
    ),
    ("shop/work.ts", "const f = async (rows) => prisma.line.createMany({ data: rows.map((row) => row) });"),
    (
        "shop/work.py",
        "def f(db, tables):\n    for table in tables:\n        db.execute(f'DELETE FROM {table} WHERE old')",
    ),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_a_write_or_commit_for_every_round_is_found(path, source, line):
    assert lines(RULE, source, path) == [line]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_one_write_for_all_is_fine(path, source):
    assert lines(RULE, source, path) == []


def test_the_finding_names_the_bulk_call_of_the_orm():
    (finding,) = findings(
        RULE,
        "def f(rows):\n    for row in rows:\n        Line.objects.create(amount=row.amount)",
        volumes={"Line": "XXL"},
    )
    assert finding.message == (
        "`Line` is inserted once per `row` of the loop over `rows` (line 4) (table `shop_line`, XXL)"
    )
    assert "bulk_create" in finding.suggestion
    assert (finding.severity, finding.confidence, finding.points) == ("critical", "medium", 12)


def test_it_silences_the_query_rule_on_its_line():
    source = "def f(rows):\n    for row in rows:\n        Line.objects.create(amount=row.amount)"
    assert findings("perf-n-plus-one-query", source) == []


WORTH_KNOWING = [
    "def f(rows):\n    for row in rows:\n        try:\n            Line.objects.create(amount=row.amount)\n"
    "        except ValueError:\n            log(row)\n",
    "@receiver(post_save, sender=Line)\ndef listen(**kw):\n    pass\n"
    "def f(rows):\n    for row in rows:\n        Line.objects.create(amount=row.amount)\n",
    "def f(rows):\n    for row in rows:\n        send_mail(row)\n        Line.objects.create(amount=row.amount)\n",
]


@pytest.mark.parametrize("source", WORTH_KNOWING)
def test_rows_that_go_their_own_way_a_listener_or_a_letter_make_it_worth_knowing_only(source):
    (finding,) = findings(RULE, source)
    assert finding.severity == "info"


def test_prisma_has_no_bulk_form_for_updates_with_other_values():
    source = "for (const row of rows) {\n  await prisma.line.update({ where: { id: row.id } });\n}"
    (finding,) = findings(RULE, source, "shop/work.ts")
    assert (finding.severity, finding.confidence) == ("info", "low")
    assert "updateMany" in finding.suggestion


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (
            "def f(rows):\n    for row in rows:\n        line = Line.objects.create(a=row)\n        use(line)\n",
            "shop/work.py",
        ),
        (
            "def f(rows):\n    for row in rows:\n        Line.objects.create(a=row)\n",
            "shop/management/commands/load.py",
        ),
    ],
)
def test_new_rows_that_the_round_goes_on_with_and_commands_are_a_guess(source, path):
    (finding,) = findings(RULE, source, path)
    assert finding.confidence == "low"


def test_seeds_are_left_alone():
    assert (
        lines(RULE, "def f(rows):\n    for row in rows:\n        Line.objects.create(a=row)\n", "shop/seeds/lines.py")
        == []
    )


def test_a_row_that_notes_a_failure_is_written_in_few_rounds():
    source = "def f(rows):\n    for row in rows:\n        try:\n            run(row)\n        except ValueError:\n"
    assert lines(RULE, source + "            Line.objects.create(a=row)\n") == []


def test_a_comment_that_says_why_and_hooks_make_it_worth_knowing_or_a_guess():
    loop = "def f(rows):\n    for row in rows:\n"
    (reasoned,) = findings(RULE, loop + "        # one by one, so that hooks run\n        Line.objects.create(a=row)\n")
    assert reasoned.confidence == "low"


def test_a_loop_that_does_much_else_is_less_certain():
    calls = "".join(f"        step_{number}(row)\n" for number in range(7))
    source = f"def f(rows):\n    for row in rows:\n{calls}        Line.objects.create(a=row)\n"
    (finding,) = findings(RULE, source)
    assert finding.confidence == "medium"


def test_a_loop_that_is_left_behind_the_write_writes_once():
    source = "def f(rows):\n    for row in rows:\n        if row.due:\n            Line.objects.create(a=row)\n"
    assert lines(RULE, source) == [4]
    assert lines(RULE, source + "            break\n") == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(rows):\n    for row in rows:\n        Line(amount=row.amount).save()", 3),
        ("def f(rows):\n    for row in rows:\n        Line(amount=int(row.amount), order=row.order).save()", 3),
    ],
)
def test_rows_that_are_made_and_saved_at_once(source, line):
    assert [str(each.confidence) for each in findings(RULE, source)] == ["medium"]
    assert lines(RULE, source) == [line]


def test_a_list_that_is_written_out_above_the_loop_is_short():
    source = (
        "def f():\n    amounts = [\n        (1, 'a'),\n        (2, 'b'),\n    ]\n"
        "    for amount, name in amounts:\n        Line.objects.create(amount=amount)"
    )
    assert lines(RULE, source) == []
    assert lines(RULE, source.replace("]\n", "]\n    amounts.extend(more)\n", 1)) == [8]


def test_statements_that_were_prepared_before_the_loop():
    java = (
        "class A {\nvoid f(Connection c, List<Order> orders) throws Exception {\n"
        'PreparedStatement s = c.prepareStatement("INSERT INTO orders (total) VALUES (?)");\n'
        "for (Order order : orders) {\ns.setInt(1, order.total());\ns.executeUpdate();\n}\n}\n}"
    )
    go = (
        "package a\nfunc f(tx *sql.Tx, rows []Row) error {\n"
        'stmt, err := tx.Prepare("INSERT INTO orders (total) VALUES (?)")\n'
        "for _, row := range rows {\nif _, err := stmt.Exec(row.Total); err != nil {\nreturn err\n}\n}\nreturn err\n}"
    )
    assert [finding.line for finding in findings_of(RULE, {"src/A.java": java})] == [6]
    assert [finding.line for finding in findings_of(RULE, {"a/a.go": go})] == [5]
    assert findings_of(RULE, {"src/A.java": java.replace("executeUpdate", "addBatch")}) == []


def test_raw_changes_take_other_values_for_each_row():
    source = "def f(cur, rows):\n    for row in rows:\n        cur.execute({!r}, (row.name, row.id))"
    insert = source.format("INSERT INTO shop_line (amount, order_id) VALUES (%s, %s)")
    update = source.format("UPDATE shop_line SET amount = %s WHERE id = %s")
    assert [str(each.confidence) for each in findings(RULE, insert)] == ["medium"]
    assert [str(each.confidence) for each in findings(RULE, update)] == ["medium"]


def test_what_a_base_class_does_when_it_saves_counts_too():
    source = (
        "from django.db import models\nclass Base(models.Model):\n    class Meta:\n        abstract = True\n"
        "    def save(self, *args):\n        tell(self)\n        super().save(*args)\n"
        "class Note(Base):\n    text = models.CharField(max_length=9)\n"
    )
    work = "from shop.notes import Note\ndef f(rows):\n    for row in rows:\n        Note.objects.create(text=row)\n"
    (finding,) = findings_of(RULE, {"shop/notes.py": source, "shop/work.py": work})
    assert (finding.line, finding.severity) == (4, "info")


def test_the_awaited_forms_of_django_are_writes_too():
    assert lines(RULE, "async def f(rows):\n    for row in rows:\n        await Line.objects.acreate(amount=row)") == [
        3
    ]


def test_a_loop_over_few_kinds_is_a_guess():
    source = (
        "def f(kind_map):\n    for kind, amount in kind_map.items():\n        Line.objects.filter(order=kind).delete()"
    )
    assert [str(each.confidence) for each in findings(RULE, source)] == ["low"]


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("session.query(User).filter(User.name == name).delete()", 1),
        ("session.delete(name)", 0),
        ("db.flush()", 1),
    ],
)
def test_sqlalchemy_sends_statements_and_flushes_at_once(call, found):
    source = f"from sqlalchemy import select\ndef f(db, session, names):\n    for name in names:\n        {call}"
    assert len(lines(RULE, source)) == found


def test_a_document_is_named_after_its_class():
    source = (
        "const { Order } = require('./models');\nasync function f(orders) {\n  for (const order of orders) {\n"
        "    await order.save();\n  }\n}"
    )
    files = orms.MONGOOSE | {"src/work.js": source}
    assert [finding.line for finding in findings_of(RULE, files)] == [4]


def test_each_round_may_have_conditions_of_its_own():
    written = "Line.objects.filter(order=key).filter(wanted).delete()"
    source = f"def f(rows):\n    for key, wanted in rows.items():\n        {written}"
    assert [str(finding.confidence) for finding in findings(RULE, source)] == ["low"]


@pytest.mark.parametrize(("asked", "found"), [("if (claim.count === 0) continue;", "low"), ("log(claim);", "medium")])
def test_a_row_that_is_claimed_is_written_alone(asked, found):
    source = (
        "async function f(orders) {\n  for (const order of orders) {\n"
        "    const claim = await prisma.order.updateMany({\n"
        "      where: { customerId: order.customerId, status: 'a' },\n      data: { status: 'b' },\n    });\n"
        f"    {asked}\n  }}\n}}"
    )
    assert [str(each.confidence) for each in findings(RULE, source, path="shop/work.ts")] == [found]


@pytest.mark.parametrize(("value", "found"), [("row.amount", 1), ("1", 0)])
def test_an_object_may_get_the_data_of_its_round_bit_by_bit(value, found):
    source = (
        "def f(rows):\n    for row in rows:\n        line = Line()\n        line.order_id = 1\n"
        f"        line.amount = {value}\n        line.save()\n"
    )
    assert len(findings(RULE, source)) == found


@pytest.mark.parametrize(("where", "found"), [("id: row.id", "low"), ("customerId: row.customerId", "medium")])
def test_many_rows_that_are_one_have_values_of_their_own(where, found):
    source = (
        "async function f(rows) {\n  for (const row of rows) {\n"
        f"    await prisma.order.updateMany({{ where: {{ {where} }}, data: row }});\n  }}\n}}"
    )
    assert [str(each.confidence) for each in findings(RULE, source, path="shop/work.ts")] == [found]


@pytest.mark.parametrize(
    ("rows", "head", "found"),
    [
        ("orders", "", "medium"),
        ("orders", "if row.due:\n            ", "medium"),
        ("rates", "if row.due:\n            ", "low"),
    ],
)
def test_many_questions_make_it_a_guess(rows, head, found):
    written = "Line.objects.get_or_create(amount=row.total)"
    inner = f"{head}\n            {written}" if head else written
    source = f"def f(orders, rates):\n    for row in {rows}:\n        {inner}\n"
    assert [str(each.confidence) for each in findings(RULE, source)] == [found]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("Wallet.objects.update_or_create(owner_id=row.pk, defaults={'balance': 0})", ("medium", "warning")),
        ("Line.objects.update_or_create(amount=row.total, defaults={'order': row})", ("low", "info")),
        ("with transaction.atomic():\n            Line.objects.create(order=row)", ("low", "info")),
        ("with open(row.path):\n            Line.objects.create(order=row)", ("medium", "warning")),
        ("Line.objects.create(order=row)\n        remove_folder(row.path)", ("low", "info")),
    ],
)
def test_a_reason_to_write_row_by_row_makes_it_a_small_guess(body, told):
    source = f"from django.db import transaction\n\ndef f(orders):\n    for row in orders:\n        {body}\n"
    assert [(str(each.confidence), str(each.severity)) for each in findings(RULE, source)] == [told]


def test_a_loop_over_one_row_at_most():
    assert findings(RULE, "def f(key):\n    for row in Order.objects.filter(pk=key):\n        row.delete()\n") == []
    assert (
        len(findings(RULE, "def f(key):\n    for row in Order.objects.filter(total=key):\n        row.delete()\n")) == 1
    )


@pytest.mark.parametrize(
    ("imported", "count"), [("javax.persistence.EntityManager", 1), ("org.engine.UserEntityManager", 0)]
)
def test_sessions_of_an_engine_of_its_own_are_no_entity_managers(imported, count):
    source = (
        f"import {imported};\nclass Commands {{\n  void flush() {{\n"
        "    for (Session session : sessions.values()) {\n      session.flush();\n    }\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/Commands.java": source})) == count


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('db.NamedExecContext(ctx, "INSERT INTO packets (size) VALUES (:size)", p)', 1),
        ('db.NamedExec("INSERT INTO packets (size) VALUES (:size)", p)', 1),
        ('db.MustExec("INSERT INTO packets (size) VALUES (?)", p.Size)', 1),
        ('db.MustExecContext(ctx, "UPDATE packets SET size = ? WHERE id = ?", p.Size, p.ID)', 1),
        ("use(p)", 0),
    ],
)
def test_sqlx_writes_row_by_row(call, found):
    head = "package a\nfunc f(ctx context.Context, packets []Packet) {\n"
    source = f"{head}\tfor _, p := range packets {{\n\t\t{call}\n\t}}\n}}\n"
    assert len(findings_of(RULE, {"a/a.go": source})) == found


@pytest.mark.parametrize("given", ["&lines[i]", "lines[i]"])
def test_an_element_of_a_list_of_gorm_is_a_row(given):
    model = 'package a\nimport "gorm.io/gorm"\ntype Line struct {\n\tgorm.Model\n\tText string\n}\n'
    head = "func f(db *gorm.DB, lines []Line) {\n"
    source = f"{model}{head}\tfor i := range lines {{\n\t\tline := {given}\n\t\tdb.Create(line)\n\t}}\n}}\n"
    assert len(findings_of(RULE, {"a/a.go": source})) == 1


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("order.lines.create(amount=amount)", 1),
        ("order.messages.create(body=amount)", 0),
        ("api.lines.create(amount=amount)", 0),
    ],
)
def test_rows_that_are_made_through_a_relation(body, count):
    source = f"def f(order, api, amounts):\n    for amount in amounts:\n        {body}\n"
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("table", "count"), [("pages", 1), ("documents", 0)])
def test_rows_that_are_called_pages_are_rows_of_the_table_of_that_name(table, count):
    files = {
        "db/schema.sql": f"CREATE TABLE {table} (id bigint primary key, number int);",
        "a/a.go": "package a\n\nfunc (p *Pages) Append(pages []Page) {\n\tfor _, pg := range pages {\n"
        f'\t\tp.tx.Exec("INSERT INTO {table} (number) VALUES ($1)", pg.Number)\n\t}}\n}}\n',
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize("prepare", ["PrepareContext", "PreparexContext"])
def test_a_statement_of_go_that_was_prepared_before_the_loop(prepare):
    files = {
        "db/schema.sql": "CREATE TABLE orders (id bigint primary key, number int);",
        "a/a.go": "package a\n\nfunc (s *S) Add(orders []Order) {\n"
        f'\tstmt, err := s.db.{prepare}(ctx, "INSERT INTO orders (number) VALUES ($1)")\n'
        "\tfor _, o := range orders {\n\t\tstmt.ExecContext(ctx, o.Number)\n\t}\n}\n",
    }
    assert len(findings_of(RULE, files)) == 1


@pytest.mark.parametrize(("leaves", "found"), [("return;", []), ("count += 1;", [2])])
def test_a_loop_that_is_left_behind_a_statement_of_several_lines(leaves, found):
    statement = "  await db.update(orders).set({\n    total: id,\n  });\n"
    assert orms.lines(RULE, "drizzle", f"for (const id of ids) {{\n{statement}  {leaves}\n}}") == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("rows.forEach(orders::save);", 1),
        ("rows.stream().filter(Order::isPaid).forEach(orders::save);", 1),
        ("orders.saveAll(rows);", 0),
        ("run(orders::save);", 0),
        ("rows.forEach(seen::add);", 0),
    ],
)
def test_a_method_of_a_repository_that_is_called_for_each_row(body, found):
    assert len(orms.lines(RULE, "jpa", body)) == found


@pytest.mark.parametrize(
    ("opened", "found"),
    [("StatelessSession session = factory.openStatelessSession();", 1), ("Basket session = baskets.open();", 0)],
)
def test_sessions_of_hibernate_without_state_send_each_row_at_once(opened, found):
    source = (
        "import org.hibernate.*;\nclass Feed {\n  void f(List<Order> orders) {\n"
        f"    {opened}\n    for (Order each : orders) {{\n      session.insert(each);\n    }}\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/main/java/Feed.java": source})) == found


@pytest.mark.parametrize(
    ("prepared", "write"),
    [
        ("PrepareNamedContext(ctx, `INSERT INTO laps (car, ms) VALUES (:car, :ms)`)", "ExecContext(ctx, lap)"),
        ("PrepareNamed(`INSERT INTO laps (car, ms) VALUES (:car, :ms)`)", "MustExec(lap)"),
    ],
)
@pytest.mark.parametrize("in_loop", [True, False])
def test_statements_that_sqlx_prepares_with_names(prepared, write, in_loop):
    head, tail = ("\tfor _, lap := range laps {\n", "\t}\n") if in_loop else ("\tlap := laps[0]\n", "")
    source = (
        "package a\n\nfunc (r *Repo) Keep(ctx context.Context, laps []Lap) {\n"
        f"\tstmt, err := r.db.{prepared}\n{head}\t\tstmt.{write}\n{tail}}}\n"
    )
    assert [each.line for each in findings_of(RULE, {"a/laps.go": source})] == [6] * in_loop


@pytest.mark.parametrize(
    ("body", "verb", "bulk"),
    [
        ("line = Line(amount=row.amount)", "inserted", "bulk_create"),
        ("line = Line(\n            amount=int(first(of(row))),\n        )", "inserted", "bulk_create"),
        ("line = Line()\n        line.amount = row.amount", "inserted", "bulk_create"),
        ("line = Line(pk=row.line_id, amount=row.amount)", "updated", "bulk_update"),
        ("line = Line(**row)", "inserted", "bulk_create"),
        ("line = Line.objects.get(code=row.code)\n        line.amount = row.amount", "updated", "bulk_update"),
        (
            "line = Line.objects.filter(code=row.code).first()\n        if line is None:\n"
            "            line = Line(amount=row.amount)",
            "updated",
            "bulk_update",
        ),
    ],
)
def test_an_object_that_the_round_makes_is_inserted_when_it_is_saved(body, verb, bulk):
    source = f"def f(rows):\n    for row in rows:\n        {body}\n        line.save()\n"
    found = [each for each in findings(RULE, source) if "Line" in each.message]
    assert [f"`Line` is {verb} once per `row`" in each.message for each in found] == [True]
    assert f"`{bulk}(" in found[0].suggestion
