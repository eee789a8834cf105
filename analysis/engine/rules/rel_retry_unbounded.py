"""An operation is tried again and again, without a limit or without a pause."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Guide, Rule, Severity
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import function_name

RULE = Rule(
    id="rel-retry-unbounded",
    type="retry_unbounded",
    category=Category.RELIABILITY,
    title="Retry without limit",
    severity=Severity.WARNING,
    points=1.5,
    suggestion=(
        "Limit the attempts and wait exponentially with jitter; endless instant retries keep a struggling service down."
    ),
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="When the other side is down, everybody knocks for ever and as fast as they can, and keeps it down.",
    flagged=(
        {
            "shop/work.py": """
def load(client, key):
    while True:
        try:
            return client.fetch(key)
        except OSError:
            continue
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import time


def load(client, key):
    for attempt in range(5):
        try:
            return client.fetch(key)
        except OSError:
            time.sleep(2**attempt)
    raise TimeoutError(key)
"""
        },
    ),
)

_ENDLESS = re.compile(rb"while\s+(?:True|1)\s*:|while\s*\(\s*true\s*\)\s*\{|for\s*\(\s*;\s*;\s*\)\s*\{")
_FAILED = re.compile(
    r"except\b[^:\n]*:\s*(?:#[^\n]*)?\n?\s*(?:continue|pass)\b|catch\s*(?:\([^)]*\))?\s*\{\s*(?:continue;?)?\s*\}"
)
_SUCCEEDS = re.compile(r"\breturn\b|\bbreak\b")
_REMOTE = re.compile(
    r"\b(requests|httpx|urlopen|fetch|axios|client|connect\w*|session|cursor|execute|prisma|db|api"
    r"|socket|http\w*|send|publish|upload"
    r"|download|query|request)\b\.?\w*\(",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"attempt|retries|tries|max_|deadline|timeout|elapsed|count|remaining|sleep|delay|backoff|wait\("
    r"|poll|\bget\(|recv|accept|await_",
    re.IGNORECASE,
)
_DAEMON = re.compile(
    r"(^|[._])(run|loop|main|worker|consume\w*|listen\w*|serve\w*|poll\w*|watch\w*|daemon)$|_(loop|forever|worker)$"
)


def look_at_loop(loop: Node, file: SourceFile) -> Iterator[Mark]:
    if _ENDLESS.match(file.source, loop.start_byte) is None or loop.end_byte - loop.start_byte > 4_000:
        return
    text = file.text(loop)
    if not _FAILED.search(text) or not _SUCCEEDS.search(text) or not _REMOTE.search(text) or _LIMITED.search(text):
        return
    name = function_name(loop, file)
    if not _DAEMON.search(name):
        yield file.mark(RULE.id, loop, f"`{name}` tries again for ever and at full speed when the call fails")


def look_at_tenacity(decorator: Node, file: SourceFile) -> Iterator[Mark]:
    text = file.text(decorator).lstrip("@")
    name, _, given = text.partition("(")
    if file.resolve(name.strip()) != "tenacity.retry":
        return
    if "**" in given:
        return
    missing = " and ".join(word for word in ("stop", "wait") if not re.search(rf"\b{word}\s*=", given))
    if missing:
        yield file.mark(RULE.id, decorator, f"`{name}` is given no {missing}")


def look_at_options(pair: Node, file: SourceFile) -> Iterator[Mark]:
    key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
    if key is None or value is None or file.source[value.start_byte : value.start_byte + 8] != b"Infinity":
        return
    name = file.text(key).strip("'\"")
    if name in ("retries", "maxRetries", "retry", "attempts", "numOfAttempts"):
        yield file.mark(RULE.id, pair, f"`{name}: Infinity` tries again for ever")


WATCHES = (
    Watch("loop", look_at_loop, (*PYTHON, *SCRIPT, *JAVA)),
    Watch("decorator", look_at_tenacity, PYTHON, needs=(b"tenacity",)),
    Watch("pair", look_at_options, SCRIPT, needs=(b"Infinity",)),
)
