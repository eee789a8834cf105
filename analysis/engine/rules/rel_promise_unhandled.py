"""A chain of promises ends without anybody to take its rejection."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Function, FunctionFlag, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.promises import all_handled, async_function, keeps_its_error, never_rejects
from analysis.engine.readers.reading import followed, is_named_as_test, short, text_after, text_before
from analysis.engine.readers.requests_of_pages import settles_as_result, tells_user
from analysis.engine.rules.base import SCRIPT, Watch

RULE = Rule(
    id="rel-promise-unhandled",
    type="promise_unhandled",
    category=Category.RELIABILITY,
    title="Promise chain without a rejection handler",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Return the chain or end it with `.catch`; since Node 15 an unhandled rejection ends the process.",
    languages=SCRIPT,
)
GUIDE = Guide(
    why="A rejection that nobody takes ends the process in Node and disappears in a browser.",
    flagged=({"shop/load.ts": "load().then(show);"},),
    fine=({"shop/load.ts": "load().then(show).catch(report);"},),
)

_TEST_TOOLS = re.compile(r"^(cy|browser|Cypress)\b|\.whenReady\(\)\.then$")
# They end well whatever happens, or have nobody to fail for.
_NEVER_FAILS = re.compile(
    r"(?:^|\.)(?:requestPermission|\$translate|computePosition|nextTick)\(\)\.then$|\.(?:settled|updateComplete)\.then$|nice-modal-react\.show\(\)\.then$|\bfonts\.(?:ready|load\(\))\.then$|\bserviceWorker\.ready\.then$|\.userChoice\.then$"
)
# What gives a promise whatever the file says; of other names `then` tells it by convention.
_GIVES = re.compile(
    r"^(fetch|import|axios|Promise|window\.fetch|navigator|got|ky|http)\b|\.(json|text|blob|arrayBuffer)\(\)\.then"
)
_OUT_OF_HOOK = re.compile(rb"[^{}=;()]*\}\s*=\s*(use[A-Z]\w*)")
_OF_LIBRARY = re.compile(rb"Mutation$")  # `mutateAsync` rejects
_STARTED = re.compile(rb"require\.main\b|import\.meta\.main\b")
_EACH_TRIES = re.compile(
    rb"Promise\.all\(\s*[\w.]+\.map\(\s*async\s*(?:\([^()]*\)|\w+)\s*=>\s*\{\s*try\s*\{[\s\S]{0,1000}?\}\s*catch\b"
)
_NEXT_TASK = re.compile(rb"Promise\.resolve\(\s*\)\s*\.then\(")
_ASKS_RESULT = re.compile(
    r"\.then\(\s*(?:async\s*)?\(?(\w+)\)?\s*(?::[^=]+)?=>[\s\S]{0,200}?\bif\s*\(\s*!?\1\??\.(?:error|success|isErr|data\?|serverError|validationErrors)"
)
_IS_AWAITED = re.compile(rb"(?:await|void)\b")  # `await load<Row>(a).then(show)`, which the grammar takes apart
_MADE = re.compile(r"\s*=(?!=)")
_TYPED = re.compile(rb"\.then<")  # of a builder with a method of that name
_ON_PURPOSE = re.compile(rb"[^\n]*//[^\n]*(?:reject|unhandled|uncaught)")
_ENDS_AFTER = re.compile(rb"\.finally\(\s*\(\)\s*=>\s*\{?\s*process\.exit\([^()]*\)\s*;?\s*\}?\s*\)\Z")
_CAUGHT_THEN = re.compile(rb"\.catch\([\s\S]*\)\s*\.finally\(")
_NAME = re.compile(rb"(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=\s*$")


def look_at_chain(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    statement = call.parent
    if statement is None or statement.type != "expression_statement" or re.search(r"\.then\([^()]*,", callee):
        return
    first = callee.partition("()")[0]
    if _cannot_fail(callee, call, file) or _is_taken(first, call, file) or _is_meant(first, call, file):
        return
    own = async_function(first, call, file)
    if own is not None and never_rejects(own, file):
        return
    is_promise = _GIVES.search(callee) is not None or own is not None
    says_failure = _ASKS_RESULT.search(file.text(call)) is not None  # the result says whether it worked
    is_doubtful = first == "Promise.allSettled" or _keeps_some(own, file) or _is_of_a_hook(first, file)
    is_doubtful = is_doubtful or (says_failure and not is_promise)
    # Of a long chain the callee holds the last step alone.
    shown = file.text(call).partition("(")[0] + callee if callee.startswith("()") else callee
    yield file.mark(
        RULE.id,
        call,
        f"Nothing takes the rejection of `{short(shown.rpartition('/')[2])}`",
        confidence="low" if is_doubtful else "" if is_promise else "medium",
        data={} if is_promise else {"callee": first},
    )


def _cannot_fail(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether nothing is rejected here, or the chain takes it."""
    if ".catch" in callee or _NEVER_FAILS.search(callee) or _TEST_TOOLS.search(callee):
        return True
    return callee.endswith(".then") and _takes_rejections(call, file)


def _is_taken(first: str, call: Node, file: SourceFile) -> bool:
    """Whether something else takes the rejection: what is around the chain, what made the promise, or `await`."""
    text = file.source[call.start_byte : call.end_byte]
    return (
        _is_taken_above(call, file)
        or all_handled(call, file)
        or _has_handler(call, file)
        or _TYPED.search(text) is not None
        or _takes_its_own(first, call, file)
        or (b".unwrap()" not in text and keeps_its_error(call, file))
        or _IS_AWAITED.match(file.source, call.start_byte) is not None
        or _is_taken_where_made(first, call, file)
    )


def _is_meant(first: str, call: Node, file: SourceFile) -> bool:
    """Whether the rejection is left to the process on purpose, or there is none worth a word: a dialog that only asks,
    a function that runs a little later."""
    text = file.source[call.start_byte : call.end_byte]
    if _ON_PURPOSE.match(file.source, call.end_byte) or _ENDS_AFTER.search(text) or _NEXT_TASK.match(text):
        return True
    if first.rpartition(".")[2] == "when" or _is_of_a_script(call, file):
        return True
    return text.startswith(b"Swal.fire(") and b"preConfirm" not in text


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A function of another file may take its rejections itself."""
    if is_named_as_test(place.path):
        return None
    callee = mark.data.get("callee")
    meant = _meant(callee, place) if callee is not None else []
    functions = [function for _, function in meant]
    if functions and all(each.flags & FunctionFlag.KEEPS_ERRORS or settles_as_result(each) for each in functions):
        return None
    if meant and all(tells_user(path, codebase) for path, _ in meant):
        return None
    if place.index == 0 and (place.kind is FileKind.SCRIPT or place.facts.is_entry):
        return None  # the process ends with the error, as it should
    # Only `then` says that it is a promise: the library may resolve it whatever happens.
    if callee is not None and not functions:
        is_start = place.index == 0 and runs_in_browsers(place)  # of a page, whose console shows that it did not start
        return None if is_start else place.finding(mark, confidence=Confidence.LOW)
    return place.finding(mark)


def _meant(callee: str, place: Place) -> list[tuple[str, Function]]:
    """The functions of the project that a callee can mean, each with its file, also one that its file gives by
    default."""
    files = place.codebase.files
    found = place.meant_by(callee)
    if found:
        return [(each.path, files[each.path].functions[each.position]) for each in found]
    given = (each.target for each in place.codebase.graph.imports_of(place.path) if "default" in each.names)
    return [(path, each) for path in given if path in files for each in files[path].functions if each.name == callee]


def _keeps_some(function: Node | None, file: SourceFile) -> bool:
    """Whether a function takes rejections itself, of which nobody can say here how many."""
    return function is not None and b".catch(" in file.source[function.start_byte : function.end_byte]


def _is_of_a_hook(name: str, file: SourceFile) -> bool:
    """Whether a function comes out of a hook of the project, which mostly keeps the error for the page to show:
    `const { get } = useLazyGet()`."""
    if not name.isidentifier() or not file.mentions(b"} = use"):
        return False
    taken = followed(name.encode(), file.source, _OUT_OF_HOOK, b"_.$")
    return any(_OF_LIBRARY.search(each[1]) is None for each in taken)


def _is_of_a_script(call: Node, file: SourceFile) -> bool:
    """Whether the file was started, so that a rejection ends the process and shows its error, as it should."""
    above = call.parent
    while above is not None:
        condition = above.child_by_field_name("condition") if above.type == "if_statement" else None
        if condition is not None and _STARTED.search(file.source, condition.start_byte, condition.end_byte):
            return True
        above = above.parent
    return False


def _is_taken_where_made(name: str, call: Node, file: SourceFile) -> bool:
    """Whether the chain begins with a variable whose promise has its rejection taken: `p = load().catch(a);`."""
    variable = name.partition(".")[0]
    if not variable.isidentifier() or "(" in name:
        return False
    before = text_before(call, file)
    made = list(followed(variable, before, _MADE, "_.$"))[-1:]
    return bool(made) and ".catch(" in before[made[0].end() :]


def _takes_its_own(first: str, call: Node, file: SourceFile) -> bool:
    """`Promise.all(rows.map(async (row) => { try { ... } catch { ... } }))`: each element takes its own rejection."""
    if first != "Promise.all":
        return False
    given = file.source[call.start_byte : call.end_byte].partition(b").then(")[0]
    return _EACH_TRIES.match(file.source, call.start_byte) is not None or (b".map(" in given and b".catch(" in given)


def look_at_stored(call: Node, file: SourceFile) -> Iterator[Mark]:
    if file.callee(call) not in ("Promise.all", "Promise.allSettled"):
        return
    named = _NAME.search(file.source, max(0, call.start_byte - 80), call.start_byte)
    if (
        named is not None
        and not named[0].startswith(b"export")
        and not re.search(rf"\b{named[1].decode()}\b", text_after(call, file))
    ):
        yield file.mark(RULE.id, call, f"`{named[1].decode()}` keeps a promise that nothing uses")


def _is_taken_above(call: Node, file: SourceFile) -> bool:
    """Whether a `catch` stands anywhere before in the chain, and only `finally` behind it."""
    found = _CAUGHT_THEN.search(file.source, call.start_byte, call.end_byte)
    return found is not None and file.callee(call).endswith(".finally")


def _takes_rejections(call: Node, file: SourceFile) -> bool:
    given = file.arguments(call)[0]
    return len(given) != 1 or given[0].type == "spread_element"


def _has_handler(call: Node, file: SourceFile) -> bool:
    """Whether a `catch`, or a `then` with two functions, stands right before."""
    function = call.child_by_field_name("function")
    inner = function.child_by_field_name("object") if function is not None else None
    if inner is None or inner.type != "call_expression":
        return False
    before = inner.child_by_field_name("function")
    member = before.child_by_field_name("property") if before is not None else None
    if member is not None and file.text(member) == "catch":
        return True
    return file.callee(inner).endswith(".then") and _takes_rejections(inner, file)


WATCHES = (
    Watch("call", look_at_chain, SCRIPT, names=frozenset({"then", "finally"})),
    Watch("call", look_at_stored, SCRIPT, names=frozenset({"all", "allSettled"})),
)
