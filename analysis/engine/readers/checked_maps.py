"""Maps that are asked for a key and then given it, as `risk-check-then-act` sees them."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.java_beans import has_bean
from analysis.engine.readers.reading import declarations, followed, function_text, text_after, text_before

_JAVA_MAP = re.compile(
    rb"if\s*\(\s*(?:!\s*(?:this\.)?(?P<map>\w+)\.containsKey\(|(?:this\.)?(?P<got>\w+)\.get\([^()\n"
    rb"]*(?:\(\))?\)\s*==\s*null|(?P<value>\w+)\s*==\s*null\s*\))"
)
_GOT = re.compile(r"\s*=\s*(?:this\.)?(\w+)\.get\(")
_SHARED_MAP = re.compile(rb"\b(?:private|protected|public|static)\b[^\n;(]*?\b\w*Map<[^\n;(]*\Z")
_MADE_FOR_THREADS = re.compile(rb"\s*=\s*new\s+(?:java\.util\.concurrent\.)?Concurrent")
_PUT = re.compile(r"\.put\(")
# What is changed after it was made: of two, what one of them was given is lost.
_NEW_OBJECT = re.compile(
    r"\bnew\s+(?:[\w.]*(?:Map|Set|List|Queue|Deque|Lock|Semaphore|Executor|Client|Connection|Producer|Consumer|Session"
    r"|Factory|Object|Buffer|Builder)|Atomic\w+|LongAdder|Thread)\b"
)
_DRAWN = re.compile(r"(?i)random|uuid|nanoTime|currentTimeMillis|\bnow\(|\bnext\w*\(|increment\w*\(")
_MADE = re.compile(r"\s*=(?!=)\s*([^;\n]+);")
_NEW_IN_GO = r"(?:&[\w.]+\{|make\(|(?:\w+\.)?(?:New|new|Open|Dial|Connect)\w*\()"
_KNOWS_LOCKS = re.compile(rb"Lock\b")
_LOCKED = re.compile(r"\bsynchronized\b|\b\w*[lL]ock\w*\.(?:lock|writeLock|readLock)\(")


class MapAct(NamedTuple):
    """Where a map is given what it was asked for. `is_sure`: of two values one is lost. `is_usual`: in the way
    in which the maps of one thread are filled."""

    line: int
    message: str
    fix: str
    is_sure: bool
    is_usual: bool = False


def java_act(branch: Node, file: SourceFile) -> MapAct | None:
    """`if (!rows.containsKey(key)) rows.put(key, row)` on a field that several threads see."""
    found = _JAVA_MAP.match(file.source, branch.start_byte)
    body = branch.child_by_field_name("consequence")
    function = file.enclosing_function(branch)
    if found is None or body is None or file.is_in(branch, "with"):
        return None
    if function is not None and function.type == "constructor_declaration":
        return None  # nobody else has the object yet
    name = (found["map"] or found["got"] or b"").decode()
    if found["value"] is not None:
        got = [each[1] for each in followed(found["value"].decode(), text_before(branch, file), _GOT, "_.")]
        name = got[-1] if got else ""
    if not name:
        return None
    put = next(followed(name, file.text(body), _PUT, "_"), None)
    if put is None or _LOCKED.search(function_text(branch, file)):
        return None
    field = next(filter(None, map(_SHARED_MAP.search, declarations(name, file))), None)
    if field is None:
        return None
    made = next(followed(name.encode(), file.source, _MADE_FOR_THREADS, b"_."), None)
    is_concurrent = b"Concurrent" in field[0] or made is not None
    if not is_concurrent and _KNOWS_LOCKS.search(file.source):
        return None  # whoever calls may hold the lock
    is_shared = b"static" in field[0] or is_concurrent or has_bean(file.source)
    if function is not None and _is_static_set_up(function, file):
        return None
    if found["value"] is not None and not is_shared:
        return None  # the usual way to fill a map of an object that one thread uses
    line = file.line(body) + file.text(body)[: put.start()].count("\n")
    message = f"`{name}` is asked for a key and then given it: another thread may do the same in between"
    fix = "Use `computeIfAbsent` or `putIfAbsent` on a concurrent map."
    is_sure = is_shared and _is_lost(file.text(body), put.end(), function, file)
    return MapAct(line, message, fix, is_sure=is_sure, is_usual=found["map"] is None or not is_shared)


def go_act(call: Node, file: SourceFile) -> MapAct | None:
    """Go: a map is asked under `RLock` and written under `Lock`, and nobody asks again in between."""
    lock = file.text(call).removesuffix(".RLock()")
    if not re.fullmatch(r"[\w.]+", lock):
        return None
    word, rest = re.escape(lock), text_after(call, file)
    read, released, after = rest.partition(f"{lock}.RUnlock()")
    asked = re.search(r"(?:,\s*\w+\s*:?=|\w\s*:?=|return)\s*([\w.]+)\[([^\]\n]+)\]", read)
    locked = re.search(rf"\b{word}\.Lock\(\)", after) if released and asked is not None else None
    if locked is None or asked is None or re.search(r"^defer\s*$", read.rpartition("\n")[2].strip()):
        return None
    held = re.split(rf"\n\s*{word}\.Unlock\(\)", after[locked.end() :], maxsplit=1)[0]
    map_name = re.escape(asked[1])
    written = re.search(rf"(?<![\w.]){map_name}\[[^\]\n]+\]\s*=(?!=)", held)
    if written is None or re.search(
        rf"(?:=|return|if)\s*{map_name}\[|len\({map_name}\)\s*[!=]=", held[: written.start()]
    ):
        return None
    start = len(rest) - len(after) + locked.end() + written.start()
    line = file.lines.of(call.end_byte) + rest[:start].count("\n")
    message = (
        f"`{asked[1]}` is read under `RLock` and written here without asking again: another one may have been first"
    )
    fix = "Ask the map again under `Lock` before writing, or use `sync.Map.LoadOrStore`."
    value = re.escape(held[written.end() :].strip().partition("\n")[0])
    made = rf"(?<![\w.]){value}(?:, \w+)?\s*:?=\s*{_NEW_IN_GO}|^{_NEW_IN_GO}"
    is_lost = re.search(made, read + after[: locked.end()] + held) or re.match(
        _NEW_IN_GO, held[written.end() :].strip()
    )
    return MapAct(line, message, fix, is_sure=is_lost is not None)


def _is_lost(text: str, put: int, function: Node | None, file: SourceFile) -> bool:
    """Whether a map that is given two values loses one. Of two that are computed from the key one is as good as the
    other; of two objects, of two that callers bring, and of two that are drawn, one is lost."""
    if _NEW_OBJECT.search(text):
        return True
    key, _, value = text[put : closing_bracket(text, put)].partition(",")
    made = (
        [each[1] for each in followed(value.strip(), text[:put], _MADE, "_.")] if value.strip().isidentifier() else []
    )
    value = made[-1] if made else value
    parameters = function.child_by_field_name("parameters") if function is not None else None
    is_given = value.strip().isidentifier() and value.strip() not in key and parameters is not None
    listed = file.text(parameters) if is_given and parameters is not None else ""
    return re.search(rf"\b{value.strip()}\s*[,)]", listed) is not None if listed else bool(_DRAWN.search(value))


def _is_static_set_up(method: Node, file: SourceFile) -> bool:
    """Whether a static initialiser calls the method: it runs once, when the class is loaded."""
    name = method.child_by_field_name("name")
    if name is None:
        return False
    called = rb"\bstatic\s*\{[^{}]*\b" + re.escape(file.text(name).encode()) + rb"\("
    return re.search(called, file.source) is not None
