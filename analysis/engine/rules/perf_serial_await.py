"""Independent operations are awaited one after the other."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import short
from analysis.engine.rules.sizes import Size, size_of

RULE = Rule(
    id="perf-serial-await",
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

_CALLS = frozenset({"call", "call_expression"})
_DEPENDS = re.compile(
    r"\b(break|return|yield|sleep|delay|timeout|retry|retries|attempt|cursor|previous|prev|last|rate|limit|throttle|lock|sequential"
    r"|in order|one by one|one at a time|serial\w*)\b|\bfor\s+await\b|\basync for\b",
    re.IGNORECASE,
)
_CONNECTION = re.compile(
    r"(^|\.)(tx|trx|transaction|session|cursor|conn|connection|db|queryRunner|manager|page|browser|reader|writer|stream|ws|socket|step|io)\."
)
_CHANGES = re.compile(  # what is done to one thing shared by all rounds may have to be done in order
    r"(?i)(?:^|[._])_?(?:write|draw|append|add|insert|apply|update|upsert|create|delete|remove|set|save|send|emit|publish"
    r"|process|handle|run|execute|migrate|sync|import|upload|render|seal|sign|merge|register|install|assert|ensure)[A-Z_\w]*$"
)
_ON_PURPOSE = re.compile(
    r"(?i)memory|order|sequen|serial|one by one|one at a time|concurren|parallel|rate|overload|avoid"
)
_SEEDS = re.compile(r"(^|/)(seeds?|fixtures|examples?)/")
_NOT_REMOTE = re.compile(
    r"(^|\.)(next|read|readline|write|drain|push|append|put|acquire|wait|json|text|sleep|send_json|nextTick)$"
)


def look(node: Node, file: SourceFile) -> Iterator[Mark]:
    index = file.loop_of(node) if file.in_loop(node) else None
    if index is None:
        return
    loop = file.loops[index]
    if loop.kind != "for" or loop.batched or not loop.variables or 0 < loop.bound <= 3:
        return
    call = node.named_children[0] if node.named_child_count else None
    if call is None or call.type not in _CALLS:
        return
    callee = file.callee(call)
    body = file.source[loop.node.start_byte : loop.node.end_byte].decode("utf-8", "replace")
    if _DEPENDS.search(body) or _CONNECTION.search(callee + ".") or _NOT_REMOTE.search(callee) or "Promise." in callee:
        return
    if body.find("await ") + loop.node.start_byte < node.start_byte - len("await ") and body.count("await ", 0) > 1:
        return
    if not re.search(rf"\b({'|'.join(map(re.escape, loop.variables))})\b", file.text(call)) or _carries(
        node, body, file
    ):
        return
    if any(_ON_PURPOSE.search(_comment_above(each, file)) for each in (loop.node, node)) or _feeds_on(
        body, file.text(call)
    ):
        return
    if size_of(loop.iterable, loop.node, file) is Size.FEW:
        return
    yield file.mark(
        RULE.id,
        node,
        f"`{short(callee)}` is awaited once per round: the rounds wait for each other",
        confidence="low" if _CHANGES.search(callee) else "",
    )


def _comment_above(loop: Node, file: SourceFile) -> str:
    before = file.source[max(0, loop.start_byte - 300) : loop.start_byte].decode("utf-8", "replace")
    return " ".join(line for line in before.split("\n")[-4:] if line.lstrip().startswith(("//", "#", "*", "/*")))


def _feeds_on(body: str, call: str) -> bool:
    """Whether the call takes what an earlier round assigned: `doc = …` without a declaration."""
    assigned = re.findall(r"(?m)^\s*(\w+)\s*[+-]?=(?!=|>)", body)
    return any(re.search(rf"(?<![.\w]){name}\b", call.partition("(")[2]) for name in set(assigned))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A request waits for the sum of them."""
    if place.in_request_path:
        return place.finding(mark, severity=Severity.WARNING)
    if place.kind is FileKind.SCRIPT or _SEEDS.search(place.path):
        return None
    return place.finding(mark)


def _carries(node: Node, body: str, file: SourceFile) -> bool:
    """Whether what one round awaits is what the next one works with."""
    named = re.search(rb"([\w$]+)\s*[+]?=\s*\Z", file.source[max(0, node.start_byte - 60) : node.start_byte])
    if named is None:
        return False
    name = re.escape(named[1].decode("utf-8", "replace"))
    declared = re.search(rf"\b(const|let|var)\s+{name}\b", body) is not None
    return bool(re.search(rf"\b{name}\b", file.text(node))) or (file.language != "python" and not declared)


WATCHES = (Watch("await", look, (*PYTHON, *SCRIPT)),)
