"""A page far behind is reached by reading and dropping all rows before it."""

import re
from collections.abc import Iterator

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.handed_values import CLAMPED, handed_to
from analysis.engine.rules.perf_n_plus_one_query import size_of
from analysis.engine.volumes import is_large

RULE = Rule(
    id="perf-deep-offset",
    type="deep_offset",
    category=Category.PERFORMANCE,
    title="Deep offset",
    severity=Severity.INFO,
    points=4,
    suggestion="Page by key (`WHERE id > :last ORDER BY id LIMIT n`) instead of a growing OFFSET.",
    confidence=Confidence.MEDIUM,
    ladder=Ladder.SOFT,
)
GUIDE = Guide(
    why="The database reads and drops all rows before the page: page 10,000 costs ten thousand pages.",
    grades="Only on tables that are declared large.",
    policy="data_volumes:\n  Customer: XL\n",
    flagged=(
        {
            "shop/work.py": """
from rest_framework.views import APIView

from shop.models import Customer


class Customers(APIView):
    def get(self, request):
        start = int(request.GET["start"])
        return list(Customer.objects.all()[start : start + 50])
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from rest_framework.views import APIView

from shop.models import Customer


class Customers(APIView):
    def get(self, request):
        after = request.GET["after"]
        return list(Customer.objects.filter(pk__gt=after).order_by("pk")[:50])
"""
        },
    ),
    given={
        "shop/models.py": """
from django.db import models


class Customer(models.Model):
    note = models.CharField(max_length=90)
"""
    },
)

_OFFSET = re.compile(r"(?i)\b\w*(?:offset|skip)\w*")
UNKNOWN = -1  # an offset that an expression gives


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Offsets of requests and of loops into tables that are declared large."""
    for site in codebase.queries.sites:
        if site.query.offset == UNKNOWN and is_large(site.volume) and not _is_spared(site, codebase):
            if site.query.loop >= 0:
                yield _finding(site, "grows with each round of the loop")
            elif site.query.function in codebase.request_path.get(site.path, ()):
                yield _finding(site, "comes from the request without a limit")
            elif _is_called_in_a_walk(site, codebase):
                yield _finding(site, "grows with each round of the loop that calls this function")


def _is_spared(site: QuerySite, codebase: Codebase) -> bool:
    """Pages of an administration, of rows that the caller names, and offsets with an upper limit."""
    is_picked = any(each.operator == "in" and each.column in ("id", "pk") for each in site.query.filters)
    return "admin" in site.path.lower() or "clamped" in site.notes or is_picked or _is_handed_clamped(site, codebase)


def _is_called_in_a_walk(site: QuerySite, codebase: Codebase) -> bool:
    """Whether a loop of the file goes on calling the function with the offset that it keeps."""
    if "offset" not in site.notes:
        return False
    name, here = site.function.short_name, Callee(site.path, site.query.function)
    return any(
        call.callee.rpartition(".")[2] == name
        and (kept := _OFFSET.search(call.anchor.partition("(")[2])) is not None
        and (loop.kind == "while" or kept[0] in loop.variables)
        and here in codebase.calls.resolve(site.path, site.facts.functions[loop.function], call.callee)
        for loop in site.facts.loops
        for call in loop.calls
    )


def _is_handed_clamped(site: QuerySite, codebase: Codebase) -> bool:
    """Whether who calls the function gives the offset an upper limit, as far as it is seen."""
    if "offset" not in site.notes:
        return False
    return handed_to(codebase.place(site.path, site.query.function), int(site.notes["offset"])) == {CLAMPED}


def _finding(site: QuerySite, how: str) -> Finding:
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"The offset into {site.label} {how}: all rows before it are read and dropped{size_of(site)}",
        function=site.function.name,
        anchor=site.query.anchor,
        table=site.table,
        volume=site.volume,
    )
