"""Rows that are looked for and then made, as `risk-check-then-act` sees them."""

import re
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.rules.reading import declarations, followed, function_text, text_after

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
_NEAR = 1_500  # characters before and after a branch that belong to it
_LEAVES = re.compile(r"\b(?:raise|throw|return|continue)\b")
_MAKES = re.compile("create|insert|save|add|persist")  # one of them stands in everything that makes a row

PYTHON_EXISTS = re.compile(
    rb"if\s+(?P<not>not\s+)?(?:\(?await\s+)?(?P<model>[A-Z]\w*)\.objects\b(?P<chain>[^\n:]*)\.a?(?:exists|first|count)\(\)\)?"
    rb"(?:\s*(?P<zero>==\s*0|<\s*1|is\s+None)|\s*>\s*0)?\s*:"
)
_ABSENCE = re.compile(rb"except\s+\(?(?P<model>[A-Z]\w*)\.DoesNotExist\b")
PYTHON_VALUE = re.compile(
    rb"if\s+(?:(?P<not>not)\s+(?P<absent>\w+)|(?P<none>\w+)\s+is\s+None|(?P<there>\w+)\s+is\s+not\s+None|(?P<bare>\w+))\s*:"
)
_DJANGO_LOADS = (
    r"(?P<model>[A-Z]\w*)\.objects\b(?P<chain>[^\n]*?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^\n]*?)?)"
    r"\.a?(?:first|last|exists|get_or_none|count)\(\)"
)
_ALCHEMY_LOADS = (
    r"(?:\.query\(\s*|\bselect\(\s*|\.get\(\s*)(?P<model>[A-Z]\w*)\b(?P<chain>[\s\S]{0,400}?)"
    r"(?:\.(?:first|one_or_none|scalar_one_or_none|scalar|exists)\(|\)\s*\n)"
)
_FLASK_LOADS = r"(?P<model>[A-Z]\w*)\.query\b(?P<chain>[\s\S]{0,300}?)\.(?:first|one_or_none|scalar)\("
_MONGO_LOADS = r"(?P<model>[\w.]+)\.find_one\((?P<chain>[\s\S]{0,200}?)\)\s*\n"
_PYTHON_ASSIGNED = re.compile(r"\s*(?::[^=\n]+)?=(?!=)\s*(?:\(?\s*await\s+)?")
_INDENT = re.compile(r"[ \t]+")
_PYTHON_LOADS = (_FLASK_LOADS, _DJANGO_LOADS, _ALCHEMY_LOADS, _MONGO_LOADS)

SCRIPT_VALUE = re.compile(
    rb"if\s*\(\s*(?:(?P<not>!)\s*(?P<absent>\w+)|(?P<none>\w+)\s*={2,3}\s*(?:null|undefined|0)|(?P<there>\w+)"
    rb"(?:\s*(?:!==?\s*(?:null|undefined)|>\s*0))?|(?P<inline>!?)\s*\(?\s*await\s+[^\n]{1,300}?)\s*\)\s*[{\w]"
)
_SCRIPT_LOADED = (
    r"(?P<client>[\w.]+?)\s*\.\s*(?P<verb>findOne\w*|findFirst|findUnique|findByPk|findById|exists\w*|count\w*)"
    r"(?:<[^<>()]*>)?\("
)
_IS_ABSENT = re.compile(r"(?:={2,3}\s*(?:0|null|undefined)|<\s*1)\s*\)$")
_SCRIPT_ASSIGNED = re.compile(rf"\s*(?::[^=\n]+)?=\s*await\s+{_SCRIPT_LOADED}")

JAVA_EXISTS = re.compile(
    rb"if\s*\(\s*(?P<not>!)?\s*(?:this\.)?(?P<repo>\w+)\.(?:exists|count|find|select|get)\w*\("
    rb"[^\n{;]*?\)\s*(?P<state>\.isPresent\(\)|\.isEmpty\(\)|[=!]= null|[=!]= 0|> 0)?\s*\)"
)
JAVA_VALUE = re.compile(
    rb"if\s*\(\s*(?:(?P<none>\w+)\s*==\s*null|(?P<there>\w+)\s*!=\s*null|(?P<not>!)?\s*(?P<optional>\w+)\."
    rb"(?P<state>isPresent|isEmpty)\(\))\s*\)"
)
_REPOSITORY = re.compile(r"(?:[rR]epo\w*|[dD]ao|[mM]apper|(?<![kK]ey)[sS]tore)$")
_JAVA_LOADED = re.compile(r"\s*=\s*(?:this\.)?(?P<repo>\w+)\s*\.\s*(?P<verb>(?:find|get|select|query)\w*)\(")
_DECLARED_TYPE = re.compile(rb"\b(\w+)(?:<[^;=(]*>)?\s+$")
GO_MISSING = re.compile(
    rb"if\s+(?:[^\n{]*;\s*)?(?:errors\.Is\(\s*(?:\w+|[\w.()]*\.Error),\s*(?:gorm\.ErrRecordNotFound|sql\.ErrNoRows|pgx\.ErrNoRows"
    rb"|mongo\.ErrNoDocuments)\)|\w+ == (?:sql|pgx)\.ErrNoRows|\w+\.RowsAffected == 0|ent\.IsNotFound\(\w+\))"
)
GO_COUNTED = re.compile(rb"if\s+(?P<count>\w+)\s*(?P<sign>==|>|!=)\s*0\s*\{")
_GO_LOADS = re.compile(r"\.(?:First|Take|Find|Last)\(&(?P<row>\w+)|\.Model\(&?(?:\w+\.)?(?P<model>[A-Z]\w*)\{")
_GO_COLUMN = re.compile(r"\"(\w+) = \?")
_GO_MADE = re.compile(
    r"\.Create\(\s*&?(?:\w+\.)?(?:(?P<model>[A-Z]\w*)\{|\w)|\bINSERT\s+INTO\b|\.InsertOne\(|\.Insert\(", re.IGNORECASE
)


class RowAct(NamedTuple):
    """Where a row that was looked for is made: of which model, asked for by which columns. `is_unique`: the question
    itself says that there can be one only."""

    model: str
    line: int
    columns: tuple[str, ...]
    is_unique: bool = False


def python_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`if not Seat.objects.filter(no=n).exists(): Seat.objects.create(no=n)`, the same over a variable that holds the
    row, and the guard that leaves before the row is made."""
    found = PYTHON_EXISTS.match(file.source, branch.start_byte)
    if found is not None:
        model, chain, absent = _text(found["model"]), _text(found["chain"]), bool(found["not"] or found["zero"])
    else:
        value = PYTHON_VALUE.match(file.source, branch.start_byte)
        if value is None:
            return None
        absent = bool(value["not"] or value["none"])
        name = _text(value["absent"] or value["none"] or value["there"] or value["bare"])
        loaded = _python_load(name, branch, file)
        if loaded is None:
            return None
        model, chain = loaded["model"], loaded["chain"]
    columns = tuple(re.findall(r"(?:\(|,\s*)(\w+?)(?:__iexact)?=(?!=)|\.(\w+)\s*==|[\"'](\w+)[\"']\s*:", chain))
    asked = tuple(dict.fromkeys(next(filter(None, each)) for each in columns))
    if not asked:
        return None
    word = re.escape(model)
    made = (
        rf"(?<![\w.]){word}\.objects\.a?create\(|(?<![\w.]){word}\([^()]*(?:\([^()]*\)[^()]*)*\)\.a?save\("
        rf"|\.add\(\s*{word}\(|(?<![\w.]){word}\.create\(|{word}\.insert_one\("
        rf"|(?P<row>\w+)\s*=\s*{word}\("
        rf"(?=[\s\S]{{0,600}}?(?P<saved>\.add\(\s*(?P=row)\s*\)|(?<![\w.])(?P=row)\.a?save\())"
    )
    line = _line_of(made, branch, file, inside=absent)
    return RowAct(model, line, asked) if line and not _is_handled(branch, file) else None


def python_handler_act(handler: Node, file: SourceFile) -> RowAct | None:
    """`try: Seat.objects.get(no=n)`, `except Seat.DoesNotExist: Seat.objects.create(no=n)`."""
    caught = re.match(
        rb"except\s+\(?(?P<model>[A-Z]\w*)\.DoesNotExist\b", file.source[handler.start_byte : handler.end_byte]
    )
    if caught is None or _is_handled(handler, file):
        return None
    model = _text(caught["model"])
    text = file.text(handler)
    made = re.search(rf"(?<![\w.]){model}\.objects\.a?create\(|(?<![\w.]){model}\([^()]*\)\.a?save\(", text)
    before = file.source[max(0, handler.start_byte - _NEAR) : handler.start_byte].decode("utf-8", "replace")
    asked = re.findall(rf"(?<![\w.]){model}\.objects\.a?get\(([^()]*(?:\([^()]*\)[^()]*)*)\)", before)
    if made is None or not asked:
        return None
    columns = tuple(re.findall(r"(?:^|,\s*)(\w+)=", asked[-1].strip()))
    return RowAct(model, file.line(handler) + text[: made.start()].count("\n"), columns) if columns else None


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
        name = _text(found["absent"] or found["none"] or found["there"])
        near = max(0, branch.start_byte - _NEAR)
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
    line = _line_of(made, branch, file, inside=absent)
    client = _entity(client.rpartition(".")[2], file) or client
    unique = asked["verb"] in ("findUnique", "findByPk", "findById")
    if not line or _is_handled(branch, file):
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
        repository = _text(found["repo"])
        if not (_REPOSITORY.search(repository) or _is_declared_repository(repository, file)):
            return None
        state = _text(found["state"] or b"")
        absent = bool(found["not"]) if state in ("", ".isPresent()", "!= null", "> 0", "!= 0") else not found["not"]
    else:
        value = JAVA_VALUE.match(file.source, branch.start_byte)
        if value is None:
            return None
        name = _text(value["none"] or value["there"] or value["optional"])
        absent = bool(value["none"]) or (
            value["optional"] is not None and (value["state"] == b"isEmpty") != bool(value["not"])
        )
        before = file.source[max(0, branch.start_byte - _NEAR) : branch.start_byte].decode("utf-8", "replace")
        loads = list(followed(name, before, _JAVA_LOADED, "_"))
        if not loads or loads[-1]["verb"] in ("findById", "getById", "selectById", "selectByPrimaryKey", "getOne"):
            return None
        repository = loads[-1]["repo"]
        if not (_REPOSITORY.search(repository) or _is_declared_repository(repository, file)):
            return None
    made = rf"\b{re.escape(repository)}\s*\.\s*(?:save\w*|insert\w*|persist|create\w*)\("
    line = _line_of(made, branch, file, inside=absent)
    return RowAct(repository, line, ()) if line and not _is_handled(branch, file) else None


def _is_declared_repository(name: str, file: SourceFile) -> bool:
    types = filter(None, map(_DECLARED_TYPE.search, declarations(name, file)))
    return any(_REPOSITORY.search(_text(each[1])) for each in types)


def go_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`if errors.Is(err, gorm.ErrRecordNotFound) { db.Create(&row) }`, `sql.ErrNoRows` and then `INSERT`, and the same
    over a count of such rows."""
    body = branch.child_by_field_name("consequence")
    counted = GO_COUNTED.match(file.source, branch.start_byte)
    if body is None or _is_handled(branch, file):
        return None
    if counted is None and GO_MISSING.match(file.source, branch.start_byte) is None:
        return None
    text, first = file.text(body), file.line(body)
    near = file.source[max(0, branch.start_byte - _NEAR) : branch.start_byte].decode("utf-8", "replace")
    if counted is not None:
        if f".Count(&{_text(counted['count'])})" not in near:
            return None
        if counted["sign"] != b"==":
            if not _LEAVES.search(text):
                return None
            text, first = text_after(branch, file)[:_NEAR], file.lines.of(branch.end_byte)
    made = _GO_MADE.search(text)
    asked = _go_model(near)
    if made is None or (made["model"] and asked and made["model"] != asked):
        return None  # another row is made
    columns = tuple(dict.fromkeys(_GO_COLUMN.findall(near.rpartition(".Where(")[2])))
    return RowAct(asked, first + text[: made.start()].count("\n"), columns)


def _go_model(before: str) -> str:
    """The model that the last question before a branch is about; empty when unknown."""
    for found in reversed(list(_GO_LOADS.finditer(before))):
        if found["model"]:
            return found["model"]
        declared = re.findall(rf"\b{found['row']}\s*(?::?=\s*&?|\s+)(?:\w+\.)?([A-Z]\w*)", before)
        if declared:
            return declared[-1]
    return ""


def _python_load(name: str, branch: Node, file: SourceFile) -> re.Match[str] | None:
    """What the variable was loaded from, in the statement before the branch that assigns it last."""
    near = file.source[max(0, branch.start_byte - _NEAR) : branch.start_byte].decode("utf-8", "replace")
    ends = [
        match.end()
        for match in followed(name, near, _PYTHON_ASSIGNED, "_")
        if _INDENT.fullmatch(near, near.rfind("\n", 0, match.start()) + 1, match.start() - len(name))
    ]
    if not ends:
        return None
    text = near[ends[-1] :]
    return next((found for load in _PYTHON_LOADS if (found := re.search(load, text))), None)


def _line_of(made: str, branch: Node, file: SourceFile, *, inside: bool) -> int:
    """The line of the act: in the branch, or behind one that leaves; 0 when there is none."""
    body = branch.child_by_field_name("consequence")
    if body is None:
        return 0
    text, first = file.text(body), file.line(body)
    if not inside:
        other = branch.child_by_field_name("alternative")
        if other is not None:
            text, first = file.text(other), file.line(other)
        elif _LEAVES.search(text):
            text, first = text_after(branch, file)[:_NEAR], file.lines.of(branch.end_byte)
        else:
            return 0
    act = re.search(made, text) if _MAKES.search(text) else None
    if act is None:
        return 0
    written = [group for group in ("written", "saved") if act.re.groupindex.get(group) and act[group]]
    return first + text[: act.start(written[0]) if written else act.start()].count("\n")


def _is_handled(node: Node, file: SourceFile) -> bool:
    """Whether the function around a node knows that others may be first."""
    return _speaks_of_others(function_text(node, file))


@lru_cache(maxsize=4)
def _speaks_of_others(text: str) -> bool:
    """Kept for the functions asked last: one holds many branches. The pattern is the dearer question of the two."""
    return any(map(text.lower().__contains__, _HANDLED_WORDS)) and HANDLED.search(text) is not None


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()
