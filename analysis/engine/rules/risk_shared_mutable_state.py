"""State of the process is changed by requests, which run at the same time and see each other's values."""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.class_attributes import name_of, place_of_filling
from analysis.engine.readers.double_checked import half_built
from analysis.engine.readers.java_beans import ANNOTATIONS
from analysis.engine.readers.java_fields import changes_of_field, is_unsafe_type, shared_field, unsafe_static
from analysis.engine.readers.kept_values import is_dated, is_remembered
from analysis.engine.readers.reading import KEY, followed
from analysis.engine.readers.single_objects import (
    MADE_ONCE,
    is_made_by_module,
    is_of_page,
    is_single_provider,
)
from analysis.engine.readers.state_changes import CHANGES_COLLECTION, GIVEN, KEPT, PREPARED, changes_of, is_of_user
from analysis.engine.readers.thread_targets import run_at_once
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

_NOT_STATE = re.compile(
    r"(?i)cache|memo|regist|subscri|listener|observer|handlers|plugins|_?logger|lock|mutex|pool|metrics|gauge|local$|ctx|context|tasks|cool_?down|debounce|throttle|time(?:out|r)s?$|interval|promises$|pending"
)
_IN_FLIGHT = re.compile(r"(?i)in_?flight")  # in scripts and Go what all who ask at once wait for
_OF_TASKS = re.compile(rb":[^=\n]*\b(?:Task|Future)\b")
_REMEMBERS = re.compile(rb"(?i)\w*seen\w*\s*(?::[^=\n]+)?=\s*(?:set\(|new Set)")  # what was there: a cache
_RUNNING = re.compile(rb"\w+\s*:[^=\n;]*\bPromise<")  # what all who ask at once wait for
_NEW_LINE = ord("\n")

_PYTHON = re.compile(
    rb"(\w+)\s*(?::[^=\n]+)?=\s*(?:\[[^\[\]]{0,300}\]|\{[^{}]{0,300}\}|(?:dict|list|set)\(\)|defaultdict\([^)\n"
    rb"]*\)|deque\(\)|Counter\(\)|\d+|True|False|None|\"\"|'')\s*$"
)
_PYTHON_START = re.compile(
    rb"\w+\s*(?::[^=\n]+)?=\s*(?:[\[{\dTFN\"']|dict\(|list\(|set\(|defaultdict\(|deque\(|Counter\()"
)
_CLASS_START = re.compile(rb"\w+\s*(?::[^=\n]+)?=\s*(?:\[\s*\]|\{\s*\}|(?:dict|list|set)\(\))[ \t]*\n")
_OF_A_CLASS = "(class_definition body: (block (expression_statement (assignment) @n)))"
_SCRIPT_START = re.compile(
    rb"\w+\s*(?::[^=\n]+)?=\s*(?:\[[^\[\]]{0,300}\]|\{[^{}]{0,300}\}|new (?:Map|Set)(?:<[^\n]*>)?\(\)|\d+|null|false"
    rb"|true|'[^'\n]*'|\"[^\"\n]*\")\s*(?=;|\n|$)|\w+\s*(?::[^=\n;]+)?(?=;)"
)
_SCRIPT_CHANGES = (
    rb"(?:\.(?:push|unshift|splice|set|add|delete|clear)\(|(?:\[" + KEY + rb"\]|\.\w+)\s*(?:[-+]?=(?![=>])|\+\+|--)"
    rb"|\+\+|--|\s*[-+]?=(?![=>]))"
)
_PYTHON_BEHIND = re.compile(CHANGES_COLLECTION + rb"|\s*[-+]?=(?!=)")
_SCRIPT_BEHIND = re.compile(_SCRIPT_CHANGES)
_TYPED_COLLECTION = re.compile(rb":\s*(?:(?:Map|Set|Array)<|[\w.]+\[\])")
_ASSIGNED = re.compile(rb"\.push\(|\+\+|--|(?:\[" + KEY + rb"\]|\.\w+)?\s*[-+]?=(?![=>])")
_NEST_FIELD = re.compile(
    rb"(?:(?:private|protected|public)\s+)?(?!readonly|static)(\w+)[?!]?\s*(?::[^=\n;]+)?"
    rb"(?:=\s*(?:null|undefined|0|''|\"\")\s*)?;?\Z"
)
_NEST_COLLECTION = re.compile(
    rb"(?:(?:private|protected|public|readonly)\s+)*(\w+)\s*(?::[^=\n;]+)?"
    rb"=\s*(?:\[\s*\]|\{\s*\}|new (?:Map|Set)(?:<[^\n]*>)?\(\))\s*;?\Z"
)
_BEGINS = re.compile(
    r"^_*(?i:start|stop|close|destroy|shut_?down)(?![a-z])"
)  # of the process, or of what a handler is asked for
_GO_START = re.compile(
    rb"\w+\s*(?:map\[[^\n]*|=\s*(?:map\[|make\(map\[))|\w+\s+(?:u?int\d*|float\d+|string|bool|\[\]\w+|\*?[A-Z]\w*)"
    rb"\s*(?=\n|=|\Z)|\w+\s*=\s*(?:0|\"\"|nil|false)\s"
)


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
    filled = place_of_filling(assignment, file)
    if filled is not None:
        shown = name_of(assignment, file).decode()
        message = f"`{shown}` belongs to the class, so all instances fill the same one"
        yield file.mark(
            RULE.id,
            assignment,
            message,
            suggestion=f"Set `self.{shown}` in `__init__`.",
            data={"form": "class", "functions": str(_function_at(filled, file))},
        )


def _function_at(start: int, file: SourceFile) -> int:
    return file.scope_at(start, start + 1).function.index


def look_at_script(declarator: Node, file: SourceFile) -> Iterator[Mark]:
    if file.scope_of(declarator).kind != "module" or is_of_page(file):
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
    if is_unsafe_type(field, file):
        yield from _of_unsafe_static(field, file)
    elif name := shared_field(field, file):
        yield from _changed(name, field, changes_of_field(name, field, file), file)


def _of_unsafe_static(field: Node, file: SourceFile) -> Iterator[Mark]:
    found = unsafe_static(field, file)
    if found is not None:
        message = f"`{found.name}` is one `{found.kind}` for all threads, and that class is not safe for two at once"
        fix = "Use an immutable class (`DateTimeFormatter`), one object per call, or a `ThreadLocal`."
        confidence = "high" if found.is_certain else "medium"
        yield file.mark(RULE.id, field, message, confidence=confidence, suggestion=fix, data={"form": "static"})


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
    if not is_single_provider(owner, file) and not is_made_by_module(owner, file):
        return
    # What a field is asked to set that holds no collection, is its own business: `this.client.set(key, value)`.
    is_collection = found.re is _NEST_COLLECTION or _TYPED_COLLECTION.search(found[0]) is not None
    behind = _SCRIPT_BEHIND if is_collection else _ASSIGNED
    changes = followed(b"this." + found[1], file.source, behind, b"_.$", field.end_byte)
    yield from _changed(found[1].decode(), field, changes, file)


def look_at_synchronized(block: Node, file: SourceFile) -> Iterator[Mark]:
    """Double-checked locking of a static that is not `volatile`."""
    shown = half_built(block, file)
    if shown:
        message = f"`{shown}` is checked without the lock but is not `volatile`: another thread may see it half built"
        yield file.mark(
            RULE.id,
            block,
            message,
            confidence="high",
            suggestion=f"Declare `{shown}` volatile.",
            data={"form": "static"},
        )


def _changed(name: str, declared: Node, places: Iterator[re.Match[bytes]], file: SourceFile) -> Iterator[Mark]:
    """A mark with the functions that change the name without holding a lock."""
    if _NOT_STATE.search(name) or (file.language != "python" and _IN_FLIGHT.search(name)):
        return
    if _OF_TASKS.search(file.source, declared.start_byte, declared.end_byte):
        return  # so that what runs is not collected
    changes = changes_of(name, declared, places, file)
    if changes is None:
        return
    kinds = changes.kinds
    starting = [index for index in kinds if _BEGINS.search(file.functions[index].short_name)]
    data = {"form": "module", "name": name, "functions": _joined(kinds), "kinds": " ".join(kinds.values())}
    data["at_start"] = _joined(starting)  # by their names, unless a request enters them
    if changes.served:
        data["served"] = _joined(sorted(changes.served))
    if changes.takes_out:
        data["taken"] = "1"
    at_once = [each for each in sorted(changes.counting) if file.language == "python" and run_at_once(each, file)]
    if at_once:
        data["threads"] = _joined(at_once)
    message = f"`{name}` is shared by everything in the process and changed"
    yield file.mark(RULE.id, declared, message, confidence="low" if changes.is_guarded else "", data=data)


def _joined(functions: Iterable[int]) -> str:
    return " ".join(map(str, functions))


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
    if "threads" in mark.data and not (certain or place.facts.is_entry):
        function = place.facts.functions[int(mark.data["threads"].partition(" ")[0])].name
        return place.finding(mark, message=f"{mark.message} by several threads at once, in `{function}`")
    kept = (KEPT, PREPARED) if place.facts.language == "java" or "taken" in mark.data else ()
    guessed = [index for index in changed_by if index in handlers or kinds[index] in kept]
    if place.facts.is_entry or not (certain or guessed):
        return None
    function = place.facts.functions[(certain or guessed)[0]].name
    is_grave = bool(certain) and is_of_user(mark.data["name"])
    confidence = Confidence(mark.confidence) if mark.confidence else None
    return place.finding(
        mark,
        message=f"{mark.message} by requests, in `{function}`",
        severity=Severity.CRITICAL if is_grave else None,
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


WATCHES = (
    Watch("(module (expression_statement (assignment) @n))", look_at_python, PYTHON, starts=_PYTHON_START),
    Watch(_OF_A_CLASS, look_at_class_attribute, PYTHON, needs=(b"self.",), starts=_CLASS_START),
    Watch("variable_declarator", look_at_script, SCRIPT, starts=_SCRIPT_START),
    Watch("field", look_at_script_field, SCRIPT, needs=MADE_ONCE),
    Watch("var_spec", look_at_go, GO, starts=_GO_START),
    Watch(
        "field",
        look_at_java,
        JAVA,
        needs=(b"static", *ANNOTATIONS, b"Servlet"),
    ),
    Watch("synchronized_statement", look_at_synchronized, JAVA, needs=(b"== null",)),
)
