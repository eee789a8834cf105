"""What outside calls in Python: routes, views, resolvers, tasks, consumers of queues, commands."""

import re
from collections.abc import Iterable, Iterator

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Class, Entry, Function, Parameter

_ROUTE = re.compile(
    r"\.(?:(route|get|post|put|patch|delete|head|options|websocket|api_route)\(|(?:app_)?errorhandler\()(.*)"
)
# What runs around each request: middleware of FastAPI, hooks of Flask.
_AROUND = re.compile(r"\.(?:middleware\(|(?:before|after)_(?:app_)?request$)")
_NO_ROUTERS = ("unittest.mock.", "mock.", "pytest.", "responses.")  # their `patch` and `get` serve nobody
_TASK = re.compile(r"(^|\.)(task|shared_task|periodic_task|on_after_configure|actor|job)\b")
# What waits for messages: of SQS and Azure, RabbitMQ, Redis, Kafka.
_RECEIVES = re.compile(
    r"\.(?:receive_messages?|start_consuming|xreadgroup|brpop|blpop|bzpopmin)$|(?:^|\.)(?:AIO)?KafkaConsumer$"
)
_VIEW = re.compile(r"(^|\.)(api_view|action|require_(http_methods|GET|POST|safe)|csrf_exempt|login_required)\b")
_HANDLERS = frozenset(
    """get post put patch delete head options list create retrieve update partial_update destroy perform_create
    perform_update perform_destroy get_queryset get_object form_valid dispatch""".split()
)
_VIEW_BASE = re.compile(r"(?:View|ViewSet|Resource|Endpoint|RequestHandler)$")
_RESOLVER = re.compile(r"(?:resolve_\w+|mutate|perform_mutation|mutate_and_get_payload)$")
_INFO = frozenset({"info", "_info"})  # the second or third parameter of a resolver

_ROUTED = re.compile(
    rb"\b(?:re_)?path\(\s*r?[\"'][^\"'\n]*[\"'],\s*(?:(?!include\b)[\w.]+\(\s*)*([A-Za-z_][\w.]*)\s*[,)]"
)
_ANSWERS = ("django.http.", "django.shortcuts.")
_ANSWER = re.compile(rb"\breturn\s+(?:render|redirect|(?:\w+\.)?\w*Response\w*)\(")


def entries_of(functions: tuple[Function, ...], classes: Iterable[Class], file: SourceFile) -> Iterator[Entry]:
    """Entries by decorators, by the base classes of views, by the signature of GraphQL resolvers, and by the queue that
    a function waits for."""
    views = {each.name for each in classes if any(_VIEW_BASE.search(base) for base in each.bases)}
    yield from _routed(file)
    answers = any(full.startswith(_ANSWERS) for full in file.bindings.values())
    for function in functions:
        yield from _decorated(function)
        if function.parent >= 0 and any(map(_RECEIVES.search, function.calls)):
            yield Entry(function.name, "job", "queue", "consumer")
        if answers and function.parent == 0 and not function.owner and _is_view(function, file):
            yield Entry(function.name, "request", "django", "view")
        if not function.owner:
            continue
        name = function.short_name
        if name == "handle" and "BaseCommand" in file.bindings:
            yield Entry(function.name, "job", "django", "command")
        elif name in _HANDLERS and function.owner in views:
            yield Entry(function.name, "request", "django", name)
        elif _RESOLVER.match(name) and _asks_for_info(function.parameters):
            yield Entry(function.name, "request", "graphql", name)


def _routed(file: SourceFile) -> Iterator[Entry]:
    """The functions that Django's routes name: `path("pay/", views.pay)`."""
    if b"django.urls" in file.source or b"django.conf.urls" in file.source:
        for found in _ROUTED.finditer(file.source):
            yield Entry(found[1].decode(), "request", "django", "route")


def _is_view(function: Function, file: SourceFile) -> bool:
    """Whether a function takes a request first and gives back an answer."""
    if not function.parameters or function.parameters[0].name != "request":
        return False
    starts = file.lines.starts
    end = starts[function.end_line] if function.end_line < len(starts) else len(file.source)
    return _ANSWER.search(file.source, starts[function.line - 1], end) is not None


def _decorated(function: Function) -> Iterator[Entry]:
    for decorator in function.decorators:
        if decorator.startswith(_NO_ROUTERS):
            continue
        if (route := _ROUTE.search(decorator)) is not None:
            method = (route[1] or "").upper()
            yield Entry(function.name, "request", "python", f"{method} {route[2].rstrip(')')[:100]}".strip())
        elif _AROUND.search(decorator) is not None:
            yield Entry(function.name, "request", "python", "middleware")
        elif _TASK.search(decorator.partition("(")[0]):
            yield Entry(function.name, "job", "celery", decorator[:100])
        elif _VIEW.search(decorator.partition("(")[0]):
            yield Entry(function.name, "request", "django", decorator[:100])


def _asks_for_info(parameters: tuple[Parameter, ...]) -> bool:
    return any(each.name.partition(":")[0] in _INFO for each in parameters[:4])
