"""SQL as text: queries in string arguments, and tables from CREATE and ALTER statements."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.extract.orm.sql_rows import Rows, rows_of
from analysis.engine.extract.orm.steps import closing_bracket, parts_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import COMPUTED, Column, Filter, Mark, Model, Relation
from analysis.engine.readers.reading import followed, known_values, text_before

_VERB = re.compile(r"^[\s\"'`(fr]*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", re.IGNORECASE)
_DEFINES = re.compile(r"^[\s\"'`(fr]*(?:CREATE|ALTER)\s", re.IGNORECASE)
_JOINT = re.compile(r"[\"']\s*[rf]?[\"'](?=\w)")  # where two literals are one: `"CREATE INDEX i " "ON t (a)"`
_INNER = re.compile(r"\(\s*SELECT\b(?:[^()]|\([^()]*\))*\)(?=[^()]*\bFROM\b)", re.IGNORECASE)  # gives a column
_TABLE = re.compile(  # and no function that makes rows: `FROM generate_series(1, 9)`
    r"\b(?:(?:FROM|JOIN)\s+(?![\w.]+\()|(?:INTO|UPDATE(?:\s+OR\s+\w+)?)\s+)[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?(\w+)",
    re.IGNORECASE,
)
_NAMED_LATER = re.compile(  # a table whose name a variable brings
    r"(?i)\b(?:FROM|INTO|UPDATE(?:\s+OR\s+\w+)?)\s+(?:[\"'`]\s*\+|\$?\{)\s*(\w+)"
)
_NAMED_PART = re.compile(r"\$\{(\w+)(?:\.(\w+))*\}")
_ORDER = re.compile(r"\bORDER\s+BY\s+([\w., ]+?)(?=\s+(?:LIMIT|OFFSET|FOR)\b|[^\w., ]|$)", re.IGNORECASE)
_ORDERED_BY = re.compile(r"(\w+)(?:\s+(?:ASC|DESC))?\s*(?:,|$)", re.IGNORECASE)
_ALIAS = re.compile(
    r"\b(?:FROM|UPDATE)\s+[\w.\"`]+\s+(?:AS\s+)?(?!WHERE\b|ORDER\b|GROUP\b|LIMIT\b|JOIN\b|LEFT\b|INNER\b|SET\b)(\w+)",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"(?i)\b(?:JOIN|GROUP\s+BY|DISTINCT|UNION|FETCH\s+FIRST|(?:MAX|MIN|SUM|AVG)\()|,\s*\w+\s+WHERE\b|^[\s\"'`(fr]*WITH\b"
)
_COMPUTES = re.compile(r"\bSELECT\s+(?:(?:COALESCE|IFNULL|ROUND)\(\s*)?(COUNT|SUM|AVG|MIN|MAX)\(", re.IGNORECASE)
_IN_GROUPS = re.compile(r"\bGROUP\s+BY\b|\bOVER\b", re.IGNORECASE)
_LIMIT = re.compile(r"\bLIMIT\s+(\S+)", re.IGNORECASE)
LONGEST_STATEMENT = 2_000  # characters of a prepared statement
_NAMES = (
    "execute executemany executescript fetch fetchrow fetchval"
    " RunSQL query Query QueryRow QueryContext QueryRowContext Exec ExecContext Queryx Get"
    " Select GetContext SelectContext QueryxContext QueryRowx QueryRowxContext NamedExec NamedExecContext NamedQuery"
    " NamedQueryContext NewRaw MustExec MustExecContext prepareStatement executeQuery executeUpdate queryForObject"
    " queryForList queryForMap createNativeQuery raw update"
    " $queryRawUnsafe $queryRaw $executeRaw"
)
_RUNS_PREPARED = frozenset(
    """Exec ExecContext MustExec MustExecContext executeUpdate execute executeQuery Query QueryContext QueryRow
    QueryRowContext Queryx QueryxContext QueryRowx QueryRowxContext Get GetContext Select SelectContext""".split()
)
_BOUND = re.compile(r"\?|\$\d|[:@]\w")  # what is filled in for each run
WORDS = tuple(word for each in (b"SELECT ", b"INSERT ", b"UPDATE ", b"DELETE ") for word in (each, each.lower()))
_PUT_TOGETHER = frozenset({"call", "binary_expression", "binary_operator"})
_NO_VALUE = re.compile(r"(?i:mapper)\b|::|->|\.class$|^new \w*RowMapper\b")  # says what becomes of a row
_PREPARED = re.compile(
    r"(?:\s*,\s*err)?\s*:?=\s*(?:await\s+)?[\w.]+\.(?:prepareStatement|Prepare(?:x|Named)?(?:Context)?)\(\s*(?:[\w.()]+\s*,\s*)?(?:([\"`])|(\w+)\s*[,)])"
)


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A call whose first or second argument is SQL written out; in Go a context and a destination may come before."""
    written = call.child_by_field_name("arguments")
    tagged = [written] if written is not None and written.type == "template_string" else []  # $queryRaw`SELECT 1`
    for argument in tagged or file.arguments(call)[0][: 3 if file.language == "go" else 2]:
        text = statement_in(argument, call, file)
        if append_statement(call, text, file):
            break
        if _DEFINES.match(text):
            file.models.extend(tables(_JOINT.sub("", text)))
            break
    else:
        _read_prepared(call, file)
    return iter(())


def _read_prepared(call: Node, file: SourceFile) -> None:
    """`statement.executeUpdate()`, in a loop, of a statement that was prepared before it."""
    receiver, _, name = file.callee(call).rpartition(".")
    if name not in _RUNS_PREPARED or not receiver.isidentifier() or not file.in_loop(call):
        return
    if not (file.mentions(b"prepareStatement") or file.mentions(b"Prepare")):
        return
    prepared = ""
    before = text_before(call, file)
    for match in followed(receiver, before, _PREPARED, "_."):
        if match[1]:
            prepared = before[match.end() : match.end() + LONGEST_STATEMENT].partition(match[1])[0]
        else:
            prepared = _held(match[2], call, file)
    verb = _VERB.match(prepared)
    if verb is not None and verb[1].upper() != "WITH" and _BOUND.search(prepared):
        _append(call, prepared, verb[1].upper(), file)
        # What it writes was bound to it in statements before.
        file.queries[-1] = structs.replace(file.queries[-1], uses_loop_variable=True)


READERS = dict.fromkeys(_NAMES.split(), look)


def statement_in(argument: Node, call: Node, file: SourceFile) -> str:
    """The text that is handed to a call: written there, or held by a name."""
    text = _literal(argument, file)
    return _held(file.text(argument), call, file) if not text and argument.type == "identifier" else text


def append_statement(call: Node, text: str, file: SourceFile, bound: list[str] | None = None) -> bool:
    """Whether the text is a statement, which the call runs. `bound` are the values that stand elsewhere."""
    verb = _VERB.match(text)
    if verb is not None:
        _append(call, text, verb[1].upper(), file, bound)
    return verb is not None


def _held(name: str, call: Node, file: SourceFile) -> str:
    """The SQL that a name holds which the function, or else the file, gives a value once, with all that the function
    adds to it: a part that is added in one case only is read as if it always were."""
    if not any(map(file.mentions, WORDS)):
        return ""
    values = known_values(name, call, file)
    if not values or not ("string" in values[0].type or values[0].type in _PUT_TOGETHER):
        return ""
    added = [_added_to(name, each, file) for each in values[1:]]
    return "".join((_literal(values[0], file), *added)) if all(added) else ""


def _added_to(name: str, value: Node, file: SourceFile) -> str:
    """What a later assignment puts behind the text that a name holds: `sql += "…"`, `sql = sql + "…"`."""
    text = file.text(value)
    if file.source[: value.start_byte].rstrip(b" ").endswith(b"+="):
        return text
    behind = text.removeprefix(name).lstrip()
    return behind if behind != text and behind.startswith("+") else ""


def _literal(node: Node, file: SourceFile) -> str:
    if "string" in node.type or node.type in ("binary_operator", "binary_expression"):
        return file.text(node)
    if node.type == "call_expression" and (written := node.child_by_field_name("arguments")) is not None:
        return _of_tag(node, written, file) if written.type == "template_string" else ""
    if node.type == "call" and node.child_count and file.text(node.child(0)).rpartition(".")[2] == "text":
        return file.text(node).partition("(")[2]
    return ""


def _of_tag(call: Node, written: Node, file: SourceFile) -> str:
    """A template that a library makes a statement of, ``sql`SELECT … FROM ${orders}` ``: tables and columns stand for
    their names."""
    function = call.child_by_field_name("function")
    if function is None or file.text(function).rpartition(".")[2] not in ("sql", "SQL"):
        return ""
    return _NAMED_PART.sub(
        lambda part: (part[2] or part[1]) if part[1] in file.bindings else part[0], file.text(written)
    )


def _append(call: Node, text: str, verb: str, file: SourceFile, given: list[str] | None = None) -> None:
    table = _TABLE.search(_INNER.sub("", text)) or _TABLE.search(text)
    condition = _condition(text)
    order, limit = _ORDER.search(text), _LIMIT.search(text)
    operation = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}.get(verb, "select")
    if operation == "select" and (computed := _COMPUTES.search(text)) is not None:
        if computed[1].upper() == "COUNT":
            operation = "count"
        elif _IN_GROUPS.search(text) is None:
            operation = "aggregate"  # one value of all rows
    name = file.callee(call).rpartition(".")[2]
    bound = given if given is not None else _bound_in(call, text, file)
    filters = tuple(conditions_in(condition, _alias(text), bound)) if operation != "insert" else ()
    is_read = _JOINED.search(text) is None and (bool(filters) or not condition.strip(" \"'`);"))  # all of one table
    rows = rows_of(call, file) if operation == "select" else Rows(False)
    if not is_read:
        rows = Rows(False, is_one=rows.is_one)
    file.queries.append(
        query_at(
            call,
            file,
            orm="sql",
            model=table[1] if table is not None else "",
            operation="bulk_insert" if name == "executemany" and operation == "insert" else operation,
            terminal="fetchall" if rows.are_kept else name,
            filters=filters,
            order=tuple(_ORDERED_BY.findall(order[1].strip(" \"'`"))) if order else (),
            limit=_limit(limit[1].strip("\"'`;)")) if limit else 1 if rows.is_one else 0,
            offset=_offset(text),
            lock=re.search(r"\bFOR\s+UPDATE\b", text, re.IGNORECASE) is not None,
            streaming=rows.is_streamed,
            variable=rows.variable,
            raw=True,
            counted=rows.counted,
        )
    )
    if _is_of_each_table(call, text, file):
        file.queries[-1] = structs.replace(file.queries[-1], model="", uses_loop_variable=False)


def _bound_in(call: Node, text: str, file: SourceFile) -> list[str]:
    """The values that stand behind the text in its call; in Java what says how a row is read is none of them."""
    bound = parts_of(file.text(call).partition(text)[2].strip(" ,()\n[]"))
    if file.language != "java":
        return bound
    values = [each for each in bound if _NO_VALUE.search(each) is None]
    if values and values[0].startswith("new Object[]"):
        return parts_of(values[0].partition("{")[2].rstrip(" }"))
    return values


def _limit(text: str) -> int:
    return int(text[:9]) if text.isdigit() else -1


def filters_of(text: str, values: Sequence[str] = ()) -> tuple[Filter, ...]:
    """The conditions of a statement by the columns of its table; `values` are bound to it."""
    return tuple(conditions_in(_condition(text), _alias(text), values))


def _condition(text: str) -> str:
    where = re.split(r"\bWHERE\b", text, maxsplit=1, flags=re.IGNORECASE)
    return re.split(r"\b(?:ORDER|GROUP|LIMIT)\b", where[1], flags=re.IGNORECASE)[0] if len(where) > 1 else ""


def _is_of_each_table(call: Node, text: str, file: SourceFile) -> bool:
    """Whether each round of the loop around asks or writes another table: no rows that one statement could gather."""
    named = _NAMED_LATER.search(text)
    loop = file.loop_of(call) if named is not None else None
    return named is not None and loop is not None and named[1] in loop.variables


def _offset(text: str) -> int:
    match = re.search(r"\bOFFSET\s+(\d{1,9})?", text, re.IGNORECASE)
    return 0 if match is None else int(match[1]) if match[1] else -1


def _alias(text: str) -> str:
    match = _ALIAS.search(text)
    return match[1] if match is not None else ""


# Tables

_CREATE = re.compile(r"\bCREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.\"`\[\]]+)\s*\(", re.IGNORECASE)
_INDEX = re.compile(
    r"\bCREATE\s+(UNIQUE\s+|FULLTEXT\s+)?INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?[\w.\"`]*\s*ON\s+"
    r"(?:ONLY\s+)?([\w.\"`]+)\s*(?:USING\s+(\w+)\s*)?\(",
    re.IGNORECASE,
)
# `lower(name)`, `to_tsvector('simple', name)`
_COMPUTED = re.compile(r"\(*\s*\w+\s*\(+\s*(?:'\w+'\s*,\s*)?[\"`]?(\w+)")
_FINDS_INSIDE = re.compile(r"(?i)\b(?:gin|gist|fulltext)\b|_trgm_ops")
_ALTER = re.compile(r"\bALTER\s+TABLE\s+(?:ONLY\s+)?(?:IF\s+EXISTS\s+)?([\w.\"`\[\]]+)\s+([^;]*)", re.IGNORECASE)
_COLUMN = re.compile(
    r"[\"`\[]?(\w+)[\"`\]]?\s+([\w ]+?(?:\([^()]*\))?)"
    r"(?=\s+(?:NOT|NULL|DEFAULT|PRIMARY|UNIQUE|REFERENCES|CHECK|CONSTRAINT|COLLATE|GENERATED|AUTO_INCREMENT)\b|\s*$)",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"\bREFERENCES\s+([\w.\"`]+)(?:.*?\bON\s+DELETE\s+(CASCADE|SET NULL|RESTRICT|NO ACTION))?", re.IGNORECASE
)
_KEY = re.compile(
    r"^(?:CONSTRAINT\s+\S+\s+)?(PRIMARY\s+KEY|UNIQUE|INDEX|KEY|FOREIGN\s+KEY)\b[^(]*\(([^()]*)\)", re.IGNORECASE
)


def tables(source: str) -> tuple[Model, ...]:
    """Tables of a SQL file: CREATE TABLE with its columns and keys, and the indexes that this file adds to any table
    (as a model with indexes only when the table is made elsewhere)."""
    source = re.sub(r"--[^\n]*|/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), source, flags=re.DOTALL)
    found: dict[str, _Table] = {}
    for match in _CREATE.finditer(source):
        table = found.setdefault(_bare(match[1]), _Table(_bare(match[1]), source.count("\n", 0, match.start()) + 1))
        line = source.count("\n", 0, match.end()) + 1
        for part in _parts(source, match.end()):
            table.read(part, line + part[: len(part) - len(part.lstrip())].count("\n"))
            line += part.count("\n")
    for match in _ALTER.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        table = found.setdefault(_bare(match[1]), _Table(_bare(match[1]), line))
        for action in re.findall(r"\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(.*)", match[2], re.IGNORECASE):
            table.read(action.rstrip(", "), line)
    for match in _INDEX.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        table = found.setdefault(_bare(match[2]), _Table(_bare(match[2]), line))
        table.read_index(f"{match[1]} {match[3]}", source[match.end() : closing_bracket(source, match.end())])
    return tuple(table.model() for table in found.values())


class _Table:
    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.columns: list[Column] = []
        self.relations: list[Relation] = []
        self.indexes: list[tuple[str, ...]] = []
        self.searchable: list[str] = []
        self.unique: set[str] = set()

    def read_index(self, kind: str, columns: str) -> None:
        """An index: on columns, on what a function makes of one, or for what stands inside of a text."""
        parts = parts_of(columns)
        plain = tuple(takewhile(lambda each: "(" not in each, parts))
        self.indexes.append(_columns_of(",".join(plain)))
        is_inside = _FINDS_INSIDE.search(f"{kind} {columns}") is not None
        for computed in filter(None, map(_COMPUTED.match, parts)):
            self.searchable.append(computed[1] if is_inside else computed[1] + COMPUTED)
        if is_inside:
            self.searchable += _columns_of(",".join(plain))

    def read(self, part: str, line: int) -> None:
        """A column or a key of the table's definition."""
        text = " ".join(part.split())
        key = _KEY.match(re.sub(r"\(\d+\)", "", text))  # `KEY name (name(191))` indexes the beginning of a text
        if key is not None:
            columns = _columns_of(key[2])
            if key[1].upper().startswith("FOREIGN"):
                self._refer(columns[0] if columns else "", text, line)
            else:
                self.indexes.append(columns)
                self.unique.update(columns if key[1].upper() == "UNIQUE" and len(columns) == 1 else ())
            return
        column = _COLUMN.match(text)
        if column is None:
            return
        upper = text.upper()
        is_key, unique = "PRIMARY KEY" in upper, " UNIQUE" in upper
        nullable = "NOT NULL" not in upper and not is_key
        self.columns.append(Column(column[1], column[2], nullable, unique, unique or is_key, is_key, line))
        self._refer(column[1], text, line)

    def _refer(self, column: str, text: str, line: int) -> None:
        match = _REFERENCES.search(text)
        if match is not None:
            on_delete = (match[2] or "").lower().replace(" ", "_")
            self.relations.append(Relation(column, "to_one", _bare(match[1]), on_delete=on_delete, line=line))

    def model(self) -> Model:
        return Model(
            orm="ddl",
            name=self.name,
            table=self.name,
            line=self.line,
            columns=tuple(
                structs.replace(each, unique=True) if each.name in self.unique else each for each in self.columns
            ),
            relations=tuple(self.relations),
            indexes=tuple(self.indexes),
            searchable=tuple(self.searchable),
        )


def _bare(name: str) -> str:
    return re.sub(r"[\"`\[\]]", "", name).rpartition(".")[2]


def _columns_of(text: str) -> tuple[str, ...]:
    return tuple(words[0].strip('"`[]') for part in text.split(",") if (words := part.split()))


def _parts(source: str, start: int) -> list[str]:
    """What stands between the commas of the brackets that were opened before `start`."""
    parts, level, begin = [], 0, start
    for match in re.compile(r"[(),]").finditer(source, start):
        sign = match[0]
        if sign == "(":
            level += 1
        elif sign == ")" and level:
            level -= 1
        elif level == 0:
            parts.append(source[begin : match.start()])
            begin = match.end()
            if sign == ")":
                break
    return parts
