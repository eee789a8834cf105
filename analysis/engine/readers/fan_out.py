"""What is started for each element of a collection: how many run at a time, who gave the collection, and whether what
is started leaves the process."""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Function
from analysis.engine.queries import QuerySite
from analysis.engine.readers.go_rows import filled_by
from analysis.engine.readers.held_clients import client_behind
from analysis.engine.readers.outside_calls import by_class, what_it_does
from analysis.engine.readers.reading import (
    CALLS,
    assigned_values,
    followed,
    function_text,
    parameter_list,
    text_before,
    within,
)

SMALL = 20  # elements that are known to be few
# What lets a few run at a time, in what is started or in the loop that starts it.
_LIMITS = re.compile(
    r"[sS]emaphore|p-?[lL]imit|pMap|\blimit(?:ed)?\(|[lL]imiter|CapacityLimiter|<-\s*sem|\bsem\w*\s*<-|\b(?:tokens?|slots?)\s*<-"
    r"|\bpool\b|[pP]ool\.|[eE]xecutor|\bsem\w*\.|\.[aA]cquire\(|[tT]hrottle|[cC]oncurrency"
    r"|\b\w*[qQ]ueue\.add\("  # p-queue: a task waits there for its turn
)
# What cuts a collection into pieces of known size, or off.
_CUT = re.compile(
    r"slice\(|splice\(|[cC]hunk|[bB]atch|[pP]artition|\[[^\[\]]*:[^\[\]]*\]|\.take\(|paginat|[tT]op_?[kKnN]\b|\bmin\("
)
_ONE_PAGE = re.compile(r"(?i)\blimit\b|\btake\s*:|\bper_?page\b|\bpage_?size\b")  # of what a query is asked for
_PIECEWISE = re.compile(r"[bB]atch|[cC]hunk|[pP]age|DataLoader$")
_ARGUMENTS = frozenset({"arguments", "argument_list"})
_LONGEST_QUERY = 1_000  # characters
_COUNTED = r"(?:\blen\({0}\)|(?<![\w.]){0}\.(?:length|size\(\)))\s*>=?(?!\s*[01]\b)"
_CHANNEL = re.compile(r"\w\s*<-|<-\s*\w")
_LIMITED_INSIDE = re.compile(rf"{_LIMITS.pattern}|\basync\s+with\s+[\w.]*(?:sem|limit|slots?|gate)\w*", re.IGNORECASE)
_HEADER = 200  # characters
_RECEIVER = re.compile(r"func \((\w+) ")
_CONTEXT = re.compile(r"(?i)(?:ctx|context|config|settings|options|opts|env|app)\b")
_OF_REQUEST = re.compile(
    r"(?:await\s+)?(?:self\.)?(?:request|req|ctx|c)\.(?:json|form|data|body|args|query|params|GET|POST|get_json|request)\b"
)
_TAKEN_APART = re.compile(r"\b(?:const|let|var)\s*\{(?P<names>[^{}]*)\}\s*(?::[^=\n]+)?=\s*(?P<value>[^;\n]*)")
_ROUTE = re.compile(r"\.(?:get|post|put|patch|delete|route|api_route|websocket)\b")
# Parts of the program, of which there are few.
_PARTS = re.compile(
    r"(?i)(service|provider|handler|listener|plugin|component|module|probe|check|hook|driver"
    r"|backend|worker|consumer|connector|exporter|notifier|sink|scraper)\w*s\b"
)
_ANSWERED = re.compile(r"\s*,\s*\w+\s*:?=\s*((?:\w+\.)+\w+)\(")
_NAMES = frozenset({"identifier", "attribute", "member_expression"})  # `ids.map(load)`
_MOST_CALLS = 12  # whose names are noted of what is started
_REMEMBERED = re.compile(r"\bif\b\s*\(?\s*((?:this\.|self\.)?\w+)(?: is not None)?\s*\)?\s*[:{]?\s*return \1\b")
_LEVELS = 2  # of calls until the process is left
# By the name of the object that is asked; `what_it_does` knows those that say more.
_OVER_NETWORK = re.compile(
    r"(?:^|[./])_?\w*(?:[cC]lient|[hH]ttp|[sS]ession|[aA]pi|[rR]est|[rR]estTemplate|[gG]rpc)\.(?:Do|Get|Post|PostForm|Head|Put|Send"
    r"|get|post|put|patch|delete|head|request|send|stream|fetch\w*|(?:post|get|patch)For\w+|exchange)$"
    r"|^net\.(?:Dial|Lookup)\w*$|^(?:\w+\.)*(?:Dial|DialContext)$"
)


def is_limited(node: Node, started: str, collection: str, file: SourceFile) -> bool:
    """Whether a few run at a time: what is started or the loop around it waits for room, or the collection is a piece
    of one, or was measured before. A limit of something else in the function is none."""
    if _LIMITS.search(started) or _CUT.search(_without_body(collection, node, file)):
        return True
    if any(_LIMITS.search(file.text(block)[:_HEADER]) for block in _blocks_around(node, file)):
        return True
    name = collection.partition(".")[0].strip()
    if not name.isidentifier():
        return False
    loop = file.loop_of(node)
    while loop is not None:
        if name in loop.variables and _CUT.search(loop.iterable):
            return True
        loop = loop.parent
    texts = [file.text(value)[:_LONGEST_QUERY] for value in assigned_values(name, node, file)]
    if any(_CUT.search(text[:_HEADER]) or _ONE_PAGE.search(text) for text in texts):
        return True
    if _ONE_PAGE.search(filled_by(name, node, file)):
        return True
    if _is_given_by_batches(name, node, file):
        return True
    return re.search(_COUNTED.format(re.escape(collection)), text_before(node, file)) is not None


def _without_body(collection: str, node: Node, file: SourceFile) -> str:
    """The collection without the object of which it is a field, where a route is given that as the body of its request:
    `batch.rows` of a `batch: Batch` may be as long as its caller likes."""
    head, dot, rest = collection.partition(".")
    function = file.functions[file.function_of(node)]
    if not dot or file.language != "python" or not any(map(_ROUTE.search, function.decorators)):
        return collection
    bodies = (each.name for each in file.dialect.parameters(function.node, file) if each.annotation)
    return rest if head in bodies else collection


def _blocks_around(node: Node, file: SourceFile) -> Iterator[Node]:
    """The `with` statements of the same function that hold the node."""
    scope: Scope | None = file.scope_of(node)
    while scope is not None and scope.kind not in ("function", "closure", "module"):
        if scope.kind == "with":
            yield scope.node
        scope = scope.parent


def _is_given_by_batches(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the name is that of a piece: `Order.findInBatches({...}, async (orders) => {...})`."""
    function = file.enclosing_function(node)
    while function is not None and function.parent is not None:
        listed = parameter_list(function)
        if listed is not None and name in re.findall(r"\w+", file.text(listed)):
            around = function.parent.parent if function.parent.type in _ARGUMENTS else None
            return around is not None and _PIECEWISE.search(file.callee(around)) is not None
        function = file.enclosing_function(function.parent)
    return False


def waits_for_room(statement: Node, loop: Node, file: SourceFile) -> bool:
    """Go: whether each round sends or receives before it starts anything, as a channel of limited room makes it."""
    before = file.source[loop.start_byte : statement.start_byte].decode("utf-8", "replace").partition("{")[2]
    return _CHANNEL.search(before) is not None or "sizedwaitgroup" in function_text(statement, file)


def is_small(collection: str, call: Node, file: SourceFile) -> bool:
    """Whether a local name stands for a short literal list."""
    if not re.fullmatch(r"\w+", collection):
        return False
    values = assigned_values(collection, call, file)
    return bool(values) and all(value.type == "array" and value.named_child_count <= SMALL for value in values)


def is_limited_inside(name: str, file: SourceFile) -> bool:
    """Whether the coroutine function takes a semaphore itself."""
    return any(
        each.short_name == name and _LIMITED_INSIDE.search(file.text(each.node)) is not None
        for each in file.functions[1:]
    )


def is_own(collection: str, node: Node, file: SourceFile) -> bool:
    """Whether the object keeps the collection itself: as many as were registered with it."""
    receiver = _RECEIVER.match(function_text(node, file)) if file.language == "go" else None
    return collection.startswith(("self.", f"{receiver[1]}." if receiver is not None else "self."))


def is_of_request(collection: str, node: Node, file: SourceFile) -> bool:
    """Whether a request brings the collection for certain: whatever it is called, it is as long as the caller likes."""
    if _OF_REQUEST.match(collection) is not None:
        return True
    name = re.split(r"[.\[(]", collection, maxsplit=1)[0]
    if not name.isidentifier():
        return False
    if any(_OF_REQUEST.match(file.text(each)) for each in assigned_values(name, node, file)):
        return True
    if file.language in ("python", "go", "java"):
        return False
    taken = _TAKEN_APART.finditer(text_before(node, file))
    return any(name in re.findall(r"\w+", each["names"]) and _OF_REQUEST.match(each["value"]) for each in taken)


def is_given(collection: str, node: Node, file: SourceFile) -> bool:
    """Whether a caller gives the collection, or what it was taken from, to a function around the node, or a request
    brings it."""
    if _CONTEXT.match(collection) is not None:
        return False
    if is_of_request(collection, node, file):
        return True
    name = re.split(r"[.\[(]", collection.lstrip("*&("), maxsplit=1)[0]
    head = re.escape(name)
    function = file.enclosing_function(node)
    while function is not None:
        listed = parameter_list(function)
        found = re.search(rf"(?<![\w.]){head}\b(\s+\.\.\.func\()?", file.text(listed)) if listed is not None else None
        if found is not None:
            return not found[1]  # functions that the caller lists are few
        function = file.enclosing_function(function.parent) if function.parent is not None else None
    return False


def answered_by(collection: str, node: Node, file: SourceFile) -> str:
    """The call that gives a local name what it holds, for `loads_rows`: `subs, err := n.subs.Of(ctx, workspace)`."""
    given = [each[1] for each in followed(collection, text_before(node, file), _ANSWERED, "_.")]
    return file.resolve(given[-1]) if given and collection.isidentifier() else ""


def loads_rows(call: str, place: Place, codebase: Codebase) -> bool:
    """Whether a function that is called loads rows of a table which does not stay small, and not a few of them."""
    return any(
        _may_be_many(site) and not 0 < site.query.limit <= SMALL
        for callee in place.meant_by(call)
        for site in codebase.queries.by_function.get(callee, ())
    )


def is_asked_for(collection: str, node: Node, file: SourceFile) -> bool:
    """Whether a local name stands for what a method of some object gave, as a repository does: `are_rows` knows."""
    if not collection.isidentifier():
        return False
    return any("." in file.text(each).partition("(")[0] for each in assigned_values(collection, node, file))


def are_rows(name: str, place: Place, codebase: Codebase) -> bool:
    """Whether the function gives this name the rows of a query for a table which does not stay small, and not a few of
    them."""
    sites = place.queries
    return any(_may_be_many(site) and not site.query.limit for site in sites if site.query.variable == name)


def _may_be_many(site: QuerySite) -> bool:
    return site.query.operation == "select" and not (site.has_key or site.looks_small)


def are_parts(collection: str, started: str, elements: tuple[str, ...]) -> bool:
    """Whether the elements are parts of the program, of which there are few: by the name of the collection, unless
    they are only given to others, as data is."""
    if _PARTS.search(collection) is None:
        return False
    names = "|".join(re.escape(each) for each in elements)
    return not names or re.search(rf"(?<![\w.])(?:{names})(?:\[\w+\])?(?:\??\.\w+)?\(", started) is not None


def called_in(started: Node, file: SourceFile) -> str:
    """The names of the functions that are called in what is started, or of the one that is given to be called, for
    `leaves_process`."""
    if started.type in _NAMES:
        return file.resolve(file.text(started))
    calls = (each for each in (started, *within(started, stop=frozenset())) if each.type in CALLS)
    names = dict.fromkeys(name for each in calls if (name := file.callee(each)) and " " not in name)
    return " ".join(list(names)[:_MOST_CALLS])


def leaves_process(names: str, place: Place, codebase: Codebase) -> bool:
    """Whether one of the functions asks a server or a database, itself or by what it calls."""
    return any(_leaves(name, place.path, place.function, codebase, _LEVELS) for name in names.split())


def _leaves(name: str, path: str, caller: Function, codebase: Codebase, levels: int) -> bool:
    facts = codebase.files[path]
    if what_it_does(by_class(name, caller, facts), facts.language) not in ("", "sleeps") or _OVER_NETWORK.search(name):
        return True
    client = client_behind(name, path, codebase)
    if client is not None and what_it_does(f"{client.library}.{name.rpartition('.')[2]}", facts.language):
        return True
    for callee in codebase.calls.resolve(path, caller, name) if levels else ():
        facts = codebase.files[callee.path]
        function = facts.functions[callee.position]
        if any(query.function == callee.position for query in facts.queries):
            return True
        calls = _run_at_once(callee.position, facts)
        if any(_leaves(each, callee.path, function, codebase, levels - 1) for each in calls):
            return True
    return False


def _run_at_once(position: int, facts: FileFacts) -> Iterator[str]:
    """What a function calls, and what it gives a promise that it makes: `new Promise((resolve) => request(…))`."""
    yield from facts.functions[position].calls
    for each in facts.functions[position + 1 :]:
        if each.parent == position and each.name.endswith(".Promise()"):
            yield from each.calls


def starts_them_once(node: Node, file: SourceFile) -> bool:
    """Whether the function gives what it made the first time, and so starts them once: `if (known) return known;`."""
    text = function_text(node, file)
    known = _REMEMBERED.search(text)
    return known is not None and re.search(rf"(?m)^\s*{re.escape(known[1])}\s*=(?!=)", text) is not None


def is_given_one(started: re.Match[str], elements: Iterable[str]) -> bool:
    """Whether what runs is given the element of the loop to work on."""
    arguments = started.string[started.end() :].partition("\n")[0].partition(")")[0]
    return not set(re.findall(r"\w+", arguments)).isdisjoint(elements)


def takes_messages(place: Place) -> bool:
    """Whether the function is called for each message of a queue; what an application tells itself is rare."""
    return any(
        entry.function == place.function.name and entry.detail.endswith("Listener") and "Event" not in entry.detail
        for entry in place.facts.entries
    )
