"""Importing a file talks to the network, opens a database, reads files, starts processes or sleeps."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.effects_of_calls import (
    DATABASE,
    FILE,
    GLOBAL,
    GO_CALLS,
    NETWORK,
    PROCESS,
    PYTHON_CALLS,
    SCRIPT_CALLS,
)
from analysis.engine.readers.handlers import HANDLERS
from analysis.engine.readers.reading import assigned_values, followed, is_imported, origin_of, text_before
from analysis.engine.rules.base import GO, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="arch-import-side-effect",
    type="import_side_effect",
    category=Category.ARCHITECTURE,
    title="Import with side effects",
    severity=Severity.WARNING,
    points=2,
    suggestion="Do it in a function called at start-up; import must not fail because a server is down.",
    languages=(*PYTHON, *SCRIPT, *GO),
    in_scripts=False,
    guesses=False,
)
GUIDE = Guide(
    why=(
        "An import that talks to the network or opens files is slow, fails at the worst moment, and runs in every test "
        "and tool that only wants a name."
    ),
    flagged=(
        {
            "shop/rates.py": """
import requests

RATES = requests.get("https://rates.example.org", timeout=5).json()
""",
            "shop/views.py": "from shop.rates import RATES",
        },
    ),
    fine=(
        {
            "shop/rates.py": """
import requests


def rates():
    return requests.get("https://rates.example.org", timeout=5).json()
"""
        },
    ),
)
# A file that lies there is read at once, and a process may be the program's own to change.
_LESS_SURE = {FILE: Confidence.LOW.value, GLOBAL: Confidence.MEDIUM.value}
_STARTS_A_SERVER = frozenset({"listen", "serve", "run_forever", "createServer", "Worker"})
# What opens a connection by its name alone, wherever the client comes from.
_CONNECTS = frozenset({"$connect", "openUri"})
# The same where it is asked without saying more, and in script waited for: `await sessions.ping()`.
_ASKS_A_SERVER = frozenset({"ping", "connect", "authenticate"})
_WAITED_FOR = frozenset({"query", "execute", "initialize", "runMigrations", "migrate"})
_LIMITED = re.compile(rb"\btimeout\b|\bsignal\b")
_FAILS = re.compile(rb"\b(?:raise|throw|exit)\b")
# Files beside the module are part of the package.
_OWN_DATA = re.compile(
    r"__file__|__dirname|import\.meta|process\.cwd\(\)|importlib\.resources|files\(|\b(?:SERVER|ROOT|BASE|APP)_?(?:PATH|DIR)\b"
)
_ENVIRONMENT = re.compile(r"process\.env\b|os\.(?:environ|getenv)\b")
_NAME = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(rb"^(?:(?:export[ ]+)?(?:const|let|var)[ ]+)?(\w+)[ ]*(?::[^=\n]*)?=(?!=)([^\n]*)", re.MULTILINE)
_SETTINGS = re.compile(r"(^|/)(settings|config|conf|configuration)(/|[\w.]*\.\w+$)|\.config\.[cm]?[jt]s$")
_LIBRARY_ENTRY = re.compile(
    r"(^|/)(main|manage|wsgi|asgi|server|app|cli|bootstrap|instrumentation|celery\w*|__main__)\.\w+$|(^|/)server/index\.\w+$"
)
_MAIN_GUARD = re.compile(rb"__name__|require\.main|\bis_?main", re.IGNORECASE)
# A file of the machine, and no data of the package; what the system says of itself, and secrets, lie there at once.
_OF_THE_MACHINE = re.compile(r"""["'`](?:/(?!proc/|sys/|(?:var/)?run/secrets/|dev/|etc/os-release)|[A-Za-z]:\\)""")
_GO_ORIGIN = re.compile(r"(?:\s*,\s*\w+)*\s*:?=\s*([\w.]+)\(")
_CALLED = re.compile(rb"\(")
# What a closure stands in that its function only makes.
_KEEPS = frozenset({"return_statement", "literal_element", "pair", "array", "list", "arrow_function", "lambda"})
_DECLARES = (b"def ", b"function ", b"function* ", b"func ")
# The only way to read the mask is to set another one; it is given back at once.
_UMASK_READ = re.compile(rb"(\w+) = os\.umask\([^()]*\)\s*os\.umask\(\1\)")


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls at the top level, outside `if __name__ == "__main__"`."""
    yield from _look(call, file, PYTHON_CALLS)


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls at the top level, outside `if (require.main === module)`."""
    yield from _look(call, file, SCRIPT_CALLS)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls in `init` and in the values of package variables."""
    yield from _look(call, file, GO_CALLS, functions=("init",))


def look_at_go_statement(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`go refresh()` in `init`."""
    if file.enclosing_function(statement) is None or file.scope_of(statement).function.name != "init":
        return
    message = "Importing this package starts a goroutine"
    yield file.mark(RULE.id, statement, message, data={"effect": PROCESS})


def _look(call: Node, file: SourceFile, known: dict[str, str], functions: tuple[str, ...] = ()) -> Iterator[Mark]:
    started = call if _runs_on_import(call, file, functions) else _call_of_its_function(call, file, known, functions)
    if started is None:
        return
    callee = _callee(call, file)
    effect = known.get(callee) or (DATABASE if _is_named_as_connecting(callee, call, file) else "")
    if not effect or _OWN_DATA.search(file.text(call)) or _is_guarded(started, file):
        return
    if callee == "os.umask" and _UMASK_READ.search(file.source) is not None:
        return
    if effect == FILE and (_is_own_data(call, file) or _is_named_outside(call, file) or _is_tried(call)):
        return
    if _is_borne(call, file):
        return
    way = f" by way of `{file.scope_of(call).function.name}`" if started is not call else ""
    is_sure = callee in known and started is call
    confidence = _LESS_SURE.get(effect, "") if is_sure else Confidence.MEDIUM.value
    yield file.mark(
        RULE.id,
        started,
        f"Importing this file runs `{callee}`, {effect}{way}",
        severity=Severity.CRITICAL.value if effect in (NETWORK, DATABASE) else "",
        confidence=Confidence.MEDIUM.value
        if effect == FILE and _OF_THE_MACHINE.search(file.text(call))
        else confidence,
        data={"effect": effect},
    )


def _is_named_as_connecting(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether a call talks to a server as far as its name and what stands around it tell."""
    head, _, name = callee.rpartition(".")
    if name in _CONNECTS:
        return True
    if not head or file.language == "go" or name not in _ASKS_A_SERVER | _WAITED_FOR:
        return False
    if file.language in SCRIPT:
        return call.parent is not None and call.parent.type == "await_expression"
    return name in _ASKS_A_SERVER and not any(file.arguments(call)) and is_imported(callee, file)


def _call_of_its_function(
    call: Node, file: SourceFile, known: dict[str, str], functions: tuple[str, ...]
) -> Node | None:
    """The call at the top level of the function around a call: what that does, importing does. Files are left out: a
    function that reads one is mostly told which."""
    if known.get(file.callee(call), FILE) == FILE or _is_tried(call):
        return None
    around = file.scope_of(call).function
    if not around.name.isidentifier() or file.enclosing_function(call) is None or _is_given_back(call, file):
        return None
    name = around.name.encode()
    for match in followed(name, file.source, _CALLED, b"_.$"):
        start = match.start() - len(name)
        at = file.scope_at(start, match.end()).function
        if (at.index == 0 or at.name in functions) and not file.source[:start].endswith(_DECLARES):
            found = file.tree.root_node.descendant_for_byte_range(start, match.end())
            if found is None or "call" not in found.type:
                continue  # in a comment or a text
            return found if _runs_on_import(found, file, functions) and not _is_tried(found) else None
    return None


def _is_given_back(call: Node, file: SourceFile) -> bool:
    """Whether a closure around a call is what its function returns, or a part of a value that it makes."""
    scope = file.scope_of(call)
    while scope.parent is not None and scope.kind != "function":
        if scope.kind == "closure" and (holder := file.parent_of(scope.node)) is not None:
            if holder.type == "expression_list":
                holder = file.parent_of(holder) or holder
            if holder.type in _KEEPS:
                return True
        scope = scope.parent
    return False


def _runs_on_import(node: Node, file: SourceFile, functions: tuple[str, ...]) -> bool:
    """Whether a node stands at the top level, in one of these functions, or in one that is called where it is made."""
    function = file.enclosing_function(node)
    if function is None:
        return file.language != "go" or not _is_kept_for_later(node)
    if file.scope_of(node).function.name in functions:
        return True
    if function.type != "arrow_function" and function.type != "function_expression":
        return False
    around = function.parent
    called = around.parent if around is not None and around.type == "parenthesized_expression" else None
    is_called = called is not None and called.type == "call_expression" and called.child(0) == around
    return is_called and called is not None and file.enclosing_function(called) is None


def _is_kept_for_later(node: Node) -> bool:
    """Whether a function around a node is the value of something, and not called where it is made: the `RunE` of a
    command."""
    above = node.parent
    while above is not None and above.type != "func_literal":
        above = above.parent
    return above is not None and (above.parent is None or above.parent.type != "call_expression")


def _is_own_data(call: Node, file: SourceFile) -> bool:
    """Whether the path begins where the module lies, by way of constants above."""
    own: set[str] = set()
    for each in _CONSTANT.finditer(file.source, 0, call.start_byte):
        value = each[2].decode("utf-8", "replace")
        if _OWN_DATA.search(value) or not own.isdisjoint(_NAME.findall(value)):
            own.add(each[1].decode("utf-8", "replace"))
    return not own.isdisjoint(_NAME.findall(file.text(call)))


def _is_named_outside(call: Node, file: SourceFile) -> bool:
    """Whether the environment says which file it is: a certificate or another secret of a setting."""
    given = file.arguments(call)[0]
    name = file.text(given[0]) if given else ""
    if _ENVIRONMENT.match(name):
        return True
    return name.isidentifier() and any(
        _ENVIRONMENT.match(file.text(value)) for value in assigned_values(name, call, file)
    )


def _is_borne(call: Node, file: SourceFile) -> bool:
    """Whether importing goes on when a server does not answer: the call has a time limit, and stands in a `try` whose
    handlers throw nothing."""
    if _LIMITED.search(file.source, call.start_byte, call.end_byte) is None:
        return False
    tried = call.parent
    while tried is not None and tried.type != "try_statement":
        tried = tried.parent
    handlers = [each for each in tried.named_children if each.type in HANDLERS] if tried is not None else []
    return bool(handlers) and not any(
        _FAILS.search(file.source, each.start_byte, each.end_byte) is not None for each in handlers
    )


def _is_tried(call: Node) -> bool:
    """Whether a `try` stands around the call: importing goes on without the file."""
    node = call.parent
    while node is not None and node.type != "try_statement":
        node = node.parent
    return node is not None


def _callee(call: Node, file: SourceFile) -> str:
    """The callee with the name in front resolved also where it is called itself, `Thread().start`, or holds what a
    call has made."""
    callee = file.callee(call)
    if callee.endswith(".metadata.create_all"):
        return "sqlalchemy.MetaData().create_all"
    head, dot, rest = callee.partition(".")
    if "/" in callee and file.language == "go":
        return callee  # a package, whose first part may look like a name of the file
    if dot and head.isidentifier() and not is_imported(callee, file) and (made := _made_by(head, call, file)):
        return f"{file.resolve(made.removesuffix('()'))}().{rest}" if made.endswith("()") else callee
    return file.resolve(head.removesuffix("()")) + "()" * head.endswith("()") + dot + rest


def _made_by(name: str, call: Node, file: SourceFile) -> str:
    """What gave a variable its value; in Go also beside an error, `db, err := sql.Open(url)`."""
    if file.language != "go":
        return origin_of(name, call, file)
    made = [match[1] for match in followed(name, text_before(call, file), _GO_ORIGIN, "_.")]
    return f"{file.resolve(made[-1])}()" if made else ""


def _is_guarded(call: Node, file: SourceFile) -> bool:
    node: Node | None = call
    while node is not None:
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is not None and _MAIN_GUARD.search(file.source[condition.start_byte : condition.end_byte]):
            return True
        node = node.parent
    return False


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Marks and queries at the top level of files that something imports, or that offer what nobody imports yet."""
    for place, mark in codebase.marks(RULE.id):
        if mark.data.get("effect") == FILE and _SETTINGS.search(place.path):
            continue
        if mark.data.get("effect") == GLOBAL and _is_start_of_program(codebase, place):
            continue
        if _is_imported(codebase, place.path):
            yield place.finding(mark)
        elif _is_offered(place) and not mark.confidence:
            yield place.finding(mark, confidence=Confidence.MEDIUM)
        elif _is_offered(place):
            yield place.finding(mark)
    for site in codebase.queries.sites:
        if not _is_asked_on_import(site) or site.facts.language not in RULE.languages:
            continue
        is_imported = _is_imported(codebase, site.path)
        if is_imported or _is_offered(codebase.place(site.path)):
            yield Finding(
                rule_id=RULE.id,
                file=site.path,
                line=site.line,
                message=f"Importing this file queries `{site.query.model or 'the database'}`",
                anchor=site.query.anchor,
                severity=Severity.CRITICAL,
                confidence=None if is_imported else Confidence.MEDIUM,
            )


def _is_asked_on_import(site: QuerySite) -> bool:
    """At the top level or in the body of a class, but not in a lambda that is only made there."""
    query = site.query
    return query.function == 0 and query.terminal != "" and query.orm != "ddl" and "later" not in site.notes


def _is_imported(codebase: Codebase, path: str) -> bool:
    """A file that no other product file imports is started, not imported, and so is one that only the function of an
    entry imports when it starts up. In Go the package is imported."""
    facts = codebase.files[path]
    if (
        facts.is_entry
        or (facts.language == "go" and facts.package == "main")
        or _LIBRARY_ENTRY.search(path)
        or MADE_UP.search(path)
    ):
        return False
    if facts.language == "go" or any(entry.kind != "main" and not _is_registered(entry) for entry in facts.entries):
        return True  # what a framework loads
    return any(
        edge.source not in codebase.graph.tests and not (edge.deferred and _LIBRARY_ENTRY.search(edge.source))
        for edge in codebase.graph.importers_of(path)
    )


def _is_start_of_program(codebase: Codebase, place: Place) -> bool:
    """Whether entries alone load a script, and for what it does: they ask for no name of it."""
    edges = [each for each in codebase.graph.importers_of(place.path) if each.source not in codebase.graph.tests]
    return (
        place.facts.language in SCRIPT
        and bool(edges)
        and all(
            not edge.names and (codebase.files[edge.source].is_entry or _LIBRARY_ENTRY.search(edge.source) is not None)
            for edge in edges
        )
    )


def _is_offered(place: Place) -> bool:
    """Whether a file declares for others what it does not use itself, and starts nothing that answers requests: no
    program, though nobody is seen to import it."""
    facts = place.facts
    if facts.is_entry or _LIBRARY_ENTRY.search(place.path) or MADE_UP.search(place.path):
        return False
    if any(entry.kind != "main" for entry in facts.entries):
        return False
    used = {name.rpartition(".")[2] for function in facts.functions for name in function.calls}
    if _STARTS_A_SERVER & used:
        return False
    offered = {*facts.exports, *(each.name for each in facts.classes if not each.name.startswith("_"))}
    declared = {each.name for each in facts.functions} | {each.name for each in facts.classes}
    if facts.language in SCRIPT and not declared.issuperset(each for each in facts.exports if each != "default"):
        return True  # what others are to use, as a handle of the database
    return not used.issuperset(offered & declared)


def _is_registered(entry: Entry) -> bool:
    """Whether a file gives its handler to a server itself, `app.get("/x", show)`: it must be imported or started."""
    return entry.framework in ("express", "fastify") or entry.detail == "createServer"


WATCHES = (
    Watch("call", look_at_python, PYTHON, names=last_names(PYTHON_CALLS) | _ASKS_A_SERVER),
    Watch("call", look_at_script, SCRIPT, names=last_names(SCRIPT_CALLS) | _CONNECTS | _ASKS_A_SERVER | _WAITED_FOR),
    Watch("call", look_at_go, GO, names=last_names(GO_CALLS)),
    Watch("go", look_at_go_statement, GO, needs=(b"func init()",)),
)
