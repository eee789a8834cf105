"""What may be done with AI credits. Every function is atomic and answers a repeated key with its first answer."""

from credits.services.allocations import Allocation, allocate, grant, withdraw
from credits.services.spending import (
    NotEnoughCredits,
    lapse_overdue_reservations,
    prune_reservations,
    release,
    reserve,
    settle,
    spend,
)

__all__ = [
    "Allocation",
    "NotEnoughCredits",
    "allocate",
    "grant",
    "lapse_overdue_reservations",
    "prune_reservations",
    "release",
    "reserve",
    "settle",
    "spend",
    "withdraw",
]
