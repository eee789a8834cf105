"""A request handler runs database queries itself, although the project has a layer for that."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from analysis.engine.calls import Callee
from analysis.engine.codebase import REQUEST, Codebase
from analysis.engine.facts import FileFacts, Query
from analysis.engine.function_names import SHARED_PACKAGES
from analysis.engine.graph import LayerPlace, assign_layers
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.rules.example_models import DJANGO_SHOP

RULE = Rule(
    id="arch-controller-uses-orm",
    type="controller_uses_orm",
    category=Category.ARCHITECTURE,
    title="Controller runs queries itself",
    severity=Severity.WARNING,
    points=2,
    suggestion="Move the query to the repository or service; the controller should only translate HTTP.",
    version=2,
)
GUIDE = Guide(
    why=(
        "A query in a handler cannot be reused or tested without a request, and the rules of the business spread over "
        "the edge of the program."
    ),
    grades="Once per file, at its first query. Info when the policy names no layer for services or repositories.",
    flagged=(
        {
            "shop/views.py": """
from shop.models import Order


def show(request, pk):
    return render(request, Order.objects.get(pk=pk))
""",
            "shop/services.py": """
from shop.models import Order


def place(order):
    return Order.objects.create(total=order)
""",
        },
    ),
    fine=(
        {
            "shop/views.py": """
from shop import services


def show(request, pk):
    return render(request, services.order(pk))
""",
            "shop/services.py": """
from shop.models import Order


def order(pk):
    return Order.objects.get(pk=pk)
""",
        },
    ),
    given=DJANGO_SHOP,
    policy="""
layers:
  - {name: views, path: views.py}
  - {name: services, path: services.py}
""",
)
AROUND = "middleware"  # what opens a session for each request, and commits it
_SERVICE_LAYER = re.compile(r"service|repositor|use[-_]?case|application", re.IGNORECASE)
_HANDLER_LAYER = re.compile(r"^(api|web|http|controllers?|handlers?|routes?|views?|presentation)$", re.IGNORECASE)
_SERVICE_FILE = re.compile(
    r"(^|/)(services?|repositor(y|ies)|use[-_]?cases?|application)(/|\.\w+$)|(Service|Repository)\.\w+$"
    r"|[._-](service|repository|repo|store|dao)\.\w+$"
    r"|(^|/)(stores?|repos?|dao)(/[^/]+|_\w+)?\.go$"  # in other languages a store may hold the state of a page
)
_SERVICE_CALL = re.compile(  # of a module of services, or of an object that is called one
    r"(?:^|[./])(?:services?|repositor(?:y|ies)|use_?cases?)[./]"
    r"|(?:^|[._/])\w*(?:[sS]ervice|[rR]epo(?:sitory)?|[uU]se_?[cC]ase|Dao|DAO|dao)s?(?:\(\))?\.\w+$"
)
_STATUS = re.compile(r"(?:^|[._])(?:status|check)$", re.IGNORECASE)
_HEALTH = re.compile(r"health|readiness|liveness|\bping\b|\b(?:is_?)?(?:ready|alive)$", re.IGNORECASE)
_LEFT_OUT_FILES = re.compile(r"(^|/)admin(\.py$|/)")
_SCOPING = frozenset({"get_queryset", "get_object"})
_SHARE_OF_A_CUSTOM = 0.5


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per handler file, at its first query. Services are none, beside the handlers of a feature or called
    back by a library for them."""
    places = assign_layers(codebase.graph.nodes, policy)
    entered = _entered(codebase)
    handlers = {
        path: facts
        for path, facts in codebase.sources
        if not _is_service_file(path) and (path in entered or _is_handler(facts, places.get(path)))
    }
    declared = any(_SERVICE_LAYER.search(layer.name) for layer in policy.layers)
    if not declared and not _is_custom(codebase, handlers):
        return
    for path, first in _first_queries(codebase, handlers).items():
        facts = handlers[path]
        if _is_of_an_admin(path, facts):
            continue
        what = f"`{first.model}`" if first.model else "the database"
        yield Finding(
            rule_id=RULE.id,
            file=path,
            line=first.line,
            message=f"This handler file queries {what} itself instead of going through a service or repository",
            function=facts.functions[first.function].name,
            anchor=first.anchor,
            severity=None if declared else Severity.INFO,
        )


def _first_queries(codebase: Codebase, handlers: Mapping[str, FileFacts]) -> dict[str, Query]:
    """The first query of each handler file. Calls of a repository or DAO that the project wrote itself are none."""
    first: dict[str, Query] = {}
    for site in codebase.queries.sites:
        if site.path in handlers and _counts(site.query, site.facts) and not _only_knocks(site):
            known = first.get(site.path)
            if known is None or site.query.line < known.line:
                first[site.path] = site.query
    return first


def _entered(codebase: Codebase) -> set[str]:
    """The files of functions that a request enters by a route of another file."""
    return {
        callee.path
        for path, facts in codebase.sources
        for entry in facts.entries
        if entry.kind == REQUEST and entry.detail != AROUND
        for callee in codebase.calls.entered(path, entry.function)
    }


def _is_handler(facts: FileFacts, place: LayerPlace | None) -> bool:
    """By the layer or by a route."""
    if place is not None and _HANDLER_LAYER.match(place.name):
        return True
    asked = {entry.function for entry in facts.entries if entry.kind == REQUEST and entry.detail != AROUND}
    return bool(asked) and any(function.name in asked for function in facts.functions)


def _counts(query: Query, facts: FileFacts) -> bool:
    """A query that runs here; lazy ones only scope what the framework loads."""
    name = facts.functions[query.function].name
    if query.anchor.startswith("request.user."):
        return False  # the visitor's own row, which is there already
    return bool(query.terminal) and name.rpartition(".")[2] not in _SCOPING and not _is_of_health(name, query)


def _is_of_health(name: str, query: Query) -> bool:
    """Whether the database is asked only whether it is there."""
    return _HEALTH.search(name) is not None or (_is_of_no_table(query) and _STATUS.search(name) is not None)


def _only_knocks(site: QuerySite) -> bool:
    """Whether a file of health checks asks the database for nothing of a table: `SELECT 1`."""
    return _is_of_no_table(site.query) and _HEALTH.search(site.path.rpartition("/")[2]) is not None


def _is_of_no_table(query: Query) -> bool:
    return query.orm == "sql" and not query.model and not query.filters


def _is_of_an_admin(path: str, facts: FileFacts) -> bool:
    """Whether the file registers models with an admin. One of routes has only its name in common with those."""
    routes = [each for each in facts.entries if each.kind == REQUEST and each.framework == "python"]
    return _LEFT_OUT_FILES.search(path) is not None and not (routes and path.endswith(".py"))


@lru_cache(maxsize=2**16)  # thousands of handlers import the same services
def _is_service_file(path: str) -> bool:
    return _SERVICE_FILE.search(path) is not None


def _is_custom(codebase: Codebase, handlers: dict[str, FileFacts]) -> bool:
    """Whether at least half of the handlers go through a service or repository. Where only a layer tells which files
    handle requests, those that import one count, or call one of their own package."""
    entered = {
        callee
        for path, facts in codebase.sources
        for entry in facts.entries
        if entry.kind == REQUEST and entry.detail != AROUND
        for callee in codebase.calls.entered(path, entry.function)
        if callee.path in handlers
    }
    if entered:
        going = sum(1 for each in entered if _goes_through(each, codebase))
        return 0 < going >= _SHARE_OF_A_CUSTOM * len(entered)
    through = sum(
        1
        for path, facts in handlers.items()
        if any(_is_service_file(edge.target) for edge in codebase.graph.imports_of(path) if edge.runtime)
        or (facts.language in SHARED_PACKAGES and _calls_a_service(path, facts, codebase))
    )
    return bool(handlers) and through >= _SHARE_OF_A_CUSTOM * len(handlers) and through > 0


def _goes_through(handler: Callee, codebase: Codebase) -> bool:
    """Whether a handler calls a service or a repository, by where that stands or by what it is called."""
    function = codebase.files[handler.path].functions[handler.position]
    if any(map(_SERVICE_CALL.search, function.calls)):
        return True
    return any(_is_service_file(each.path) for each in codebase.calls.callees(handler))


def _calls_a_service(path: str, facts: FileFacts, codebase: Codebase) -> bool:
    """Whether a function of the file calls one of a service, which needs no import where it stands beside it."""
    callees = (each for index in range(len(facts.functions)) for each in codebase.calls.callees(Callee(path, index)))
    return any(_is_service_file(each.path) for each in callees)
