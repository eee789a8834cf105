"""What outside calls in JavaScript and TypeScript: routes, controllers, jobs, framework files."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Function, FunctionFlag, Mark
from analysis.engine.readers.reading import followed, within

PROCEDURES = frozenset({"query", "mutation", "subscription"})
VERBS = frozenset({"get", "post", "put", "patch", "delete", "all", "use", "head", "options"})

_ROUTER = re.compile(
    r"(?i)(^|\.|_)(\w*(app|router|routes?|server|fastify|api|express)\w*)(\(\)|\.route\(\))*$|\.route\(\)"
)
_MADE_ROUTER = re.compile(
    rb"\s*(?::[^=\n]{1,60})?=\s*(?:new\s+)?(?:[\w.]*\b(?:Router|Hono|Koa)(?:<[^>\n]*>)?|express|fastify|Fastify|polka)\("
)
_WRAPPER = re.compile(r"(?i)(?:async|catch|wrap|handler|safe)[\w-]*(?:\(\))?$")
_NEST_ROUTE = re.compile(r"(?:^|\.)(Get|Post|Put|Patch|Delete|All|Head|Options|Query|Mutation|Subscription)\b(.*)")
_NEST_JOB = re.compile(r"(?:^|\.)(Cron|Interval|Timeout|Process|Processor|EventPattern|MessagePattern|OnEvent)\b")
_NEST_WORKER = re.compile(r"(?:^|\.)Processor\b")  # of BullMQ: the class takes the jobs, its `process` runs them
_PROCEDURE = re.compile(r"[pP]rocedure(?:\(\))?(?:\.\w+(?:\(\))?)*$")
_REQUEST = re.compile(
    r"_?req(?:uest)? _?res(?:ponse)?(?: next)?$"
)  # parameters of Express, of Next's pages and of Node
_NEXT = re.compile(r"(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|getServerSideProps)")


def look_at_route(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`app.get("/orders", auth, handler)`: every function among the arguments is called by requests."""
    positional, _ = file.arguments(call)
    receiver, _, verb = file.callee(call).rpartition(".")
    if not positional or not (_ROUTER.search(receiver) or _is_made_router(receiver, file)):
        return iter(())
    has_path = positional[0].type in ("string", "template_string")
    if not has_path and verb != "use" and not receiver.endswith("route()"):
        return iter(())
    path = file.text(positional[0]).strip("\"'`")[:80] if has_path else ""
    for each in positional[1:] if has_path else positional:
        name = _handler_name(each, file)
        if name:
            entry = Entry(name, "request", "express", f"{verb.upper()} {path}".strip())
            file.entries.append(_written_out(entry, each, file))
    return iter(())


def _written_out(entry: Entry, handler: Node, file: SourceFile) -> Entry:
    """The entry with the lines and calls of a handler that is too short to be a function of its own: `() => list()`."""
    if handler.type != "arrow_function" or file.scope_of(handler).kind != "closure":
        return entry
    calls = (file.callee(each) for each in within(handler) if each.type == "call_expression")
    first, last = file.line(handler), file.lines.of(handler.end_byte - 1)
    return structs.replace(entry, line=first, end_line=last, calls=tuple(dict.fromkeys(calls)))


def _is_made_router(name: str, file: SourceFile) -> bool:
    """Whether the file makes a router of this name, whatever it is called: `const orders = Router()`."""
    if not name.isidentifier() or not any(map(file.mentions, (b"Router", b"Hono(", b"express(", b"astify("))):
        return False
    return next(followed(name.encode(), file.source, _MADE_ROUTER, b"_.$"), None) is not None


def look_at_server(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Node: `http.createServer((request, response) => …)`."""
    positional = file.arguments(call)[0]
    if positional and file.callee(call).partition(".")[0] in ("http", "https", "http2"):
        name = _handler_name(positional[-1], file)
        if name:
            file.entries.append(Entry(name, "request", "node", "createServer"))
    return iter(())


def look_at_hook(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Fastify: `app.addHook("preHandler", handler)` and `app.route({ handler })`."""
    receiver = file.callee(call).rpartition(".")[0]
    positional = file.arguments(call)[0]
    if not file.mentions(b"fastify") or not positional or not _ROUTER.search(receiver):
        return iter(())
    given = [positional[-1]]
    if given[0].type == "object":
        pairs = [each for each in given[0].named_children if each.type == "pair"]
        given = [each.named_children[-1] for each in pairs if file.text(each.named_children[0]) == "handler"]
    for each in given:
        name = _handler_name(each, file)
        if name:
            file.entries.append(Entry(name, "request", "fastify"))
    return iter(())


def look_at_procedure(call: Node, file: SourceFile) -> Iterator[Mark]:
    """tRPC: `publicProcedure.input(shape).mutation(handler)`."""
    receiver, _, kind = file.callee(call).rpartition(".")
    positional, _ = file.arguments(call)
    if positional and _PROCEDURE.search(receiver):
        name = _handler_name(positional[-1], file)
        if name:
            file.entries.append(Entry(name, "request", "trpc", kind))
    return iter(())


def declared(functions: tuple[Function, ...], file: SourceFile) -> Iterator[Entry]:
    """Entries by decorators and by names that a framework calls."""
    workers = {each.name for each in file.classes if any(map(_NEST_WORKER.search, each.decorators))}
    is_remix = file.mentions(b"react-router") or file.mentions(b"@remix-run") or file.mentions(b"/+types/")
    for function in functions:
        for decorator in function.decorators:
            if (route := _NEST_ROUTE.search(decorator)) is not None:
                yield Entry(
                    function.name, "request", "nest", f"{route[1].upper()} {route[2].strip('()')}".strip()[:100]
                )
            elif (job := _NEST_JOB.search(decorator)) is not None:
                yield Entry(function.name, "job", "nest", job[1])
        if function.owner in workers and function.short_name == "process":
            yield Entry(function.name, "job", "nest", "Processor")
        if function.flags & FunctionFlag.EXPORTED and not function.owner and _NEXT.fullmatch(function.name):
            yield Entry(function.name, "request", "next", function.name)
        elif (
            function.flags & FunctionFlag.EXPORTED or (function.name.endswith("()") and _WRAPPER.search(function.name))
        ) and _REQUEST.match(" ".join(each.name for each in function.parameters)):
            yield Entry(function.name, "request", "node", function.name)
        elif is_remix and function.flags & FunctionFlag.EXPORTED and function.name in ("loader", "action"):
            yield Entry(function.name, "request", "remix", function.name)


def _handler_name(node: Node, file: SourceFile) -> str:
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type in ("arrow_function", "function_expression"):
            return file.scope_of(each).function.name
        if each.type in ("identifier", "member_expression"):
            return file.text(each)[:100]
        if each.type == "call_expression":  # of a wrapper that catches: `asyncHandler(async (req, res) => …)`
            is_wrapper = _WRAPPER.search(file.callee(each)) is not None
            given = file.arguments(each)[0]
            pending.extend(other for other in reversed(given) if is_wrapper or "function" in other.type)
    return ""
