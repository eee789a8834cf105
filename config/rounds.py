"""Queues of rows that are worked on in rounds: each sender has one row in a round, so a flood delays only its sender.

Start-time fair queuing (Goyal, Vin and Cheng, 1996) where all rows cost the same. A row keeps its round in `turn`, and
`next_at` says when it is due. An index on both, of the rows that wait, has to be the only one in either's order: beside
one on `next_at` alone, a planner that does not know yet how many wait would rather sort them all.
"""

from typing import Any

from django.db.models import QuerySet, Subquery

from config.compiled import CompiledQuery

IN_TURN, NEWEST = ("turn", "next_at"), ("-turn", "-next_at")
Rounds = CompiledQuery[tuple[int, int | None]]


def rounds(*, due: QuerySet[Any], waiting: QuerySet[Any]) -> QuerySet[Any, tuple[int, int | None]]:
    """The round of the row that comes first of all that are due, beside the last of what a sender has waiting; no row
    where nothing is due."""
    return due.order_by(*IN_TURN).values_list("turn", Subquery(waiting.order_by("-turn").values("turn")[:1]))[:1]


def next_turn(query: Rounds, **keys: Any) -> int:
    """The round for a new row: the one at work, or the one after its sender's last. One query.

    Two at once may get the same; the sender gains one turn by it, and nobody needs a lock.
    """
    at_work, last = query.first(**keys) or (0, None)
    return at_work if last is None else max(at_work, last + 1)
