"""A cache that only ever grows."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import FunctionDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers import empty_collections, made_objects
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.cache_contents import is_emptied, is_exported, is_of_a_cache
from analysis.engine.readers.cache_keys import (
    are_of_one_person,
    given_by_callers,
    has_few_keys,
    is_enumerated,
    is_enumeration,
    kind_of_keys,
    says_few,
    told_of_keys,
    written_keys,
)
from analysis.engine.readers.go_handlers import answers_requests
from analysis.engine.readers.java_beans import has_bean
from analysis.engine.readers.made_objects import Made
from analysis.engine.readers.reading import KEY, followed, has_own
from analysis.engine.readers.thread_locals import left_behind
from analysis.engine.rules.base import ALL, GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-unbounded-cache",
    type="unbounded_cache",
    category=Category.RUNTIME_RISK,
    title="Unbounded cache",
    severity=Severity.WARNING,
    points=1.5,
    suggestion="Bound it (`lru_cache(maxsize=...)`, TTL cache); this grows until the process is killed.",
    confidence=Confidence.MEDIUM,
    languages=ALL,
)
GUIDE = Guide(
    why="It only ever grows: memory runs out after days, far from the line that fills it.",
    flagged=(
        {
            "shop/work.py": """
SEEN = {}


def rate(customer):
    if customer not in SEEN:
        SEEN[customer] = fetch(customer)
    return SEEN[customer]
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
# Other names count as well where a request or a job adds to them, but for what is filled at the start.
_FILLED_AT_THE_START = re.compile(
    r"(?i)regist|handler|plugin|listener|subscri|hook|middleware|route|loader|factor|command|strateg|convert|config"
    r"|setting|option|propert|histogram|metric|gauge|counter|stats|instance|client|engine|lock|mutex|pool|logger|context"
)
_FILLS_AT_THE_START = re.compile(
    r"(?i)^_*(?:regist|init|setup|configure|load|add_?route|define|subscribe|boot|main|set[A-Z_])"
)
_BY = re.compile(r"(?:By[A-Z]|_by_)\w*$")
_BEFORE_REQUESTS = re.compile(r"(^|/)(?:install|migrate|upgrade)/")
_STARTS_UP = re.compile(r"^_*(?:init|setup|bootstrap)(?![a-z])")
_AT_THE_TOP = "(module (expression_statement (assignment) @n))"
_OF_A_CLASS = "(class_definition body: (block (expression_statement (assignment) @n)))"
_OF_A_STRUCT = "(struct_type (field_declaration_list (field_declaration type: (map_type)) @n))"
_PYTHON_MAPS = (b"{}", b"{ }", b"dict(", b"Dict(", b"[]", b"set(", b"list(")
_SCRIPT_MAPS = (b"new Map", b"new Set", b"{}", b"{ }", b"[]")
_NEW_LINE = ord("\n")
_KEEPS_SELF = frozenset({"functools.lru_cache", "functools.cache"})
_ONE_OBJECT = re.compile(
    rb"@classmethod\s+def\s+(?:get_)?(?:default|instance|singleton|shared)\(\s*cls\s*\)|\bdef __new__\(cls"
)
_NEAR = 900  # bytes before a declaration in which its comment stands
_SAID_FEW = re.compile(
    rb"(?i)(?://|#|\*)[^\n]*\b(?:bounded by|(?:expected|known) to be (?:low|small|few)|fixed set|small,? fixed)"
)
_A_HANDFUL = re.compile(r"\((?:maxsize\s*=\s*)?\d\b")
_FEW = re.compile(r"\((?:maxsize\s*=\s*)?\d\d\b")
_METHOD_HEAD = re.compile(rb"\s*(?:@[^\n]*\n\s*)*(?:async\s+)?def\s+(\w+)\(\s*(self)\b\s*(,?)")
_SMALL_KEYS = re.compile(rb"\bmap\[(?:u?int(?:8|16)|bool|byte)\]")  # there are not many numbers so short
_BROWSER = re.compile(
    rb"\b(window|document|localStorage|useState|useEffect|useRef|ipcRenderer|AudioContext)\b|['\"]use client['\"]"
)
_FUNCTION_HEAD = re.compile(rb"\s*(?:@[^\n]*\n\s*)*(?:async\s+)?def\s+(\w+)\(([^)]*)\)")
# Adding under a key that is no literal.
_ADDED = re.compile(
    rb"(?:\[\s*(?![\"'\d]|`[^`$]*`)(?P<key>" + KEY + rb")\]\s*(?:\+?=(?!=)|\+\+)"
    rb"|\.(?:set|put|putIfAbsent|computeIfAbsent|compute|merge|setdefault|add|append|push|unshift|offer|Store"
    rb"|LoadOrStore)\(\s*(?![\"'\d)]|`[^`$]*`)(?P<given>[^,\n)]*))"
)
# What may stand before the name where something is added.
_ALONE = re.compile(rb"(?:^|[^.])\Z")
_OF_SOMETHING = re.compile(rb"\w\.\Z")
_OF_THE_CLASS = re.compile(rb"\b(?:self|cls|[A-Z]\w*)\.\Z")
_ALONE_OR_FIELD = re.compile(rb"(?:^|[^.]|\b(?:this|[A-Z]\w*)\.)\Z")
_STATIC = re.compile(rb"@(staticmethod|classmethod)")


def look_at_decorator(decorator: Node, file: SourceFile) -> Iterator[Mark]:
    """`lru_cache` on a method keeps every instance alive."""
    text = file.text(decorator).lstrip("@").strip()
    if file.resolve(text.partition("(")[0]) not in _KEEPS_SELF:
        return
    if _A_HANDFUL.search(text):
        return
    method = _METHOD_HEAD.match(file.source, decorator.end_byte)
    if method is None or _STATIC.search(file.source, max(0, decorator.start_byte - 80), method.start(1)):
        return
    owner = file.scope_of(decorator)
    if owner.kind == "class" and _ONE_OBJECT.search(file.source, owner.start, owner.end):
        return  # there is one object, which stays anyway
    yield file.mark(
        RULE.id,
        decorator,
        f"The cache of `{method[1].decode()}` keeps every `self` alive that it was called on",
        suggestion="Cache on the instance (`functools.cached_property`) or in a function without `self`.",
        data={"form": "method", "class": _class_name(owner, file)} | ({"few": "1"} if _FEW.search(text) else {}),
    )


def _class_name(scope: Scope, file: SourceFile) -> str:
    name = scope.node.child_by_field_name("name") if scope.kind == "class" else None
    return file.text(name) if name is not None else ""


def look_at_memo(decorator: Node, file: SourceFile) -> Iterator[Mark]:
    """`functools.cache` on a function with arguments keeps every answer that it ever gave."""
    text = file.text(decorator).lstrip("@").strip()
    name = file.resolve(text.partition("(")[0])
    if name != "functools.cache" and not (
        name == "functools.lru_cache" and re.search(r"maxsize\s*=\s*None|\(None\)", text)
    ):
        return
    head = _FUNCTION_HEAD.match(file.source, decorator.end_byte)
    definition = decorator.parent.child_by_field_name("definition") if decorator.parent is not None else None
    if head is None or definition is None or head[2].strip().startswith((b"self", b"cls")) or not head[2].strip():
        return
    if says_few(head[2].decode("utf-8", "replace")):
        return
    index = next((each.index for each in file.functions if each.node.id == definition.id), 0)
    message = f"The cache of `{head[1].decode()}` has no limit and keeps an answer for every argument it was ever given"
    data = {"form": "memo", "functions": str(index)}
    if all(b"=" in part for part in head[2].split(b",") if part.strip()):
        data["configured"] = "1"  # callers may leave all arguments out
    yield file.mark(RULE.id, decorator, message, data=data)


def look_at_thread_local(field: Node, file: SourceFile) -> Iterator[Mark]:
    name = left_behind(field, file)
    if name:
        message = f"`{name}` is set and never removed: a thread of a pool keeps it for the next request"
        fix = f"Call `{name}.remove()` in `finally`."
        yield file.mark(RULE.id, field, message, suggestion=fix, data={"form": "local"})


def look_at_java(field: Node, file: SourceFile) -> Iterator[Mark]:
    if file.enclosing_function(field) is not None:
        return  # of a class that lives as long as a call
    if b"removeEldestEntry" in file.source[field.start_byte : field.end_byte]:
        return
    found = empty_collections.field_of_java(field, file)
    if found is not None and (found.is_static or has_bean(file.source)):
        yield from _grown(found.name, field, file, owner=_ALONE_OR_FIELD, of_bean=has_bean(file.source))


def look_at_go(spec: Node, file: SourceFile) -> Iterator[Mark]:
    name = empty_collections.in_go(spec, file)
    if name and file.scope_of(spec).kind == "module":
        yield from _grown(name, spec, file)


def look_at_go_field(field: Node, file: SourceFile) -> Iterator[Mark]:
    """A map in a struct that lives as long as the server: that there is one of it is a guess, unless the package
    makes one for all."""
    name = file.source[field.start_byte : field.end_byte].split(None, 1)[0].decode("utf-8", "replace")
    if _SMALL_KEYS.search(file.source, field.start_byte, field.end_byte) is not None:
        return
    is_of_the_only_one = _is_of_the_only_one(field, file)
    if is_of_the_only_one or _CACHE_NAME.search(name):
        yield from _grown(name, field, file, form="field", owner=_OF_SOMETHING, of_bean=is_of_the_only_one)


def _is_of_the_only_one(field: Node, file: SourceFile) -> bool:
    """Whether a variable of the package holds an object of the struct: `var shared = NewGroup(load)`."""
    kind = file.scope_of(field).node.child_by_field_name("name")
    if kind is None or not file.mentions(b"\nvar "):
        return False
    made = rb"^var\s+\w+[^\n=]*=\s*(?:&?KIND\{|new\(KIND\)|[nN]ewKIND\()".replace(b"KIND", file.text(kind).encode())
    return re.search(made, file.source, re.MULTILINE) is not None


def look_at_class(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """A cache of a Python class, which all of its instances fill."""
    name = empty_collections.in_python(assignment, file)
    if name and _CACHE_NAME.search(name):
        yield from _grown(name, assignment, file, owner=_OF_THE_CLASS)


def look_at_script_field(field: Node, file: SourceFile) -> Iterator[Mark]:
    """A map in a provider of Nest, or in a static field: there is one for the whole process."""
    found = empty_collections.field_of_script(field, file)
    if found is not None and (found.is_static or b"@Injectable(" in file.source):
        yield from _grown(found.name, field, file, owner=_ALONE_OR_FIELD, of_bean=not found.is_static)


def look_at_python(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    start = assignment.start_byte
    if start and file.source[start - 1] != _NEW_LINE:
        return  # a second statement of its line
    name = empty_collections.in_python(assignment, file)
    if name:
        yield from _grown(name, assignment, file)


def look_at_script(declarator: Node, file: SourceFile) -> Iterator[Mark]:
    name = empty_collections.in_script(declarator, file)
    if name and file.scope_of(declarator).kind == "module":
        yield from _grown(name, declarator, file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Tools and pages end before anything grows. That there are many keys is certain where a request or job adds what
    people bring; a guess where only the name of the key says so."""
    form = mark.data.get("form", "")
    if form == "local":
        return place.finding(mark)
    if form == "method":
        return _kept_alive(mark, place, codebase)
    if (
        place.facts.is_entry
        or place.kind is FileKind.SCRIPT
        or _BEFORE_REQUESTS.search(place.path)
        or (place.facts.language in SCRIPT and runs_in_browsers(place))
    ):
        return None
    if "kind" in mark.data and is_enumerated(mark.data["kind"], codebase):
        return None
    functions = {int(index) for index in mark.data["functions"].split()}
    paths = (codebase.request_path, codebase.job_path)
    answers = "served" in mark.data
    is_served = answers or any(not functions.isdisjoint(path.get(place.path, frozenset())) for path in paths)
    is_handler = answers or not functions.isdisjoint(codebase.handlers.get(place.path, ()))
    if form == "memo":
        return place.finding(mark, confidence=_guess("configured" in mark.data)) if is_served else None
    sure = _surely_grows(mark, is_served=is_served, is_handler=is_handler)
    if sure is None:
        return None
    return place.finding(mark, confidence=_guess(not sure))


def _surely_grows(mark: Mark, *, is_served: bool, is_handler: bool) -> bool | None:
    """Whether there are many keys for certain; None where nothing says so."""
    given, form = mark.data.get("given", ""), mark.data.get("form", "")
    if is_served and "configured" not in mark.data and (is_handler or "people" in mark.data):
        return form != "field"
    if given == "remembered" and (is_served or "bean" in mark.data):
        return is_served and "people" in mark.data
    if "configured" in mark.data:
        return False if is_handler or (given and is_served) else None
    if given and is_served:
        return False
    return False if (is_handler or "people" in mark.data) and not form else None


def _guess(is_guess: bool) -> Confidence | None:
    return Confidence.LOW if is_guess else None


def _kept_alive(mark: Mark, place: Place, codebase: Codebase) -> Finding | None:
    """Objects that are made again and again pile up; one that a module makes when it is loaded stays anyway."""
    made = made_objects.where(mark.data["class"], codebase)
    if made is Made.ONCE or runs_by_hand(codebase, place.path):
        return None
    return place.finding(mark, confidence=_guess(made is not Made.BY_REQUESTS or "few" in mark.data))


def _grown(
    name: str,
    declared: Node,
    file: SourceFile,
    form: str = "",
    owner: re.Pattern[bytes] = _ALONE,
    *,
    of_bean: bool = False,
) -> Iterator[Mark]:
    """A mark when functions add under changing keys and nothing of the file ever takes out or counts."""
    is_named = _CACHE_NAME.search(name) is not None or is_of_a_cache(declared, file)
    held = _BY.sub("", name)  # `ratesByClient` holds rates
    if _stays_small(held, declared, file, is_named=is_named):
        return
    added = [
        match
        for match in followed(name.encode(), file.source, _ADDED, b"_$")
        if _is_meant(match.start() - len(name), owner, file) and not has_few_keys(name.encode(), match, file)
    ]
    adding = (file.scope_at(match.end() - 1, match.end()).function for match in added)
    functions = dict.fromkeys(
        each.index for each in adding if each.index and not _fills(each, name, file, is_named=is_named)
    )
    if not functions or is_emptied(name, declared, file) or is_exported(name, file):
        return
    declares = file.source[declared.start_byte : declared.end_byte].partition(b"=")[0].decode("utf-8", "replace")
    kind = kind_of_keys(declares, added, file)
    if (says_few(held) and not are_of_one_person(written_keys(added))) or (kind and is_enumeration(kind, file)):
        return
    data = {"functions": " ".join(map(str, functions))}
    if kind and file.language == "python":
        data["kind"] = kind
    data |= told_of_keys(held, declares, added)
    if any(answers_requests(match.start(), file) for match in added):
        data["served"] = "1"
    if form or not is_named:
        data["form"] = form or "other"
    if given := given_by_callers(name, added, file):
        data["given"] = given
    if of_bean:
        data["bean"] = "1"  # services are there for requests, whoever calls them
    message = f"`{name}` is added to and never emptied: it grows as long as the process runs"
    yield file.mark(RULE.id, declared, message, data=data)


def _stays_small(name: str, declared: Node, file: SourceFile, *, is_named: bool) -> bool:
    """Whether it is filled at the start by its name, the comment above says that there are few, or the file is of one
    page."""
    if not is_named and _FILLED_AT_THE_START.search(name):
        return True
    if file.language in SCRIPT and _BROWSER.search(file.source):
        return True
    above = file.source[max(0, declared.start_byte - _NEAR) : declared.start_byte].rpartition(b"\n\n")[2]
    return _SAID_FEW.search(above) is not None


def _is_meant(start: int, owner: re.Pattern[bytes], file: SourceFile) -> bool:
    """Whether a name at this byte belongs to such an owner, and stands in no comment."""
    line = file.source[file.source.rfind(b"\n", 0, start) + 1 : start]
    return owner.search(line) is not None and not line.lstrip().startswith((b"#", b"//", b"*"))


def _fills(function: FunctionDraft, name: str, file: SourceFile, *, is_named: bool) -> bool:
    """Whether the function adds to something of its own, or says that it prepares. What is called a cache is filled by
    others as well, but for what starts the process."""
    if is_named:
        return _STARTS_UP.search(function.short_name) is not None
    text = file.source[function.node.start_byte : function.node.end_byte]
    return _FILLS_AT_THE_START.search(function.short_name) is not None or has_own(name, text)


WATCHES = (
    Watch("decorator", look_at_decorator, PYTHON),
    Watch("decorator", look_at_memo, PYTHON, needs=(b"cache",)),
    Watch("field", look_at_java, JAVA, needs=(b"Map<", b"Set<", b"List<")),
    Watch("field", look_at_thread_local, JAVA, needs=(b"ThreadLocal<",)),
    Watch("var_spec", look_at_go, GO, needs=(b"map[", b"sync.Map"), starts=empty_collections.IN_GO),
    Watch("field", look_at_script_field, SCRIPT, needs=_SCRIPT_MAPS),
    Watch(_OF_A_STRUCT, look_at_go_field, GO, needs=(b"map[",)),
    Watch(_OF_A_CLASS, look_at_class, PYTHON, needs=_PYTHON_MAPS, starts=empty_collections.BEGINS_IN_PYTHON),
    Watch(_AT_THE_TOP, look_at_python, PYTHON, needs=_PYTHON_MAPS, starts=empty_collections.BEGINS_IN_PYTHON),
    Watch("variable_declarator", look_at_script, SCRIPT, needs=_SCRIPT_MAPS, starts=empty_collections.IN_SCRIPT),
)
