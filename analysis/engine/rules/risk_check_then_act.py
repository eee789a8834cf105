"""Something is looked for and made when it is not there: two who look at once both make it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import runs_by_hand
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.reading import function_text, short, text_after

RULE = Rule(
    id="risk-check-then-act",
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

_HANDLED = re.compile(
    r"IntegrityError|UniqueViolation|P2002|DuplicateKey|DataIntegrityViolation|ER_DUP_ENTRY|23505|11000|on_conflict"
    r"|ON CONFLICT|select_for_update|with_for_update|FOR UPDATE|FileExistsError|EEXIST|\bLock\(|pg_advisory|redis_lock"
    r"|synchronized|SERIALIZABLE|[sS]erializable"
)
_EXISTS = re.compile(rb"if\s+not\s+(?:await\s+)?(?P<model>[A-Z]\w*)\.objects\b(?P<chain>[^\n:]*)\.a?exists\(\)\s*:")
_EXISTS_GUARD = re.compile(rb"if\s+(?:await\s+)?(?P<model>[A-Z]\w*)\.objects\b(?P<chain>[^\n:]*)\.a?exists\(\)\s*:")
_PATH = re.compile(
    rb"if\s+(?P<not>not\s+)?(?:os\.path\.(?:exists|isfile|isdir)\((?P<path>[^()\n]+(?:\([^()\n]*\))?)\)|(?P<object>[\w.]+)\.exists\(\))\s*:"
)
_PYTHON = re.compile(
    rb"if\s+(?:not\s+)?(?:await\s+)?(?:[\w.]+\.objects\b[^\n:]*\.a?exists\(|os\.path\.|[\w.]+\.exists\(\))"
)
_ABSENT = re.compile(rb"if\s*\(\s*!\s*(?P<name>\w+)\s*\)|if\s*\(\s*(?P<same>\w+)\s*={2,3}\s*(?:null|undefined)\s*\)")
_LOADED = re.compile(rb"\b(\w+)\s*=\s*await\s+([\w.]+)\.(?:findOne|findFirst|findUnique|findOneBy)\(")
_JAVA_EXISTS = re.compile(rb"if\s*\(\s*!\s*(?P<repo>\w*[rR]epo\w*)\.exists\w*\(")
_JAVA_MAP = re.compile(rb"if\s*\(\s*!\s*(?:this\.)?(?P<map>\w+)\.containsKey\((?P<key>[^()\n]+(?:\(\))?)\)\s*\)")
_JAVA = re.compile(rb"if\s*\(\s*!\s*(?:this\.)?\w+\.(?:containsKey|exists\w*)\(")
_GO_MISSING = re.compile(
    rb"if\s+(?:_,\s*err\s*:?=\s*os\.Stat\((?P<path>[^()\n]+)\);\s*)?os\.IsNotExist\(err\)|if\s+_,\s*err\s*:?=\s*os\.Stat\((?P<stat>[^()\n]+)\);\s*(?:os\.IsNotExist\(err\)|errors\.Is\(err,)"
)
_NEAR = 1_500  # characters after a guard in which the act must stand
_FILE_FIX = (
    'Do it and handle the failure: `os.makedirs(path, exist_ok=True)`, `open(path, "x")`, `unlink(missing_ok=True)`.'
)


def look_at_python(branch: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _rows(branch, file)
    yield from _files(branch, file)


def look_at_script(branch: Node, file: SourceFile) -> Iterator[Mark]:
    """`const row = await db.findFirst(...); if (!row) { await db.create(...) }`."""
    found = _ABSENT.match(file.source, branch.start_byte)
    body = branch.child_by_field_name("consequence")
    if found is None or body is None:
        return
    name = found["name"] or found["same"]
    near = max(0, branch.start_byte - _NEAR)
    loads = [each for each in _LOADED.finditer(file.source, near, branch.start_byte) if each[1] == name]
    if not loads or _HANDLED.search(function_text(branch, file)):
        return
    client, chosen = loads[-1][2].decode(), file.source[loads[-1].end() : branch.start_byte].decode("utf-8", "replace")
    asked = re.findall(r"(\w+)\s*[:,}]", chosen.partition("where")[2][:200])
    made = re.search(rf"\b{re.escape(client)}\.(?:create|insert|save)\(", file.text(body))
    if made is not None:
        line = file.line(body) + file.text(body)[: made.start()].count("\n")
        yield _at(
            line,
            branch,
            file,
            f"`{client}` is asked for `{name.decode()}` and then told to create it: two requests at once create two",
            "Use `upsert`, or create first and handle the unique violation.",
            model=client.rpartition(".")[2],
            columns=" ".join(asked),
        )


def look_at_java(branch: Node, file: SourceFile) -> Iterator[Mark]:
    body = branch.child_by_field_name("consequence")
    if body is None or file.is_in(branch, "with") or _HANDLED.search(function_text(branch, file)):
        return
    text = file.text(body)
    if (found := _JAVA_MAP.match(file.source, branch.start_byte)) is not None:
        name = found["map"].decode()
        put = re.search(rf"\b{name}\.put\(", text)
        field = re.search(
            rb"\b(?:private|protected|public|static)\b[^\n;(]*\bMap<[^\n;]*\b" + found["map"] + rb"\s*[=;]", file.source
        )
        if put is not None and field is not None and not re.search(rb"\b\w*Lock\b", file.source):
            line = file.line(body) + text[: put.start()].count("\n")
            message = f"`{name}` is asked for a key and then given it: another thread may do the same in between"
            yield _at(line, branch, file, message, "Use `computeIfAbsent` or `putIfAbsent` on a concurrent map.")
    elif (found := _JAVA_EXISTS.match(file.source, branch.start_byte)) is not None:
        name = found["repo"].decode()
        save = re.search(rf"\b{name}\.save\w*\(", text)
        if save is not None:
            line = file.line(body) + text[: save.start()].count("\n")
            yield _at(
                line, branch, file, f"`{name}` is asked for a row and then saves it: two requests at once save two", ""
            )


def look_at_go(branch: Node, file: SourceFile) -> Iterator[Mark]:
    """`if _, err := os.Stat(path); os.IsNotExist(err) { os.Mkdir(path) }`."""
    body = branch.child_by_field_name("consequence")
    made = re.search(r"\bos\.(Mkdir|Create)\(", file.text(body)) if body is not None else None
    if made is None or body is None or _GO_MISSING.match(file.source, branch.start_byte) is None:
        return
    line = file.line(body) + file.text(body)[: made.start()].count("\n")
    fix = "Use `os.MkdirAll`, or `os.OpenFile` with `O_CREATE|O_EXCL`."
    yield _at(line, branch, file, f"The file may appear between the check and `os.{made[1]}`", fix)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Where a unique constraint stands behind a friendly message, nothing is made twice. Tools run alone."""
    if runs_by_hand(codebase, place.path):
        return None
    if mark.data.get("form") == "file":
        return place.finding(mark) if place.in_request_path or place.in_job_path else None
    schema = codebase.queries.schema(mark.data.get("model", ""))
    if schema is not None:
        asked = set(mark.data.get("columns", "").split())
        if any(schema.is_key(column) for column in asked) or any(asked.issuperset(each) for each in schema.unique):
            return place.finding(mark, severity=Severity.INFO)
    return place.finding(mark)


def _rows(branch: Node, file: SourceFile) -> Iterator[Mark]:
    """`if not Seat.objects.filter(no=n).exists(): Seat.objects.create(no=n)`, also as a guard before it."""
    body = branch.child_by_field_name("consequence")
    found = _EXISTS.match(file.source, branch.start_byte)
    guard = _EXISTS_GUARD.match(file.source, branch.start_byte) if found is None else None
    match = found or guard
    if match is None or body is None or _HANDLED.search(function_text(branch, file)):
        return
    model = match["model"].decode()
    if guard is not None:
        if not re.search(r"\b(?:raise|return|continue)\b", file.text(body)):
            return
        text, first = text_after(branch, file)[:_NEAR], file.lines.of(branch.end_byte)
    else:
        text, first = file.text(body), file.line(body)
    act = re.search(rf"\b{model}\.objects\.a?create\(|\b{model}\([^()]*\)\.a?save\(", text)
    columns = re.findall(r"(?:\(|,\s*)(\w+?)(?:__iexact)?=", match["chain"].decode("utf-8", "replace"))
    if act is None or not columns:
        return
    line = first + text[: act.start()].count("\n")
    message = f"`{model}` is looked for on line {file.line(branch)} and created here: two requests at once create two"
    fix = f"Use `{model}.objects.get_or_create(...)` backed by a unique constraint on {', '.join(columns)}."
    yield _at(line, branch, file, message, fix, model=model, columns=" ".join(columns))


def _files(branch: Node, file: SourceFile) -> Iterator[Mark]:
    """`if not os.path.exists(path): os.makedirs(path)`, and `if os.path.exists(path): os.remove(path)`."""
    found = _PATH.match(file.source, branch.start_byte)
    body = branch.child_by_field_name("consequence")
    if found is None or body is None or _HANDLED.search(function_text(branch, file)):
        return
    path = (found["path"] or found["object"]).decode("utf-8", "replace")
    word = re.escape(path)
    made = rf"os\.(?:mkdir|makedirs)\(\s*{word}\s*\)|(?<![\w.]){word}\.mkdir\((?![^)]*exist_ok)"
    gone = (
        rf"os\.(?:remove|unlink|rmdir)\(\s*{word}\s*\)|(?<![\w.]){word}\.unlink\(\s*\)|shutil\.rmtree\(\s*{word}\s*\)"
    )
    act = re.search(made if found["not"] else gone, file.text(body))
    if act is not None:
        line = file.line(body) + file.text(body)[: act.start()].count("\n")
        message = f"`{short(path)}` may come or go between the check and `{short(act[0])}`"
        yield _at(line, branch, file, message, _FILE_FIX, form="file")


def _at(line: int, branch: Node, file: SourceFile, message: str, fix: str, **data: str) -> Mark:
    return Mark(RULE.id, line, file.function_of(branch), message, file.anchor(branch), suggestion=fix, data=data)


WATCHES = (
    Watch("if", look_at_python, PYTHON, needs=(b"exists(", b"os.path."), starts=_PYTHON),
    Watch("if", look_at_script, SCRIPT, needs=(b".findOne", b".findFirst", b".findUnique"), starts=_ABSENT),
    Watch("if", look_at_java, JAVA, needs=(b".containsKey(", b".exists"), starts=_JAVA),
    Watch("if", look_at_go, GO, needs=(b"os.Stat(",), starts=_GO_MISSING),
)
