"""Something is looked for and made when it is not there: two who look at once both make it."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers import checked_files, checked_keys, checked_maps
from analysis.engine.readers.checked_calls import call_act, made_row
from analysis.engine.readers.checked_calls_go import CHECK, go_calls
from analysis.engine.readers.checked_files import FileAct
from analysis.engine.readers.checked_maps import MapAct
from analysis.engine.readers.checked_rows import RowAct, java_act, may_make, script_act
from analysis.engine.readers.checked_rows_drizzle import drizzle_act
from analysis.engine.readers.checked_rows_go import GO_ANSWERED, GO_MISSING, go_act, go_switch_act
from analysis.engine.readers.checked_rows_python import python_act, python_handler_act
from analysis.engine.readers.handlers import is_caught
from analysis.engine.readers.locked_functions import runs_locked
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.example_models import DJANGO_SHOP

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

_STARTS_PYTHON = re.compile(rb"if\s+(?:not\s+)?\(?(?:await\s+)?[\w.]+")
_STARTS_SCRIPT = re.compile(
    rb"if\s*\(\s*(?:!\s*)?(?:\(?\s*await\s|\w+(?:\.existsSync\(|(?:\??\.length|\[0\])?\s*[)=!>]|Sync\())"
)
_FAILS = re.compile(r"(?i)mkdir|makedirs|\.create(?:File|Directory)\(")
# The handlers of what fails with files; those of a script take everything.
_OF_FILES = re.compile(
    r"except\s*:|\b(?:OSError|IOError|EnvironmentError|FileExistsError|FileAlreadyExistsException|IOException"
    r"|Exception)\b|catch\s*(?:\(\s*\w+(?:\s*:[^()]*)?\s*\)\s*)?\{"
)
_STARTS_UP = re.compile(
    r"(?:^|[._])_*(?:(?:do)?[iI]nit|[sS]etup|[bB]ootstrap|[iI]nstall|main|[lL]isten|[sS]erve)(?![a-z])"
)
_BUILDS = re.compile(
    r"(?:^|/)(?:cli|docker|gen|codegen|generators?|generate|release|hack)/|(?:^|/)(?:magefiles?|noxfile|gulpfile|Gruntfile|fabfile|setup|conanfile)(?:\.\w+$|/)"
)
_FILE_FIX = {
    "python": 'Do it and handle the failure: `makedirs(..., exist_ok=True)`, mode `"x"`, `unlink(missing_ok=True)`.',
    "go": "Use `os.MkdirAll`, or `os.OpenFile` with `O_CREATE|O_EXCL`, and ignore `ErrNotExist` when removing.",
    "java": "Do it and handle `FileAlreadyExistsException`, or use `createDirectories` and `deleteIfExists`.",
    "script": "Do it and handle `EEXIST` or `ENOENT`: `mkdir(path, { recursive: true })`, `rm(path, { force: true })`.",
}
_GO_CHECKS = (GO_MISSING, GO_ANSWERED, checked_files.GO_CHECK)
_GO = re.compile(b"|".join(each.pattern for each in _GO_CHECKS))
_ROW_FIX = {
    "python": "Use an atomic operation (`get_or_create`, `ON CONFLICT`) backed by a unique constraint{on}.",
    "java": "Back it by a unique constraint and handle `DataIntegrityViolationException`.",
    "go": "Use `ON CONFLICT` (GORM: `clause.OnConflict`) backed by a unique index.",
    "script": "Use `upsert`, or create first and handle the unique violation.",
}


def look_at_python(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(python_act(branch, file), branch, file)
    yield from _file(checked_files.python_act(branch, file), branch, file)


def look_at_handler(handler: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(python_handler_act(handler, file), handler, file)


def look_at_script(branch: Node, file: SourceFile) -> Iterator[Mark]:
    if may_make(branch, file):
        act = script_act(branch, file) or drizzle_act(branch, file)
        yield from _row(act, branch, file)
        calls = call_act(branch, file) if act is None else None
        if calls is not None:
            yield _at(file.line(branch), branch, file, "", _ROW_FIX["script"], **calls)
    yield from _file(checked_files.script_act(branch, file), branch, file)


def look_at_java(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(java_act(branch, file), branch, file)
    yield from _file(checked_files.java_act(branch, file), branch, file)
    yield from _map(checked_maps.java_act(branch, file), branch, file)


def look_at_go(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(go_act(branch, file), branch, file)
    yield from _map(checked_keys.go_act(branch, file), branch, file)
    yield from _file(checked_files.go_act(branch, file), branch, file)


def look_at_go_calls(branch: Node, file: SourceFile) -> Iterator[Mark]:
    calls = go_calls(branch, file)
    if calls is not None and go_act(branch, file) is None:
        yield _at(file.line(branch), branch, file, "", _ROW_FIX["go"], **calls)


def look_at_go_switch(switch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _row(go_switch_act(switch, file), switch, file)


def look_at_read_lock(call: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _map(checked_maps.go_act(call, file), call, file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Two do it at once where requests or jobs lead: of the rest of a program that has such, nobody knows. Tools run
    alone. Where a unique constraint stands behind a friendly message, nothing is made twice."""
    if runs_by_hand(codebase, place.path) or _BUILDS.search(place.path) or _is_told(mark, place):
        return None
    if _STARTS_UP.search(place.function.name) and not place.in_request_path:
        return None
    if "form" not in mark.data and (_locks_a_row(place) or runs_locked(place)):
        return None
    is_run = place.in_request_path or (place.in_job_path and not place.facts.is_entry)
    # In a program that answers requests, of what none is seen to reach nobody knows how often it runs.
    is_elsewhere = not is_run and bool(codebase.request_path)
    if mark.data.get("form") == "file":
        return _of_file(mark, place, is_run=is_run)
    confidence = Confidence.LOW if is_elsewhere or _runs_by_the_clock(place) else None
    if mark.data.get("form") == "map":
        return _of_map(mark, place, confidence, is_guess=is_run or is_elsewhere)
    changes: dict[str, object] = {}
    if mark.data.get("form") == "calls":
        made = made_row(mark, place)
        if made is None:
            return None
        mark = structs.replace(mark, data={"model": made.model, "columns": " ".join(made.columns)})
        changes = {"line": made.line, "message": _message(f"`{made.model}`", made.asked_on)}
        confidence = Confidence.LOW if made.is_called else confidence  # which may handle that it is there already
    model = mark.data.get("model", "")
    schema = codebase.schemas.named(model) or codebase.schemas.named(model[:1].upper() + model[1:])
    asked = set(mark.data.get("columns", "").split())
    is_unique = "unique" in mark.data or (
        schema is not None
        and (any(schema.is_key(column) for column in asked) or any(asked.issuperset(each) for each in schema.unique))
    )
    if is_unique:
        told = str(changes.get("message", mark.message))
        message = told.replace("two requests at once create two", "of two requests at once the second one fails")
        changes |= {"message": message, "severity": Severity.INFO}
    return place.finding(mark, confidence=confidence, **changes)


def _runs_by_the_clock(place: Place) -> bool:
    """Whether it is a job that is given nothing to work on, and reached by no request: it runs at its times, mostly
    alone."""
    is_job = any(entry.function == place.function.name for entry in place.facts.entries)
    return is_job and place.in_job_path and not place.in_request_path and not place.function.parameters


def _message(what: str, line: int) -> str:
    return f"{what} is looked for on line {line} and created here: two requests at once create two"


def _locks_a_row(place: Place) -> bool:
    """Whether the function, or one that it calls, locks a row: who comes second waits until the first one is done."""
    asked = place.codebase.queries.by_function
    here = place.callee
    called = place.codebase.calls.callees(here)
    return any(site.query.lock for each in (here, *called) for site in asked.get(each, ()))


def _of_map(mark: Mark, place: Place, confidence: Confidence | None, *, is_guess: bool) -> Finding | None:
    """Of two values that are computed alike one is as good as the other: no more than worth knowing."""
    if mark.confidence != "low":
        return place.finding(mark, confidence=confidence)
    return None if "usual" in mark.data and is_guess else place.finding(mark, severity=Severity.INFO)


def _of_file(mark: Mark, place: Place, *, is_run: bool) -> Finding | None:
    """What is written twice is mostly the same; a folder that is there already is an error."""
    if is_run:
        return place.finding(mark, confidence=None if "fails" in mark.data else Confidence.LOW)
    if "writes" in mark.data and place.codebase.request_path:
        return None
    return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)


def _is_told(mark: Mark, place: Place) -> bool:
    """Whether another question before the same act is told there already."""
    same = (each for each in place.facts.marks if each.rule == RULE.id and each.line == mark.line)
    return next(same, mark) is not mark


def _row(act: RowAct | None, node: Node, file: SourceFile) -> Iterator[Mark]:
    if act is None:
        return
    what = f"`{act.model}`" if act.model else "The row"
    message = _message(what, file.line(node))
    on = f" on {', '.join(act.columns)}" if act.columns else ""
    data = {"model": act.model, "columns": " ".join(act.columns)} | ({"unique": "1"} if act.is_unique else {})
    yield _at(act.line, node, file, message, (act.fix or _fix(_ROW_FIX, file)).format(on=on), **data)


def _file(act: FileAct | None, branch: Node, file: SourceFile) -> Iterator[Mark]:
    if act is not None:
        message = f"`{act.path}` may come or go between the check and `{act.act}`"
        if not act.makes and file.is_in(branch, "try"):
            return  # a failure to remove it is handled
        fails = act.makes and _FAILS.search(act.act) is not None
        if fails and is_caught(branch, file, _OF_FILES):
            return  # who comes second is told that it is there
        data = {"form": "file"} | ({"fails": "1"} if fails else {"writes": "1"} if act.makes else {})
        yield _at(act.line, branch, file, message, _fix(_FILE_FIX, file), **data)


def _map(act: MapAct | None, node: Node, file: SourceFile) -> Iterator[Mark]:
    if act is not None:
        data = {"form": "map"} | ({"usual": "1"} if act.is_usual else {})
        confidence = "" if act.is_sure else "low"
        yield _at(act.line, node, file, act.message, act.fix, confidence=confidence, **data)


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


# What a method that makes a row is mostly called after.
_MAKES_IN_GO = (b".Create", b".Insert", b".Save", b".Add", b".Persist", b".Register", b".Store", b".Put", b".Book")

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
            b"count_documents(",
            b".objects.filter(",
            b".query(",
            b"select(",
            b".fetch",
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
        needs=(
            *(b".findOne", b".findFirst", b".findUnique", b".findByPk", b".exists", b"existsSync(", b".count"),
            *(b".create", b".insert", b".save", b".add", b"await create", b"await insert", b"await save", b"await add"),
            *(b"await register", b".register", b".persist"),
        ),
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
        needs=(
            *(b"os.Stat(", b"ErrRecordNotFound", b"ErrNoRows", b"ErrNoDocuments", b".Count(&", b".First(", b".Take("),
            *(
                b"QueryRow",
                b".FindOne(",
                b"RowsAffected",
                b"IsNotFound(",
                b".Last(",
                b".Only(",
                b".Get(&",
                b".GetContext(",
                b".Exists(",
                b".NewSelect(",
            ),
        ),
        starts=_GO,
    ),
    Watch("if", look_at_go_calls, GO, needs=_MAKES_IN_GO, starts=CHECK),
    Watch("switch", look_at_go_switch, GO, needs=(b"ErrRecordNotFound", b"ErrNoRows", b"ErrNoDocuments")),
    Watch("call", look_at_read_lock, GO, names=frozenset({"RLock"})),
)
