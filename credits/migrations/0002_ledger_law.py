"""The law of the ledger, which `credits.models` explains: two composite foreign keys, and entries that cannot be
changed."""

from django.db import migrations

ACCOUNT, ENTRY = "credits_creditaccount", "credits_creditentry"
ENTRY_FOLLOWS = (
    "CONSTRAINT credits_entry_follows_balance FOREIGN KEY (account_id, previous_number, balance_before) "
    f"REFERENCES {ENTRY} (account_id, number, balance) DEFERRABLE INITIALLY DEFERRED"
)
ACCOUNT_HOLDS = (
    "CONSTRAINT credits_account_holds_last_balance FOREIGN KEY (id, last_number, balance) "
    f"REFERENCES {ENTRY} (account_id, number, balance) DEFERRABLE INITIALLY DEFERRED"
)
FINAL_COLUMNS = (
    "id, account_id, number, previous_number, type, operation, amount, cost, balance_before, balance, unlimited, key, "
    "description, created_at"
)
STAYS = "new.balance IS NOT DISTINCT FROM old.balance AND new.last_number IS NOT DISTINCT FROM old.last_number"
MOVES_ON = "new.last_number IS NOT DISTINCT FROM coalesce(old.last_number, 0) + 1"
IS_EXPECTED = (
    f"EXISTS (SELECT 1 FROM {ACCOUNT} WHERE id = new.account_id AND last_number = new.number AND balance = new.balance)"
)
# Name, event, condition under which it is refused, and the sentence.
TRIGGERS = [
    ("credits_entry_is_final", f"BEFORE UPDATE OF {FINAL_COLUMNS} ON {ENTRY}", "", "a credit entry is final"),
    ("credits_entry_is_expected", f"BEFORE INSERT ON {ENTRY}", f"NOT {IS_EXPECTED}", "the account has not moved"),
    (
        "credits_account_moves_on",
        f"BEFORE UPDATE OF balance, last_number ON {ACCOUNT}",
        f"NOT (({STAYS}) OR ({MOVES_ON}))",
        "an account moves by its next entry",
    ),
]


def sqlite_trigger(name, event, condition, sentence):
    # SQLite calls the same comparison IS.
    condition = condition.replace("IS NOT DISTINCT FROM", "IS")
    when = f"WHEN {condition}" if condition else ""
    return [f"CREATE TRIGGER {name} {event} {when} BEGIN SELECT RAISE(ABORT, '{sentence}'); END"]


def postgresql_trigger(name, event, condition, sentence):
    check = f"IF NOT ({condition}) THEN RETURN new; END IF;" if condition else ""
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {check} "
        f"RAISE EXCEPTION '{sentence}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
        f"CREATE TRIGGER {name} {event} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]


def add_law(apps, schema_editor):
    add = add_to_sqlite_table if schema_editor.connection.vendor == "sqlite" else add_to_postgresql_table
    add(schema_editor, ENTRY, ENTRY_FOLLOWS)
    add(schema_editor, ACCOUNT, ACCOUNT_HOLDS)
    make = sqlite_trigger if schema_editor.connection.vendor == "sqlite" else postgresql_trigger
    with schema_editor.connection.cursor() as cursor:
        for trigger in TRIGGERS:
            for statement in make(*trigger):
                cursor.execute(statement)


def add_to_postgresql_table(schema_editor, table, constraint):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} ADD {constraint}")


def add_to_sqlite_table(schema_editor, table, constraint):
    # SQLite adds no constraint to a table that stands, so the table, still empty, is made again.
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        if cursor.fetchone()[0]:
            raise RuntimeError(f"{table} is not empty; the ledger's constraints are added before its first entry")
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = %s", [table])
        table_sql = cursor.fetchone()[0].rstrip().removesuffix(")")
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = %s AND sql NOTNULL", [table])
        indexes = [row[0] for row in cursor.fetchall()]
        cursor.execute(f"DROP TABLE {table}")
        for statement in [f"{table_sql}, {constraint})", *indexes]:
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("credits", "0001_initial")]
    operations = [migrations.RunPython(add_law)]
