"""Independent operations are awaited one after the other."""

import re
from collections.abc import Iterator
from itertools import takewhile

from tree_sitter import Node

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.idle_functions import waits_for_nothing
from analysis.engine.readers.leaving_functions import leaving_call
from analysis.engine.readers.reading import (
    COMMENTS,
    awaited_call,
    function_name,
    is_imported,
    is_short_list,
    short,
)
from analysis.engine.readers.round_order import ON_PURPOSE, comments_near, needs_order, of_each_round
from analysis.engine.readers.sizes import Size, size_by_name, size_of
from analysis.engine.rules.base import PYTHON, SCRIPT, Watch

RULE = Rule(
    id="perf-serial-await",
    version=3,
    type="serial_await",
    category=Category.PERFORMANCE,
    title="Awaits one after the other",
    severity=Severity.INFO,
    points=2,
    suggestion="Run the independent calls concurrently with a limit (`pMap`, `asyncio.TaskGroup` + semaphore).",
    confidence=Confidence.MEDIUM,
    languages=(*PYTHON, *SCRIPT),
)
GUIDE = Guide(
    why=(
        "Waiting for one answer before asking the next question adds the times up; asked together they take as long as "
        "the slowest."
    ),
    grades="Warning on the request path, else info.",
    flagged=(
        {
            "shop/load.ts": """
export async function load(ids: string[]) {
  const all = [];
  for (const id of ids) {
    all.push(await fetchOrder(id));
  }
  return all;
}
"""
        },
    ),
    fine=(
        {
            "shop/load.ts": """
export async function load(a: string, b: string) {
  return Promise.all([fetchOrder(a), fetchOrder(b)]);
}
"""
        },
    ),
)

_CONNECTION = re.compile(
    r"(^|\.)(\w*tx|txClient\(\)|\w*trx|\w*[tT]ransaction|session|cursor|conn|connection|db|queryRunner|manager|page|browser|reader|writer|stream"
    r"|ws|\w*[sS]ocket|step|io)\."
)
_SENDS_ITSELF = re.compile(r"^(?:self|this)\.send(?:_text|_bytes)?$")  # a message of the connection that the class is
_IN_TRANSACTION = re.compile(r"[(,{]\s*\w*(?:tx|trx|[tT]ransaction|[cC]onn(?:ection)?|db)\s*[,})]")
_ON_CONNECTION = re.compile(r"[(,]\s*(?:\w+\s*=\s*)?(?:db|session|conn|connection|queryRunner|tx|trx)\s*[,)]")
_GIVEN_SESSION = re.compile(r"[(,]\s*(?:\w+\s*=\s*)?(?:self\.)?(?:db_|async_)?session\s*[,)]")  # of a database
_OF_TRANSACTION = re.compile(r"(?i)(?:transaction|\$tx|with_?tx)\(\)$")  # the name of a call-back
_STARTS_UP = re.compile(
    r"(?i)(?:^|[._])load_?(?:plugin|module|extension|bootstrap)\w*$"
)  # in the order they are listed
_ASKS_PEOPLE = re.compile(r"(?i)(?:authenticat|confirm|prompt|dialog|log_?in|sign_?in)\w*$")  # who answer one by one
_CHANGES = re.compile(  # what is done to one thing shared by all rounds may have to be done in order
    r"(?i)(?:^|[._])_?(?:write|draw|append|add|insert|apply|update|upsert|create|delete|remove|set|save"
    r"|process|handle|run|execute|migrate|sync|import|render|seal|sign|merge|register|install|assert|ensure|enqueue|schedule|assign|grant|revoke|attach|detach)[A-Z_\w]*$"
)
_AWAITED = re.compile(r"\bawait\s+([\w$.]+)\.(\w+)\(")
_READS = re.compile(
    r"(?:^|\.)_?(?:get|fetch|load|find|list|query|search|count|retrieve|select|aggregate)(?:[A-Z_]\w*)?$"
)
_REMOTE = re.compile(
    r"(?i)(?:^|[._])\w*(?:api|client|prisma|repo|repository|service|axios|http|gateway|store|dao)\.|^fetch$"
)
_HTTP = re.compile(  # packages whose functions ask over the network, whatever they are called here
    r"(?:undici|axios|got|ky|ofetch|node-fetch|cross-fetch|isomorphic-fetch|superagent|needle|httpx|aiohttp)(?:\.|$)"
)
_HTTP_SESSION = re.compile(r"(?:^|[._])session\.(?:get|post|put|patch|delete|head|request)$")  # of aiohttp
_OF_THE_REQUEST = re.compile(r"(?i)translat|session|locale|cookie|header|param|i18n|config|setting|environment")
_SEEDS = re.compile(r"(^|/)(seeds?|fixtures|examples?|migrations?|upgrades?|contrib)/|(^|/)(seed|build)[\w-]*\.\w+$")
_DIFFERENCE = re.compile(r"(?i)(?:^|[._\s])(?:set_?)?(?:difference\w*|diff)\(")  # of what is and what should be: little
_SENDS = re.compile(r"^(.+)\.(?:send|notify|publish|post)[A-Z_\w]*$")
_NOT_REMOTE = re.compile(
    r"(^|\.)(next|read|readline|write|drain|push|append|put|acquire|wait|json|text|sleep|send_json|nextTick)$"
)
_PUTS = re.compile(r"(?i)(?:axios|https?|api|client)\.put$")  # over the network, not into a queue
_AWAITING = re.compile(  # a statement that only awaits a call: what it assigns, and the callee
    rb"(?:(?:const|let|var)\s+)?(?:([\w$]+|\{[^{}]*\}|\[[^\[\]]*\]|\w+(?:,\s*\w+)+)\s*(?::\s*[^=\n]{1,60})?=\s*)?\(?await\s+([\w$.?]+)(?:<[^<>()]*>)?\("
)
_QUESTION = re.compile(r"(?:^|\.)(?:get|head|fetch|urlopen)$")  # which changes nothing there
_FIRST_WORD = re.compile(rb"\s*")
SPACE_BETWEEN = 120  # bytes in which the next question begins
IN_A_ROW = 3  # awaits of remote calls that are worth being asked together
_TOGETHER = {True: "asyncio.gather", False: "Promise.all"}
_WORDS = re.compile(r"[A-Za-z_$][\w$]*")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")
_FILLED_IN = re.compile(r"\{([^{}]*)\}")


def look(node: Node, file: SourceFile) -> Iterator[Mark]:
    if file.in_loop(node):
        yield from _in_rounds(node, file)
    else:
        yield from _in_a_row(node, file)


def _in_rounds(node: Node, file: SourceFile) -> Iterator[Mark]:
    """`for (const id of ids) all.push(await load(id))`."""
    loop = file.loop_of(node)
    call = awaited_call(node, file)
    if loop is None or loop.batched or call is None or 0 < loop.bound <= IN_A_ROW:
        return
    body = file.text(loop.node)
    variables = of_each_round(loop, body)
    if (
        not variables
        or needs_order(node, call, loop, variables, body, file)
        or not _is_worth_it(node, call, loop, file)
    ):
        return
    callee = file.callee(call)
    changes = _CHANGES.search(callee) is not None and not _REMOTE.search(callee)
    is_known = _REMOTE.search(callee) or _READS.search(callee) or _HTTP.match(callee)  # to leave the process
    is_guess = (
        changes
        or not is_known
        or _goes_on_to_change(call, callee, loop, file)
        or size_of(loop.iterable, loop.node, file) is Size.FEW
    )
    yield file.mark(
        RULE.id,
        node,
        f"`{short(callee)}` is awaited once per round: the rounds wait for each other",
        confidence="low" if is_guess or _CHANGES.search(callee) else "",
        data={"round": "yes"} | ({"changes": "yes"} if changes else {}),
    )


def _goes_on_to_change(call: Node, callee: str, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the round changes something there of which it has read before: maybe what the next round reads."""
    rest = file.source[call.end_byte : loop.node.end_byte].decode("utf-8", "replace")
    asked = callee.rpartition(".")[0]
    return bool(asked) and any(match[1] == asked and _CHANGES.search(match[2]) for match in _AWAITED.finditer(rest))


def _is_worth_it(node: Node, call: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the calls may wait for something outside, and may do so at once. Call-backs run in their order, and a
    transaction has one connection."""
    callee = file.callee(call)
    if _has_one_connection(callee, file) or "Promise." in callee:
        return False
    if _NOT_REMOTE.search(callee) and not _PUTS.search(callee):
        return False
    if (
        _DIFFERENCE.search(loop.iterable)
        or is_short_list(loop.iterable, loop.node, file)
        or _calls_itself(callee, node, file)
    ):
        return False
    if (
        callee in loop.variables
        or _ASKS_PEOPLE.search(callee)
        or _STARTS_UP.search(callee)
        or _is_in_transaction(call, file)
        or waits_for_nothing(callee, file)
    ):
        return False
    return not _is_asked_itself(callee, loop)


def _is_asked_itself(callee: str, loop: LoopDraft) -> bool:
    """Whether each round asks its own object to do something: hooks, adapters and steps, few and in their order."""
    return callee.partition(".")[0] in loop.variables and size_by_name(loop.iterable) is not Size.MANY


def _is_in_transaction(call: Node, file: SourceFile) -> bool:
    """Whether the call is given a transaction: by its name, or as what the call-back of `$transaction(…)` is given. One
    that is given to nobody is everybody's."""
    text = file.text(call)
    if _IN_TRANSACTION.search(text) is not None:
        return True
    if file.language == "python" and _GIVEN_SESSION.search(text) is not None:
        return True
    function = file.enclosing_function(call)
    if function is None or not _OF_TRANSACTION.search(function_name(call, file)):
        return False
    given = [name for name in _WORDS.findall(file.text(function).partition("=>")[0]) if name != "async"]
    return not given or any(re.search(rf"\b{name}\b", text) for name in given)


def _in_a_row(node: Node, file: SourceFile) -> Iterator[Mark]:
    """Three statements or more, each of which asks something that the others do not need."""
    source, start, end = file.source, node.start_byte, (awaited_call(node, file) or node).end_byte
    begin = _FIRST_WORD.match(source, source.rfind(b"\n", 0, start) + 1, start + 1)
    if begin is None or source.find(b"await ", end, end + SPACE_BETWEEN) < 0:
        return
    asked = _AWAITING.match(source, begin.end(), end)
    if asked is None or not _may_ask(asked[2].decode("utf-8", "replace"), file):
        return
    statement = file.statement_of(node)
    first = _awaited(statement, file)
    before = _awaited(_beside(statement, file, forward=False), file)
    if first is None or (before is not None and _is_asked(before[1], file)):
        return
    names, callees = set(first[0]), [first[1]]
    following = _beside(statement, file)
    while (next_asked := _awaited(following, file)) is not None and following is not None:
        if not names.isdisjoint(_words(file.text(following))):
            break
        if (sent := _SENDS.match(next_asked[1])) is not None and any(
            each.startswith(f"{sent[1]}.") for each in callees
        ):
            break  # one service may need them in order
        names.update(next_asked[0])
        callees.append(next_asked[1])
        following = _beside(following, file)
    asking = list(takewhile(lambda each: _is_asked(each, file), callees))
    if len(asking) >= IN_A_ROW:
        callees = asking  # as far as the names are enough
    elif before is not None:
        return
    if len(callees) < IN_A_ROW or ON_PURPOSE.search(comments_near(statement, file)):
        return
    unknown = [each for each in callees if not _is_asked(each, file)]  # `judge` knows whether they ask anything
    asked_of = ", ".join(f"`{short(each, 30)}`" for each in callees[:IN_A_ROW])
    yield file.mark(
        RULE.id,
        node,
        f"{asked_of} are awaited one after the other and need nothing of each other",
        confidence="" if all(_REMOTE.search(each) or _HTTP.match(file.resolve(each)) for each in callees) else "low",
        data={"calls": " ".join(file.resolve(each) for each in unknown)} if unknown else None,
        suggestion=f"Await the {len(callees)} calls together (`{_TOGETHER[file.language == 'python']}`).",
    )


def _beside(statement: Node, file: SourceFile, *, forward: bool = True) -> Node | None:
    """The statement behind this one or before it, over comments that say nothing of an order."""
    node = statement.next_named_sibling if forward else statement.prev_named_sibling
    while node is not None and node.type in COMMENTS and not ON_PURPOSE.search(file.text(node)):
        node = node.next_named_sibling if forward else node.prev_named_sibling
    return node


def _words(text: str) -> list[str]:
    """The names that code uses; of what stands in quotes those that are filled in."""
    return _WORDS.findall(_QUOTED.sub(lambda quoted: " ".join(_FILLED_IN.findall(quoted[0])), text))


def _awaited(statement: Node | None, file: SourceFile) -> tuple[list[str], str] | None:
    """The names that a statement assigns and what it awaits for them; None when it is not a question to another
    service, or not on a connection of its own."""
    if statement is None or (found := _AWAITING.match(file.source, statement.start_byte, statement.end_byte)) is None:
        return None
    callee = found[2].decode("utf-8", "replace").replace("?.", ".")
    if not _may_ask(callee, file) or _OF_THE_REQUEST.search(callee) or _has_one_connection(callee, file):
        return None
    if callee.endswith("client.query") or _ON_CONNECTION.search(file.text(statement)):
        return None  # one connection to a database
    return _WORDS.findall((found[1] or b"").decode("utf-8", "replace")), callee


def _is_asked(callee: str, file: SourceFile) -> bool:
    """Whether a call asks another service, or tells it something."""
    if _READS.search(callee) is not None or _HTTP.match(file.resolve(callee)) is not None:
        return True
    return _SENDS.match(callee) is not None and _REMOTE.search(callee) is not None


def _may_ask(callee: str, file: SourceFile) -> bool:
    """Whether a call asks another service, by its name or as a function of this file or another one."""
    if _is_asked(callee, file):
        return True
    name = file.resolve(callee)
    if _CHANGES.search(name):
        return False
    own = name.removeprefix("this.").removeprefix("self.")
    names = (each.short_name if own != name else each.name for each in file.functions)
    if own in names:
        return True  # `judge` knows what it does
    return not _NOT_REMOTE.search(name) and is_imported(name, file)


def _only_ask(calls: list[str], place: Place) -> bool:
    """Whether each of these calls is one of a function of the project that asks another service, and tells it
    nothing."""
    graph = place.codebase.calls
    for call in calls:
        meant = graph.resolve(place.path, place.function, call)
        asking = [_asked_by(each, place.codebase) for each in meant]
        if not asking or not all(_QUESTION.search(each) for each in asking):
            return False
    return True


def _asked_by(function: Callee, codebase: Codebase) -> str:
    """The call by which a function leaves the process, itself or by the one function that it calls for that."""
    asked = leaving_call(function, codebase)
    if asked or len(codebase.files[function.path].functions[function.position].calls) > 1:
        return asked
    return next((leaving_call(each, codebase) for each in codebase.calls.callees(function)), "")


def _has_one_connection(callee: str, file: SourceFile) -> bool:
    """Whether a call is made on something that serves one after the other, by its name."""
    if _SENDS_ITSELF.match(callee) and (file.mentions(b"ebsocket") or file.mentions(b"ebSocket")):
        return True  # and its messages keep their order
    if _HTTP_SESSION.search(callee) and file.mentions(b"aiohttp") and not file.mentions(b"sqlalchemy"):
        return False
    return _CONNECTION.search(callee + ".") is not None


def _calls_itself(callee: str, node: Node, file: SourceFile) -> bool:
    """Whether the function awaits itself: a walk down a tree."""
    own = function_name(node, file).rpartition(".")[2]
    return callee.removeprefix("this.").removeprefix("self.") == own


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A request waits for the sum of them. A page that does things one by one shows how far it has come."""
    if "calls" in mark.data and not _only_ask(mark.data["calls"].split(), place):
        return None
    if place.in_request_path:
        return place.finding(mark, severity=Severity.WARNING)
    if "round" in mark.data and mark.confidence == Confidence.LOW.value and runs_in_browsers(place):
        return None
    if place.kind is FileKind.SCRIPT or _SEEDS.search(place.path) or mark.data.get("changes"):
        return None
    return place.finding(mark)


WATCHES = (Watch("await", look, (*PYTHON, *SCRIPT)),)
