"""Another service is called while a transaction is open."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers import transactions
from analysis.engine.readers.held_clients import by_client
from analysis.engine.readers.leaving_functions import leaving_call, may_fill_a_table
from analysis.engine.readers.outside_calls import what_it_does

RULE = Rule(
    id="risk-external-call-in-transaction",
    type="external_call_in_tx",
    category=Category.RUNTIME_RISK,
    title="External call in a transaction",
    severity=Severity.WARNING,
    points=2,
    suggestion=(
        "Do the call before or after the transaction (outbox, after commit); it keeps locks and a connection for as"
        " long as the remote is slow."
    ),
    version=2,
)
GUIDE = Guide(
    why=(
        "While somebody else's server thinks, the transaction holds its locks; and when it rolls back, the letter has "
        "left already."
    ),
    flagged=(
        {
            "shop/work.py": """
from django.core.mail import send_mail
from django.db import transaction


@transaction.atomic
def pay(order):
    order.save()
    send_mail("Paid", "Thank you", "shop@example.org", [order.email])
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from functools import partial

from django.db import transaction


@transaction.atomic
def pay(order):
    order.save()
    transaction.on_commit(partial(thank, order))
"""
        },
    ),
)

WATCHES = transactions.WATCHES

_OF_ROWS = re.compile(r"\.\w+\.(?:update|create|delete|get|filter|add|remove|set)$")  # `user.groups.add`
_SLEEPS = "sleeps"  # in the words of `what_it_does`
_CLIENT = re.compile(r"(?:^|\.)(?:FeignClient|HttpExchange|RegisterRestClient|RetrofitClient)(?:\(|$)")
_FIX = {
    "python": "Do it in `transaction.on_commit`, or before the transaction begins; until then locks are held.",
    "java": "Do it in a `@TransactionalEventListener`, or outside of the transactional method.",
}


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding for each transaction and kind of what leaves the process, at the first call of that kind."""
    for place, mark in codebase.marks(transactions.ANNOTATION):
        if place.kind in (FileKind.SOURCE, FileKind.SCRIPT):
            told = set[str]()
            for left in (*_direct(mark, place), *_one_level_deep(mark, place)):
                if left.kind not in told:
                    told.add(left.kind)
                    yield _finding(mark, place, left)


class _Left(NamedTuple):
    """A call that leaves the process: of which kind it is, and who does what, in words."""

    line: int
    kind: str
    says: str
    confidence: Confidence


def _calls(mark: Mark) -> Iterator[tuple[str, int]]:
    for call in mark.data["calls"].split():
        name, _, line = call.rpartition("@")
        yield name, int(line)


def _direct(mark: Mark, place: Place) -> Iterator[_Left]:
    for name, line in _calls(mark):
        kind = what_it_does(by_client(name, place.path, place.codebase), place.facts.language)
        if kind and not may_fill_a_table(name, place):
            yield _Left(line, kind, f"`{_brief(name)}` {kind}", Confidence.HIGH)


def _one_level_deep(mark: Mark, place: Place) -> Iterator[_Left]:
    around = {Callee(place.path, index) for index in _around(place)}
    for name, line in _calls(mark):
        if ".objects." in f".{name}" or (place.facts.language == "python" and _OF_ROWS.search(name)):
            continue  # a manager, and no method of a class that is called alike
        callees = place.meant_by(name)
        if place.facts.language == "java" and not all(_outside(each, place.codebase) for each in callees):
            continue  # of several classes that implement it, one stays inside
        # A method of what the chain made, which is called like this function, is no callee.
        met = [each for each in callees if each not in around]
        found = next((left for each in met if (left := _outside(each, place.codebase))), None)
        confidence = Confidence.MEDIUM
        if found is None and met and (deeper := _two_levels_deep(met, place.codebase)) is not None:
            found, confidence = deeper
        if found is not None:
            kind, inner = found
            says = f"`{_brief(name)}` {kind}" + (f" (`{_brief(inner)}`)" if inner else "")
            yield _Left(line, kind, says, confidence)


def _two_levels_deep(callees: Sequence[Callee], codebase: Codebase) -> tuple[tuple[str, str], Confidence] | None:
    """What all functions that a call can mean do outside by way of another one, the project's own client as a rule; as
    certain as at one level where they do nothing but call that."""
    found = [_by_another(each, codebase) for each in callees]
    left = next((each for each in found if each is not None), None)
    if left is None or None in found:
        return None
    is_handed_on = all(codebase.calls.only_calls(each) for each in callees)
    return left, Confidence.MEDIUM if is_handed_on else Confidence.LOW


def _by_another(callee: Callee, codebase: Codebase) -> tuple[str, str] | None:
    """How a function leaves the process by one that it calls, where that name can mean no other that stays inside. Who
    waits a moment does so where it stands."""
    function = codebase.files[callee.path].functions[callee.position]
    if any("on_commit" in call for call in function.calls):
        return None
    for call in function.calls:
        meant = [each for each in codebase.calls.resolve(callee.path, function, call) if each != callee]
        left = [_outside(each, codebase) for each in meant]
        first = left[0] if left else None
        if first is not None and None not in left and first[0] != _SLEEPS:
            return first
    return None


def _around(place: Place) -> Iterator[int]:
    """The positions of the function and of those that it stands in."""
    index = place.index
    while index > 0:
        yield index
        index = place.facts.functions[index].parent


def _outside(callee: Callee, codebase: Codebase) -> tuple[str, str] | None:
    """How a function leaves the process, in words, and by which call. A method of an interface that is declared as a
    client is a call of another service by itself."""
    facts = codebase.files[callee.path]
    owner = facts.functions[callee.position].owner
    declared = (name for each in facts.classes if owner and each.name == owner for name in each.decorators)
    if any(_CLIENT.search(name) for name in declared):
        return "calls another service over HTTP", ""
    inner = leaving_call(callee, codebase)
    return (what_it_does(inner, facts.language), inner) if inner else None


def _brief(name: str) -> str:
    """A dotted name without its packages."""
    return ".".join(name.rpartition("/")[2].split(".")[-2:])


def _finding(mark: Mark, place: Place, left: _Left) -> Finding:
    lines = range(mark.line, int(mark.data["last"]) + 1)
    locks = any(query.lock and query.line in lines for query in place.facts.queries)
    endless = any(
        each.rule == "risk-http-no-timeout" and each.message and each.line == left.line for each in place.facts.marks
    )
    severity = Severity.CRITICAL if locks or endless else Severity.WARNING
    return Finding(
        rule_id=RULE.id,
        file=place.path,
        line=left.line,
        message=f"{left.says} inside the transaction of line {mark.line}"
        + (", which holds row locks" if locks else "")
        + (", and without a time limit" if endless else ""),
        function=place.function.name,
        anchor=mark.anchor,
        suggestion=_FIX.get(place.facts.language, ""),
        severity=Severity.INFO if "reads_only" in mark.data else severity,
        confidence=left.confidence,
    )
