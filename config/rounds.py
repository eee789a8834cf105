"""Queues of rows that are worked on in rounds: each sender has one row in a round, so a flood delays only its sender.

Start-time fair queuing (Goyal, Vin and Cheng, 1996) where all rows cost the same. A row keeps its round in `turn`, and
`next_at` says when it is due. An index on both, of the rows that wait, has to be the only one in either's order: beside
one on `next_at` alone, a planner that does not know yet how many wait would rather sort them all.
"""

from typing import Any

from django.db.models import Max, QuerySet

IN_TURN, NEWEST = ("turn", "next_at"), ("-turn", "-next_at")


def next_turn(*, waiting: QuerySet[Any], due: QuerySet[Any]) -> int:
    """The round for a new row of the sender who has these rows waiting: the one that comes first of all that are due,
    or the one after the sender's last. Two at once may get the same; the sender gains one turn by it, and nobody needs
    a lock. Two queries."""
    last = waiting.aggregate(last=Max("turn"))["last"]
    at_work = due.order_by(*IN_TURN).values_list("turn", flat=True).first() or 0
    return at_work if last is None else max(at_work, last + 1)
