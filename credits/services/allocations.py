"""Credits that come and go with the plan, and those that staff give."""

from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from config.errors import InvalidInput
from config.retries import atomic_with_retries
from credits.ledger import entry_of, write
from credits.locks import lock_account
from credits.models import CreditAccount, CreditEntry, EntryType, Operation, Reservation, ReservationState
from organizations import audit
from organizations.models import Organization

UNLIMITED = -1
LARGEST_GRANT = 1_000_000


class NothingToGrant(InvalidInput):
    message = "credits: must be a whole number from 1 to 1000000"


class GrantToUnlimited(InvalidInput):
    message = "The organization's credits are unlimited already"


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """What a plan gives for one month: `credits` (-1: without limit) from `starts_at` up to `ends_at`.

    `window` names the month; credits are granted once per name.
    """

    credits: int
    window: str
    starts_at: datetime
    ends_at: datetime

    @property
    def is_unlimited(self) -> bool:
        return self.credits == UNLIMITED


@atomic_with_retries
def allocate(*, organization: Organization, allocation: Allocation) -> None:
    """Bring an account to what the plan gives. Repeating it changes nothing.

    A new window resets: what is left expires, the allocation is granted. Within a window an upgrade grants the
    difference and a downgrade takes away what is above the new allocation. Going down and up again gives no more than
    the plan once.
    """
    account = lock_account(organization)
    if account.window != allocation.window and entry_of(account, _grant_key(allocation)) is None:
        _reset(account, allocation)
    else:
        _adjust(account, allocation)
    account.window, account.resets_at = allocation.window, allocation.ends_at
    account.save(update_fields=["window", "granted", "resets_at", "updated_at"])


@atomic_with_retries
def withdraw(*, organization: Organization) -> None:
    """The plan ended: the balance goes to zero and nothing is granted any more."""
    account = lock_account(organization)
    _take_back(account, account.balance, "The plan ended")
    account.resets_at = None
    account.save(update_fields=["granted", "resets_at"])
    _save_terms(account, credits=0)


@atomic_with_retries
def grant(*, organization: Organization, credits: int, key: str, reason: str, by: User) -> CreditEntry:
    """Credits that staff give, with the reason that the customer reads. They expire with the next reset. Audited."""
    if not 1 <= credits <= LARGEST_GRANT:
        raise NothingToGrant
    account = lock_account(organization)
    if earlier := entry_of(account, key):
        return earlier
    if account.unlimited:
        raise GrantToUnlimited
    entry = _give(account, credits, Operation.STAFF_GRANT, key=key, description=reason, by=by)
    details = {"credits": credits}
    audit.record(organization=organization, actor=by, action="credits.granted", subject=reason, details=details)
    return entry


def _reset(account: CreditAccount, allocation: Allocation) -> None:
    _expire(account, account.balance, "Unused credits expired")
    _save_terms(account, credits=allocation.credits, used=0)
    account.granted = max(0, allocation.credits)
    _give(
        account,
        account.granted,
        Operation.MONTHLY_ALLOCATION,
        key=_grant_key(allocation),
        description="Monthly allocation",
    )


def _adjust(account: CreditAccount, allocation: Allocation) -> None:
    # `granted` keeps a downgrade followed by an upgrade from giving the same credits twice.
    old, was_unlimited = account.allocation, account.unlimited
    _save_terms_before(account, allocation)
    if allocation.is_unlimited:
        return
    if was_unlimited or allocation.credits > old:
        more = min(allocation.credits - old, allocation.credits - account.granted)
        if more > 0:
            key = f"upgrade:{allocation.window}:{account.last_number or 0}"
            _give(account, more, Operation.MONTHLY_ALLOCATION, key=key, description="More credits by the new plan")
            account.granted += more
    elif allocation.credits < old:
        _take_back(account, account.balance - allocation.credits, "Above the allocation of the new plan")


def _save_terms_before(account: CreditAccount, allocation: Allocation) -> None:
    # An unlimited account holds no balance: it is emptied before the mark is set, and the mark goes before credits
    # come.
    if allocation.is_unlimited and not account.unlimited:
        _take_back(account, account.balance, "Credits are unlimited from now on")
    _save_terms(account, credits=allocation.credits)


def _give(
    account: CreditAccount, credits: int, operation: Operation, *, key: str, description: str, by: User | None = None
) -> CreditEntry:
    entry = write(
        account=account,
        type=EntryType.GRANT,
        operation=operation,
        amount=credits,
        key=key,
        description=description,
        granted_by=by,
    )
    if entry is None:  # nothing that is added can be too much: only a fault of ours comes here
        raise RuntimeError("A grant was refused although the account is locked")
    return entry


def _take_back(account: CreditAccount, credits: int, description: str) -> None:
    taken = _expire(account, credits, description)
    account.granted = max(0, account.granted - taken)


def _expire(account: CreditAccount, credits: int, description: str) -> int:
    if credits <= 0:
        return 0
    if account.balance - credits < account.reserved:
        _lapse_reservations(account)
    write(
        account=account,
        type=EntryType.CONSUMPTION,
        operation=Operation.MONTHLY_ALLOCATION,
        amount=-credits,
        key=f"expiry:{account.last_number}",
        description=description,
    )
    return credits


def _lapse_reservations(account: CreditAccount) -> None:
    held = Reservation.objects.filter(account=account, state=ReservationState.HELD)
    held.update(state=ReservationState.LAPSED, held=0)
    account.reserved = 0
    account.save(update_fields=["reserved"])


def _save_terms(account: CreditAccount, *, credits: int, used: int | None = None) -> None:
    account.unlimited = credits == UNLIMITED
    account.allocation = max(0, credits)
    account.used = account.used if used is None else used
    account.save(update_fields=["allocation", "unlimited", "used", "updated_at"])


def _grant_key(allocation: Allocation) -> str:
    return f"grant:{allocation.window}"
