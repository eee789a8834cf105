"""Credits that AI operations take: reserved before the work, settled when it succeeded, released when it failed."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from config.errors import Conflict, NotAllowed
from config.pruning import older_than, prune, take_turns
from config.retries import atomic_with_retries
from credits.ledger import entry_of, write
from credits.locks import lock_account, lock_account_of
from credits.models import CreditAccount, CreditEntry, EntryType, Operation, Reservation, ReservationState
from organizations.access import UnknownOrganization
from organizations.entitlements import offer_of_credits
from organizations.models import Organization

RESERVATION_LIFETIME = timedelta(minutes=15)


class NotEnoughCredits(NotAllowed):
    """The message names the price, what is left, and the cheapest plan that grants more."""


class AlreadyReleased(Conflict):
    message = "These credits were given back already"


@atomic_with_retries
def reserve(
    *,
    organization: Organization,
    operation: Operation,
    credits: int,
    key: str,
    lifetime: timedelta = RESERVATION_LIFETIME,
) -> Reservation:
    """Set credits aside for an operation. Neither the balance nor the history shows it. NotEnoughCredits when too few.

    `key` names the attempt: the same key answers with the same reservation, whatever became of it.
    """
    account = lock_account(organization)
    if earlier := Reservation.objects.filter(account=account, key=key).first():
        return earlier
    if not account.unlimited and account.available < credits:
        raise _not_enough(account, credits)
    held = 0 if account.unlimited else credits
    account.reserved += held
    account.save(update_fields=["reserved", "updated_at"])
    return Reservation.objects.create(
        account=account,
        operation=operation,
        credits=credits,
        held=held,
        key=key,
        expires_at=timezone.now() + lifetime,
    )


@atomic_with_retries
def settle(*, reservation_id: UUID, description: str) -> CreditEntry | None:
    """The operation succeeded: take its credits and write the history. A second call answers with the same entry.

    When the reservation has lapsed meanwhile, it takes what is left up to the price; None when nothing is.
    AlreadyReleased when the credits were given back, UnknownOrganization when it was deleted with all of its credits.
    """
    account, reservation = _lock_reservation(reservation_id)
    if reservation.state == ReservationState.SETTLED:
        return reservation.entry
    if reservation.state == ReservationState.RELEASED:
        raise AlreadyReleased
    price = reservation.credits
    cost = price if reservation.held or account.unlimited else min(price, account.available)
    entry = _consume(
        account,
        operation=Operation(reservation.operation),
        cost=cost,
        from_reserve=reservation.held,
        key=f"reservation:{reservation.pk}",
        description=description,
    )
    reservation.state, reservation.held, reservation.entry = ReservationState.SETTLED, 0, entry
    reservation.save(update_fields=["state", "held", "entry", "updated_at"])
    return entry


@atomic_with_retries
def release(*, reservation_id: UUID) -> None:
    """The operation failed: its credits are free again, and nobody saw them spent. Nothing happens a second time.

    UnknownOrganization when it was deleted with all of its credits.
    """
    account, reservation = _lock_reservation(reservation_id)
    if reservation.state in (ReservationState.HELD, ReservationState.LAPSED):
        _free(account, reservation, ReservationState.RELEASED)


@atomic_with_retries
def spend(*, organization: Organization, operation: Operation, credits: int, key: str, description: str) -> CreditEntry:
    """Take credits for something done already. The same key answers with the first entry. NotEnoughCredits when too
    few."""
    account = lock_account(organization)
    if earlier := entry_of(account, key):
        return earlier
    entry = _consume(account, operation=operation, cost=credits, from_reserve=0, key=key, description=description)
    if entry is None:
        raise _not_enough(account, credits)
    return entry


def lapse_overdue_reservations(*, now: datetime) -> int:
    """Free what was reserved for work that never reported back. How many were freed."""
    overdue = list(Reservation.objects.overdue(now).order_by("expires_at").values_list("pk", flat=True)[:1000])
    return sum(_lapse(key, now) for key in overdue)


def prune_reservations(*, now: datetime) -> bool:
    """Let go of reservations that are over, after their time (RETENTION). What they took stands in the ledger. Whether
    more can go."""
    before = now - settings.RETENTION["reservations"]
    ended = older_than(Reservation, before).exclude(state=ReservationState.HELD)
    return take_turns(reservations=lambda: prune(ended.filter(updated_at__lt=before)))


@atomic_with_retries
def _lapse(reservation_id: UUID, now: datetime) -> bool:
    try:
        account, reservation = _lock_reservation(reservation_id)
    except UnknownOrganization:
        return False
    if reservation.state != ReservationState.HELD or reservation.expires_at > now:
        return False
    _free(account, reservation, ReservationState.LAPSED)
    return True


def _free(account: CreditAccount, reservation: Reservation, state: ReservationState) -> None:
    account.reserved -= reservation.held
    account.save(update_fields=["reserved", "updated_at"])
    reservation.state, reservation.held = state, 0
    reservation.save(update_fields=["state", "held", "updated_at"])


def _consume(
    account: CreditAccount, *, operation: Operation, cost: int, from_reserve: int, key: str, description: str
) -> CreditEntry | None:
    if cost == 0 and not account.unlimited:
        return None
    return write(
        account=account,
        type=EntryType.CONSUMPTION,
        operation=operation,
        amount=0 if account.unlimited else -cost,
        cost=cost,
        from_reserve=from_reserve,
        key=key,
        description=description,
    )


def _lock_reservation(reservation_id: UUID) -> tuple[CreditAccount, Reservation]:
    # The account first: whoever changes a reservation holds its account, so the state read after that is the present
    # one. A reservation lives as long as its organization.
    account = lock_account_of(reservation_id)
    reservation = Reservation.objects.select_related("entry").filter(pk=reservation_id).first()
    if account is None or reservation is None:
        raise UnknownOrganization
    return account, reservation


def _not_enough(account: CreditAccount, credits: int) -> NotEnoughCredits:
    offer = offer_of_credits(account.organization)
    return NotEnoughCredits(f"This needs {credits} AI credits and {account.available} are left{offer}")
