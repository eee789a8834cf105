"""State of the process is changed by requests, which run at the same time and see each other's values."""

import re
from collections.abc import Iterator
from itertools import islice

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import FunctionDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers import locks
from analysis.engine.readers.go_handlers import answers_requests
from analysis.engine.readers.java_beans import ANNOTATIONS, has_bean, listens_at_once
from analysis.engine.readers.kept_values import is_dated, is_filled_once, is_remembered
from analysis.engine.readers.reading import KEY, followed, has_own
from analysis.engine.readers.state_changes import GIVEN, KEPT, PREPARED, SET, kind_of
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-shared-mutable-state",
    type="shared_mutable_state",
    category=Category.RUNTIME_RISK,
    title="Shared mutable state",
    severity=Severity.WARNING,
    points=3,
    suggestion=(
        "Keep request data in the request or in a store shared by all workers; process memory is neither isolated nor"
        " shared."
    ),
    confidence=Confidence.MEDIUM,
    version=2,
)
GUIDE = Guide(
    why=(
        "All requests of a process share it: one sees what another one left there, and no process sees what the next "
        "one has."
    ),
    grades="Critical where it holds a user or a tenant.",
    flagged=(
        {
            "shop/views.py": """
from flask import Flask

app = Flask(__name__)
VISITS = []


@app.get("/")
def index():
    VISITS.append(1)
    return str(len(VISITS))
"""
        },
    ),
    fine=(
        {
            "shop/views.py": """
from flask import Flask, session

app = Flask(__name__)


@app.get("/")
def index():
    session["visits"] = session.get("visits", 0) + 1
    return str(session["visits"])
"""
        },
    ),
)

MOST_CHANGES = 20  # places of one name that are looked at

_NOT_STATE = re.compile(
    r"(?i)cache|memo|regist|subscri|listener|observer|handlers|plugins|_?logger|lock|mutex|pool|metrics|gauge|local$|ctx|context|tasks|cool_?down|debounce|throttle|time(?:out|r)s?$|interval|promises$|pending"
)
_IN_FLIGHT = re.compile(r"(?i)in_?flight")  # in scripts and Go what all who ask at once wait for
_OF_TASKS = re.compile(rb":[^=\n]*\b(?:Task|Future)\b")
_REMEMBERS = re.compile(rb"(?i)\w*seen\w*\s*(?::[^=\n]+)?=\s*(?:set\(|new Set)")  # what was there: a cache
_TAKES_OUT = re.compile(rb"\.(?:remove|pop|clear|discard|delete)\(\Z|^delete\(")
_ON_PURPOSE = re.compile(rb"(?i)cache|memo|locks?$")
_OF_A_USER = re.compile(r"(?i)user|session|request|account|customer|tenant|cart|order")
# Pydantic copies what a class holds for each of its instances.
_COPIED = re.compile(
    rb"\bclass\s+\w+\([^)]*\b(?:BaseModel|SQLModel|BaseSettings)\b|\n\s+(?:class Config\b|model_config\s*=)"
)
_OF_ONE_RUN = re.compile(rb"Registry|\([^)]*\w(?:Checker|Visitor)\b")  # the last two by a linter, once
_SINGLETON = re.compile(rb"\bcls\.\w*instance\w*\b|\b__new__\(")
_RUNNING = re.compile(rb"\w+\s*:[^=\n;]*\bPromise<")  # what all who ask at once wait for
_BROWSER = re.compile(rb"\b(window|document|localStorage|useState|useEffect)\b|['\"]use client['\"]")
_NEW_LINE = ord("\n")

_PYTHON = re.compile(
    rb"(\w+)\s*(?::[^=\n]+)?=\s*(?:\[[^\[\]]{0,300}\]|\{[^{}]{0,300}\}|(?:dict|list|set)\(\)|defaultdict\([^)\n"
    rb"]*\)|deque\(\)|\d+|True|False|None|\"\"|'')\s*$"
)
_PYTHON_START = re.compile(rb"\w+\s*(?::[^=\n]+)?=\s*(?:[\[{\dTFN\"']|dict\(|list\(|set\(|defaultdict\(|deque\()")
_CLASS_START = re.compile(rb"\w+\s*(?::[^=\n]+)?=\s*(?:\[\s*\]|\{\s*\}|(?:dict|list|set)\(\))[ \t]*\n")
_OF_A_CLASS = "(class_definition body: (block (expression_statement (assignment) @n)))"
_CHANGES = (
    rb"(?:\.(?:append|extend|insert|add|update|remove|pop|clear|setdefault|discard)\(|\[" + KEY + rb"\]\s*[-+]?=(?!=))"
)
_SCRIPT_START = re.compile(
    rb"\w+\s*(?::[^=\n]+)?=\s*(?:\[[^\[\]]{0,300}\]|\{[^{}]{0,300}\}|new (?:Map|Set)(?:<[^\n]*>)?\(\)|\d+|null|false"
    rb"|true|'[^'\n]*'|\"[^\"\n]*\")\s*(?=;|\n|$)|\w+\s*(?::[^=\n;]+)?(?=;)"
)
_SCRIPT_CHANGES = (
    rb"(?:\.(?:push|unshift|splice|set|add|delete|clear)\(|(?:\[" + KEY + rb"\]|\.\w+)\s*(?:[-+]?=(?![=>])|\+\+|--)"
    rb"|\+\+|--|\s*[-+]?=(?![=>]))"
)
_PYTHON_BEHIND = re.compile(_CHANGES + rb"|\s*[-+]?=(?!=)")
_SCRIPT_BEHIND = re.compile(_SCRIPT_CHANGES)
_TYPED_COLLECTION = re.compile(rb":\s*(?:(?:Map|Set|Array)<|[\w.]+\[\])")
_ASSIGNED = re.compile(rb"\.push\(|\+\+|--|(?:\[" + KEY + rb"\]|\.\w+)?\s*[-+]?=(?![=>])")
_JAVA_UNSAFE = re.compile(
    rb"(?:@\w+\s+)*(?:(?:public|private|protected|final|static)\s+)*static\s+(?:final\s+)?(?:java\.\w+\.)*"
    rb"(SimpleDateFormat|DateFormat|DecimalFormat|NumberFormat|Calendar|GregorianCalendar|Matcher|Connection"
    rb"|MessageDigest)"
    rb"\s+(\w+)"
)
_JAVA_FIELD = re.compile(
    rb"(?:private|protected|public)\s+(?!static|final|volatile|transient)([\w<>\[\], .?]+?)\s+(\w+)\s*[;=]"
)
# A collection is shared however final the field is that holds it.
_JAVA_COLLECTION = re.compile(
    rb"(?:(?:private|protected|public|static|final)\s+)+[\w.]*(?:Map|List|Set|Queue|Deque)<[^;=]*>\s+(\w+)\s*=\s*"
    rb"new\s+(?:java\.util\.)?(?:(?:Linked)?Hash(?:Map|Set)|Tree(?:Map|Set)|ArrayList|LinkedList|ArrayDeque)\b"
)
_JAVA_COUNTER = re.compile(
    rb"(?:(?:private|protected|public)\s+)?static\s+(?:int|long|double|Integer|Long)\s+(\w+)\s*[;=]"
)
_NEST_FIELD = re.compile(
    rb"(?:(?:private|protected|public)\s+)?(?!readonly|static)(\w+)[?!]?\s*(?::[^=\n;]+)?"
    rb"(?:=\s*(?:null|undefined|0|''|\"\")\s*)?;?\Z"
)
_NEST_COLLECTION = re.compile(
    rb"(?:(?:private|protected|public|readonly)\s+)*(\w+)\s*(?::[^=\n;]+)?"
    rb"=\s*(?:\[\s*\]|\{\s*\}|new (?:Map|Set)(?:<[^\n]*>)?\(\))\s*;?\Z"
)
_CALLED = re.compile(rb"\s*\(")
_HELD = re.compile(
    rb"(?:export\s+)?(?:const|let|var)\s+\w+\s*(?::[^=\n]+)?=\s*new\s|(?:export\s+default|module\.exports\s*=)\s+new\s"
)
_MADE_ONCE = (b"@Injectable(", b"@Controller(", b"@Resolver(", b"= new ", b"default new ")
_PROVIDER = re.compile(rb"@(?:Injectable|Controller|Resolver)\(")
_JAVA_SAFE_TYPES = re.compile(rb"Atomic|Concurrent|ThreadLocal|CopyOnWrite|BlockingQueue|Logger")
_COLLECTION = re.compile(rb"(?:Map|List|Set|Collection|Queue|Deque|Stack|Vector|BitSet)\b")
_SCOPED = re.compile(rb"@Scope|@RequestScope|@SessionScope|@ConfigurationProperties|@Configuration")
_CONSTRUCTORS = frozenset({"__init__", "constructor"})
_STARTUP = re.compile(
    r"^_*(?:(?i:set_?up|init|initiali[sz]e|start_?up|configure|afterPropertiesSet)(?![a-z])|on[A-Z_])"
)
_BEGINS = re.compile(
    r"^_*(?i:start|stop|close|destroy|shut_?down)(?![a-z])"
)  # of the process, or of what a handler is asked for
_PREPARES = re.compile(
    r"^_*(?i:set|load|refresh|reload|register)(?![a-z])"
)  # before requests come, or for each of them
_GO_START = re.compile(
    rb"\w+\s*(?:map\[[^\n]*|=\s*(?:map\[|make\(map\[))|\w+\s+(?:u?int\d*|float\d+|string|bool|\[\]\w+|\*?[A-Z]\w*)"
    rb"\s*(?=\n|=|\Z)|\w+\s*=\s*(?:0|\"\"|nil|false)\s"
)
_CALLED_ON = re.compile(rb"\.\w+\(|\s*[,)]")
_CHECKED_TWICE = re.compile(rb"if\s*\(\s*(\w+)\s*==\s*null\s*\)\s*\{?\s*\Z")


def look_at_python(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    start = assignment.start_byte
    found = _PYTHON.match(file.source[start : assignment.end_byte])
    if found is None or (start and file.source[start - 1] != _NEW_LINE) or _REMEMBERS.match(found[0]):
        return
    changes = followed(found[1], file.source, _PYTHON_BEHIND, b"_.", assignment.end_byte)
    statements = (each for each in changes if _is_indented(each.start() - len(found[1]), file.source))
    yield from _changed(found[1].decode(), assignment, statements, file)


def _is_indented(start: int, source: bytes) -> bool:
    """Whether the byte begins a statement of some block."""
    line = source[source.rfind(b"\n", 0, start) + 1 : start]
    return bool(line) and line.isspace()


def look_at_class_attribute(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """A list of the class that methods fill through `self`: all instances share it."""
    name = file.source[assignment.start_byte : assignment.end_byte].partition(b"=")[0].partition(b":")[0].strip()
    scope = file.scope_of(assignment)
    shared_on_purpose = b"ClassVar" in file.source[assignment.start_byte : assignment.end_byte]
    head = file.source[scope.start : scope.start + 120].partition(b":")[0]
    if scope.kind != "class" or _ON_PURPOSE.search(name) or shared_on_purpose or _OF_ONE_RUN.search(head):
        return
    body = file.source[assignment.end_byte : scope.end]
    if (
        _COPIED.search(file.source, scope.start, scope.end)
        or _SINGLETON.search(body)
        or re.search(rb"\bdel self\." + re.escape(name) + rb"\[", body)
        or re.search(rb"\bself\." + re.escape(name) + rb"\.(?:append|add)\(self\)", body)
    ):
        return  # there is one instance, or each puts itself in, or takes out what it has put in
    if re.search(rb"\bin self\." + re.escape(name) + rb"\b(?!\.)|\bself\." + re.escape(name) + rb"\.get\(", body):
        return  # filled on first use
    changed = re.search(rb"\bself\." + re.escape(name) + _CHANGES, body)
    if changed is not None and not re.search(rb"\bself\." + re.escape(name) + rb"\s*(?::[^=\n]+)?=(?!=)", body):
        shown = name.decode()
        message = f"`{shown}` belongs to the class, so all instances fill the same one"
        yield file.mark(
            RULE.id,
            assignment,
            message,
            suggestion=f"Set `self.{shown}` in `__init__`.",
            data={"form": "class", "functions": str(_function_at(assignment.end_byte + changed.start(), file))},
        )


def _function_at(start: int, file: SourceFile) -> int:
    return file.scope_at(start, start + 1).function.index


def look_at_script(declarator: Node, file: SourceFile) -> Iterator[Mark]:
    if file.scope_of(declarator).kind != "module" or file.language == "tsx" or _BROWSER.search(file.source):
        return
    name = re.match(rb"\w+", file.source[declarator.start_byte : declarator.end_byte])
    start = declarator.start_byte
    if name is not None and not (_REMEMBERS.match(file.source, start) or _RUNNING.match(file.source, start)):
        changes = followed(name[0], file.source, _SCRIPT_BEHIND, b"_.$", declarator.end_byte)
        yield from _changed(name[0].decode(), declarator, changes, file)


def look_at_go(spec: Node, file: SourceFile) -> Iterator[Mark]:
    if file.scope_of(spec).kind != "module":
        return
    name = re.match(rb"\w+", file.source[spec.start_byte : spec.end_byte])
    if name is not None and name[0] != b"_":
        inside = re.compile(
            rb"(?<![\w.])(?:"
            + re.escape(name[0])
            + rb"(?:\["
            + KEY
            + rb"\])?\s*(?:[-+]?=(?!=)|\+\+|--)|delete\("
            + re.escape(name[0])
            + rb"\b)"
        )
        yield from _changed(name[0].decode(), spec, inside.finditer(file.source, spec.end_byte), file)


def look_at_java(field: Node, file: SourceFile) -> Iterator[Mark]:
    unsafe = _JAVA_UNSAFE.match(file.source, field.start_byte)
    if unsafe is not None:
        kind, name = unsafe[1].decode(), unsafe[2].decode()
        if kind == "Matcher" and not file.mentions(b"java.util.regex"):
            return  # a class of the project's own
        used = list(_uses(unsafe[2], field, file))
        if any(used) or not used:
            message = f"`{name}` is one `{kind}` for all threads, and that class is not safe for two at once"
            fix = "Use an immutable class (`DateTimeFormatter`), one object per call, or a `ThreadLocal`."
            confidence = "high" if any(used) else "medium"  # whoever else uses it may hold a lock
            yield file.mark(RULE.id, field, message, confidence=confidence, suggestion=fix, data={"form": "static"})
        return
    name = _java_state(field, file)
    if name and not _JAVA_SAFE_TYPES.search(file.source, field.start_byte, field.end_byte):
        word = re.escape(name.encode())
        is_collection = _COLLECTION.search(file.source, field.start_byte, field.end_byte) is not None
        filled = rb"|\.(?:add|put|remove|clear|merge)\(" if is_collection else rb""
        inside = re.compile(rb"(?<![\w.])(?:this\.)?" + word + rb"(?:\s*[-+]?=(?!=)|\+\+|--" + filled + rb")")
        yield from _changed(name, field, inside.finditer(file.source, field.end_byte), file)


def _uses(name: bytes, field: Node, file: SourceFile) -> Iterator[bool]:
    """For each call on a static object whether it is made without a lock."""
    for match in followed(name, file.source, _CALLED_ON, b"_", field.end_byte):
        if file.scope_at(match.start(), match.end()).function.index:
            yield not locks.held_at(match.start(), file)


def _java_state(field: Node, file: SourceFile) -> str:
    """The name of a field that all threads share and that may change: of a bean, or a static one."""
    start, end = field.start_byte, field.end_byte
    collection = _JAVA_COLLECTION.match(file.source, start, end) or _JAVA_COUNTER.match(file.source, start, end)
    if collection is not None and (b"static" in collection[0] or _is_singleton(field, file)):
        return collection[1].decode()
    found = _JAVA_FIELD.match(file.source, start)
    return found[2].decode() if found is not None and _is_singleton(field, file) else ""


def look_at_script_field(field: Node, file: SourceFile) -> Iterator[Mark]:
    """A field of which there is one for the whole process, that methods write: of a provider of Nest, or of a class of
    which the module makes its only object."""
    found = _NEST_COLLECTION.match(file.source, field.start_byte, field.end_byte) or _NEST_FIELD.match(
        file.source, field.start_byte, field.end_byte
    )
    owner = file.scope_of(field)
    if found is None or owner.kind != "class" or _REMEMBERS.search(found[0]):
        return
    if found.re is _NEST_FIELD and _RUNNING.search(found[0]):
        return  # what all who ask at once wait for
    if is_dated(found[1], file) or is_remembered(found[1], file):
        return
    above = file.source[max(0, owner.start - 200) : owner.start].rpartition(b"\n\n")[2]
    head = above + file.source[owner.start : owner.start + 200].partition(b"class ")[0]
    is_provider = _PROVIDER.search(head) is not None and b"Scope.REQUEST" not in head and b"Scope.TRANSIENT" not in head
    if not is_provider and not _is_made_once(owner, file):
        return
    # What a field is asked to set that holds no collection, is its own business: `this.client.set(key, value)`.
    is_collection = found.re is _NEST_COLLECTION or _TYPED_COLLECTION.search(found[0]) is not None
    behind = _SCRIPT_BEHIND if is_collection else _ASSIGNED
    changes = followed(b"this." + found[1], file.source, behind, b"_.$", field.end_byte)
    yield from _changed(found[1].decode(), field, changes, file)


def _is_made_once(owner: Scope, file: SourceFile) -> bool:
    """Whether the module that declares a class makes one object of it, and nobody else can make more."""
    name = owner.prefix.rstrip(".").rpartition(".")[2].encode()
    made = [match.start() for match in followed(name, file.source, _CALLED, b"_.$")]
    exported = re.search(rb"\bexport\s+(?:default\s+)?(?:abstract\s+)?class\s+" + name + rb"\b", file.source)
    if len(made) != 1 or exported is not None or (file.language == "tsx" or _BROWSER.search(file.source)):
        return False
    line = file.source[file.source.rfind(b"\n", 0, made[0]) + 1 : made[0]]
    return _HELD.match(line) is not None


def look_at_synchronized(block: Node, file: SourceFile) -> Iterator[Mark]:
    """Double-checked locking of a static that is not `volatile`."""
    before = file.source[max(0, block.start_byte - 120) : block.start_byte]
    checked = _CHECKED_TWICE.search(before)
    if checked is None or _is_synchronized(block, file):
        return
    name = re.escape(checked[1])
    again = re.search(rb"if\s*\(\s*" + name + rb"\s*==\s*null", file.source[block.start_byte : block.end_byte])
    declared = re.search(rb"\bstatic\b[^\n;(=]*\b" + name + rb"\s*[;=]", file.source)
    if again is not None and declared is not None and b"volatile" not in declared[0]:
        shown = checked[1].decode()
        message = f"`{shown}` is checked without the lock but is not `volatile`: another thread may see it half built"
        yield file.mark(
            RULE.id,
            block,
            message,
            confidence="high",
            suggestion=f"Declare `{shown}` volatile.",
            data={"form": "static"},
        )


def _is_synchronized(node: Node, file: SourceFile) -> bool:
    """Whether the whole method holds the lock."""
    method = file.functions[file.function_of(node)].node
    body = method.child_by_field_name("body")
    end = body.start_byte if body is not None else method.start_byte
    return b"synchronized" in file.source[method.start_byte : end]


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """State that only start-up code or a command changes is nobody's surprise. What a handler changes itself, or is set
    to what the caller gives, is shared by requests for certain. A collection that a helper fills may be a registry or a
    cache, but hardly where something is taken out of it."""
    form = mark.data["form"]
    reached = codebase.request_path.get(place.path, frozenset())
    if form == "static":
        return None if place.facts.is_entry else place.finding(mark)  # a program of its own
    functions = [int(index) for index in mark.data["functions"].split()]
    served = {int(index) for index in mark.data.get("served", "").split()}
    changed_by = [index for index in functions if index in reached or index in served]
    if form == "class":
        return place.finding(mark, confidence=None if changed_by else Confidence.LOW)
    handlers = served.union(codebase.handlers.get(place.path, ()))
    at_start = {int(index) for index in mark.data["at_start"].split()}.difference(handlers)
    changed_by = [index for index in changed_by if index not in at_start]
    kinds = dict(zip(functions, mark.data["kinds"].split(), strict=True))
    certain = [index for index in changed_by if _is_certain(kinds[index], place, is_handler=index in handlers)]
    kept = (KEPT, PREPARED) if place.facts.language == "java" or "taken" in mark.data else ()
    guessed = [index for index in changed_by if index in handlers or kinds[index] in kept]
    if place.facts.is_entry or not (certain or guessed):
        return None
    function = place.facts.functions[(certain or guessed)[0]].name
    is_of_user = bool(certain) and _OF_A_USER.search(mark.data["name"]) is not None
    confidence = Confidence(mark.confidence) if mark.confidence else None
    return place.finding(
        mark,
        message=f"{mark.message} by requests, in `{function}`",
        severity=Severity.CRITICAL if is_of_user else None,
        confidence=confidence if certain else Confidence.LOW,
    )


def _is_certain(kind: str, place: Place, *, is_handler: bool) -> bool:
    """Whether a change spoils what other requests see: a value that was given, for whoever reads it next; where there
    are threads also a counter or a collection."""
    if kind == KEPT and place.facts.language == "java":
        return True
    return kind == GIVEN or (is_handler and kind == KEPT and not _is_script(place))


def _is_script(place: Place) -> bool:
    return place.facts.language in SCRIPT


def _is_singleton(field: Node, file: SourceFile) -> bool:
    scope = file.scope_of(field)
    header = file.source[scope.start : scope.start + 600].partition(b"{")[0]
    return scope.kind == "class" and has_bean(header) and not _SCOPED.search(header)


def _changed(name: str, declared: Node, changes: Iterator[re.Match[bytes]], file: SourceFile) -> Iterator[Mark]:
    """A mark with the functions that change the name without holding a lock. Where others hold one, whoever calls these
    may hold it too."""
    if _NOT_STATE.search(name) or (file.language != "python" and _IN_FLIGHT.search(name)):
        return
    if _OF_TASKS.search(file.source, declared.start_byte, declared.end_byte):
        return  # so that what runs is not collected
    found = list(_changes_while_serving(declared, changes, file))
    is_guarded = [locks.held_at(match.start(), file) for match, _ in found]
    bare = [each for each, is_held in zip(found, is_guarded, strict=True) if not is_held]
    kinds: dict[int, str] = {}  # by function
    served = {
        function.index
        for match, function in bare
        if answers_requests(match.start(), file) or listens_at_once(function.node, file)
    }
    for match, function in bare:
        if _is_shared(name, match, function, file):
            kind = _kind_of(match, function, declared, file)
            kinds[function.index] = GIVEN if GIVEN in (kind, kinds.get(function.index)) else kind
    if not kinds:
        return
    starting = [str(index) for index in kinds if _BEGINS.search(file.functions[index].name.rpartition(".")[2])]
    data = {"form": "module", "name": name, "functions": " ".join(map(str, kinds)), "kinds": " ".join(kinds.values())}
    data["at_start"] = " ".join(starting)  # by their names, unless a request enters them
    if served:
        data["served"] = " ".join(map(str, sorted(served)))
    if any(_TAKES_OUT.search(match[0]) for match, _ in bare):
        data["taken"] = "1"
    message = f"`{name}` is shared by everything in the process and changed"
    yield file.mark(RULE.id, declared, message, confidence="low" if any(is_guarded) else "", data=data)


def _changes_while_serving(
    declared: Node, changes: Iterator[re.Match[bytes]], file: SourceFile
) -> Iterator[tuple[re.Match[bytes], FunctionDraft]]:
    """The changes in functions that may run after the first request has come."""
    own = file.scope_of(declared)
    for match in islice(changes, MOST_CHANGES + 1):
        if match.start() >= own.end:
            return
        function = file.scope_at(match.start(), match.end()).function
        last = function.name.rpartition(".")[2]
        is_late = _STARTUP.search(last) is None or listens_at_once(function.node, file)
        if function.index and last not in _CONSTRUCTORS and is_late:
            yield match, function


def _is_shared(name: str, change: re.Match[bytes], function: FunctionDraft, file: SourceFile) -> bool:
    """Whether a change puts something where others see it: not into a variable of the function, and not what was looked
    at before. What only takes out does not share anything."""
    text = file.source[function.node.start_byte : function.node.end_byte]
    if file.language == "java" and not change[0].startswith(b"this.") and _is_local(name, text):
        return False
    if has_own(name, text) or is_filled_once(name, text) or _TAKES_OUT.search(change[0]):
        return False
    if re.search(rb"=\s*this\." + re.escape(name.encode()) + rb"\s*;?\s*$", text, re.MULTILINE):
        return False  # looked at before it is set
    return file.language != "python" or _is_global(name, text) or not _is_assigned(name, text)


def _kind_of(change: re.Match[bytes], function: FunctionDraft, declared: Node, file: SourceFile) -> str:
    """What is put there; in a function that prepares it counts only when it is of a user."""
    kind = kind_of(change, function.node, file)
    if _PREPARES.search(function.name.rpartition(".")[2]) is None:
        return kind
    return PREPARED if kind == GIVEN and _OF_A_USER.search(file.text(declared)) else SET


def _is_local(name: str, text: bytes) -> bool:
    """Whether a method of Java declares a variable or a parameter of this name."""
    return (
        re.search(rb"(?:(?!\breturn\b|\belse\b)\b\w+|[>\]])\s+" + re.escape(name.encode()) + rb"\s*[=;,):]", text)
        is not None
    )


def _is_global(name: str, text: bytes) -> bool:
    return re.search(rb"\bglobal\b[^\n]*\b" + re.escape(name.encode()) + rb"\b", text) is not None


def _is_assigned(name: str, text: bytes) -> bool:
    """Whether a Python function assigns the name: without `global` it is its own from then on."""
    return re.search(rb"^[ \t]+" + re.escape(name.encode()) + rb"\s*[-+]?=(?!=)", text, re.MULTILINE) is not None


WATCHES = (
    Watch("(module (expression_statement (assignment) @n))", look_at_python, PYTHON, starts=_PYTHON_START),
    Watch(_OF_A_CLASS, look_at_class_attribute, PYTHON, needs=(b"self.",), starts=_CLASS_START),
    Watch("variable_declarator", look_at_script, SCRIPT, starts=_SCRIPT_START),
    Watch("field", look_at_script_field, SCRIPT, needs=_MADE_ONCE),
    Watch("var_spec", look_at_go, GO, starts=_GO_START),
    Watch(
        "field",
        look_at_java,
        JAVA,
        needs=(b"static", *ANNOTATIONS, b"Servlet"),
    ),
    Watch("synchronized_statement", look_at_synchronized, JAVA, needs=(b"== null",)),
)
