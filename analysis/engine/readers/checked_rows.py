"""Rows that are looked for and then made, as `risk-check-then-act` sees them."""

import re
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import declarations, followed, function_text, text_after

HANDLED = re.compile(
    r"\.forUpdate\(|IntegrityError|UniqueViolation|P2002|Duplicate(?:d)?Key|DataIntegrityViolation|UniqueConstraint|ER_DUP_ENTRY|23505"
    r"|\bQueryFailedError\b"
    r"|11000|(?i:on_?conflict|on duplicate key|onDuplicateKey)|ON CONFLICT|select_for_update|with_for_update|FOR UPDATE"
    r"|\bLock\(|pg_advisory|redis_?lock|[lL]ock(?:ed)?\.(?:acquire|lock)|[wW]ithLock|synchronized|SERIALIZABLE|[sS]erializable"
    r"|PESSIMISTIC|pessimistic_write|clause\.(?:Locking|OnConflict)"
)
# One of them stands in all that the pattern finds.
_HANDLED_WORDS = (
    *("integrity", "unique", "duplicate", "p2002", "er_dup", "queryfailed", "23505", "11000", "conflict"),
    *("for_update", "for update", "forupdate", "lock", "advisory", "synchronized", "serializable", "pessimistic"),
)
NEAR = 1_500  # characters before and after a branch that belong to it
LEAVES = re.compile(r"\b(?:raise|throw|return|continue)\b")
_MAKES = re.compile("create|insert|INSERT|save|add|persist")  # one of them stands in everything that makes a row

_MAY_MAKE = re.compile(rb"(?:create|insert|save|add|persist|register)\w*(?:<[^<>()]*>)?\(")

_OF_ROWS = rb"(?:\??\.length|\[0\])?"
SCRIPT_VALUE = re.compile(
    rb"if\s*\(\s*(?:(?P<not>!)\s*(?P<absent>\w+)"
    + _OF_ROWS
    + rb"|(?P<none>\w+)"
    + _OF_ROWS
    + rb"\s*={2,3}\s*(?:null|undefined|0)|(?P<there>\w+)"
    + _OF_ROWS
    + rb"(?:\s*(?:!==?\s*(?:null|undefined|0)|>\s*0))?|(?P<inline>!?)\s*\(?\s*await\s+[^\n]{1,300}?)\s*\)\s*[{\w]"
)
_SCRIPT_LOADED = (
    r"(?P<client>[\w.]+?(?:\(\))?)\s*\.\s*(?P<verb>findOne\w*|findFirst|findUnique|findByPk|findById|exists\w*|count\w*"
    r"|(?P<own>(?:find|get|fetch|look[uU]p|load|by|has)(?!All|Many|Every|List)[A-Z]\w*))(?:<[^<>()]*>)?\("
)
_GIVEN = re.compile(r"(?:[rR]epo(?:sitory)?|[dD]ao)$")
_TYPED_AS_GIVEN = re.compile(rb"\s*[?!]?\s*:\s*(?:\w+\.)?\w*(?:Repository|Repo|Dao|DAO)\b")
OF_FILES = re.compile(r"(?i)(?:file_?system|(?<![a-z])fs|disk|director(?:y|ies)|folders?)$")
_IS_ABSENT = re.compile(r"(?:={2,3}\s*(?:0|null|undefined)|<\s*1)\s*\)$")
_ASKS_A_ROW = (re.compile(rf"\s*(?::[^=\n]+)?=\s*await\s+{_SCRIPT_LOADED}"), re.compile(r"await\s+" + _SCRIPT_LOADED))

JAVA_EXISTS = re.compile(
    rb"if\s*\(\s*(?P<not>!)?\s*(?:this\.)?(?P<repo>[A-Za-z]\w*)\.(?:<\w+>)?(?P<verb>(?:exists|count|find|select|get)\w*)\("
    rb"(?:[^()\n{;]|\((?:[^()\n{;]|\([^()\n{;]*\))*\))*\)"
    rb"(?:\s*\.firstResult(?:Optional)?\(\))?\s*(?P<state>\.isPresent\(\)|\.isEmpty\(\)|[=!]= null|[=!]= 0|> 0)?\s*\)"
)
JAVA_VALUE = re.compile(
    rb"if\s*\(\s*(?:(?P<none>\w+)\s*==\s*null|(?P<there>\w+)\s*!=\s*null|(?P<not>!)?\s*(?P<optional>\w+)\."
    rb"(?P<state>isPresent|isEmpty)\(\))\s*\)"
)
_REPOSITORY = re.compile(r"(?:[rR]epo\w*|[dD]ao|[mM]apper|(?<![kK]ey)[sS]tore)$")
_JAVA_LOADED = re.compile(r"\s*=\s*(?:this\.)?(?P<repo>\w+)\s*\.\s*(?:<\w+>)?(?P<verb>(?:find|get|select|query)\w*)\(")
_BY_KEY = frozenset({"findById", "findByIdOptional", "getById", "selectById", "selectByPrimaryKey", "getOne"})
_DECLARED_TYPE = re.compile(rb"\b(\w+)(?:<[^;=(]*>)?\s+$")


class RowAct(NamedTuple):
    """Where a row that was looked for is made: of which model, asked for by which columns. `is_unique`: the question
    itself says that there can be one only."""

    model: str
    line: int
    columns: tuple[str, ...]
    is_unique: bool = False
    fix: str = ""  # where the rule knows no better one


class Question(NamedTuple):
    """What a branch of a script asks before it acts. `rest` stands behind the bracket of the asking call, `is_absent`:
    the branch is taken where there is nothing."""

    asked: re.Match[str]
    line: int
    rest: str
    is_absent: bool


def may_make(branch: Node, file: SourceFile) -> bool:
    """A cheap question before the others: whether something may be made in a branch of a script, or behind it."""
    is_asked = file.mentions(b"await ")
    return is_asked and _MAY_MAKE.search(file.source, branch.start_byte, branch.end_byte + NEAR) is not None


def script_question(
    branch: Node, file: SourceFile, assigned: re.Pattern[str], inline: re.Pattern[str]
) -> Question | None:
    """The call that gave the value which the branch asks for, as one of two patterns has it: behind the name of a
    variable, or in the condition itself."""
    found = SCRIPT_VALUE.match(file.source, branch.start_byte)
    condition = branch.child_by_field_name("condition")
    if found is None or condition is None:
        return None
    if found["inline"] is not None:
        text, first = file.text(condition), file.line(condition)
        is_absent = bool(found["inline"]) or _IS_ABSENT.search(text) is not None
        asked = inline.search(text)
    else:
        is_absent = bool(found["not"] or found["none"])
        near = max(0, branch.start_byte - NEAR)
        text, first = file.source[near : branch.start_byte].decode("utf-8", "replace"), file.lines.of(near)
        name = decoded(found["absent"] or found["none"] or found["there"])
        loads = list(followed(name, text, assigned, "_."))
        asked = loads[-1] if loads else None
    if asked is None:
        return None
    return Question(asked, first + text.count("\n", 0, asked.end()), text[asked.end() :], is_absent)


def script_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`const row = await db.findFirst(...); if (!row) { await db.create(...) }`, `if (await db.exists(...)) throw`."""
    question = script_question(branch, file, *_ASKS_A_ROW)
    if question is None:
        return None
    asked, rest = question.asked, question.rest
    client = asked["client"]
    name = client.removesuffix(".query()").rpartition(".")[2].removesuffix("()")  # `orders()` gives a repository
    is_given = _is_given(name, file)
    if asked["own"] and not is_given:
        return None
    word = re.escape(client)
    short = re.escape(name)
    made = (
        rf"\b{word}\s*\.\s*save\("
        rf"|\b{word}\s*\.\s*create\((?=[\s\S]{{0,600}}?(?P<written>\b{word}\s*\.\s*save)\()"
        rf"|\b{word}\s*\.\s*(?:create|insert|insertOne|insertMany)(?:<[^<>()]*>)?\("
        rf"|\bnew\s+{short}\((?=[\s\S]{{0,600}}?(?P<saved>\.save\())"
    )
    if is_given:
        made += rf"|\b{word}\s*\.\s*(?:(?:save|create|insert|add|persist)(?:[A-Z]\w*)?)\("
    columns = tuple(re.findall(r"(\w+)\s*[:,}]", (rest.partition("where")[2] or rest)[:200]))
    line = line_of(made, branch, file, inside=question.is_absent)
    client = _entity(name, file) or name
    unique = asked["verb"] in ("findUnique", "findByPk") or asked["verb"].endswith("ById")
    if not line or knows_of_others(branch, file) or OF_FILES.search(client):
        return None
    return RowAct(client, line, () if asked["own"] else columns, is_unique=unique)


def _is_given(client: str, file: SourceFile) -> bool:
    """Whether a name, or the type that the script declares for it, is that of a repository."""
    if _GIVEN.search(client):
        return True
    return next(followed(client.encode(), file.source, _TYPED_AS_GIVEN, b"_.$"), None) is not None


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
        repository, verb = decoded(found["repo"]), decoded(found["verb"])
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
        verb = loads[-1]["verb"] if loads else ""
        if not loads or verb in _BY_KEY:
            return None
        repository = loads[-1]["repo"]
    made = _made_in_java(repository, branch, file)
    line = line_of(made, branch, file, inside=absent) if made else 0
    return RowAct(repository, line, _named_in(verb)) if line and not knows_of_others(branch, file) else None


def _named_in(verb: str) -> tuple[str, ...]:
    """The columns that a method of a repository is named after: `findByEmailAndShop`."""
    columns = verb.partition("By")[2]
    if "Or" in re.findall(r"[A-Z][a-z]*", columns):
        return ()
    return tuple(each[:1].lower() + each[1:] for each in re.split(r"And(?=[A-Z])", columns) if each)


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
    text, first = acting(branch, file, inside=inside)
    act = re.search(made, text) if _MAKES.search(text) else None
    if act is None:
        return 0
    written = [group for group in ("written", "saved") if act.re.groupindex.get(group) and act[group]]
    return first + text[: act.start(written[0]) if written else act.start()].count("\n")


def acting(branch: Node, file: SourceFile, *, inside: bool) -> tuple[str, int]:
    """Where the act stands: the text of the branch, or of what comes where it is not taken, and its first line. Empty
    where a branch goes on without leaving."""
    body = branch.child_by_field_name("consequence")
    if body is None:
        return "", 0
    if inside:
        return file.text(body), file.line(body)
    other = branch.child_by_field_name("alternative")
    if other is not None:
        return file.text(other), file.line(other)
    if LEAVES.search(file.text(body)) is None:
        return "", 0
    return text_after(branch, file)[:NEAR], file.lines.of(branch.end_byte)


def knows_of_others(node: Node, file: SourceFile) -> bool:
    """Whether the function around a node knows that others may be first."""
    return _speaks_of_others(function_text(node, file))


@lru_cache(maxsize=4)
def _speaks_of_others(text: str) -> bool:
    """Kept for the functions asked last: one holds many branches. The pattern is the dearer question of the two."""
    return any(map(text.lower().__contains__, _HANDLED_WORDS)) and HANDLED.search(text) is not None


def decoded(raw: bytes) -> str:
    """Source as text, without the white space around it."""
    return raw.decode("utf-8", "replace").strip()
