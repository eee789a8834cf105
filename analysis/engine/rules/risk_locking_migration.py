"""A migration holds a lock on a table for as long as the table is large.

Only migrations that a change adds are judged: those that are merged have run.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from analysis.engine.codebase import Codebase, finding_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Mark
from analysis.engine.languages import FileKind, kind_of
from analysis.engine.model import Category, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.models import app_label, snake_case
from analysis.engine.policy import Policy
from analysis.engine.readers import knex_tables
from analysis.engine.readers.locking_sql import (
    ADDED_NOT_NULL,
    CHECKED_AT_ONCE,
    DIFFERS,
    MADE_NOT_NULL,
    MADE_UNIQUE,
    RENAMED,
    RETYPED,
    VOLATILE,
    drops_in,
    locks_in,
)
from analysis.engine.readers.reading import function_name
from analysis.engine.rules.base import PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-locking-migration",
    version=2,
    type="locking_migration",
    category=Category.RUNTIME_RISK,
    title="Locking migration",
    severity=Severity.INFO,
    points=4,
    suggestion=(
        "Split: add nullable, backfill in batches, then constrain; create the index concurrently; add constraints"
        " `NOT VALID` and validate them afterwards."
    ),
    ladder=Ladder.LOCK,
    in_migrations=True,
)
GUIDE = Guide(
    why="While an index is built or a column rewritten, every write to the table waits, and then every request.",
    grades="Judged are migrations that a change adds: those that are merged have run.",
)

_REVERSE = re.compile(rb"RunPython\(\s*[\w.]+\s*,\s*(?:reverse_code\s*=\s*)?(\w+)")
_BACKFILL = re.compile(
    r"for\s+\w+\s+in\s+(\w+)\.objects\.(?:all|filter|exclude)\([^\n]*:\s*\n"
    r"[\s\S]*?\.save\(|\b(\w+)\.objects\.(?:all\(\)\.|filter\([^\n]*\)\.)?update\("
)
_BATCH = re.compile(rb"batch_alter_table\(\s*[\"'](\w+)[\"']")
_BATCHED = re.compile(r"batch|chunk|\[:\d|\[:[A-Z_]+\]|\bwhile\b|iterator\(", re.IGNORECASE)
_GOT = r"\b{name}\s*=\s*apps\.get_model\(\s*[\"'](?:(\w+)[\"']\s*,\s*[\"'](\w+)|(\w+)\.(\w+))"
_CREATE_MODEL = re.compile(rb"CreateModel\(\s*(?:name\s*=\s*)?[\"'](\w+)[\"']")
_CREATE_TABLE = re.compile(rb"create_table\(\s*[\"'](\w+)[\"']")
_DJANGO = "django.db.migrations."
_INDEX = "an index is built without `AddIndexConcurrently`: writes wait until it is done"
_CONSTRAINTS = {
    "AddConstraint": CHECKED_AT_ONCE,
    "AlterUniqueTogether": MADE_UNIQUE,
    "AlterIndexTogether": _INDEX,
}
_DROPPED = "`{column}` is dropped, and a model still asks for it"
_KEYS = frozenset({"ForeignKey", "OneToOneField"})
_RUNNER = re.compile(r"(?i)^(?:this\.)?(?:\w*runner|queryInterface|knex\.schema|\w*schema)$")
_SCRIPT = {
    "createIndex": "an index is built without `CONCURRENTLY`: writes wait until it is done",
    "addIndex": "an index is built without `concurrently`: writes wait until it is done",
    "addColumn": ADDED_NOT_NULL,
    "changeColumn": RETYPED,
    "createForeignKey": CHECKED_AT_ONCE,
    "addConstraint": CHECKED_AT_ONCE,
    "renameColumn": RENAMED,
}
_BACK = re.compile(r"(?:.*\.)?(?:down|downgrade)$")  # what undoes a migration
_DRAWN_IN_PYTHON = re.compile(rf"\bserver_default\s*=\s*[^,]*{VOLATILE}", re.IGNORECASE)
_HARMLESS = re.compile(r"concurrently|isNullable:\s*true|allowNull:\s*true|default(?:Value)?:")
_NOT_NULL = re.compile(r"allowNull:\s*false|isNullable:\s*false|new TableColumn\(")
_DRAWN_IN_SCRIPT = re.compile(rf"\bdefault(?:Value)?:[^,}}]*{VOLATILE}", re.IGNORECASE)
_DIFFERS = re.compile(r"\bdb_default\s*=\s*[\w.]*(?:Now|Random\w*|Func)\(")
_CALLED_DEFAULT = re.compile(
    r"\bdefault\s*=\s*(?:uuid\.uuid\d|(?:[\w.]+\.)?(?:now|utcnow|random|token_\w+|get_random_string|generate_\w+))\b"
)
_QUOTES = "\"'"


def look_at_django(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Operations of a Django migration."""
    callee = file.callee(call)
    if not callee.startswith((_DJANGO, "migrations.")):
        return
    name = callee.rpartition(".")[2]
    positional, keywords = file.arguments(call)
    model = keywords.get("model_name", positional[0] if positional else None)
    if model is None:
        return
    says = _CONSTRAINTS.get(name, "")
    confidence = ""
    if name == "RemoveField" and (column := keywords.get("name", positional[-1] if positional else None)) is not None:
        dropped = file.text(column).strip("\"'")
        message = f"On `{file.text(model).strip(_QUOTES)}` {_DROPPED.format(column=dropped)}"
        yield file.mark(RULE.id, call, message, data={"model": file.text(model).strip(_QUOTES), "column": dropped})
        return
    if name == "RenameField":
        says = RENAMED
    elif name == "AlterField" and (field := keywords.get("field", positional[-1] if positional else None)) is not None:
        says, confidence = _altered_field(file.text(field)), "low"  # the field as it was stands in another migration
    elif name == "AddIndex":
        says = _INDEX
    elif name == "AddField" and (field := keywords.get("field", positional[-1] if positional else None)) is not None:
        says, confidence = _added_field(file.text(field))
    if says:
        yield from _django_marks(call, file.text(model).strip("\"'"), says, file, confidence)


def look_at_backfill(function: Node, file: SourceFile) -> Iterator[Mark]:
    """A function of a migration that changes all rows in one go."""
    text = file.text(function)
    found = _BACKFILL.search(text)
    if found is None or _BATCHED.search(text) or _is_the_way_back(function, file):
        return
    name = found[1] or found[2]
    got = re.search(_GOT.format(name=re.escape(name)), text)
    if got is not None:
        model = got[2] or got[4]
        says = "rows are changed in the migration that holds the lock, without batches"
        start = function.start_byte + len(text[: found.start()].encode())
        node = file.tree.root_node.descendant_for_byte_range(start, start + 1) or function
        yield from _django_marks(node, model, says, file)


def _is_the_way_back(function: Node, file: SourceFile) -> bool:
    """Whether a function is what `RunPython` calls to undo the migration."""
    name = function.child_by_field_name("name")
    return name is not None and file.text(name).encode() in _REVERSE.findall(file.source)


def look_at_alembic(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Operations of Alembic."""
    receiver, _, name = file.callee(call).rpartition(".")
    if receiver not in ("op", "alembic.op", "batch_op") or function_name(call, file) == "downgrade":
        return
    positional, keywords = file.arguments(call)
    texts = [file.text(each).strip("\"'") for each in positional]
    if receiver == "batch_op":
        opened = list(_BATCH.finditer(file.source, 0, call.start_byte))
        if not opened:
            return
        # Where the table stands without a batch.
        texts.insert(1 if name.startswith("create_") else 0, opened[-1][1].decode())
    if name == "drop_column" and len(texts) > 1:
        yield _dropped(call, texts[0], texts[1], file)
        return
    given = {key: file.text(value) for key, value in keywords.items()}
    table, says = _alembic(name, texts, given)
    if says and table.encode() not in _CREATE_TABLE.findall(file.source):
        yield file.mark(RULE.id, call, f"On `{table}` {says}", data={"table": table})


def _alembic(name: str, texts: list[str], given: dict[str, str]) -> tuple[str, str]:
    """The table of an operation, and what it does while it holds the lock; nothing when it harms nobody."""
    if name == "alter_column" and texts:
        return texts[0], _altered_column(given)
    if len(texts) < 2:
        return "", ""
    if name == "create_index" and given.get("postgresql_concurrently", "False") == "False":
        return texts[1], "an index is built without `postgresql_concurrently`: writes wait until it is done"
    if name == "add_column" and _DRAWN_IN_PYTHON.search(texts[1]):
        return texts[0], DIFFERS
    if name == "add_column" and "nullable=False" in texts[1] and "server_default" not in texts[1]:
        return texts[0], ADDED_NOT_NULL
    if name == "create_unique_constraint":
        return texts[1], MADE_UNIQUE
    checks = name in ("create_check_constraint", "create_foreign_key")
    is_put_off = given.get("postgresql_not_valid", "False") != "False"
    return (texts[1], CHECKED_AT_ONCE) if checks and not is_put_off else ("", "")


def _altered_column(given: dict[str, str]) -> str:
    if "new_column_name" in given:
        return RENAMED
    if given.get("nullable") == "False":
        return MADE_NOT_NULL
    return RETYPED if "type_" in given else ""


def _dropped(call: Node, table: str, column: str, file: SourceFile) -> Mark:
    """A column that goes; whether a model still has it is asked in `check`."""
    message = f"On `{table}` {_DROPPED.format(column=column)}"
    return file.mark(RULE.id, call, message, data={"table": table, "column": column})


def look_at_sql_call(call: Node, file: SourceFile) -> Iterator[Mark]:
    """SQL that a migration in a program runs: `op.execute("...")`, `queryRunner.query("...")`."""
    is_alembic = file.callee(call) in ("op.execute", "alembic.op.execute")
    if file.callee(call).endswith(".execute") and not is_alembic:
        return
    if _BACK.match(function_name(call, file)):
        return
    for argument in file.arguments(call)[0][:1]:
        if "string" in argument.type:
            text = file.text(argument)
            for dropped in drops_in(text.strip("\"'`rf")):
                yield _dropped(call, dropped.table, dropped.column, file)
            for lock in locks_in(text.strip("\"'`rf"), file.source.decode("utf-8", "replace")):
                data = {"table": lock.table, "line": str(lock.line), "key": lock.key}
                yield file.mark(RULE.id, call, f"On `{lock.table}` {lock.says}", data=data)


def look_at_sql(source: str) -> Iterator[Mark]:
    """The statements of a SQL file."""
    for line, table, column in drops_in(source):
        message = f"On `{table}` {_DROPPED.format(column=column)}"
        yield Mark(RULE.id, line, 0, message, f"{table}:{column}", data={"table": table, "column": column})
    for line, table, says, key in locks_in(source, source):
        message = f"On `{table}` {says}"
        yield Mark(RULE.id, line, 0, message, f"{table}:{says[:20]}", data={"table": table, "key": key})


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Findings in migrations that the change adds, for tables that were there before."""
    for path, facts in codebase.files.items():
        if path not in codebase.added or kind_of(path) is not FileKind.MIGRATION:
            continue
        for mark in facts.marks:
            if mark.rule == RULE.id and _is_asked_for(mark, path, codebase):
                table = mark.data.get("table") or _table(path, mark.data["model"], codebase)
                yield finding_of(mark, path, facts).with_(table=table)


def _is_asked_for(mark: Mark, path: str, codebase: Codebase) -> bool:
    """Whether a model still has the column that is dropped, or more than one row is updated; true for marks of other
    kinds."""
    if key := mark.data.get("key", ""):
        entry = codebase.models.of_table(mark.data["table"])
        columns = entry.model.columns if entry is not None else ()
        return key != "id" and not any(each.name == key and (each.primary_key or each.unique) for each in columns)
    column = mark.data.get("column", "")
    if not column:
        return True
    entry = codebase.models.of_table(mark.data.get("table") or _table(path, mark.data["model"], codebase))
    if entry is None or entry.model.orm == "ddl":
        return False
    return any(_column(each, entry.model.orm) in (column, column.lower()) for each in entry.model.columns)


def _column(column: Column, orm: str) -> str:
    """What the database calls a column: as the model says, else Java's names are spelled with underscores."""
    return column.stored or (snake_case(column.name) if orm == "jpa" else column.name)


def _table(path: str, model: str, codebase: Codebase) -> str:
    """The table of a model that a Django migration names."""
    app = app_label(str(PurePosixPath(path).parent.parent / "models.py"))
    for entry in codebase.models.all:
        if entry.model.name.lower() == model.lower() and app_label(entry.path) == app:
            return entry.table
    return f"{app}_{model.lower()}"


def _added_field(field: str) -> tuple[str, str]:
    """What adding a field does to the rows that are there, and how certain that is."""
    kind = field.partition("(")[0].rpartition(".")[2]
    if re.search(r"\bdb_index=True|\bunique=True", field) or (kind in _KEYS and "db_index=False" not in field):
        return "the new column builds its index under the lock", ""
    if _DIFFERS.search(field):
        return "the new column has a default that differs for each row: the whole table is rewritten", ""
    # Django asks the function once; what each row should have takes a backfill.
    called = _CALLED_DEFAULT.search(field) is not None and "null=True" not in field
    return (
        "the new column has a default that is a function: all rows get one value in one step" if called else ""
    ), "low"


def _altered_field(field: str) -> str:
    """What may happen to the rows when a field becomes this one. Texts and choices are no concern of the database."""
    if re.search(r"\bnull\s*=\s*True|help_text|verbose_name|choices\s*=|related_name", field):
        return ""
    if "ManyToMany" in field or not field.startswith(("models.", "django.")):
        return ""  # what type a class of the project's own has stands elsewhere
    return "the field is changed: a new type rewrites the table, and `NOT NULL` reads all rows under the lock"


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Operations of TypeORM's query runner, of Sequelize's query interface and of Knex."""
    receiver, _, name = file.callee(call).rpartition(".")
    says = _SCRIPT.get(name, "") if _RUNNER.search(receiver) else ""
    given = [file.text(each) for each in file.arguments(call)[0]]
    is_dropped = name in ("dropColumn", "removeColumn") and _RUNNER.search(receiver) is not None and len(given) > 1
    if not (says or is_dropped) or not given or _BACK.match(function_name(call, file)):
        return
    if is_dropped:
        yield _dropped(call, given[0].strip("\"'`"), given[1].strip("\"'`"), file)
        return
    table = given[0].strip("\"'`")
    rest = " ".join(given[1:])
    if name == "addColumn" and _DRAWN_IN_SCRIPT.search(rest):
        says = DIFFERS
    elif _HARMLESS.search(rest) or (name == "addColumn" and not _NOT_NULL.search(rest)):
        return
    if name == "addIndex" and "concurrently" in file.text(call):
        return
    if not re.search(rb"createTable\(\s*(?:new Table\(\{\s*name:\s*)?[\"'`]" + re.escape(table.encode()), file.source):
        yield file.mark(RULE.id, call, f"On `{table}` {says}", data={"table": table})


def look_at_knex(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Tables that Knex alters by a function."""
    for change in knex_tables.changes_in(call, file) if not _BACK.match(function_name(call, file)) else ():
        if change.column:
            yield _dropped(change.node, change.table, change.column, file)
        else:
            message = f"On `{change.table}` {change.says}"
            yield file.mark(RULE.id, change.node, message, data={"table": change.table})


def _django_marks(node: Node, model: str, says: str, file: SourceFile, confidence: str = "") -> Iterator[Mark]:
    """A mark, unless the migration itself creates the table."""
    if model.lower() not in {name.decode().lower() for name in _CREATE_MODEL.findall(file.source)}:
        message = f"On `{model}` {says}"
        yield file.mark(RULE.id, node, message, confidence=confidence, data={"model": model})


WATCHES = (
    Watch(
        "call",
        look_at_django,
        PYTHON,
        names=frozenset({"AddIndex", "AddField", "AlterField", "RemoveField", "RenameField"}) | _CONSTRAINTS.keys(),
    ),
    Watch("function", look_at_backfill, PYTHON, needs=(b"apps.get_model(",)),
    Watch(
        "call",
        look_at_alembic,
        PYTHON,
        names=frozenset(
            """create_index add_column alter_column create_foreign_key create_unique_constraint
            create_check_constraint drop_column""".split()
        ),
    ),
    Watch("call", look_at_sql_call, PYTHON, names=frozenset({"RunSQL", "execute"})),
    Watch("call", look_at_script, SCRIPT, names=frozenset(_SCRIPT) | {"dropColumn", "removeColumn"}),
    Watch("call", look_at_knex, SCRIPT, names=knex_tables.ALTERS),
    Watch("call", look_at_sql_call, SCRIPT, names=frozenset({"query", "raw"})),
)
