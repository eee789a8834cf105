"""A promise or coroutine is made and dropped: nobody waits for it and nobody sees it fail."""

import re
import sys
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FunctionFlag, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import WRITES
from analysis.engine.readers.browsers import is_copied_library, runs_in_browsers
from analysis.engine.readers.promises import (
    async_function,
    awaited_elsewhere,
    awaits_only_what_keeps_errors,
    is_parameter_around,
    never_rejects,
    runs_only_what_keeps_errors,
    settles_at_once,
)
from analysis.engine.rules.base import PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-floating-promise",
    type="floating_promise",
    category=Category.RUNTIME_RISK,
    title="Promise that nobody awaits",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Await it, or handle its rejection; errors here vanish and the process may exit.",
    languages=(*PYTHON, *SCRIPT),
    version=2,
)
GUIDE = Guide(
    why="The work may fail and nobody will know, or never run at all.",
    flagged=(
        {
            "shop/work.py": """
async def notify(order):
    await send(order)


async def place(order):
    notify(order)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
async def notify(order):
    await send(order)


async def place(order):
    await notify(order)
"""
        },
    ),
)

_PROMISES = frozenset(f"Promise.{name}" for name in ("all", "allSettled", "any", "race", "reject", "resolve"))
_KNOWN = re.compile(
    r"^(fetch|node-fetch|undici\.fetch|fs/promises\.\w+|fs\.promises\.\w+|axios\.(get|post|put|patch|delete|request))$"
    r"|^(\w+\.)*(prisma|prismaClient|tx)\.\w+\.(create|update|delete|upsert|find|count|aggregate)\w*$"
    r"|^(this\.)?\w*[rR]epo(?:sitory)?\.(save|insert|update|delete|remove|softDelete|upsert|find\w*)$"
    r"|^[A-Z]\w+\.(create|insertMany|updateOne|updateMany|deleteOne|deleteMany|findOneAndUpdate|findByIdAndUpdate"
    r"|findByIdAndDelete|bulkCreate|destroy|upsert)$"
)
_WRITES = re.compile(
    r"\.(create|update|delete|upsert|insert|save|writeFile|appendFile|rm|unlink|rename|mkdir)\w*$"
    r"|^(this\.|self\.)?_?(save|create|update|delete|insert|persist|publish|enqueue|write|store)([A-Z_]\w*)?$"
)
_ELSEWHERE = re.compile(r"^(?:\.{1,2}/|[@~]/|src/|\.+\w)[^()]*\.\w+$|^(?:this|self)\.\w+\.\w+$")
_CALLBACK = re.compile(r"(?:function\s*\w*\s*)?\(?\s*_?err(?:or)?\s*[,):]|(?:callback|cb|next|done)$")
# An await of a function by whose name it asks for something or changes something elsewhere.
_ASKS_A_SERVER = re.compile(
    r"\bawait\s[^;{}]{0,200}?(?:\b(?:axios|import|request|ajax|mutateAsync)\b|[aA][pP][iI]\b"
    r"|\b(?:get|post|put|patch|delete|fetch|load|save|update|create)(?:[A-Z]\w*)?(?:<[^()]*>)?\()"
)
_EAGER = frozenset({"class", "typeorm", "sequelize"})
_STARTED_BY_CALL = frozenset({"mongoose", "sequelize", "typeorm"})  # ORMs whose models write by methods of their class
_SENT_WHEN_AWAITED = frozenset({"drizzle"})
_CANDIDATE = re.compile(rb"(?!await\b|void\b|return\b)[\w$(]")
_PYTHON_CALL = re.compile(rb"(?:self\.)?(?:\w+\.)?\w+\(")
_COLLECTIONS = frozenset({"cache", "map", "set", "items", "entries", "pending", "registry"})
_OF_COLLECTIONS = frozenset({"delete", "set", "clear", "add", "get", "has"})
_NEUTRAL = frozenset("staticmethod classmethod abstractmethod override final wraps cache lru_cache trace".split())
_STARTS = re.compile(r"(?i)background|task|thread|sync|process|spawn|job|worker|fire|start|run_|signal|receiver|event")
_OPERATORS = frozenset({"&&", "||", "??"})
_TASKS = re.compile(r"^asyncio\.(create_task|ensure_future)$|(^|[._])loop(\(\))?\.create_task$")


def look_at_script_statement(statement: Node, file: SourceFile) -> Iterator[Mark]:
    for call in _results(statement):
        if call.type not in ("call_expression", "new_expression"):
            continue
        callee = file.callee(call)
        if what := _promise(callee, call, file):
            yield _of_this_file(call, callee, what, file)
        elif file.in_test(call):
            continue
        elif model := _written_model(callee, call, file):
            message = f"`{_shown(callee)}` gives a promise that nobody awaits"
            yield file.mark(RULE.id, call, message, severity="critical", data={"model": model})
        elif model := _kept_statement(call, file):
            message = f"`{_shown(callee)}` is never sent: nobody awaits it, and Drizzle runs what is awaited"
            yield file.mark(RULE.id, call, message, severity="critical", data={"model": model, "unsent": "1"})
        elif _ELSEWHERE.match(callee) and not _has_callback(call, file):
            yield _of_another_file(call, callee, file)


def _of_this_file(call: Node, callee: str, what: str, file: SourceFile) -> Mark:
    known = callee.startswith(("Promise", "fetch", "this.")) or "." not in callee
    function = async_function(callee, call, file)
    data = awaited_elsewhere(function, file) if function is not None else None
    if function is not None and not _ASKS_A_SERVER.search(file.text(function)):
        data = (data or {}) | {"quiet": "1"}
    return file.mark(
        RULE.id,
        call,
        f"{what} gives a promise that nobody awaits",
        severity="critical" if _WRITES.search(callee) and file.language != "tsx" else "",
        confidence="" if known else "medium",
        data=data,
    )


def look_at_python_statement(statement: Node, file: SourceFile) -> Iterator[Mark]:
    call = statement.named_children[0]
    if call.type != "call":
        return
    callee = file.callee(call)
    function = async_function(callee, call, file)
    if function is not None:
        decorators = _unknown_decorators(function, file)
        if any(_STARTS.search(each) for each in decorators):
            return
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}` is a coroutine function: without `await` its body never runs",
            severity="critical" if _WRITES.search(callee) else "",
            confidence="medium" if decorators else "",  # what they make of the function stands elsewhere
            suggestion=f"Await it: `await {callee}(...)`.",
        )
    elif file.in_async(call) and (_ELSEWHERE.match(callee) or callee.partition(".")[0] in _roots(file)):
        yield _of_another_file(call, callee, file)


def look_at_task(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    parent = call.parent if _TASKS.search(callee) else None
    if parent is not None and parent.type == "expression_statement":
        yield file.mark(
            RULE.id,
            call,
            f"The task of `{callee}` is not kept: it can be collected while it runs, and its error is lost",
            suggestion="Keep the task until it is done, or use `asyncio.TaskGroup`.",
        )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A function of another file counts when all that the name can mean there are async. A script that fails ends with
    the trace of its error. In a browser a write that fails is seen by the one who asked for it."""
    if "model" in mark.data:
        found = codebase.models.named(mark.data["model"], place.path)
        if found is None or found.model.orm not in (_SENT_WHEN_AWAITED if "unsent" in mark.data else _STARTED_BY_CALL):
            return None
    callee = mark.data.get("callee")
    if callee is not None and not _may_reject(callee, place, codebase):
        return None
    if awaits_only_what_keeps_errors(mark, place):
        return None
    is_start = place.index == 0 and (place.kind is FileKind.SCRIPT or _is_started(place))
    if is_start and place.facts.language in SCRIPT:
        return None
    if is_start or is_copied_library(place):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if place.facts.language in SCRIPT and runs_in_browsers(place):
        if "quiet" in mark.data:
            return None  # what waits for a sign of the page alone is not rejected
        return place.finding(mark, severity=Severity.WARNING, confidence=Confidence.MEDIUM)
    return place.finding(mark)


def _is_started(place: Place) -> bool:
    """Whether a file is run and not imported: a rejection at its top level ends the process, which shows the error."""
    if place.facts.is_entry:
        return True
    is_imported = bool(place.facts.exports or place.codebase.graph.importers_of(place.path))
    return place.facts.language in SCRIPT and not is_imported and not runs_in_browsers(place)


def _may_reject(callee: str, place: Place, codebase: Codebase) -> bool:
    """Whether all that the name can mean in other files are async functions that hand their errors on."""
    if callee.rpartition(".")[2] not in codebase.async_names or _is_of_a_library(callee, place):
        return False
    resolved = place.meant_by(callee)
    meant = [each for each in resolved if _fits(callee, each, place)]
    functions = [codebase.files[each.path].functions[each.position] for each in meant]
    if not functions or not all(each.flags & FunctionFlag.ASYNC for each in functions):
        return False
    return not any(each.flags & (FunctionFlag.GENERATOR | FunctionFlag.KEEPS_ERRORS) for each in functions)


def _unknown_decorators(function: Node, file: SourceFile) -> list[str]:
    """The decorators of a function that may have made something else of it."""
    found = next((each.decorators for each in file.functions if each.node.id == function.id), ())
    return [each for each in found if each.rpartition(".")[2] not in _NEUTRAL]


def _roots(file: SourceFile) -> set[str]:
    """The first parts of what the file imports from where its own project may stand."""
    return {full.partition(".")[0] for full in file.bindings.values()} - sys.stdlib_module_names


def _is_of_a_library(callee: str, place: Place) -> bool:
    """Whether a Python name begins with a package that the project has no folder or module of."""
    root = callee.partition(".")[0]
    if place.facts.language != "python" or not root or root in ("self", "cls"):
        return False
    own = re.compile(rf"(?:^|/){re.escape(root)}(?:/|\.py$)")
    return not any(own.search(path) for path in place.codebase.files)


def _fits(callee: str, found: Callee, place: Place) -> bool:
    """Whether a method called on a field belongs to a class of that name: `this.mailer.send`, `MailerService`. A class
    has no field of itself."""
    parts = callee.split(".")
    if parts[0] not in ("this", "self"):
        return True
    function = place.codebase.files[found.path].functions[found.position]
    if found.path == place.path and function.owner == place.function.owner:
        return False
    owner = function.owner.rpartition(".")[2]
    if parts[1] in _COLLECTIONS and parts[-1] in _OF_COLLECTIONS:
        return False
    field = parts[1].strip("_").lower().removesuffix("service").removesuffix("repository")
    return field in owner.lower()


def _of_another_file(call: Node, callee: str, file: SourceFile) -> Mark:
    """A call whose callee stands elsewhere: whether it is async is known once all files are."""
    return file.mark(
        RULE.id,
        call,
        f"`{_shown(callee)}` is async and nobody awaits it",
        severity="critical" if _WRITES.search(callee) and file.language != "tsx" else "",
        confidence="medium",
        data={"callee": callee},
    )


def _has_callback(call: Node, file: SourceFile) -> bool:
    """Whether a function for the outcome is given last, as Node's older functions take one."""
    given = file.arguments(call)[0]
    return bool(given) and _CALLBACK.match(file.text(given[-1])) is not None


def _results(statement: Node) -> Iterator[Node]:
    """The expressions whose value the statement drops: the sides of `&&`, of a choice, of a comma."""
    pending = statement.named_children[:1]
    while pending:
        node = pending.pop()
        if node.type == "binary_expression":
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type in _OPERATORS:
                pending.append(node.named_children[-1])
        elif node.type == "ternary_expression":
            pending.extend(node.named_children[-2:])
        elif node.type in ("sequence_expression", "parenthesized_expression"):
            pending.extend(node.named_children)
        else:
            yield node


def _promise(callee: str, call: Node, file: SourceFile) -> str:
    """How to call the promise in a message; empty when the call gives none as far as one can tell."""
    if call.type == "new_expression":
        return "`new Promise`" if callee == "Promise" else ""
    known = callee.rpartition("/")[2] if callee.startswith((".", "@/", "~/")) else callee  # `./db.prisma.user.update`
    is_known = _KNOWN.match(known) and not _is_own(callee, call, file) and not _is_of_a_page(callee, file)
    if callee == "Promise.all" and runs_only_what_keeps_errors(call, file):
        return ""
    if callee in _PROMISES or is_known or _writes_rows(callee, call, file):
        return f"`{callee}`"
    if callee.endswith((".map", ".flatMap")):
        given = file.arguments(call)[0]
        if given and file.text(given[0]).startswith("async"):
            return f"`{callee}` with an async function"
        return ""
    function = async_function(callee, call, file)
    if function is None or never_rejects(function, file) or settles_at_once(function, file):
        return ""
    return f"`{callee}`"


def _writes_rows(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether a field of the object is known to write, by an ORM whose methods start at once."""
    line = file.line(call)
    return callee.startswith("this.") and any(
        query.model
        and query.line == line
        and query.orm in _EAGER
        and query.operation in WRITES
        and callee.endswith("." + query.terminal)
        for query in file.queries
    )


def _written_model(callee: str, call: Node, file: SourceFile) -> str:
    """The model that a call on its class writes, `Order.update({...})`, with `exec()` behind it or not; empty when the
    outcome goes to a callback. `judge` knows whether there is such a model."""
    if _has_callback(call, file):
        return ""
    line, text = file.line(call), file.text(call)
    called = callee.removesuffix(".exec").removesuffix("()")
    return next(
        (
            query.model
            for query in file.queries
            if query.line == line
            and query.operation in WRITES
            and called.endswith("." + query.terminal)
            and text.startswith(f"{query.model}.")
            and not _is_of_a_page(query.model, file)
        ),
        "",
    )


def _kept_statement(call: Node, file: SourceFile) -> str:
    """The table that a statement of Drizzle would write, if anybody awaited it."""
    line, end = file.line(call), call.end_byte
    spans = file.query_spans
    return next(
        (
            query.model
            for query in file.queries
            if query.line == line
            and query.orm == "drizzle"
            and not query.terminal
            and query.operation in WRITES | {"bulk_insert"}
            and spans.get((query.line, query.anchor, query.model), (0, 0))[1] == end
        ),
        "",
    )


def _shown(callee: str) -> str:
    """A resolved callee for a message, without the path that it was imported from."""
    return callee.rpartition("/")[2].lstrip(".")


def _is_of_a_page(callee: str, file: SourceFile) -> bool:
    """Whether something in capitals was neither imported nor made here: a library of a page, and no model."""
    head = callee.partition(".")[0].encode()
    if not head[:1].isupper() or head.decode() in file.bindings:
        return False
    return not any(word + head in file.source for word in (b"const ", b"let ", b"var ", b"class ", b"import "))


def _is_own(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether the file defines the name itself, or a function around the call is given it."""
    if "." in callee:
        return False
    defined = any(function.short_name == callee for function in file.functions)
    return defined or is_parameter_around(callee, call, file)


WATCHES = (
    Watch("expression_statement", look_at_script_statement, SCRIPT, starts=_CANDIDATE),
    Watch("expression_statement", look_at_python_statement, PYTHON, needs=(b"async def",), starts=_PYTHON_CALL),
    Watch("call", look_at_task, PYTHON, names=frozenset({"create_task", "ensure_future"})),
)
