"""Writing entries. Every movement of credits goes through `write`; the caller holds the account's lock."""

from django.db.models import F

from accounts.models import User
from credits.models import AI_OPERATIONS, CreditAccount, CreditEntry, EntryType, Operation


def entry_of(account: CreditAccount, key: str) -> CreditEntry | None:
    """The entry that an act with this key wrote before."""
    return CreditEntry.objects.filter(account=account, key=key).first()


def write(
    *,
    account: CreditAccount,
    type: EntryType,
    operation: Operation,
    amount: int,
    key: str,
    description: str,
    cost: int = 0,
    from_reserve: int = 0,
    granted_by: User | None = None,
) -> CreditEntry | None:
    """Change the balance by `amount` and add the entry; None when fewer credits are free.

    `from_reserve` credits of a reservation are given free in the same step. The condition stands in the statement that
    changes the balance, so that no reading before it can be out of date.
    """
    number = (account.last_number or 0) + 1
    used = cost if operation in AI_OPERATIONS else 0
    changed = CreditAccount.objects.filter(
        pk=account.pk, balance__gte=F("reserved") - from_reserve - amount, last_number=account.last_number
    ).update(
        balance=F("balance") + amount,
        reserved=F("reserved") - from_reserve,
        used=F("used") + used,
        last_number=number,
    )
    if not changed:
        return None
    entry = CreditEntry.objects.create(
        account=account,
        number=number,
        previous_number=account.last_number,
        type=type,
        operation=operation,
        amount=amount,
        cost=cost,
        balance_before=account.balance,
        balance=account.balance + amount,
        unlimited=account.unlimited,
        key=key,
        description=description,
        granted_by=granted_by,
    )
    account.balance += amount
    account.reserved -= from_reserve
    account.used += used
    account.last_number = number
    return entry
