"""A number is read, changed in memory and written back: of two that do it at once, one change is lost."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.facts import Model as Table
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.rules import locks
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import declarations, followed, function_text, short, text_after, text_before
from analysis.engine.rules.transactions import in_transaction

RULE = Rule(
    id="risk-lost-update",
    type="lost_update",
    category=Category.RUNTIME_RISK,
    title="Lost update",
    severity=Severity.WARNING,
    points=1,
    suggestion="Update atomically in the database, or lock the row while it changes.",
    version=3,
)
GUIDE = Guide(
    why="Two requests read 100, take 30 and 50, and write 70 and 50: one payment never happened.",
    grades="Critical for balances, stock and the like.",
    flagged=(
        {
            "shop/work.py": """
def pay(wallet, price):
    wallet.balance -= price
    wallet.save()
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from django.db.models import F


def pay(wallet, price):
    wallet.balance = F("balance") - price
    wallet.save()
"""
        },
    ),
)

_NAME = r"[A-Za-z_$][\w$]*"
_WORD = re.compile(r"\w+")
_CHANGED = re.compile(rf"({_NAME}(?:\.{_NAME})*)\.({_NAME})\s*([-+])=\s*([^\n;]+)".encode())
_ASSIGNED = re.compile(rf"({_NAME}(?:\.{_NAME})*)\.({_NAME})\s*=\s*\1\.\2\s*([-+])\s*([^\n;]+)".encode())
_STEPPED = re.compile(rf"({_NAME}(?:\.{_NAME})*)\.({_NAME})([-+])[-+]".encode())
_UPDATES = frozenset({"update", "updateOne", "updateMany", "findByIdAndUpdate", "findOneAndUpdate"})
_SETTER = re.compile(
    rf"({_NAME})\.set(\w+)\(\s*\1\.get\2\(\)\s*(?:[-+]|\.add\(|\.subtract\(|\.plus\(|\.minus\()".encode()
)
_SETTER_COPY = re.compile(rf"({_NAME})\.set(\w+)\(\s*({_NAME})\s*\)".encode())
_READ_OFF = re.compile(rf"\s*=\s*({_NAME})\.get(\w+)\(\)\s*(?:[-+]|\.add\(|\.subtract\()")
_SET_ANEW = re.compile(r"\.set\(\s*(?:0[\w.]*|(?:\w+\.)?ZERO)\s*\)")
_LOADED = r"\b(?:find|get|load|select|fetch|read)\w*\("
_READS = (
    r"(?:(?<![A-Za-z])(?:find|get|first|load|select|query|one|fetch|scalar|read|objects)"
    r"|Find|Get|First|Load|Select|Query|One|Fetch|Read)"
)
_CREATES = re.compile(r"\s*(?:await\s+)?[\w.]+\.a?(?:create|bulk_create|insert|build)\(")
_COPIED = re.compile(rf"({_NAME}(?:\.{_NAME})*)\.({_NAME})\s*=\s*({_NAME})".encode())
_CALCULATED = re.compile(rf"\s*(?::[^=\n]+)?:?=\s*({_NAME}(?:\.{_NAME})+)\s*([-+])")
_GIVEN = re.compile(
    rf"[\"']?(?P<name>{_NAME})[\"']?\s*[:=]\s*(?P<owner>{_NAME})(?:\.(?P=name)"
    rf"|\[[\"'](?P=name)[\"']\])\s*(?P<sign>[-+])(?!\s*[\"'`])"
)
_GIVEN_GO = re.compile(
    rf"\"(?P<name>\w+)\"\s*[,:]\s*(?P<owner>{_NAME})\.(?P<field>{_NAME})\s*(?P<sign>[-+])(?!\s*[\"'`])"
)
_NAMED_VALUE = re.compile(rf"[\"']?({_NAME})[\"']?\s*[:=]\s*({_NAME})\s*(?=[,}})\n])")
_TEXT = re.compile(r"^[rbf]?[\"'`]|^[^\n]*\+\s*[rbf]?[\"'`]|^\[|^\(\s*[\"']|\bstr\(|\.format\(|\.join\(")
# Who knows of others by their versions tries again.
_VERSIONED = re.compile(
    r"@Version|[wW]ithVersion\(|save_condition|[oO]ptimistic|[vV]ersion_?Conflict|Stale(?:Object|Data)|version_id"
)
_ROW_LOCK = re.compile(rf"(?i:for_?update|for update|pessimistic)|{locks.WORD}|refresh_from_db\(\s*from_queryset")
_OF_A_LOAD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*\b(?!\s*=)")
# What many statements name, whichever row they are about.
_COMMON = re.compile(
    r"^_?(?:[A-Z]\w*|\w*[sS]ession|\w*[dD][bB]|tx|trx|conn\w*|client|em|ctx|context|this|self|await|new|prisma|\w*[rR]epo\w*"
    r"|t|s|req|request|data|body|input|params|args|kwargs|int|str|user)$"
)
_COUNTER = re.compile(r"(?i)balance|stock|quantit|credit|count|inventor|points|amount_left|remaining|seats|usage|used$")
_SAID = re.compile(
    r"(?i)(?:^|_)(?:msg|message|text|log|notes?|description|body|content|name|title|comments?|explanation|reason|details?|output|traceback|summary|\w*_at|\w*date|\w*time|deadline|next_\w+|expir\w+)$"
)  # texts and times
_TALLY = re.compile(
    r"(?i)error|attempt|retr(y|ies)|fail|collision|hits|views|clicks|visits|log_?in"
)  # a little less is no harm
_LOADS = r"\.(?:query|get|first|scalars?|one\w*|execute|fetch\w*|all)\("
_LOCKING = re.compile(r"(?i)for_update|lock|atomic")
_LOAD = re.compile(r"\s*(?::[^=\n]+)?:?=(?!=)([^;]{0,400})|\s+in\s([^\n]{0,200})")
_DECLARED = re.compile(rb"\b([A-Z]\w*)\s+\Z")  # the class before a variable of Java
_BY_EXPRESSION = re.compile(r"\.SetExpr\(|\.(?:Incr|Decr)\(")  # the database adds
_VERSION_FIELD = re.compile(rb"(?:@[\w.]+(?:\([^()]*\))?\s*)*@(?:\w+\.)*Version\b")
_CLASS_HEAD = re.compile(rb"\bclass\s+(\w+)")
_VERSIONS = frozenset({"version", "lock_version", "row_version"})
_FIX = {
    "python": 'Write it with one UPDATE (`update({1}=F("{1}") {2} ...)`), or load the row with `select_for_update()`.',
    "java": "Write it with one UPDATE, lock the row (`PESSIMISTIC_WRITE`) or give the entity a `@Version`.",
    "go": "Write it with one UPDATE (`SET {1} = {1} {2} ?`), or lock the row (`FOR UPDATE`).",
    "script": "Let the database count (`increment`, `SET {1} = {1} {2} n`), or lock the row.",
}


def look(change: Node, file: SourceFile) -> Iterator[Mark]:
    """`account.balance -= amount` followed by `account.save()` in one function."""
    match = _match(change, file)
    if match is None or (match.re is not _STEPPED and _TEXT.match(match[4].decode("utf-8", "replace").strip())):
        return
    if _SAID.search(match[2].decode()):
        return
    if (
        match.re is _CHANGED
        and re.fullmatch(rb"\w+\." + match[2] + rb"\s*", match[4])
        and not _COUNTER.search(match[2].decode())
    ):
        return  # lists that are joined
    owner, name, sign = match[1].decode(), match[2].decode(), match[3].decode()
    if name.startswith("_"):
        return  # no column
    saved = _saved_on(owner, change, file)
    if saved and not _is_safe(owner, change, file) and not _is_told_before(owner, name, change, file):
        yield _mark(change, owner, name, sign, file, saved)


def look_at_copy(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """`left = account.balance - amount`, then `account.balance = left` and `account.save()`."""
    match = _COPIED.match(file.source, assignment.start_byte, assignment.end_byte)
    if match is None or match.end() != assignment.end_byte:
        return
    owner, name = match[1].decode(), match[2].decode()
    made = followed(match[3].decode(), text_before(assignment, file), _CALCULATED, "_.")
    found = next((each for each in made if each[1] == f"{owner}.{name}"), None)
    saved = _saved_on(owner, assignment, file) if found is not None else 0
    if found is not None and saved and not _is_safe(owner, assignment, file):
        yield _mark(assignment, owner, name, found[2], file, saved)


def look_at_update(call: Node, file: SourceFile) -> Iterator[Mark]:
    """An UPDATE that is given a number of a row loaded before: `update({ data: { stock: item.stock - n } })`."""
    text = file.text(call)
    match = _GIVEN.search(text, text.find("("))
    given = (match["owner"], match["name"], match["sign"]) if match is not None else _given_by_name(text, call, file)
    if given is None or file.in_test(call):
        return
    owner, name, sign = given
    if _SAID.search(name) or _is_locked(owner, call, file) or _expects(owner, name, text):
        return
    loaded = (
        rf"(?<![\w.]){re.escape(owner)}\s*(?::[^=\n]+)?=\s*(?:await\s)?[^\n"
        rf"]*\b(?:find|get|first|load|select|query|one|fetch|scalar)\w*\b"
    )
    if re.search(loaded, text_before(call, file)):
        yield _mark(call, owner, name, sign, file, file.line(call))


def look_at_go_update(call: Node, file: SourceFile) -> Iterator[Mark]:
    """GORM: an UPDATE that is given a number of a row loaded before: `Update("stock", item.Stock - n)`."""
    match = _GIVEN_GO.search(file.text(call))
    if match is None or file.in_test(call) or _is_locked(match["owner"], call, file):
        return
    if _is_loaded(match["owner"], text_before(call, file)):
        yield _mark(call, match["owner"], match["name"], match["sign"], file, file.line(call))


def _expects(owner: str, name: str, text: str) -> bool:
    """Whether the UPDATE asks for the number that was read, or for a version: it changes nothing when another was
    first."""
    same = rf"\b{re.escape(name)}\b[\"']?\s*[:=]\s*{re.escape(owner)}\.{re.escape(name)}\s*[,)}}]"
    return re.search(rf"{same}|\b\w*[vV]ersion[\"']?\s*[:=]", text) is not None


def _given_by_name(text: str, call: Node, file: SourceFile) -> tuple[str, str, str] | None:
    """What an UPDATE is given when a variable holds it: `left = item.stock - n`, then `{ data: { stock: left } }`."""
    before = text_before(call, file)
    for name, value in _NAMED_VALUE.findall(text):
        for made in followed(value, before, _CALCULATED, "_."):
            owner, _, column = made[1].rpartition(".")
            if column == name and owner.isidentifier():
                return owner, name, made[2]
    return None


def look_at_setter(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`account.setBalance(account.getBalance().subtract(amount))` followed by `accounts.save(account)`."""
    match = _SETTER.match(file.source, call.start_byte, call.end_byte)
    copied = _SETTER_COPY.match(file.source, call.start_byte, call.end_byte) if match is None else None
    if copied is not None:
        made = followed(copied[3].decode(), text_before(call, file), _READ_OFF, "_.")
        if any(each[1] == copied[1].decode() and each[2] == copied[2].decode() for each in made):
            match = copied
    if match is None:
        return
    owner = match[1].decode()
    if _SET_ANEW.search(text_before(call, file).replace(f".set{match[2].decode()}(", ".set(")):
        return  # counted here, from nothing
    saved = _saved_on(owner, call, file)
    line = saved or _flushed_on(owner, call, file)
    if line and not _is_safe(owner, call, file):
        name = match[2].decode()
        mark = _mark(call, owner, name[:1].lower() + name[1:], "-", file, line)
        declared = next(filter(None, map(_DECLARED.search, declarations(owner, file))), None)
        more = {"model": declared[1].decode()} if declared is not None else {}
        yield structs.replace(mark, data=mark.data | more | ({} if saved else {"flushed": "1"}))


def _flushed_on(owner: str, call: Node, file: SourceFile) -> int:
    """The line of the change, when the row was loaded in a transaction of Spring's: its commit writes it."""
    if not in_transaction(call.start_byte, file):
        return 0
    loaded = rf"(?<![\w.]){re.escape(owner)}\s*=[^;]*{_LOADED}"
    return file.line(call) if re.search(loaded, text_before(call, file)) is not None else 0


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A row that has a version column is written by one of two only; a counter that others count on is critical."""
    if "version" in mark.data or MADE_UP.search(place.path):
        return None
    entry = codebase.models.named(mark.data["model"])
    if entry is not None and _is_versioned(entry.model, codebase):
        return None
    confidence = Confidence(mark.confidence) if mark.confidence else None
    if "flushed" in mark.data and (entry is None or entry.model.orm != "jpa"):
        return None  # only JPA writes at the commit what nobody saves
    if mark.data["owner"] in {each.name for each in place.function.parameters}:
        if any(_LOCKING.search(call) for function in place.facts.functions for call in function.calls):
            return None  # who loaded it may hold the lock
        confidence = Confidence.LOW
    if mark.data["owner"].startswith(("self.", "this.")):
        confidence = Confidence.LOW  # who made the object may be the only one that knows its row
    if confidence is None and place.in_job_path and not place.in_request_path:
        confidence = Confidence.MEDIUM  # a job may be the only one that writes it
    if _TALLY.search(mark.data["column"]):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    severity = Severity.CRITICAL if _COUNTER.search(mark.data["column"]) else None
    return place.finding(mark, severity=severity, confidence=confidence)


def look_at_version(field: Node, file: SourceFile) -> Iterator[Mark]:
    """The column by which JPA sees that another was first, whatever it is called."""
    if _VERSION_FIELD.match(file.source, field.start_byte, field.end_byte):
        yield file.mark(RULE.id, field, "", data={"version": _class_around(field, file)})


def _class_around(field: Node, file: SourceFile) -> str:
    declared = list(_CLASS_HEAD.finditer(file.source, 0, field.start_byte))
    return declared[-1][1].decode() if declared else ""


def _is_versioned(model: Table, codebase: Codebase) -> bool:
    """Whether the table has a column for versions, of its own or of a base."""
    lineage = [*codebase.schemas.lineage(model)]
    if any(column.name in _VERSIONS for each in lineage for column in each.columns):
        return True
    marks = codebase.marks(RULE.id) if model.orm == "jpa" else ()
    return not {each.name for each in lineage}.isdisjoint(mark.data.get("version", "") for _, mark in marks)


def _match(change: Node, file: SourceFile) -> re.Match[bytes] | None:
    start, end = change.start_byte, change.end_byte
    return (
        _CHANGED.match(file.source, start, end)
        or _ASSIGNED.match(file.source, start, end)
        or _STEPPED.match(file.source, start, end)
    )


def _saved_on(owner: str, node: Node, file: SourceFile) -> int:
    """The line on which the row is written after the change, whole; 0 when it is not."""
    word = re.escape(owner)
    after = text_after(node, file)
    saved = re.search(
        rf"(?<![\w.]){word}\.a?save\(|\.(?:save|saveAndFlush|merge|persist|Save|Updates?)\([^\n"
        rf")]*&?(?<![\w.]){word}\b(?!\.)|(?:session|\bdb)\.commit\(",
        after,
    )
    if saved is None or _BY_EXPRESSION.search(after[after.rfind("\n", 0, saved.start()) + 1 : saved.start()]):
        return 0
    line = file.lines.of(node.end_byte) + after[: saved.start()].count("\n")
    if not saved[0].endswith(".commit("):
        return line
    # A session writes what it loaded; other objects of the function are none of its business.
    loaded = rf"(?<![\w.]){word}\s*(?::[^=\n]+)?=[^\n]*(?:{_LOADS})|\bfor\s+{word}\s+in\b[^\n]*(?:{_LOADS})"
    return line if re.search(loaded, text_before(node, file)) is not None else 0


def _is_told_before(owner: str, name: str, change: Node, file: SourceFile) -> bool:
    """Whether the same save already writes another column that was changed in memory before, and no lesser one."""
    before = text_before(change, file)
    word = re.escape(owner)
    saved = [found.end() for found in re.finditer(rf"(?<![\w.]){word}\.a?save\(|[(,]\s*&?{word}\s*[,)]", before)]
    changed = re.compile(rf"(?<![\w.]){word}\.({_NAME})\s*(?:[-+]=|=\s*{word}\.\1\s*[-+])\s*([^\n;]+)")
    told = [
        found[1]
        for found in changed.finditer(before, saved[-1] if saved else 0)
        if not (_TALLY.search(found[1]) or _SAID.search(found[1]) or _TEXT.match(found[2]))
    ]
    return bool(told) and (not _COUNTER.search(name) or any(_COUNTER.search(each) for each in told))


def _is_safe(owner: str, node: Node, file: SourceFile) -> bool:
    """Whether the row is locked, or made right here."""
    if _is_locked(owner, node, file) or file.in_test(node):
        return True
    before = text_before(node, file)
    made = re.search(
        rf"(?<![\w.]){re.escape(owner)}\s*(?::\s*\w+\s*)?:?=\s*(?:new\s+|&)?(?:\w+\.)*[A-Z]\w*[({{]",
        before,
    )
    opened = rf"\bwith\s+(?:\w+\.)*[A-Z]\w*\((?:[^()]|\([^()]*\))*\)\s+as\s+{re.escape(owner)}\b"
    return made is not None or re.search(opened, before) is not None or _is_created(owner, before)


def _is_created(owner: str, before: str) -> bool:
    """Whether each value that the function gives the name is a row that it inserts."""
    given = [found[1] for found in followed(owner, before, _LOAD, "_.") if found[1]]
    return bool(given) and all(_CREATES.match(each) for each in given)


def _is_loaded(owner: str, before: str) -> bool:
    """Whether the function is seen to load the row."""
    root = re.escape(owner.partition(".")[0])
    loaded = (
        rf"(?<![\w.]){root}\s*(?:,\s*\w+\s*)?(?::[^=\n]+)?:?=(?!=)[^;\n]*(?:\n\s*\.[^;\n]*)?{_READS}|\bfor\b[^\n]{{0,20}}\b{root}\s+(?:in|of)\b"
        rf"|\.(?:First|Find|Take|Last|Get|Scan)\w*\([^()\n]*&?{root}\b|\bfor\s*\([^:\n]{{0,60}}\b{root}\s*:"
    )
    return re.search(loaded, before) is not None


def _is_locked(owner: str, node: Node, file: SourceFile) -> bool:
    """Whether a lock is held, or the row was locked, or one that it was loaded by. A lock of another row is none."""
    if locks.held_at(node.start_byte, file) or _VERSIONED.search(function_text(node, file)):
        return True
    before = text_before(node, file)
    asked = list(_ROW_LOCK.finditer(before))
    if not asked:
        return False
    root = owner.partition(".")[0]
    names = {root}
    for loaded in followed(root, before, _LOAD, "_."):
        names.update(name for name in _OF_A_LOAD.findall(loaded[1] or loaded[2]) if not _COMMON.match(name))
    start = len(before.encode())
    for found in asked:
        place = node.start_byte - start + len(before[: found.start()].encode())
        spot = file.tree.root_node.descendant_for_byte_range(place, place + 1)
        statement = file.text(file.statement_of(spot)) if spot is not None else ""
        if not names.isdisjoint(_WORD.findall(statement)):
            return True
    return False


def _mark(node: Node, owner: str, name: str, sign: str, file: SourceFile, line: int) -> Mark:
    """The mark of a change, on the line of the save."""
    fix = _FIX.get(file.language, _FIX["script"])
    mark = file.mark(
        RULE.id,
        node,
        f"`{short(owner)}.{name}` is changed in memory and then saved: a change by somebody else in between is lost",
        confidence="" if _is_loaded(owner, text_before(node, file)) else "medium",
        suggestion=fix.format(short(owner), name, sign),
        data={"column": name, "owner": owner, "model": owner.rpartition(".")[2].title().replace("_", "")},
    )
    return structs.replace(mark, line=line)


_FIRST = re.compile(rf"{_NAME}(?:\.{_NAME})+\s*[-+]?=".encode())
_SELF = re.compile(rf"({_NAME}(?:\.{_NAME})+)\s*=\s*\1\s*[-+]".encode())
_ADDED = re.compile(rf"{_NAME}(?:\.{_NAME})+\s*[-+]=".encode())
_SETS = re.compile(rf"{_NAME}\.set\w+\(\s*{_NAME}(?:\.get|\s*\))".encode())
_SAVES = (b".save(", b".asave(", b".commit(", b".saveAndFlush(", b".merge(", b".persist(")

WATCHES = (
    Watch("augmented_assignment", look, PYTHON, needs=_SAVES, starts=_ADDED),
    Watch("assignment", look, PYTHON, needs=_SAVES, starts=_SELF),
    Watch("assignment", look_at_copy, PYTHON, needs=_SAVES, starts=_COPIED),
    Watch("assignment_expression", look_at_copy, SCRIPT, needs=_SAVES, starts=_COPIED),
    Watch("call", look_at_update, PYTHON, names=frozenset({"update", "values"})),
    Watch("call", look_at_update, SCRIPT, names=_UPDATES),
    Watch("call", look_at_go_update, GO, names=frozenset({"Update", "Updates", "UpdateColumn", "UpdateColumns"})),
    Watch("update_expression", look, SCRIPT, needs=_SAVES, starts=_STEPPED),
    Watch("inc_statement", look, GO, needs=(b".Save(", b".Update"), starts=_STEPPED),
    Watch("augmented_assignment_expression", look, SCRIPT, needs=_SAVES, starts=_ADDED),
    Watch("assignment_expression", look, SCRIPT, needs=_SAVES, starts=_SELF),
    Watch("assignment_statement", look, GO, needs=(b".Save(", b".Update"), starts=_ADDED),
    Watch("assignment_statement", look, GO, needs=(b".Save(", b".Update"), starts=_SELF),
    Watch("field", look_at_version, JAVA, needs=(b"@Version", b".Version")),
    Watch("expression_statement", look_at_setter, JAVA, needs=(*_SAVES, b"@Transactional"), starts=_SETS),
)
