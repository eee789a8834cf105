"""Something is looked for and made when it is not there: two who look at once both make it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.rules import checked_files, checked_rows
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.checked_files import FileAct
from analysis.engine.rules.checked_rows import RowAct
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.reading import declarations, followed, function_text, text_after, text_before

RULE = Rule(
    id="risk-check-then-act",
    version=3,
    type="check_then_act",
    category=Category.RUNTIME_RISK,
    title="Check, then act",
    severity=Severity.WARNING,
    points=1.5,
    suggestion="Use an atomic operation (`get_or_create`, upsert, `putIfAbsent`) backed by a unique constraint.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why=(
        "Between the question and the act another request does the same: two rows where one was meant, or an error that"
        " nobody handles."
    ),
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def place(reference):
    if not Order.objects.filter(reference=reference).exists():
        Order.objects.create(reference=reference)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def place(reference):
    Order.objects.get_or_create(reference=reference)
"""
        },
    ),
    given=DJANGO_SHOP,
)

_STARTS_PYTHON = re.compile(rb"if\s+(?:not\s+)?(?:\(?await\s+)?[\w.]+")
_STARTS_SCRIPT = re.compile(rb"if\s*\(\s*(?:!\s*)?(?:\(?\s*await\s|\w+(?:\.existsSync\(|\s*[)=!>]|Sync\())")
_JAVA_MAP = re.compile(
    rb"if\s*\(\s*(?:!\s*(?:this\.)?(?P<map>\w+)\.containsKey\(|(?:this\.)?(?P<got>\w+)\.get\([^()\n"
    rb"]*(?:\(\))?\)\s*==\s*null|(?P<value>\w+)\s*==\s*null\s*\))"
)
_GOT = re.compile(r"\s*=\s*(?:this\.)?(\w+)\.get\(")
_SHARED_MAP = re.compile(rb"\b(?:private|protected|public|static)\b[^\n;(]*?\b\w*Map<[^\n;(]*\Z")
_BEAN = re.compile(rb"@(?:Controller|RestController|Service|Component|Repository|Configuration)\b|extends\s+\w*Servlet")
_MADE_FOR_THREADS = re.compile(rb"\s*=\s*new\s+(?:java\.util\.concurrent\.)?Concurrent")
_PUT = re.compile(r"\.put\(")
_FAILS = re.compile(r"(?i)mkdir|makedirs|\.create(?:File|Directory)\(")
# What is changed after it was made: of two, what one of them was given is lost.
_NEW_OBJECT = re.compile(
    r"\bnew\s+(?:[\w.]*(?:Map|Set|List|Queue|Deque|Lock|Semaphore|Executor|Client|Connection|Producer|Consumer|Session"
    r"|Factory|Object|Buffer|Builder)|Atomic\w+|LongAdder|Thread)\b"
)
_NEW_IN_GO = r"(?:&\w|make\(|(?:\w+\.)?(?:New|new|Open|Dial|Connect)\w*\()"
_KNOWS_LOCKS = re.compile(rb"Lock\b")
_LOCKED = re.compile(r"\bsynchronized\b|\b\w*[lL]ock\w*\.(?:lock|writeLock|readLock)\(")
_STARTS_UP = re.compile(r"(?:^|[._])_*(?:init|setup|bootstrap|install|main|listen|serve)(?![a-z])")
_BUILDS = re.compile(
    r"(?:^|/)(?:cli|docker|gen|codegen|generators?|generate)/|(?:^|/)(?:magefiles?|noxfile|gulpfile|Gruntfile|fabfile|setup|conanfile)(?:\.\w+$|/)"
)
_FILE_FIX = {
    "python": 'Do it and handle the failure: `makedirs(..., exist_ok=True)`, mode `"x"`, `unlink(missing_ok=True)`.',
    "go": "Use `os.MkdirAll`, or `os.OpenFile` with `O_CREATE|O_EXCL`, and ignore `ErrNotExist` when removing.",
    "java": "Do it and handle `FileAlreadyExistsException`, or use `createDirectories` and `deleteIfExists`.",
    "script": "Do it and handle `EEXIST` or `ENOENT`: `mkdir(path, { recursive: true })`, `rm(path, { force: true })`.",
}
_GO_CHECKS = (checked_rows.GO_MISSING, checked_rows.GO_COUNTED, checked_files.GO_CHECK)
_GO = re.compile(b"|".join(each.pattern for each in _GO_CHECKS))
_ROW_FIX = {
    "python": "Use an atomic operation (`get_or_create`, `ON CONFLICT`) backed by a unique constraint{on}.",
    "java": "Back it by a unique constraint and handle `DataIntegrityViolationException`.",
    "go": "Use `ON CONFLICT` (GORM: `clause.OnConflict`) backed by a unique index.",
    "script": "Use `upsert`, or create first and handle the unique violation.",
}


def look_at_python(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(checked_rows.python_act(branch, file), branch, file)
    yield from _file(checked_files.python_act(branch, file), branch, file)


def look_at_handler(handler: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(checked_rows.python_handler_act(handler, file), handler, file)


def look_at_script(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(checked_rows.script_act(branch, file), branch, file)
    yield from _file(checked_files.script_act(branch, file), branch, file)


def look_at_java(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(checked_rows.java_act(branch, file), branch, file)
    yield from _file(checked_files.java_act(branch, file), branch, file)
    yield from _map(branch, file)


def look_at_go(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(checked_rows.go_act(branch, file), branch, file)
    yield from _file(checked_files.go_act(branch, file), branch, file)


def look_at_read_lock(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: a map is asked under `RLock` and written under `Lock`, and nobody asks again in between."""
    lock = file.text(call).removesuffix(".RLock()")
    if not re.fullmatch(r"[\w.]+", lock):
        return
    word, rest = re.escape(lock), text_after(call, file)
    read, released, after = rest.partition(f"{lock}.RUnlock()")
    asked = re.search(r"(?:,\s*\w+\s*:?=|\w\s*:?=|return)\s*([\w.]+)\[([^\]\n]+)\]", read)
    locked = re.search(rf"\b{word}\.Lock\(\)", after) if released and asked is not None else None
    if locked is None or asked is None or re.search(r"^defer\s*$", read.rpartition("\n")[2].strip()):
        return
    held = re.split(rf"\n\s*{word}\.Unlock\(\)", after[locked.end() :], maxsplit=1)[0]
    map_name = re.escape(asked[1])
    written = re.search(rf"(?<![\w.]){map_name}\[[^\]\n]+\]\s*=(?!=)", held)
    if written is None or re.search(rf"(?:=|return|if)\s*{map_name}\[|len\({map_name}\)", held[: written.start()]):
        return
    start = len(rest) - len(after) + locked.end() + written.start()
    line = file.lines.of(call.end_byte) + rest[:start].count("\n")
    message = (
        f"`{asked[1]}` is read under `RLock` and written here without asking again: another one may have been first"
    )
    fix = "Ask the map again under `Lock` before writing, or use `sync.Map.LoadOrStore`."
    value = re.escape(held[written.end() :].strip().partition("\n")[0])
    made = rf"(?<![\w.]){value}(?:, \w+)?\s*:?=\s*{_NEW_IN_GO}|^{_NEW_IN_GO}"
    is_lost = re.search(made, read + after[: locked.end()] + held) or re.match(
        _NEW_IN_GO, held[written.end() :].strip()
    )
    yield _at(line, call, file, message, fix, confidence="" if is_lost else "low", form="map")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Two do it at once where requests or jobs lead: of the rest of a program that has such, nobody knows. Tools run
    alone. Where a unique constraint stands behind a friendly message, nothing is made twice."""
    if runs_by_hand(codebase, place.path) or _BUILDS.search(place.path) or _is_told(mark, place):
        return None
    if _STARTS_UP.search(place.function.name) and not place.in_request_path:
        return None
    is_run = place.in_request_path or (place.in_job_path and not place.facts.is_entry)
    if not is_run and codebase.request_path:
        return None
    if mark.data.get("form") == "file":
        return _of_file(mark, place, is_run=is_run)
    if mark.data.get("form") == "map":
        return None if is_run and mark.confidence == "low" else place.finding(mark)
    schema = codebase.schemas.named(mark.data.get("model", ""))
    asked = set(mark.data.get("columns", "").split())
    is_unique = "unique" in mark.data or (
        schema is not None
        and (any(schema.is_key(column) for column in asked) or any(asked.issuperset(each) for each in schema.unique))
    )
    return place.finding(mark, severity=Severity.INFO if is_unique else None)


def _of_file(mark: Mark, place: Place, *, is_run: bool) -> Finding | None:
    if is_run:  # what is written twice is mostly the same; a folder that is there already is an error
        return place.finding(mark, confidence=None if "fails" in mark.data else Confidence.LOW)
    return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)


def _is_told(mark: Mark, place: Place) -> bool:
    """Whether another question before the same act is told there already."""
    same = (each for each in place.facts.marks if each.rule == RULE.id and each.line == mark.line)
    return next(same, mark) is not mark


def _row(act: RowAct | None, node: Node, file: SourceFile) -> Iterator[Mark]:
    if act is None:
        return
    what = f"`{act.model}`" if act.model else "The row"
    message = f"{what} is looked for on line {file.line(node)} and created here: two requests at once create two"
    on = f" on {', '.join(act.columns)}" if act.columns else ""
    data = {"model": act.model, "columns": " ".join(act.columns)} | ({"unique": "1"} if act.is_unique else {})
    yield _at(act.line, node, file, message, _fix(_ROW_FIX, file).format(on=on), **data)


def _file(act: FileAct | None, branch: Node, file: SourceFile) -> Iterator[Mark]:
    if act is not None:
        message = f"`{act.path}` may come or go between the check and `{act.act}`"
        if not act.makes and file.is_in(branch, "try"):
            return  # a failure to remove it is handled
        fails = act.makes and _FAILS.search(act.act) is not None
        data = {"form": "file"} | ({"fails": "1"} if fails else {})
        yield _at(act.line, branch, file, message, _fix(_FILE_FIX, file), **data)


def _map(branch: Node, file: SourceFile) -> Iterator[Mark]:
    """`if (!rows.containsKey(key)) rows.put(key, row)` on a field that several threads see."""
    found = _JAVA_MAP.match(file.source, branch.start_byte)
    body = branch.child_by_field_name("consequence")
    function = file.enclosing_function(branch)
    if found is None or body is None or file.is_in(branch, "with"):
        return
    if function is not None and function.type == "constructor_declaration":
        return  # nobody else has the object yet
    name = (found["map"] or found["got"] or b"").decode()
    if found["value"] is not None:
        got = [each[1] for each in followed(found["value"].decode(), text_before(branch, file), _GOT, "_.")]
        name = got[-1] if got else ""
    if not name:
        return
    put = next(followed(name, file.text(body), _PUT, "_"), None)
    if put is None or _LOCKED.search(function_text(branch, file)):
        return
    field = next(filter(None, map(_SHARED_MAP.search, declarations(name, file))), None)
    if field is None:
        return
    made = next(followed(name.encode(), file.source, _MADE_FOR_THREADS, b"_."), None)
    is_concurrent = b"Concurrent" in field[0] or made is not None
    if not is_concurrent and _KNOWS_LOCKS.search(file.source):
        return  # whoever calls may hold the lock
    is_shared = b"static" in field[0] or is_concurrent or _BEAN.search(file.source)
    if function is not None and _is_static_set_up(function, file):
        return
    if found["value"] is not None and not is_shared:
        return  # the usual way to fill a map of an object that one thread uses
    line = file.line(body) + file.text(body)[: put.start()].count("\n")
    message = f"`{name}` is asked for a key and then given it: another thread may do the same in between"
    fix = "Use `computeIfAbsent` or `putIfAbsent` on a concurrent map."
    # Of two values that are computed from the key one is as good as the other; of two objects, one is lost.
    is_lost = _NEW_OBJECT.search(file.text(body)) is not None
    yield _at(line, branch, file, message, fix, confidence="" if is_shared and is_lost else "low", form="map")


def _is_static_set_up(method: Node, file: SourceFile) -> bool:
    """Whether a static initialiser calls the method: it runs once, when the class is loaded."""
    name = method.child_by_field_name("name")
    if name is None:
        return False
    called = rb"\bstatic\s*\{[^{}]*\b" + re.escape(file.text(name).encode()) + rb"\("
    return re.search(called, file.source) is not None


def _fix(fixes: dict[str, str], file: SourceFile) -> str:
    return fixes.get(file.language, fixes["script"])


def _at(line: int, node: Node, file: SourceFile, message: str, fix: str, *, confidence: str = "", **data: str) -> Mark:
    return Mark(
        RULE.id,
        line,
        file.function_of(node),
        message,
        file.anchor(node),
        confidence=confidence,
        suggestion=fix,
        data=data,
    )


WATCHES = (
    Watch(
        "if",
        look_at_python,
        PYTHON,
        needs=(
            b"exists(",
            b"os.path.",
            b".first()",
            b".count()",
            b"_or_none(",
            b".scalar",
            b"find_one(",
            b".is_file()",
            b".is_dir()",
        ),
        starts=_STARTS_PYTHON,
    ),
    Watch("handler", look_at_handler, PYTHON, needs=(b".DoesNotExist",)),
    Watch(
        "if",
        look_at_script,
        SCRIPT,
        needs=(b".findOne", b".findFirst", b".findUnique", b".findByPk", b".exists", b"existsSync(", b".count"),
        starts=_STARTS_SCRIPT,
    ),
    Watch(
        "if",
        look_at_java,
        JAVA,
        needs=(b".containsKey(", b"xists", b".isPresent()", b".isEmpty()", b"== null", b"!= null"),
        starts=re.compile(
            rb"if\s*\(\s*!?\s*(?:this\.)?\w+(?:\.(?:containsKey|exists|count|find|select|get|[nN]otExists"
            rb"|isPresent|isEmpty)"
            rb"|\s*[=!]=\s*null)"
        ),
    ),
    Watch(
        "if",
        look_at_go,
        GO,
        needs=(b"os.Stat(", b"ErrRecordNotFound", b"ErrNoRows", b"ErrNoDocuments", b".Count(&"),
        starts=_GO,
    ),
    Watch("call", look_at_read_lock, GO, names=frozenset({"RLock"})),
)
