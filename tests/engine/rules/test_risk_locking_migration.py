from datetime import date

import pytest

from analysis.engine.evaluator import Evaluator
from analysis.engine.extract import extract
from analysis.engine.history import History
from analysis.engine.languages import reading_of
from analysis.engine.model import Finding, Volume
from analysis.engine.policy import Policy

RULE = "risk-locking-migration"

MODELS = """
from django.db import models

class Event(models.Model):
    kind = models.CharField(max_length=9)
"""
HEAD = "from django.db import migrations, models\nfrom django.contrib.postgres.operations import AddIndexConcurrently\n"
OPERATIONS = HEAD + "class Migration(migrations.Migration):\n    operations = [\n        %s,\n    ]\n"


def findings(path: str, source: str, volumes: dict[str, str] | None = None, *, is_new: bool = True) -> list[Finding]:
    texts = {"shop/models.py": MODELS, path: source}
    files = {name: extract(text.encode(), reading_of(name)) for name, text in texts.items()}
    policy = Policy(data_volumes={name: Volume(size) for name, size in (volumes or {}).items()})
    evaluator = Evaluator(policy)
    added = frozenset({path}) if is_new else frozenset[str]()
    evaluator.judge(files, History.empty(), date(2026, 1, 1), added=added)
    found = [finding for state in evaluator.states.values() for finding in state.verdict.findings]
    return [finding for finding in found if finding.rule_id == RULE]


FLAGGED = [
    'migrations.AddIndex("event", models.Index(fields=["kind"], name="a"))',
    'migrations.AddIndex(model_name="event", index=models.Index(fields=["kind"], name="a"))',
    'migrations.AddConstraint("event", models.CheckConstraint(check=x, name="a"))',
    'migrations.AddField("event", "code", models.CharField(max_length=9, default="", db_index=True))',
    'migrations.AddField("event", "owner", models.ForeignKey("User", null=True, on_delete=models.CASCADE))',
    'migrations.AddField("event", "code", models.UUIDField(db_default=RandomUUID()))',
    'migrations.RunSQL("CREATE INDEX a ON shop_event (kind)")',
    'migrations.RemoveField("event", "kind")',
    'migrations.AddField(model_name="event", name="code", field=models.CharField(max_length=9, unique=True))',
]
FINE = [
    'AddIndexConcurrently("event", models.Index(fields=["kind"], name="a"))',
    'migrations.AddField("event", "code", models.CharField(max_length=9, null=True))',
    'migrations.AddField("event", "code", models.CharField(max_length=9, default=""))',
    'migrations.RunSQL("CREATE INDEX CONCURRENTLY a ON shop_event (kind)")',
    'migrations.RemoveField(model_name="event", name="left_over")',  # no model has it any more
    'migrations.CreateModel("Event", fields=[]), migrations.AddIndex("event", models.Index(fields=["kind"]))',
]


@pytest.mark.parametrize("operation", FLAGGED)
def test_a_new_django_migration_that_locks_a_large_table(operation):
    (finding,) = findings("shop/migrations/0002_more.py", OPERATIONS % operation, {"Event": "XL"})
    assert (finding.line, finding.severity, finding.table, finding.volume) == (5, "critical", "shop_event", "XL")


@pytest.mark.parametrize("operation", FINE)
def test_what_locks_for_a_moment_is_fine(operation):
    assert findings("shop/migrations/0002_more.py", OPERATIONS % operation, {"Event": "XL"}) == []


def test_migrations_that_are_merged_and_small_tables_are_left_alone():
    source = OPERATIONS % FLAGGED[0]
    assert findings("shop/migrations/0002_more.py", source, {"Event": "XL"}, is_new=False) == []
    assert findings("shop/migrations/0002_more.py", source, {"Event": "S"}) == []
    (finding,) = findings("shop/migrations/0002_more.py", source)
    assert finding.severity == "info"


BACKFILL = HEAD + (
    "def fill(apps, editor):\n    Event = apps.get_model('shop', 'Event')\n    for event in Event.objects.all():\n"
    "        event.kind = 'a'\n        event.save()\n"
)


def test_a_backfill_without_batches():
    (finding,) = findings("shop/migrations/0002_fill.py", BACKFILL, {"Event": "XXL"})
    assert (finding.line, finding.function, finding.volume) == (5, "fill", "XXL")
    batched = BACKFILL.replace("Event.objects.all()", "Event.objects.all().iterator()")
    assert findings("shop/migrations/0002_fill.py", batched, {"Event": "XXL"}) == []


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("CREATE INDEX a ON events (kind);", 1),
        ("-- first\n\nALTER TABLE public.events ADD COLUMN code text NOT NULL;", 3),
        ("ALTER TABLE events ADD COLUMN code uuid DEFAULT gen_random_uuid();", 1),
        ("ALTER TABLE events ALTER COLUMN kind TYPE text;", 1),
        ("ALTER TABLE events ADD CONSTRAINT a FOREIGN KEY (owner) REFERENCES users (id);", 1),
        ("ALTER TABLE events ADD CONSTRAINT a UNIQUE (kind);", 1),
        ("ALTER TABLE events ALTER COLUMN kind SET NOT NULL;", 1),
        ("SELECT 1;\nUPDATE events SET kind = 'a';", 2),
        ("CREATE INDEX CONCURRENTLY a ON events (kind);", 0),
        ("ALTER TABLE events ADD COLUMN code text;", 0),
        ("ALTER TABLE events ADD COLUMN code text NOT NULL DEFAULT '';", 0),
        ("ALTER TABLE events ADD CONSTRAINT a FOREIGN KEY (owner) REFERENCES users (id) NOT VALID;", 0),
        ("CREATE TABLE events (id int);\nCREATE INDEX a ON events (kind);", 0),
        ("ALTER TABLE events DROP COLUMN kind;", 0),
    ],
)
def test_sql_files(statement, line):
    found = findings("db/migration/V2__more.sql", statement, {"events": "XL"})
    assert [finding.line for finding in found] == ([line] if line else [])


@pytest.mark.parametrize(
    ("operation", "count"),
    [
        ("op.create_index('a', 'events', ['kind'])", 1),
        ("op.create_index('a', 'events', ['kind'], postgresql_concurrently=True)", 0),
        ("op.create_index('a', 'events', ['kind'], postgresql_concurrently=False)", 1),
        ("op.add_column('events', sa.Column('code', sa.String(), nullable=False))", 1),
        ("op.add_column('events', sa.Column('code', sa.String(), nullable=False, server_default=''))", 0),
        ("op.create_table('events'); op.create_index('a', 'events', ['kind'])", 0),
    ],
)
def test_alembic(operation, count):
    source = f"from alembic import op\n\ndef upgrade():\n    {operation}\n"
    assert len(findings("alembic/versions/12345678_more.py", source, {"events": "XL"})) == count


def test_typeorm():
    source = (
        "export class A {\n  async up(queryRunner) {\n"
        "    await queryRunner.query(`CREATE INDEX a ON events (kind)`);\n  }\n}\n"
    )
    assert [each.line for each in findings("src/migrations/1-more.ts", source, {"events": "XL"})] == [3]


def test_a_renamed_and_an_altered_column():
    renamed = 'migrations.RenameField("event", "kind", "sort")'
    altered = 'migrations.AlterField("event", "kind", models.CharField(max_length=40))'
    nullable = 'migrations.AlterField("event", "kind", models.CharField(max_length=40, null=True))'
    path, volumes = "shop/migrations/0002_more.py", {"Event": "XL"}
    assert [each.confidence for each in findings(path, OPERATIONS % renamed, volumes)] == ["high"]
    assert [each.confidence for each in findings(path, OPERATIONS % altered, volumes)] == ["low"]
    assert findings(path, OPERATIONS % nullable, volumes) == []


@pytest.mark.parametrize(
    ("operation", "count"),
    [
        ('await queryRunner.createIndex("shop_event", index)', 1),
        ('await queryRunner.renameColumn("shop_event", "kind", "sort")', 1),
        ('await queryInterface.addIndex("shop_event", ["kind"])', 1),
        ('await queryInterface.addIndex("shop_event", ["kind"], { concurrently: true })', 0),
        ('await queryInterface.addColumn("shop_event", "code", { type: STRING, allowNull: true })', 0),
        ('await queryInterface.addColumn("shop_event", "code", { type: STRING, allowNull: false })', 1),
        (
            'await queryInterface.createTable("shop_event", {}); await queryInterface.addIndex("shop_event", ["kind"])',
            0,
        ),
    ],
)
def test_script_migrations(operation, count):
    source = f"export async function up(queryInterface, queryRunner) {{\n  {operation};\n}}\n"
    assert len(findings("shop/migrations/2026-a.ts", source, {"shop_event": "XL"})) == count


@pytest.mark.parametrize(
    ("operation", "count"),
    [
        ('op.alter_column("shop_event", "kind", nullable=False)', 1),
        ('op.alter_column("shop_event", "kind", nullable=True)', 0),
        ('op.alter_column("shop_event", "kind", new_column_name="sort")', 1),
        ('op.create_unique_constraint("a", "shop_event", ["kind"])', 1),
        ('op.execute("UPDATE shop_event SET kind = 1")', 1),
    ],
)
def test_more_of_alembic(operation, count):
    source = f"from alembic import op\n\n\ndef upgrade():\n    {operation}\n"
    assert len(findings("alembic/versions/a.py", source, {"shop_event": "XL"})) == count


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("ALTER TABLE shop_event RENAME COLUMN kind TO sort;", 1),
        ("ALTER TABLE shop_event RENAME TO event;", 0),
        ("ALTER TABLE shop_event ADD INDEX a (kind);", 1),
    ],
)
def test_more_of_sql(statement, count):
    assert len(findings("db/migration/V2__a.sql", statement, {"shop_event": "XL"})) == count


SQLALCHEMY = "from sqlalchemy import Column, Integer, String\nclass Ticket(Base):\n    __tablename__ = 'ticket'\n%s"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "alembic/versions/0002_drop.py",
            "from alembic import op\ndef upgrade():\n    op.drop_column('ticket', 'code')\n",
        ),
        ("db/migration/V2__drop.sql", "-- tidy up\n\nALTER TABLE ticket DROP COLUMN code;\n"),
        (
            "src/migrations/2-drop.ts",
            "export async function up(queryRunner) {\n\n  await queryRunner.dropColumn('ticket', 'code');\n}\n",
        ),
    ],
)
def test_a_column_is_dropped_that_a_model_still_has(path, source):
    kept = SQLALCHEMY % "    id = Column(Integer, primary_key=True)\n    code = Column(String)\n"
    gone = SQLALCHEMY % "    id = Column(Integer, primary_key=True)\n"
    for models, lines in ((kept, [3]), (gone, [])):
        files = {"app/models.py": models, path: source}
        facts = {name: extract(text.encode(), reading_of(name)) for name, text in files.items()}
        evaluator = Evaluator(Policy())
        evaluator.judge(facts, History.empty(), date(2026, 1, 1), added=frozenset({path}))
        found = [each for state in evaluator.states.values() for each in state.verdict.findings if each.rule_id == RULE]
        assert [each.line for each in found] == lines


@pytest.mark.parametrize(
    ("default", "confidences"),
    [("default=uuid.uuid4", ["low"]), ("default=timezone.now", ["low"]), ("default=dict", []), ("default=0", [])],
)
def test_a_new_column_whose_default_is_a_function(default, confidences):
    operation = f'migrations.AddField("event", "code", models.Field({default}))'
    found = findings("shop/migrations/0002_more.py", OPERATIONS % operation, {"Event": "XL"})
    assert [each.confidence for each in found] == confidences


@pytest.mark.parametrize(("made", "tables"), [("order", []), ("line", ["order"])])
def test_a_batch_of_alembic_names_the_table(made, tables):
    source = (
        f"from alembic import op\n\ndef upgrade():\n    op.create_table('{made}', column)\n"
        "    with op.batch_alter_table('order', schema=None) as batch_op:\n"
        "        batch_op.create_index('by_kind', ['kind'])\n"
    )
    assert [each.table for each in findings("alembic/versions/0001_a.py", source)] == tables


@pytest.mark.parametrize(("name", "count"), [("forward", 1), ("backward", 0)])
def test_the_way_back_of_a_backfill(name, count):
    body = f"def {name}(apps, editor):\n    Event = apps.get_model('shop', 'Event')\n"
    body += "    Event.objects.all().update(kind='a')\n\n\n"
    source = HEAD + body + "class Migration(migrations.Migration):\n    operations = [%s]\n"
    assert len(findings("shop/migrations/0002_more.py", source % "migrations.RunPython(forward, backward)")) == count


def test_an_index_of_a_view_that_the_migration_makes():
    index = "CREATE INDEX a ON totals (day);\n"
    view = "CREATE MATERIALIZED VIEW totals AS SELECT 1;\n"
    assert len(findings("db/migrations/0002_more.sql", index)) == 1
    assert findings("db/migrations/0002_more.sql", view + index) == []


@pytest.mark.parametrize(("column", "count"), [("id", 0), ("kind", 1)])
def test_one_row_by_its_key(column, count):
    update = f"UPDATE shop_event SET kind = 'b' WHERE {column} = 'a';\n"
    assert len(findings("db/migrations/0002_more.sql", update)) == count


@pytest.mark.parametrize(("kind", "count"), [("models.UUIDField", 1), ("shop.fields.UUIDField", 0)])
def test_a_field_of_an_own_class(kind, count):
    altered = f'migrations.AlterField("event", "kind", {kind}(default=None))'
    assert len(findings("shop/migrations/0002_more.py", OPERATIONS % altered)) == count


KNEX = "exports.up = async function (knex) {\n  await knex.schema.%s;\n};\n"


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("t.index(['kind'])", 1),
        ("t.unique(['kind'])", 1),
        ("t.foreign('owner').references('users.id')", 1),
        ("t.string('code').notNullable()", 1),
        ("t.uuid('code').defaultTo(knex.raw('gen_random_uuid()'))", 1),
        ("t.text('kind').alter()", 1),
        ("t.renameColumn('kind', 'sort')", 1),
        ("t.string('code').index()", 1),
        ("t.string('code').nullable()", 0),
        ("t.boolean('seen').notNullable().defaultTo(false)", 0),
        ("t.timestamp('at').notNullable().defaultTo(knex.fn.now())", 0),
        ("t.dropIndex(['kind'])", 0),
        ("t.dropColumn('left_over')", 0),  # no model has it any more
    ],
)
def test_a_table_that_knex_alters(statement, count):
    path, volumes = "db/migrations/20260101000000_more.js", {"shop_event": "XL"}
    altered = KNEX % f"alterTable('shop_event', (t) => {{\n    {statement};\n  }})"
    assert [each.line for each in findings(path, altered, volumes)] == [3] * count
    assert len(findings(path, KNEX % f"table('shop_event', t => {statement})", volumes)) == count
    made = KNEX % f"createTable('shop_event', (t) => {{\n    {statement};\n  }})"
    assert findings(path, made, volumes) == []
    back = "exports.up = () => {};\nexports.down = (knex) => knex.schema.alterTable('shop_event', (t) => %s);\n"
    assert findings(path, back % statement, volumes) == []


def test_sql_that_knex_runs():
    path = "db/migrations/20260101000000_more.js"
    update = 'exports.%s = async (knex) => {\n  await knex.raw("UPDATE shop_event SET kind = 1");\n};\n'
    assert [each.line for each in findings(path, update % "up")] == [2]
    assert findings(path, update % "down") == []


@pytest.mark.parametrize(
    ("path", "operation", "count"),
    [
        ("alembic/versions/a.py", "server_default=sa.text('gen_random_uuid()')", 1),
        ("alembic/versions/a.py", "server_default=sa.func.now()", 0),
        ("src/migrations/a.ts", "defaultValue: Sequelize.literal('gen_random_uuid()')", 1),
        ("src/migrations/a.ts", "allowNull: true, default: 'uuid_generate_v4()'", 1),
        ("src/migrations/a.ts", "defaultValue: Sequelize.literal('now()')", 0),
    ],
)
def test_a_default_that_differs_for_each_row(path, operation, count):
    alembic = (
        "from alembic import op\n\n\ndef upgrade():\n    op.add_column('shop_event', sa.Column('code', sa.Uuid, %s))\n"
    )
    typeorm = "export async function up(runner) {\n  await runner.addColumn('shop_event', 'code', { %s });\n}\n"
    source = alembic if path.endswith(".py") else typeorm
    assert len(findings(path, source % operation, {"shop_event": "XL"})) == count


def test_a_check_that_is_put_off():
    check = "from alembic import op\n\n\ndef upgrade():\n    op.create_check_constraint('a', 'shop_event', 'x > 0'%s)\n"
    assert len(findings("alembic/versions/a.py", check % "")) == 1
    assert findings("alembic/versions/a.py", check % ", postgresql_not_valid=True") == []


ENTITY = 'import jakarta.persistence.*;\n\n@Entity\n@Table(name = "ticket")\n'
ENTITY += "class Ticket {\n    @Id private Long id;\n    %s\n}\n"


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ('@Column(name = "old_code") private String code;', 1),
        ("@Column private String oldCode;", 1),
        ('@Column(name = "code") private String oldCode;', 0),
    ],
)
def test_a_dropped_column_that_a_model_calls_otherwise(field, count):
    dropped = "db/migration/V2__drop.sql"
    texts = {"src/Ticket.java": ENTITY % field, dropped: "ALTER TABLE ticket DROP COLUMN old_code;\n"}
    files = {name: extract(text.encode(), reading_of(name)) for name, text in texts.items()}
    evaluator = Evaluator(Policy())
    evaluator.judge(files, History.empty(), date(2026, 1, 1), added=frozenset({dropped}))
    found = [each for state in evaluator.states.values() for each in state.verdict.findings if each.rule_id == RULE]
    assert len(found) == count
