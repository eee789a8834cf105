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
POSTGRESQL_TRIGGER = f"""
CREATE FUNCTION credits_entry_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a credit entry is final' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER credits_entry_is_final BEFORE UPDATE OF {FINAL_COLUMNS} ON {ENTRY}
    FOR EACH ROW EXECUTE FUNCTION credits_entry_is_final();
"""
SQLITE_TRIGGER = f"""
CREATE TRIGGER credits_entry_is_final BEFORE UPDATE OF {FINAL_COLUMNS} ON {ENTRY}
BEGIN SELECT RAISE(ABORT, 'a credit entry is final'); END
"""


def add_law(apps, schema_editor):
    add = add_to_sqlite_table if schema_editor.connection.vendor == "sqlite" else add_to_postgresql_table
    add(schema_editor, ENTRY, ENTRY_FOLLOWS)
    add(schema_editor, ACCOUNT, ACCOUNT_HOLDS)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(SQLITE_TRIGGER if schema_editor.connection.vendor == "sqlite" else POSTGRESQL_TRIGGER)


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
