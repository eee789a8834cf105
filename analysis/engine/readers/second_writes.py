"""Writes whose other half stands in a function that is called, as `risk-missing-transaction` sees them."""

import re
from collections.abc import Iterator, Mapping

from msgspec import structs

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.readers.table_writes import ASIDE, CLAIMED
from analysis.engine.readers.transaction_callers import called_inside

_CLAIMS = re.compile(r"(?i)^_*(?:try_?)?claim|first_?(?:seen|time)|^is_?(?:new|fresh)|(?:^|_)once(?![a-z])|Once$")
_READS = re.compile(r"^_*(?:get|find|fetch|load|read|list|ensure)(?![a-z])")  # what makes a row only where none is
_FOR_SEARCH = re.compile(r"(?i)search_?(?:vector|index|document)")  # made anew from the rest at any time


def with_callee(found: list[tuple[Place, Mark]], codebase: Codebase) -> Iterator[tuple[Place, Mark]]:
    """Functions that write to one table and call, outside of any transaction, one that writes to another."""
    alone = _writing_alone(found)
    inside = called_inside(codebase) if alone else {}
    for place, mark in found:
        here = place.callee
        if (
            mark.data["form"] != "alone"
            or here not in alone
            or CLAIMED.search(mark.data["table"])
            or "found" in mark.data
        ):
            continue  # who comes again finds the row and goes on
        apart = {*inside.get(here, ()), *mark.data.get("apart", "").split()}
        bare = [call for call in place.function.calls if call not in apart]
        second = next(_writing_elsewhere(bare, mark, place, alone), None)
        if second is not None:
            call, written = second
            message = (
                f"`{mark.data['table']}` is {mark.data['verb']} here and `{written['table']}` {written['verb']} in"
                f" `{call.rpartition('.')[2]}`, not in one transaction"
            )
            yield place, structs.replace(mark, message=message, confidence="low", data={"form": "writes"})


def with_callees(found: list[tuple[Place, Mark]]) -> Iterator[tuple[Place, Mark]]:
    """Functions that call two others in a row which write to different tables."""
    alone = _writing_alone(found)
    told = {place.callee for place, mark in found if mark.data["form"] in ("writes", "alone")}
    for place, mark in found if alone else ():
        if mark.data["form"] != "row" or place.callee in told:
            continue
        calls = [each.rpartition("@") for each in mark.data["calls"].split()]
        writing = [(call, int(line), data) for call, _, line in calls if (data := _written_by(call, place, alone))]
        first = next(
            (each for each in writing if "found" not in each[2] and not CLAIMED.search(each[2]["table"])), None
        )
        second = next((each for each in writing if first and each[2]["table"] != first[2]["table"]), None)
        if first is not None and second is not None and first[1] < second[1]:
            here, there = _said(first[0], first[2], "is "), _said(second[0], second[2])
            message = f"{here} and {there}, not in one transaction"
            data = {"form": "writes"}
            yield place, structs.replace(mark, line=first[1], message=message, confidence="low", data=data)


def _writing_alone(found: list[tuple[Place, Mark]]) -> dict[Callee, Mapping[str, str]]:
    """The functions that write to one table, with what their marks say of it."""
    return {
        place.callee: mark.data
        for place, mark in found
        if mark.data["form"] == "alone" and place.kind is FileKind.SOURCE
    }


def _said(call: str, written: Mapping[str, str], be: str = "") -> str:
    return f"`{written['table']}` {be}{written['verb']} in `{call.rpartition('.')[2]}`"


def _written_by(call: str, place: Place, alone: Mapping[Callee, Mapping[str, str]]) -> Mapping[str, str] | None:
    """What the only function that a call can mean says of the table which it writes to."""
    if _READS.match(call.rpartition(".")[2]):
        return None
    callees = place.meant_by(call)
    return alone.get(callees[0]) if len(callees) == 1 else None


def _writing_elsewhere(
    calls: list[str], mark: Mark, place: Place, alone: Mapping[Callee, Mapping[str, str]]
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The calls of functions that write to another table than the mark is about, with what they say of it."""
    for call in calls:
        if _FOR_SEARCH.search(call) or _is_of_the_orm(call, place):
            continue
        written = _written_by(call, place, alone)
        if written is None or written["table"] == mark.data["table"]:
            continue
        if not CLAIMED.search(written["table"]) or _CLAIMS.search(call.rpartition(".")[2]):
            yield call, written


def _is_of_the_orm(call: str, place: Place) -> bool:
    """Whether Python asks a row for what each row can, `attachment.delete()`: a method of that name elsewhere, which
    does more, is that of another model."""
    receiver, _, verb = call.rpartition(".")
    is_own = receiver.partition(".")[0] in ("self", "cls", "super()")
    return place.facts.language == "python" and bool(receiver) and not is_own and verb in ("save", "delete")


def with_commits(found: list[tuple[Place, Mark]]) -> Iterator[tuple[Place, Mark]]:
    """SQLAlchemy: functions that commit what they write and then call one that does so too."""
    both = [(place, mark) for place, mark in found if mark.data["form"] == "committed"]
    commits = {place.callee for place, _ in both if place.kind is FileKind.SOURCE}
    told = {place.callee for place, mark in found if mark.data["form"] == "writes"}
    for place, mark in both:
        here = place.callee
        if "sure" not in mark.data or here in told:
            continue
        for call in mark.data["calls"].split():
            name = call.rpartition(".")[2]
            callees = place.meant_by(call)
            if ASIDE.search(name) or _READS.match(name):
                continue
            if len(callees) == 1 and callees[0] in commits - {here}:
                message = f"Rows are committed before `{name}` commits others: a failure leaves the first half"
                yield place, structs.replace(mark, message=message, confidence="low", data={"form": "writes"})
                break
