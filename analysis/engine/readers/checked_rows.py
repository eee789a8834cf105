"""Rows that are looked for and then made, as `risk-check-then-act` sees them."""

import re
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import declarations, followed, function_text, text_after

HANDLED = re.compile(
    r"IntegrityError|UniqueViolation|P2002|Duplicate(?:d)?Key|DataIntegrityViolation|UniqueConstraint|ER_DUP_ENTRY|23505"
    r"|11000|(?i:on_?conflict|on duplicate key|onDuplicateKey)|ON CONFLICT|select_for_update|with_for_update|FOR UPDATE"
    r"|\bLock\(|pg_advisory|redis_?lock|[lL]ock(?:ed)?\.(?:acquire|lock)|[wW]ithLock|synchronized|SERIALIZABLE|[sS]erializable"
    r"|PESSIMISTIC|pessimistic_write|clause\.(?:Locking|OnConflict)"
)
# One of them stands in all that the pattern finds.
_HANDLED_WORDS = (
    *("integrity", "unique", "duplicate", "p2002", "er_dup", "23505", "11000", "conflict"),
    *("for_update", "for update", "lock", "advisory", "synchronized", "serializable", "pessimistic"),
)
NEAR = 1_500  # characters before and after a branch that belong to it
LEAVES = re.compile(r"\b(?:raise|throw|return|continue)\b")
_MAKES = re.compile("create|insert|save|add|persist")  # one of them stands in everything that makes a row

SCRIPT_VALUE = re.compile(
    rb"if\s*\(\s*(?:(?P<not>!)\s*(?P<absent>\w+)|(?P<none>\w+)\s*={2,3}\s*(?:null|undefined|0)|(?P<there>\w+)"
    rb"(?:\s*(?:!==?\s*(?:null|undefined)|>\s*0))?|(?P<inline>!?)\s*\(?\s*await\s+[^\n]{1,300}?)\s*\)\s*[{\w]"
)
_SCRIPT_LOADED = (
    r"(?P<client>[\w.]+?)\s*\.\s*(?P<verb>findOne\w*|findFirst|findUnique|findByPk|findById|exists\w*|count\w*)"
    r"(?:<[^<>()]*>)?\("
)
_OF_FILES = re.compile(r"(?i)(?:file_?system|(?<![a-z])fs|disk|director(?:y|ies)|folders?)$")
_IS_ABSENT = re.compile(r"(?:={2,3}\s*(?:0|null|undefined)|<\s*1)\s*\)$")
_SCRIPT_ASSIGNED = re.compile(rf"\s*(?::[^=\n]+)?=\s*await\s+{_SCRIPT_LOADED}")

JAVA_EXISTS = re.compile(
    rb"if\s*\(\s*(?P<not>!)?\s*(?:this\.)?(?P<repo>[A-Za-z]\w*)\.(?:<\w+>)?(?:exists|count|find|select|get)\w*\("
    rb"(?:[^()\n{;]|\((?:[^()\n{;]|\([^()\n{;]*\))*\))*\)"
    rb"(?:\s*\.firstResult(?:Optional)?\(\))?\s*(?P<state>\.isPresent\(\)|\.isEmpty\(\)|[=!]= null|[=!]= 0|> 0)?\s*\)"
)
JAVA_VALUE = re.compile(
    rb"if\s*\(\s*(?:(?P<none>\w+)\s*==\s*null|(?P<there>\w+)\s*!=\s*null|(?P<not>!)?\s*(?P<optional>\w+)\."
    rb"(?P<state>isPresent|isEmpty)\(\))\s*\)"
)
_REPOSITORY = re.compile(r"(?:[rR]epo\w*|[dD]ao|[mM]apper|(?<![kK]ey)[sS]tore)$")
_JAVA_LOADED = re.compile(r"\s*=\s*(?:this\.)?(?P<repo>\w+)\s*\.\s*(?:<\w+>)?(?P<verb>(?:find|get|select|query)\w*)\(")
_DECLARED_TYPE = re.compile(rb"\b(\w+)(?:<[^;=(]*>)?\s+$")


class RowAct(NamedTuple):
    """Where a row that was looked for is made: of which model, asked for by which columns. `is_unique`: the question
    itself says that there can be one only."""

    model: str
    line: int
    columns: tuple[str, ...]
    is_unique: bool = False


def script_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`const row = await db.findFirst(...); if (!row) { await db.create(...) }`, `if (await db.exists(...)) throw`."""
    found = SCRIPT_VALUE.match(file.source, branch.start_byte)
    condition = branch.child_by_field_name("condition")
    if found is None or condition is None:
        return None
    if found["inline"] is not None:
        text = file.text(condition)
        absent = bool(found["inline"]) or _IS_ABSENT.search(text) is not None
        asked = re.search(r"await\s+" + _SCRIPT_LOADED, text)
        rest = text[asked.end() :] if asked is not None else ""
    else:
        absent = bool(found["not"] or found["none"])
        name = decoded(found["absent"] or found["none"] or found["there"])
        near = max(0, branch.start_byte - NEAR)
        before = file.source[near : branch.start_byte].decode("utf-8", "replace")
        loads = list(followed(name, before, _SCRIPT_ASSIGNED, "_."))
        asked = loads[-1] if loads else None
        rest = before[asked.end() :] if asked is not None else ""
    if asked is None:
        return None
    client = asked["client"]
    word = re.escape(client)
    short = re.escape(client.rpartition(".")[2])
    made = (
        rf"\b{word}\s*\.\s*save\("
        rf"|\b{word}\s*\.\s*create\((?=[\s\S]{{0,600}}?(?P<written>\b{word}\s*\.\s*save)\()"
        rf"|\b{word}\s*\.\s*(?:create|insert|insertOne|insertMany)(?:<[^<>()]*>)?\("
        rf"|\bnew\s+{short}\((?=[\s\S]{{0,600}}?(?P<saved>\.save\())"
    )
    columns = tuple(re.findall(r"(\w+)\s*[:,}]", (rest.partition("where")[2] or rest)[:200]))
    line = line_of(made, branch, file, inside=absent)
    client = _entity(client.rpartition(".")[2], file) or client
    unique = asked["verb"] in ("findUnique", "findByPk", "findById")
    if not line or is_handled(branch, file) or _OF_FILES.search(client):
        return None
    return RowAct(client.rpartition(".")[2], line, columns, is_unique=unique)


def _entity(repository: str, file: SourceFile) -> str:
    """The entity of a repository of TypeORM, where the file says it."""
    source = file.source.decode("utf-8", "replace")
    name = re.escape(repository)
    found = re.search(
        rf"\b{name}\s*=\s*[^\n;]*getRepository\((?:\w+\s*,\s*)?(\w+)\)|\b{name}\s*:\s*(?:\w+\.)?\w*Repository<(\w+)>",
        source,
    )
    return (found[1] or found[2]) if found is not None else ""


def java_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`if (!accounts.existsByEmail(email)) accounts.save(account)`, the same over what `findBy...` gave."""
    found = JAVA_EXISTS.match(file.source, branch.start_byte)
    if found is not None:
        repository = decoded(found["repo"])
        state = decoded(found["state"] or b"")
        absent = bool(found["not"]) if state in ("", ".isPresent()", "!= null", "> 0", "!= 0") else not found["not"]
    else:
        value = JAVA_VALUE.match(file.source, branch.start_byte)
        if value is None:
            return None
        name = decoded(value["none"] or value["there"] or value["optional"])
        absent = bool(value["none"]) or (
            value["optional"] is not None and (value["state"] == b"isEmpty") != bool(value["not"])
        )
        before = file.source[max(0, branch.start_byte - NEAR) : branch.start_byte].decode("utf-8", "replace")
        loads = list(followed(name, before, _JAVA_LOADED, "_"))
        if not loads or loads[-1]["verb"] in ("findById", "getById", "selectById", "selectByPrimaryKey", "getOne"):
            return None
        repository = loads[-1]["repo"]
    made = _made_in_java(repository, branch, file)
    line = line_of(made, branch, file, inside=absent) if made else 0
    return RowAct(repository, line, ()) if line and not is_handled(branch, file) else None


def _made_in_java(asked: str, branch: Node, file: SourceFile) -> str:
    """What makes a row of what was asked: a call of the repository, or of an entity that stores itself."""
    if asked[:1].isupper():
        rows = re.findall(rf"\b{re.escape(asked)}\s+(\w+)\s*=", function_text(branch, file))
        return rf"\b(?:{'|'.join(rows)})\s*\.\s*persist(?:AndFlush)?\(\s*\)" if rows else ""
    if _REPOSITORY.search(asked) or _is_declared_repository(asked, file):
        return rf"\b{re.escape(asked)}\s*\.\s*(?:save\w*|insert\w*|persist|create\w*)\("
    return ""


def _is_declared_repository(name: str, file: SourceFile) -> bool:
    types = filter(None, map(_DECLARED_TYPE.search, declarations(name, file)))
    return any(_REPOSITORY.search(decoded(each[1])) for each in types)


def line_of(made: str, branch: Node, file: SourceFile, *, inside: bool) -> int:
    """The line of the act: in the branch, or behind one that leaves; 0 when there is none."""
    body = branch.child_by_field_name("consequence")
    if body is None:
        return 0
    text, first = file.text(body), file.line(body)
    if not inside:
        other = branch.child_by_field_name("alternative")
        if other is not None:
            text, first = file.text(other), file.line(other)
        elif LEAVES.search(text):
            text, first = text_after(branch, file)[:NEAR], file.lines.of(branch.end_byte)
        else:
            return 0
    act = re.search(made, text) if _MAKES.search(text) else None
    if act is None:
        return 0
    written = [group for group in ("written", "saved") if act.re.groupindex.get(group) and act[group]]
    return first + text[: act.start(written[0]) if written else act.start()].count("\n")


def is_handled(node: Node, file: SourceFile) -> bool:
    """Whether the function around a node knows that others may be first."""
    return _speaks_of_others(function_text(node, file))


@lru_cache(maxsize=4)
def _speaks_of_others(text: str) -> bool:
    """Kept for the functions asked last: one holds many branches. The pattern is the dearer question of the two."""
    return any(map(text.lower().__contains__, _HANDLED_WORDS)) and HANDLED.search(text) is not None


def decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()
