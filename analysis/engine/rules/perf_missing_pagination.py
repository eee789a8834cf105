"""A list endpoint answers with the whole table."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tree_sitter import Node

from analysis.engine.calls import OWN_RECEIVERS, Callee
from analysis.engine.codebase import REQUEST, Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, FileFacts, Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.names import MADE_UP, SMALL, named_thing
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.bounds import asks_for_all, grows, is_declared, is_unbounded
from analysis.engine.readers.sizes import Size, is_named_for_many, size_by_name
from analysis.engine.rules.base import PYTHON, Watch
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_count_by_loading import asked_of
from analysis.engine.rules.perf_n_plus_one_query import size_of
from analysis.engine.rules.perf_n_plus_one_relation import RULE as SERIALIZED_RULE

RULE = Rule(
    id="perf-missing-pagination",
    version=2,
    type="missing_pagination",
    category=Category.PERFORMANCE,
    title="List endpoint without pages",
    severity=Severity.WARNING,
    points=6,
    suggestion="Add pagination with a maximum page size.",
    confidence=Confidence.MEDIUM,
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why="A list that answers with everything is quick on the day it is written and slower with every customer.",
    flagged=(
        {
            "shop/api.py": """
from rest_framework.viewsets import ModelViewSet

from shop.models import Order


class Orders(ModelViewSet):
    queryset = Order.objects.all()
"""
        },
    ),
    fine=(
        {
            "shop/api.py": """
from rest_framework.pagination import CursorPagination
from rest_framework.viewsets import ModelViewSet

from shop.models import Order


class Orders(ModelViewSet):
    queryset = Order.objects.all()
    pagination_class = CursorPagination
"""
        },
    ),
    given=DJANGO_SHOP,
)

_LISTING_CLASS = re.compile(
    r"^class\s+(\w+)\s*\(([^)]*\b(?:ModelViewSet|ReadOnlyModelViewSet|ListAPIView|ListCreateAPIView|ListModelMixin|ListView)\b"
    r"[^)]*)\)\s*:((?:\n(?:[ \t]+[^\n]*|[ \t]*))*)",
    re.MULTILINE,
)
_QUERYSET = re.compile(r"^[ \t]+queryset\s*=\s*(?:\w+\.)*(\w+)\.objects\b([^\n]*)", re.MULTILINE)
_RETURNED = re.compile(  # the only statement of its method
    r"def get_queryset\(self\)[^:\n]*:\s*\n[ \t]+return\s+(?:\w+\.)*(\w+)\.objects\b([^\n]*)", re.MULTILINE
)
_MODEL = re.compile(r"^[ \t]+model\s*=\s*(?!None\b)(?:\w+\.)*(\w+)[ \t]*$", re.MULTILINE)
_GENERIC = re.compile(r"(?<![\w])ListView\b")  # of Django itself, which Django REST framework's settings do not reach
_SLICED = re.compile(r"\[(?![\"'])")  # and no key of the address: `self.kwargs["pk"]`
_BACK_OFFICE = re.compile(r"(?i)(^|/)\w*(?:admin|dashboard|backoffice|staff)\w*(/|\.)")  # few people see a page of it
_PAGES = re.compile(r"\bpagination_class\s*=\s*(\w+)")
_NEVER_GET = re.compile(r"\bhttp_method_names\s*=\s*[\[(](?![^\])]*['\"]get['\"])")
_COLLECTIONS = frozenset({"action", "api_view", "list", "view", "route"})  # of Django, in the words of its entries
_TAKES_NO_GET = re.compile(r"require_POST|(?:api_view|require_http_methods)\((?=[^)]*[\[(])(?!.*(?:GET|get))")
_CHANGES = re.compile(r"(?i)(?:^|[._])(?:save|import|update|delete|create|remove|add|set|assign)(?=_|$)|_import$")
_ONLY_REQUEST = (["request"], ["request", "*args", "**kwargs"], ["request", "format"])
_CHOICES = re.compile(r"(?i)(?<![a-z])(?:choices|enum(?:s|erations?)?)(?![a-z])")  # what a field may hold
_DEFAULT = b"DEFAULT_PAGINATION_CLASS"
_FILES = re.compile(r"(?i)export|csv|excel|xlsx|download(?!s)|dump")  # all rows are what is asked for
_LOOKUPS = re.compile(r"(?i)_?(?:map|dict|lookup|mapping)$|_?by_?(?:id|name|key|code)s?$")  # how a service calls them
_SETTINGS = re.compile(r"(?i)(?:^|/)(?:settings?|config(?:uration)?|preferences?)(?:/|$)")
_LESS = ("filter", "sum", "group", "slice")  # what the program makes of all rows is not all of them
_PAGINATED_NAMES = re.compile(r"pagina|page|limit|cursor", re.IGNORECASE)


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """Settings that give every list pages, and views that list a model."""
    if file.mentions(_DEFAULT):
        yield file.mark(RULE.id, root, "", data={"default": "1"})
    if not file.mentions(b"queryset") and not file.mentions(b"ListView"):
        return
    text = file.source.decode("utf-8", "replace")
    for match in _LISTING_CLASS.finditer(text):
        returned = _RETURNED.findall(match[3])
        queryset = (_RETURNED if len(returned) == 1 else _QUERYSET).search(match[3])
        pages = _PAGES.search(match[3])
        if _GENERIC.search(match[2]):
            yield from _generic(match, queryset, text)
            continue
        if queryset is None or (pages is not None and pages[1] != "None"):
            continue
        line = text.count("\n", 0, match.start(3) + queryset.start(1)) + 1
        data = {"view": match[1], "model": queryset[1], "line": str(line), "none": "1" if pages else ""}
        if returned:
            data["returned"] = "1"
        if re.search(r"\bdef list\(", match[3]) or _NEVER_GET.search(match[3]):
            continue  # a list of its own is told as a handler
        is_whole = _SLICED.search(queryset[2]) is None and (bool(returned) or "def get_queryset" not in match[3])
        if is_whole and "Paginat" not in match[2] and "Nested" not in match[2]:  # rows of one parent
            yield Mark(RULE.id, line, 0, "", f"{match[1]}.queryset", data=data)


def _generic(view: re.Match[str], queryset: re.Match[str] | None, text: str) -> Iterator[Mark]:
    """A `ListView` of a whole model: at its queryset, or at its header where it only names the model."""
    named = queryset or _MODEL.search(view[3])
    is_cut = "paginate_by" in view[3] or "def get_queryset" in view[3] or "Paginat" in view[2]
    if named is None or is_cut or (queryset is not None and ("[" in queryset[2] or "filter(" in queryset[2])):
        return
    start = view.start(3) + queryset.start(1) if queryset is not None else view.start(1)
    line = text.count("\n", 0, start) + 1
    data = {"view": view[1], "model": named[1], "line": str(line), "none": "1", "generic": "1"}
    yield Mark(RULE.id, line, 0, "", f"{view[1]}.{'queryset' if queryset else 'model'}", data=data)


WATCHES = (Watch("module", look, PYTHON),)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Views of Django REST framework without a paginator, then handlers that answer with an unbounded query."""
    marks = list(codebase.marks(RULE.id))
    has_default = any("default" in mark.data for _, mark in marks)
    narrowed = {
        (site.path, site.line): asks_for_all(site)  # of one parent, in a large table
        for site in codebase.queries.sites
        if site.is_narrowed or site.is_limited
    }
    for place, mark in marks:
        if "view" not in mark.data or MADE_UP.search(place.path) or SMALL.search(named_thing(mark.data["model"])):
            continue
        if "generic" in mark.data and _BACK_OFFICE.search(place.path):
            continue
        is_of_parent = narrowed.get((place.path, int(mark.data["line"])))
        if is_of_parent is False:
            continue
        if (mark.data["none"] or not has_default) and _may_grow(mark.data["model"], codebase):
            finding = _view(place.path, mark, codebase)
            yield replace(finding, confidence=Confidence.LOW) if is_of_parent else finding
    for handler, site, entry in listing_handlers(codebase):
        is_told = grows(site.model, codebase) or (_may_grow(site.model, codebase) and not _goes_through(site))
        if is_told and not MADE_UP.search(handler.path):
            yield _handler(handler, site, entry, codebase)


def _may_grow(model: str, codebase: Codebase) -> bool:
    """Whether nothing says that the table stays small; of how many rows it gets most names say nothing."""
    thing = named_thing(model)
    return grows(model, codebase) or Size.FEW not in (size_by_name(thing), size_by_name(f"{thing}s"))


def _goes_through(site: QuerySite) -> bool:
    """Whether a loop goes through the rows, to change them or to add them up: they may not be what is answered."""
    loops = (each for each in site.facts.loops if each.kind == "for" and each.function == site.query.function)
    return any(
        each.line == site.line or (site.query.variable and each.iterable == site.query.variable) for each in loops
    )


def _view(path: str, mark: Mark, codebase: Codebase) -> Finding:
    schema = codebase.schemas.named(mark.data["model"])
    table = schema.entry.table if schema is not None else ""
    volume = codebase.queries.volume_of(schema)
    size = f" (table `{table}`, {volume})" if table else ""
    return Finding(
        rule_id=RULE.id,
        file=path,
        line=int(mark.data["line"]),
        message=f"`{mark.data['view']}` lists all of `{mark.data['model']}` without pages{size}",
        function=mark.data["view"],
        anchor=mark.anchor,
        suggestion="Set `pagination_class` (or the default one in the settings) with a maximum page size.",
        confidence=_confidence(mark.data["model"], codebase),
        table=table,
        volume=volume if table else None,
    )


def listing_handlers(codebase: Codebase) -> Iterator[tuple[Callee, QuerySite, Entry]]:
    """Handlers of collections that load all rows: the handler, the query, and how it is entered."""
    unbounded: dict[Callee, list[QuerySite]] = {}
    lazy: dict[Callee, list[QuerySite]] = {}
    for site in codebase.queries.sites:
        if site.notes.get("kept", "").startswith(_LESS) or asked_of(site):
            continue  # which is told for itself
        asking = Callee(site.path, site.query.function)
        if is_unbounded(site):
            unbounded.setdefault(asking, []).append(site)
        elif _is_given_back(site) and asks_for_all(site):
            lazy.setdefault(asking, []).append(site)
    writing = _writing_all(codebase) if lazy else frozenset()
    for path, facts in codebase.sources if unbounded or lazy else ():
        for entry in facts.entries:
            if (
                entry.kind != REQUEST
                or _is_of_its_kind(entry)
                or not (_lists(entry.detail) or _lists_in_django(entry, facts))
            ):
                continue
            for handler in codebase.calls.entered(path, entry.function):
                asked = {**lazy, **unbounded} if handler in writing else unbounded
                listed = _listed(handler, entry, asked, codebase)
                if listed is not None:
                    yield handler, listed, entry


def _is_given_back(site: QuerySite) -> bool:
    """Whether a function answers with a queryset that did not run yet."""
    return site.query.orm == "django" and not site.query.terminal and "returned" in site.notes


def _writing_all(codebase: Codebase) -> frozenset[Callee]:
    """The functions in which a serializer writes out all rows that it is given, `many=True`: it runs what is lazy."""
    written = codebase.marks(SERIALIZED_RULE.id)
    whole = (each for each in written if "rows" in each[1].data and "part" not in each[1].data)
    return frozenset(Callee(place.path, mark.function) for place, mark in whole)


def _is_of_its_kind(entry: Entry) -> bool:
    """Whether the handler lists choices or settings, which are few, writes a file of all rows, or changes something."""
    named = f"{entry.function} {entry.detail}"
    return bool(
        _CHANGES.search(entry.function)
        or _CHOICES.search(named)
        or _FILES.search(named)
        or _SETTINGS.search(entry.detail)
    )


def _lists(detail: str) -> bool:
    """Whether the route reads a collection: its path does not end in a parameter."""
    verb, _, path = detail.partition(" ")
    verb, route = verb.upper(), path.partition(",")[0].strip("\"' /")
    if verb.startswith("/"):  # Go registers handlers for all methods
        verb, route = "ALL", detail.strip("/ ")
    if (verb == "ROUTE" and "methods" in path and "GET" not in path) or (
        verb == "REQUEST" and "method" in path and "GET" not in path
    ):
        return False
    return verb in ("GET", "ALL", "ROUTE", "REQUEST") and not route.rpartition("/")[2].startswith((":", "{", "<", "["))


def _lists_in_django(entry: Entry, facts: FileFacts) -> bool:
    """Whether a view without a verb in its route reads a collection: it takes nothing but the request."""
    name = entry.detail.partition("(")[0].rpartition(".")[2]
    if entry.framework != "django" or name not in _COLLECTIONS:
        return False
    if name == "action":
        return "detail=False" in entry.detail and ("methods" not in entry.detail or "get" in entry.detail.lower())
    function = next((each for each in facts.functions if each.name == entry.function), None)
    if function is None or any(map(_TAKES_NO_GET.search, function.decorators)):
        return False
    return [each.name for each in function.parameters if each.name not in OWN_RECEIVERS] in _ONLY_REQUEST


def _listed(
    handler: Callee, entry: Entry, unbounded: dict[Callee, list[QuerySite]], codebase: Codebase
) -> QuerySite | None:
    """The unbounded query that the handler runs, itself or in a function that it calls."""
    function = codebase.files[handler.path].functions[handler.position]
    own = next((each for each in unbounded.get(handler, ()) if _is_of(entry, each.line)), None)
    called = [own] if own else list(_asked_by(handler, entry, unbounded, codebase))
    if len(called) != 1 or (own is None and _is_lookup(called[0])):
        return None
    if any(_PAGINATED_NAMES.search(call) for call in entry.calls or function.calls):
        return None
    if own is None and any("Pageable" in each.annotation for each in function.parameters):
        return None  # which it hands on
    return called[0]


def _is_lookup(site: QuerySite) -> bool:
    """Whether a function makes a table to look things up in of the rows, by its name; one that gives them back as they
    are does not."""
    return _LOOKUPS.search(site.function.name) is not None and "returned" not in site.notes


def _is_of(entry: Entry, line: int) -> bool:
    """Whether a line of the entered function belongs to its handler."""
    return not entry.line or entry.line <= line <= entry.end_line


def _asked_by(
    handler: Callee, entry: Entry, unbounded: dict[Callee, list[QuerySite]], codebase: Codebase
) -> Iterator[QuerySite]:
    """The first unbounded query of each function that the handler calls."""
    function = codebase.files[handler.path].functions[handler.position]
    called: Iterable[Callee] = codebase.calls.callees(handler)
    if entry.line:
        called = (each for call in entry.calls for each in codebase.calls.resolve(handler.path, function, call))
    for each in dict.fromkeys(called):
        yield from unbounded.get(each, ())[:1]


def _handler(handler: Callee, site: QuerySite, entry: Entry, codebase: Codebase) -> Finding:
    function = codebase.files[handler.path].functions[handler.position]
    is_own = site.path == handler.path and site.query.function == handler.position
    where = "" if is_own else f" through `{site.function.name}` (`{site.path}:{site.line}`)"
    named = f"`{function.name}` ({entry.detail})"
    given = " and ".join(f"`{each.column}`" for each in site.query.filters) if site.is_narrowed else ""
    extent = f"all rows with a given {given}" if given else "all rows"
    return Finding(
        rule_id=RULE.id,
        file=handler.path,
        line=site.line if is_own else entry.line or function.line,
        message=f"{named} loads {extent} of {site.label}{where} without pages{size_of(site)}",
        function=function.name,
        anchor=site.query.anchor if is_own else f"{function.name} {site.query.anchor}",
        suggestion=f"Add pagination with a maximum page size; the answer grows with {site.label}.",
        confidence=Confidence.LOW if site.query.filters else _confidence(site.model, codebase),
        table=site.table,
        volume=site.volume if site.table else None,
    )


def _confidence(model: str, codebase: Codebase) -> Confidence:
    """Medium where the policy or the name says that the table grows."""
    is_sure = is_declared(model, codebase) or is_named_for_many(model)
    return Confidence.MEDIUM if is_sure else Confidence.LOW
