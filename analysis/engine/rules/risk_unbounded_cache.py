"""A cache that only ever grows."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-unbounded-cache",
    type="unbounded_cache",
    category=Category.RUNTIME_RISK,
    title="Unbounded cache",
    severity=Severity.WARNING,
    points=1.5,
    suggestion="Bound it (`lru_cache(maxsize=...)`, TTL cache); this grows until the process is killed.",
    confidence=Confidence.MEDIUM,
    languages=(*PYTHON, *SCRIPT),
)
GUIDE = Guide(
    why="It only ever grows: memory runs out after days, far from the line that fills it.",
    flagged=(
        {
            "shop/work.py": """
SEEN = {}


def rate(region):
    if region not in SEEN:
        SEEN[region] = fetch(region)
    return SEEN[region]
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from functools import lru_cache


@lru_cache(maxsize=1024)
def rate(region):
    return fetch(region)
"""
        },
    ),
)

_CACHE_NAME = re.compile(r"cache|memo|seen|history|sessions|buffer|pending", re.IGNORECASE)
_PYTHON_CACHE = re.compile(rb"(\w+)\s*(?::[^=\n]+)?=\s*(?:\{ ?\}|dict\(\)|defaultdict\([^)\n]*\)|OrderedDict\(\))\s*$")
_PYTHON_EMPTY = re.compile(rb"\w+\s*(?::[^=\n]+)?=\s*(?:\{ ?\}|dict\(|defaultdict\(|OrderedDict\()")
_SCRIPT_CACHE = re.compile(rb"(\w+)\s*(?::[^=\n]+)?=\s*(?:new Map(?:<[^\n]*>)?\(\)|\{ ?\})")
_PYTHON_MAPS = (b"{}", b"{ }", b"dict(", b"Dict(")
_SCRIPT_MAPS = (b"new Map", b"{}", b"{ }")
_NEW_LINE = ord("\n")
_KEEPS_SELF = frozenset({"functools.lru_cache", "functools.cache"})
_METHOD_HEAD = re.compile(rb"\s*(?:@[^\n]*\n\s*)*(?:async\s+)?def\s+(\w+)\(\s*(self)\b\s*(,?)")
_STATIC = re.compile(rb"@(staticmethod|classmethod)")


def look_at_decorator(decorator: Node, file: SourceFile) -> Iterator[Mark]:
    """`lru_cache` on a method keeps every instance alive."""
    text = file.text(decorator).lstrip("@").strip()
    if file.resolve(text.partition("(")[0]) not in _KEEPS_SELF:
        return
    method = _METHOD_HEAD.match(file.source, decorator.end_byte)
    if method is None or _STATIC.search(file.source, max(0, decorator.start_byte - 80), method.start(1)):
        return
    yield file.mark(
        RULE.id,
        decorator,
        f"The cache of `{method[1].decode()}` keeps every `self` alive that it was called on",
        confidence="high",
        suggestion="Cache on the instance (`functools.cached_property`) or in a function without `self`.",
        data={"form": "method"},
    )


def look_at_python(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    start = assignment.start_byte
    if start and file.source[start - 1] != _NEW_LINE:
        return  # indented: only the top level of a module lives as long as the process
    found = _PYTHON_CACHE.match(file.source[assignment.start_byte : assignment.end_byte])
    if found is not None:
        yield from _grown(found[1].decode("utf-8", "replace"), assignment, file)


def look_at_script(declarator: Node, file: SourceFile) -> Iterator[Mark]:
    found = _SCRIPT_CACHE.match(file.source, declarator.start_byte, declarator.end_byte)
    if found is not None and found.end() == declarator.end_byte and file.scope_of(declarator).kind == "module":
        yield from _grown(found[1].decode("utf-8", "replace"), declarator, file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Tools end before anything grows."""
    if mark.data.get("form") != "method" and (place.facts.is_entry or place.kind.value == "script"):
        return None
    return place.finding(mark)


def _grown(name: str, declared: Node, file: SourceFile) -> Iterator[Mark]:
    """A mark when functions add under changing keys and nothing of the file ever takes out or counts."""
    if not _CACHE_NAME.search(name):
        return
    word = re.escape(name)
    text = file.source.decode("utf-8", "replace")
    added = re.search(
        rf"^[ \t]+[^\n#/]*\b{word}(\[\s*(?![\"'`\d])[^\]\n]+\]\s*=(?!=)|\.set\(\s*(?![\"'`\d])"
        rf"|\.setdefault\(\s*(?![\"'\d]))",
        text,
        re.MULTILINE,
    )
    taken = re.search(
        rf"\b{word}\.(pop|popitem|clear|delete|move_to_end|size)\b|\bdel {word}\b|\bdelete {word}\b|len\({word}\)"
        rf"|Object\.keys\({word}\)|^[ \t]+(global[^\n]*|{word}\s*=[^=])\b{word}?",
        text,
        re.MULTILINE,
    )
    exported = re.search(rf"\bexport\b[^\n]*\b{word}\b|__all__[^\n]*{word}", text)
    if added is not None and taken is None and exported is None:
        yield file.mark(
            RULE.id, declared, f"`{name}` is added to and never emptied: it grows as long as the process runs"
        )


WATCHES = (
    Watch("decorator", look_at_decorator, PYTHON),
    Watch("assignment", look_at_python, PYTHON, needs=_PYTHON_MAPS, starts=_PYTHON_EMPTY),
    Watch("variable_declarator", look_at_script, SCRIPT, needs=_SCRIPT_MAPS, starts=_SCRIPT_CACHE),
)
