"""By what the source tells one row of a table from another, where a statement writes but one of them.

A row is named by the variable that is saved (`order`), by the key that the statement asks for (`code=target`), or, when
it is made, by what it is made of (`new source,-amount`).
"""

import re

from analysis.engine.facts import Query

MADE = "new "

SAVED = re.compile(r"(?:await)?([\w.]+)\.a?save\(")
_HANDED = re.compile(r"(?:return)?(?:await)?[\w.]+\.(?:save|saveAndFlush|delete|remove)\((?P<row>[A-Za-z_]\w*)[,)]")
_HANDED_TO_FIELD = re.compile(r"(?:return)?(?:await)?this\.\w+\.(?:save|remove)\((?P<row>[A-Za-z_]\w*)[,)]")
_HANDED_NEW = re.compile(r"(?:return)?(?:await)?[\w.]+\.(?:save|saveAndFlush)\(new\w+\((?P<given>.+)\)\);?$")
_BY_HANDING = frozenset({"jpa", "typeorm"})  # a repository is handed the row that it saves
_IN_PYTHON = re.compile(rb"\.filter\((?P<column>\w+)=(?P<value>[A-Za-z_][\w.]*)\)")
_IN_SCRIPT = re.compile(
    rb"(?:\bwhere:\s*|\.(?:where|updateOne|updateMany|deleteOne|deleteMany|findOneAndUpdate|findOneAndDelete)\(\s*)"
    rb"\{\s*(?P<column>\w+)\s*(?::\s*(?P<value>[A-Za-z_][\w.]*)\s*)?,?\s*\}"
    rb"|\.where\(\s*[\"'`](?P<named>\w+)[\"'`]\s*,\s*(?P<given>[A-Za-z_][\w.]*)\s*\)"
)
# TypeORM and Mongoose: the key or the condition stands first, which Sequelize calls `where`.
_FIRST_IN_SCRIPT = re.compile(
    rb"\.(?:update|increment|decrement|delete|softDelete|restore)\(\s*"
    rb"\{\s*(?P<column>(?:\w+I|i)d|uuid|_id)\s*(?::\s*(?P<value>[A-Za-z_][\w.]*)\s*)?,?\s*\}\s*[,)]"
    rb"|\.(?:findByIdAnd(?:Update|Delete|Remove)|update)\(\s*(?P<key>[A-Za-z_][\w.]*)\s*,\s*\{"
)
_CONDITION = re.compile(rb"(?i)where\w*\(")
_CONSTANTS = frozenset({b"true", b"false", b"null", b"undefined", b"None", b"True", b"False"})
_IN_GO = re.compile(rb"\.Where\(\s*[\"`]id\s*=\s*(?:\?|\$\d)[^\"`]*[\"`]\s*,\s*([\w.]+)")  # GORM, Bun
_IN_SQL = re.compile(  # of Go: what is bound to the key stands behind the text
    rb"[\"`]\s*UPDATE\s(?P<before>[^\"`;]*?)\bWHERE\s+id\s*=\s*(?:\$(?P<number>\d)|\?)[^\"`?]*[\"`]\s*,(?P<given>[^()\n]*)\)",
    re.IGNORECASE,
)
_KEYS = frozenset({"id", "pk"})


def row_of(query: Query, text: bytes) -> str:
    """The row that a statement writes, empty when the source tells of none."""
    if query.orm in _BY_HANDING and (found := _HANDED_NEW.match(query.anchor)) is not None:
        return MADE + found["given"]
    if query.operation == "insert":
        given = query.anchor.partition(f"{query.terminal}(")[2]
        return MADE + given if given else ""
    if query.orm in _BY_HANDING and (found := _HANDED.match(query.anchor)) is not None:
        return found["row"]
    if query.orm == "class" and (found := _HANDED_TO_FIELD.match(query.anchor)) is not None:
        return found["row"]
    if query.operation == "update" and (saved := SAVED.match(query.anchor)) is not None:
        return saved[1]
    return _by_key(text) if query.operation in ("update", "delete") else ""


def are_apart(one: str, other: str) -> bool:
    """Whether two names stand for two rows: of a row that is made nobody knows which of the others it is."""
    if not one or not other or one.startswith(MADE) != other.startswith(MADE):
        return False
    if one.startswith(MADE):
        return one != other
    (column, _, value), (second, _, sought) = one.rpartition("="), other.rpartition("=")
    if column and second:
        return value != sought and (column == second or {column, second} <= _KEYS)
    if column or second:
        return column in _KEYS | {""} and second in _KEYS | {""} and value.partition(".")[0] != sought.partition(".")[0]
    return one != other


def _by_key(text: bytes) -> str:
    """The key of the only row that a statement changes, with its column."""
    in_go = _IN_GO.search(text)
    if in_go is not None:
        return f"id={in_go[1].decode()}"
    in_sql = _IN_SQL.search(text)
    if in_sql is not None:
        given = [each.strip() for each in in_sql["given"].split(b",")]
        position = int(in_sql["number"]) - 1 if in_sql["number"] else in_sql["before"].count(b"?")
        return f"id={given[position].decode()}" if position < len(given) else ""
    found = _IN_PYTHON.search(text)
    if found is not None:
        return _keyed(found["column"], found["value"])
    first = _FIRST_IN_SCRIPT.search(text) if b"where" not in text else None
    if first is not None:
        column = first["column"] or b"id"
        return _keyed(column, first["key"] or first["value"] or column)
    found = _IN_SCRIPT.search(text)
    if found is None or len(_CONDITION.findall(text)) > 1:
        return ""
    column = found["column"] or found["named"]
    return _keyed(column, found["value"] or found["given"] or column)


def _keyed(column: bytes, value: bytes) -> str:
    return "" if value in _CONSTANTS else f"{column.decode()}={value.decode()}"
