"""A number is read, changed in memory and written back: of two that do it at once, one change is lost."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.models import IndexedModel
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.readers import go_row_writes, locks
from analysis.engine.readers.column_names import COUNTER, SAID, TALLY, is_counted_on
from analysis.engine.readers.go_row_writes import asks_for_version, writes_back
from analysis.engine.readers.locked_functions import runs_locked
from analysis.engine.readers.reading import declarations, followed, short, text_after, text_before
from analysis.engine.readers.row_changes import (
    ADDED,
    ASSIGNED,
    ASSIGNS_ITSELF,
    CHANGED,
    CHANGED_IN_JAVA,
    COPIED,
    NAME,
    STEPPED,
    change_at,
    change_of,
    given_pairs,
    number_read,
    sign_of,
)
from analysis.engine.readers.row_locks import LOAD, ROW_LOCK, is_loaded, is_loaded_anew, is_locked, is_safe
from analysis.engine.readers.row_versions import NEEDS, is_versioned, versioned
from analysis.engine.readers.saved_rows import flushed_on, plain, saved_on, updated_on
from analysis.engine.rules.base import GO, JAVA, PYTHON, ROOTS, SCRIPT, Watch

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

_UPDATES = frozenset({"update", "updateOne", "updateMany", "findByIdAndUpdate", "findOneAndUpdate"})
_SETTER = re.compile(rf"({NAME})\.set(\w+)\((.*)\)".encode(), re.DOTALL)
_SET_ANEW = re.compile(r"\.set\(\s*(?:0[\w.]*|(?:\w+\.)?ZERO)\s*\)")
_TEXT = re.compile(r"^(?:[rbf]|sql)?[\"'`]|^[^\n]*\+\s*[rbf]?[\"'`]|^\[|^\(\s*[\"']|\bstr\(|\.format\(|\.join\(")
_LOCKING = re.compile(r"(?i)for_update|lock|atomic")
_DECLARED = re.compile(rb"\b([A-Z]\w*)\s+\Z")  # the class before a variable of Java
_MODEL = re.compile(r"(?<![\w.])([A-Z]\w*[a-z]\w*)\b")  # in what a row was loaded by: `session.get(Wallet, key)`
_UPDATES_ROW = re.compile(
    r"\bUPDATE\s+[`\"\\]*(?P<table>\w+)[`\"\\]*\s+SET\s+(?P<sets>.*?)(?P<rest>\bWHERE\b.*?)?(?:[\"'`]{1,3}\s*[,)])",
    re.IGNORECASE | re.DOTALL,
)
_SET_TO = re.compile(r"(\w+)[`\"\\]*\s*=\s*(?:\?|\$\d|%s|:\w|@\w|%\()")
_ASKED_OF_STORE = r"(?<![\w.])%s,\s*err\s*:?=\s*(?:\w+\.)+\w+\("
_GIVEN_TO = r"(?<![\w.])(?P<call>(?:\w+\.)+\w+)\((?P<before>[^()\n]*?)(?<![\w.&])&?%s\s*[,)]"
_ISOLATED = re.compile(r"(?i)serializable|repeatable")
_FIX = {
    "python": 'Write it with one UPDATE (`update({1}=F("{1}") {2} ...)`), or load the row with `select_for_update()`.',
    "java": "Write it with one UPDATE, lock the row (`PESSIMISTIC_WRITE`) or give the entity a `@Version`.",
    "go": "Write it with one UPDATE (`SET {1} = {1} {2} ?`), or lock the row (`FOR UPDATE`).",
    "drizzle": "Let the database count: give `set` an expression of `sql` (`{1} {2} n`), or lock with `for('update')`.",
    "script": "Let the database count (`increment`, `SET {1} = {1} {2} n`), or lock the row.",
}


def look(change: Node, file: SourceFile) -> Iterator[Mark]:
    """`account.balance -= amount` followed by `account.save()` in one function."""
    match = change_at(change, file)
    if match is None or (match.re is not STEPPED and _TEXT.match(match[4].decode("utf-8", "replace").strip())):
        return
    if SAID.search(match[2].decode()):
        return
    if (
        match.re is CHANGED
        and re.fullmatch(rb"\w+\." + match[2] + rb"\s*", match[4])
        and not COUNTER.search(match[2].decode())
    ):
        return  # lists that are joined
    owner, name, sign = plain(match[1].decode()), match[2].decode(), match[3].decode()
    if name.startswith("_"):
        return  # no column
    saved = saved_on(owner, change, file) or updated_on(owner, name, change, file)
    if not saved and file.language == "go":
        yield from _handed_on(change, owner, name, sign, file)
    elif saved and not is_safe(owner, change, file) and not _is_told_before(owner, name, change, file):
        mark = _mark(change, owner, name, sign, file, saved)
        given = re.search(_GIVEN_TO % re.escape(owner), text_after(change, file)) if file.language == "go" else None
        yield mark if given is None else structs.replace(mark, data=mark.data | {"saved": given["call"]})


def _handed_on(change: Node, owner: str, name: str, sign: str, file: SourceFile) -> Iterator[Mark]:
    """Go: the row is loaded, changed, and given to a method of the project, which may write it: `judge` knows."""
    after = text_after(change, file)
    given = re.search(_GIVEN_TO % re.escape(owner), after) if "(ctx, " in after else None
    if given is None or not _is_asked_of_store(owner, text_before(change, file)) or is_safe(owner, change, file):
        return
    line = file.lines.of(change.end_byte) + after[: given.start()].count("\n")
    mark = _mark(change, owner, name, sign, file, line)
    data = mark.data | {"given": f"{given['call']}@{given['before'].count(',')}"}
    yield structs.replace(mark, confidence="medium", data=data)


def _is_asked_of_store(owner: str, before: str) -> bool:
    """Go: whether a method gives the row, whatever it is called: `tank, err := p.tanks.ByCode(ctx, code)`."""
    return is_loaded(owner, before) or re.search(_ASKED_OF_STORE % re.escape(owner), before) is not None


def look_at_copy(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """`account.balance = max(account.balance - amount, 0)` or `account.balance = left`, where that is what is left."""
    match = COPIED.match(file.source, assignment.start_byte, assignment.end_byte)
    if match is None or ASSIGNED.match(file.source, assignment.start_byte, assignment.end_byte) is not None:
        return
    owner, name = plain(match[1].decode()), match[2].decode()
    value = plain(match[3].decode("utf-8", "replace"))
    if name.startswith("_") or SAID.search(name) or _TEXT.match(value):
        return
    before = plain(text_before(assignment, file))
    if f"{owner}.{name}" not in value and f"{owner}.{name}" not in before:
        return
    found = change_of(value, rf"(?<![\w.]){re.escape(owner)}\.{re.escape(name)}\b", before)
    if found is None:
        return
    saved = saved_on(owner, assignment, file) or updated_on(owner, name, assignment, file)
    if saved and not is_safe(owner, assignment, file):
        yield _mark(assignment, owner, name, sign_of(found), file, saved)


def look_at_update(call: Node, file: SourceFile) -> Iterator[Mark]:
    """An UPDATE that is given a number of a row loaded before: `update({ data: { stock: item.stock - n } })`, also by
    way of variables."""
    text = file.text(call)
    yield from _updated_by(call, text[text.find("(") :], text, file)


def _updated_by(call: Node, given: str, statement: str, file: SourceFile, orm: str = "") -> Iterator[Mark]:
    """Of what an UPDATE is given, the first number of a row that was loaded before."""
    pairs = list(given_pairs(given))
    if not pairs or file.in_test(call):
        return
    before = text_before(call, file)
    for name, value in pairs:
        if SAID.search(name) or _TEXT.match(value) or not _may_be_read(name, value, before):
            continue
        row = rf"(?<![\w.])(?P<owner>{NAME})(?:\.{re.escape(name)}\b|\[[\"']{re.escape(name)}[\"']\])"
        found = change_of(value, row, before)
        owner = found["owner"] if found is not None else None
        sign = sign_of(found) if found is not None else ""
        if not owner or not _is_asked_for(owner, before):
            owner, sign = number_read(name, value, before)
        if owner and not is_locked(owner, call, file) and not _expects(owner, name, statement):
            yield _mark(call, owner, name, sign, file, file.line(call), orm)
            return


def look_at_set(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Drizzle: `db.update(items).set({ stock: item.stock - n }).where(…)`."""
    if file.callee(call).endswith(".update().set"):
        given = call.child_by_field_name("arguments")
        if given is not None:
            yield from _updated_by(call, file.text(given), file.text(file.statement_of(call)), file, "drizzle")


def _may_be_read(name: str, value: str, before: str) -> bool:
    """Whether an expression can hold the column of a row: a look that costs less than a pattern."""
    is_said = f".{name}" in value or f'["{name}' in value or f"['{name}" in value
    if is_said or (f".{name}" in before and re.search(r"[A-Za-z_]", value) is not None):
        return True
    return name in before and ("-" in value or "+" in value)


def _is_asked_for(owner: str, before: str) -> bool:
    """Whether the function loads the row by what is called like a question."""
    asked = (
        r"\s*\]?\s*(?::[^=\n]+)?=\s*(?:await\s)?[^\n]*(?:\n\s*\.[^\n]*)?"
        r"\b(?:find|get|first|load|select|query|one|fetch|scalar)\w*\b"
    )
    return re.search(rf"(?<![\w.]){re.escape(owner)}{asked}", before) is not None


def look_at_go_update(call: Node, file: SourceFile) -> Iterator[Mark]:
    """GORM: an UPDATE that is given a number of a row loaded before: `Update("stock", item.Stock - n)`."""
    text = file.text(call)
    if file.in_test(call):
        return
    before = text_before(call, file)
    for name, value in given_pairs(text[text.rfind(".Update") :]):
        if f".{name.replace('_', '')}".lower() not in f"{before}{value}".lower():
            continue
        field = "_?".join(map(re.escape, name.replace("_", "")))
        found = change_of(value, rf"(?<![\w.])(?P<owner>{NAME})\.(?i:{field})\b", before)
        owner = found["owner"] if found is not None else None
        if found is None or not owner or _TEXT.match(value) or re.search(r"[-+]\s*[\"`]", value):
            continue
        if is_loaded(owner, before) and not is_locked(owner, call, file):
            yield _mark(call, owner, name, sign_of(found), file, file.line(call))
            return


def look_at_statement(call: Node, file: SourceFile) -> Iterator[Mark]:
    """SQL: an UPDATE that is given a number which a SELECT read before."""
    text = file.text(call)
    update = _UPDATES_ROW.search(text)
    if update is None or file.in_test(call):
        return
    before = text_before(call, file)
    if locks.held_at(call.start_byte, file) or ROW_LOCK.search(before) or _ISOLATED.search(before):
        return
    given = text[update.end() :]
    for name in _SET_TO.findall(update["sets"]):
        asked = rf"(?i)\bSELECT\b(?:\s+\*|[^;]*?\b{name}\b)[^;]*?\bFROM\s+[`\"\\]*{re.escape(update['table'])}\b"
        variable = "_?".join(map(re.escape, name.replace("_", "")))
        reads = rf"(?:\w(?:\]|\))?\.|\[[\"']|(?<![\w.]))(?i:{variable})\b(?:[\"']\]|\(\))?"
        found = change_of(given, reads, before) if re.search(asked, before) is not None else None
        expects = re.search(rf"(?i)\b(?:{name}|\w*version)\b", update["rest"] or "")
        if found is not None and expects is None and not SAID.search(name):
            mark = _mark(call, update["table"], name, sign_of(found), file, file.line(call))
            yield structs.replace(mark, confidence="medium")
            return


def _expects(owner: str, name: str, text: str) -> bool:
    """Whether the UPDATE asks for the number that was read, or for a version: it changes nothing when another was
    first."""
    same = rf"\b{re.escape(name)}\b[\"']?\s*[:=,]\s*{re.escape(owner)}\.{re.escape(name)}\s*[,)}}]"
    return re.search(rf"{same}|\b\w*[vV]ersion[\"']?\s*[:=,]", text) is not None


def look_at_setter(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`account.setBalance(account.getBalance().subtract(amount))` followed by `accounts.save(account)`."""
    match = _SETTER.match(file.source, call.start_byte, call.end_byte)
    if match is None:
        return
    owner, name = match[1].decode(), match[2].decode()
    before, value = text_before(call, file), match[3].decode("utf-8", "replace")
    if (f"{name}()" not in value and f"{name}()" not in before) or _TEXT.search(value):
        return
    reads = rf"(?<![\w.]){re.escape(owner)}\.(?:get|is)?(?i:{name})\(\)"
    found = change_of(value, reads, before)
    if found is None or _SET_ANEW.search(before.replace(f".set{name}(", ".set(")):
        return  # or counted here, from nothing
    saved = saved_on(owner, call, file)
    line = saved or flushed_on(owner, call, file)
    if line and not is_safe(owner, call, file):
        mark = _mark(call, owner, name[:1].lower() + name[1:], sign_of(found), file, line)
        declared = next(filter(None, map(_DECLARED.search, declarations(owner, file))), None)
        more = {"model": declared[1].decode()} if declared is not None else {}
        yield structs.replace(mark, data=mark.data | more | ({} if saved else {"flushed": "1"}))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A row that has a version column is written by one of two only; a counter that others count on is critical."""
    if "version" in mark.data or MADE_UP.search(place.path):
        return None
    entry = _loaded_as(mark, place) or codebase.models.named(mark.data["model"])
    if entry is not None and is_versioned(entry.model, _told_of_versions(codebase), codebase):
        return None
    if "saved" in mark.data and asks_for_version(mark.data["saved"], place):
        return None
    if "given" in mark.data:
        call, _, position = mark.data["given"].rpartition("@")
        if not writes_back(call, int(position), mark.data["column"], place):
            return None
    confidence = Confidence(mark.confidence) if mark.confidence else None
    if runs_locked(place):
        return None
    if "flushed" in mark.data and (entry is None or entry.model.orm != "jpa"):
        return None  # only JPA writes at the commit what nobody saves
    if mark.data["owner"] in {each.name for each in place.function.parameters} and "anew" not in mark.data:
        if any(_LOCKING.search(call) for function in place.facts.functions for call in function.calls):
            return None  # who loaded it may hold the lock
        confidence = Confidence.LOW
    if mark.data["owner"].startswith(("self.", "this.")):
        confidence = Confidence.LOW  # who made the object may be the only one that knows its row
    if confidence is None and place.in_job_path and not place.in_request_path:
        confidence = Confidence.MEDIUM  # a job may be the only one that writes it
    if TALLY.search(mark.data["column"]):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    severity = Severity.CRITICAL if is_counted_on(mark.data["column"], place) else None
    return place.finding(mark, severity=severity, confidence=confidence)


def _loaded_as(mark: Mark, place: Place) -> IndexedModel | None:
    """The model of the query that gave the row."""
    sites = place.queries
    owner = mark.data["owner"]
    return next((each.schema.entry for each in sites if each.schema is not None and each.query.variable == owner), None)


def look_at_versions(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The models whose rows carry a version."""
    for node, model in versioned(root, file):
        yield file.mark(RULE.id, node, "", data={"version": model})


def _told_of_versions(codebase: Codebase) -> Iterator[str]:
    """The models of which `look_at_versions` saw that their rows carry a version."""
    return (mark.data.get("version", "") for _, mark in codebase.marks(RULE.id))


def _is_told_before(owner: str, name: str, change: Node, file: SourceFile) -> bool:
    """Whether the same save already writes another column that was changed in memory before, and no lesser one."""
    before = text_before(change, file)
    word = re.escape(owner)
    saved = [found.end() for found in re.finditer(rf"(?<![\w.]){word}\.a?save\(|[(,]\s*&?{word}\s*[,)]", before)]
    changed = re.compile(rf"(?<![\w.]){word}\.({NAME})\s*(?:[-+]=|=\s*{word}\.\1\s*[-+])\s*([^\n;]+)")
    told = [
        found[1]
        for found in changed.finditer(before, saved[-1] if saved else 0)
        if not (TALLY.search(found[1]) or SAID.search(found[1]) or _TEXT.match(found[2]))
    ]
    return bool(told) and (not COUNTER.search(name) or any(COUNTER.search(each) for each in told))


def _mark(node: Node, owner: str, name: str, sign: str, file: SourceFile, line: int, orm: str = "") -> Mark:
    """The mark of a change, on the line of the save."""
    fix = _FIX.get(orm or file.language, _FIX["script"])
    before = text_before(node, file)
    loads = (found[1] or found[2] for found in followed(owner, before, LOAD, "_."))
    models = [model for load in loads for model in _MODEL.findall(load)[:1]]
    if file.language == "go":
        models = re.findall(rf"\bvar\s+{re.escape(owner)}\s+\*?(?:\w+\.)?([A-Z]\w*)", before)
    model = models[-1] if models else owner.rpartition(".")[2].title().replace("_", "")
    mark = file.mark(
        RULE.id,
        node,
        f"`{short(owner)}.{name}` is changed in memory and then saved: a change by somebody else in between is lost",
        confidence="" if is_loaded(owner, before) else "medium",
        suggestion=fix.format(short(owner), name, sign),
        data={"column": name, "owner": owner, "model": model}
        | ({"anew": "1"} if is_loaded_anew(owner, before) else {}),
    )
    return structs.replace(mark, line=line)


_SETS = re.compile(rf"{NAME}\.set\w+\(\s*[\w(]".encode())
_SAVES = (b".save(", b".asave(", b".commit(", b".saveAndFlush(", b".merge(", b".persist(")
_SAVES_OF_GO = (b".Save(", b".Update", b".NewUpdate(", b"UPDATE ")
_SAVES_OR_HANDS_ON = (*_SAVES_OF_GO, b"(ctx, ")

WATCHES = (
    Watch("augmented_assignment", look, PYTHON, needs=_SAVES, starts=ADDED),
    Watch("assignment", look, PYTHON, needs=_SAVES, starts=ASSIGNS_ITSELF),
    Watch("assignment", look_at_copy, PYTHON, needs=_SAVES, starts=COPIED),
    Watch("assignment_expression", look_at_copy, SCRIPT, needs=_SAVES, starts=COPIED),
    Watch("call", look_at_update, PYTHON, names=frozenset({"update", "values"})),
    Watch("call", look_at_update, SCRIPT, names=_UPDATES),
    Watch("call", look_at_set, SCRIPT, needs=(b".update(",), names=frozenset({"set"})),
    Watch("call", look_at_go_update, GO, names=frozenset({"Update", "Updates", "UpdateColumn", "UpdateColumns"})),
    Watch("update_expression", look, SCRIPT, needs=_SAVES, starts=STEPPED),
    Watch("assignment_expression", look, JAVA, needs=_SAVES, starts=CHANGED_IN_JAVA),
    Watch("inc_statement", look, GO, needs=_SAVES_OR_HANDS_ON, starts=STEPPED),
    Watch("dec_statement", look, GO, needs=_SAVES_OR_HANDS_ON, starts=STEPPED),
    Watch("augmented_assignment_expression", look, SCRIPT, needs=_SAVES, starts=ADDED),
    Watch("assignment_expression", look, SCRIPT, needs=_SAVES, starts=ASSIGNS_ITSELF),
    Watch("assignment_statement", look, GO, needs=_SAVES_OR_HANDS_ON, starts=ADDED),
    Watch("assignment_statement", look, GO, needs=_SAVES_OR_HANDS_ON, starts=ASSIGNS_ITSELF),
    Watch("assignment_statement", look_at_copy, GO, needs=_SAVES_OF_GO, starts=COPIED),
    Watch("call", look_at_statement, PYTHON, names=frozenset({"execute"})),
    Watch("call", look_at_statement, SCRIPT, names=frozenset({"query", "execute", "run", "none"})),
    Watch("call", look_at_statement, JAVA, names=frozenset({"update"})),
    Watch("call", look_at_statement, GO, names=frozenset({"Exec", "ExecContext", "MustExec"})),
    *go_row_writes.WATCHES,
    *(Watch(root, look_at_versions, languages, needs=NEEDS[languages]) for languages, root in ROOTS),
    Watch("expression_statement", look_at_setter, JAVA, needs=(*_SAVES, b"@Transactional"), starts=_SETS),
)
