"""Reading the ledger."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, DateTimeField, PositiveIntegerField, QuerySet, Sum
from django.utils import timezone

from config.compiled import CompiledQuery, Key, count_of
from config.errors import InvalidInput
from credits.models import AI_OPERATIONS, CreditAccount, CreditEntry
from organizations.models import Organization

MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
UNLIMITED = -1
# Of an entry, to those who may read the ledger.
SHOWN = ("id", "type", "operation", "amount", "cost", "balance", "unlimited", "description", "created_at")

_ACCOUNT = CompiledQuery(lambda: CreditAccount.objects.filter(organization=Key("organization")))
_ENTRIES_SO_FAR = CompiledQuery(
    lambda: CreditAccount.objects.filter(organization=Key("organization")).values_list("last_number", flat=True)
)
_ENTRIES_OF_MONTH = CompiledQuery(
    lambda: count_of(
        CreditEntry.objects.filter(
            account=CreditAccount.objects.filter(organization=Key("organization")).values("pk")[:1],
            created_at__gte=Key("start", DateTimeField()),
            created_at__lt=Key("end", DateTimeField()),
        )
    )
)
_NUMBERED = CompiledQuery(
    lambda: (
        CreditEntry.objects.filter(
            account=CreditAccount.objects.filter(organization=Key("organization")).values("pk")[:1],
            number__gt=Key("after", PositiveIntegerField()),
            number__lte=Key("upto", PositiveIntegerField()),
        )
        .order_by("-number")
        .values(*SHOWN)
    )
)
_USED = CompiledQuery(
    lambda: CreditAccount.objects.filter(organization=Key("organization")).values_list("used", flat=True)
)


@dataclass(frozen=True)
class CreditBalance:
    """What an organization has; balance and allocation are -1 when unlimited, `resets_at` is None without a plan."""

    balance: int
    allocation: int
    used: int
    resets_at: datetime | None


@dataclass(frozen=True)
class CreditUse:
    """What AI operations took in the present month of credits; `period` is the calendar month (YYYY-MM, UTC)."""

    used: int
    period: str


@dataclass(frozen=True)
class Month:
    """A calendar month in UTC: from `start` up to, not including, `end`."""

    name: str
    start: datetime
    end: datetime


def balance_of(organization: Organization) -> CreditBalance:
    """The balance, from the account. An organization that never had credits has none."""
    account = _ACCOUNT.first(organization=organization.pk)
    if account is None:
        return CreditBalance(0, 0, 0, None)
    if account.unlimited:
        return CreditBalance(UNLIMITED, UNLIMITED, account.used, account.resets_at)
    return CreditBalance(account.balance, account.allocation, account.used, account.resets_at)


def credit_use(organization: Organization) -> CreditUse:
    """How much was used since the last reset."""
    return CreditUse(_USED.first(organization=organization.pk) or 0, f"{timezone.now():%Y-%m}")


def history(organization: Organization, *, total: int, limit: int, offset: int) -> list[dict[str, Any]]:
    """Entries of all time, the newest first, of a ledger that has `total`. One query, as fast for the millionth as for
    the first: entries are numbered without gaps, so a number says how many there are and where to begin."""
    newest = max(0, total - offset)
    return _NUMBERED.all(organization=organization.pk, after=max(0, newest - limit), upto=newest)


def entries_so_far(organization: Organization) -> int:
    """How many entries the ledger has: it changes with each of them. One query."""
    return _ENTRIES_SO_FAR.first(organization=organization.pk) or 0


def entries_of_month(organization: Organization, month: Month) -> int:
    """How many entries of the ledger are of a month. One query."""
    return _ENTRIES_OF_MONTH.first(organization=organization.pk, start=month.start, end=month.end) or 0


def history_of_month(organization: Organization, month: Month, *, limit: int, offset: int) -> list[dict[str, Any]]:
    """Entries of one month, the newest first. One query."""
    rows = _of_month(organization, month).values(*SHOWN).order_by("-created_at", "-number")
    return list(rows[offset : offset + limit])


def usage_by_operation(organization: Organization, month: Month) -> list[dict[str, Any]]:
    """What each AI operation took in a month: `operation`, `used` credits and `count`, the most expensive one first."""
    rows = _of_month(organization, month).filter(operation__in=[str(operation) for operation in AI_OPERATIONS])
    counted = rows.order_by().values("operation").annotate(used=Sum("cost"), count=Count("created_at"))
    return [dict(row) for row in counted.order_by("-used", "operation")]


def _of_month(organization: Organization, month: Month) -> QuerySet[CreditEntry]:
    entries = CreditEntry.objects.filter(account=_account_of(organization))
    return entries.filter(created_at__gte=month.start, created_at__lt=month.end)


def _account_of(organization: Organization) -> QuerySet[CreditAccount, Any]:
    """As a value, not a join: the indexes of the account then give its entries in their order."""
    return CreditAccount.objects.filter(organization=organization).values("pk")[:1]


def month_named(name: str | None) -> Month | None:
    """The month behind `YYYY-MM`; None for None, InvalidInput for anything else."""
    if name is None:
        return None
    match = MONTH.fullmatch(name)
    if match is None or not 1 <= int(match[1]) <= 9998:
        raise InvalidInput("month: must be a month such as 2026-11")
    return _month(int(match[1]), int(match[2]))


def present_month() -> Month:
    """The month that it is now, in UTC."""
    now = timezone.now().astimezone(UTC)
    return _month(now.year, now.month)


def _month(year: int, month: int) -> Month:
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return Month(f"{year:04}-{month:02}", datetime(year, month, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC))
