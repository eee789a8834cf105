"""The ledger of AI credits: one account per organization, append-only entries, and reservations for work under way.

The law of the ledger, held by the database itself on PostgreSQL and SQLite alike:

- an entry's `balance` is `balance_before + amount` (check);
- an entry's `balance_before` is the `balance` of the entry numbered before it, and 0 for the first one (check, and a
  foreign key over account, number and balance);
- an account's `balance` is that of the entry with its `last_number`, and 0 without entries (a foreign key of the same
  kind);
- `last_number` only ever moves to the next number, and an entry comes in only under the number its account has just
  moved to (triggers);
- an entry never changes (trigger), and none can go while its account remains (the foreign keys).

So at each commit the amounts of an account add up to its balance. The two foreign keys are checked at the end of a
transaction, so an account and its entries can go together. Django cannot describe keys of several columns and triggers:
the migration `0002_ledger_law` adds them, and a test asks the database whether they stand.
"""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from config.models import BaseModel
from organizations.models import Organization


class Operation(models.TextChoices):
    """What credits are spent on, and what they come from."""

    AI_SCAN_SUMMARY = "ai_scan_summary"
    AI_CROSS_FILE = "ai_cross_file"
    AI_FIX_SUGGESTION = "ai_fix_suggestion"
    AI_PR_COMMENT = "ai_pr_comment"
    MONTHLY_ALLOCATION = "monthly_allocation"
    STAFF_GRANT = "staff_grant"


AI_OPERATIONS = [operation for operation in Operation if operation.startswith("ai_")]


class CreditAccount(BaseModel):
    """What an organization may still spend.

    `reserved` is the part of the balance held for work under way. `allocation` is what a month gives, `used` what AI
    operations took in the present window, `granted` what the plan gave in it (less what a downgrade took back). With
    `unlimited` the balance stays 0 and only `used` counts. `window` names the month for which credits were granted
    last.
    """

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, related_name="credit_account")
    balance = models.BigIntegerField(default=0)
    reserved = models.BigIntegerField(default=0)
    last_number: "models.PositiveIntegerField[int | None, int | None]" = models.PositiveIntegerField(null=True)
    allocation = models.PositiveIntegerField(default=0)
    unlimited = models.BooleanField(default=False)
    used = models.BigIntegerField(default=0)
    granted = models.BigIntegerField(default=0)
    window = models.CharField(max_length=200, blank=True)
    resets_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(balance__gte=0), name="credits_balance_not_negative"),
            models.CheckConstraint(
                condition=Q(reserved__gte=0, reserved__lte=F("balance")), name="credits_reserved_within_balance"
            ),
            models.CheckConstraint(condition=Q(used__gte=0), name="credits_used_not_negative"),
            models.CheckConstraint(
                condition=Q(unlimited=False) | Q(balance=0, allocation=0), name="credits_unlimited_has_no_balance"
            ),
            models.CheckConstraint(
                condition=Q(last_number__isnull=False) | Q(balance=0), name="credits_balance_comes_from_entries"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["resets_at"], name="credits_account_resets")]

    def __str__(self) -> str:
        return f"credits of {self.organization_id}"

    @property
    def available(self) -> int:
        """What can be reserved or spent now."""
        return self.balance - self.reserved


class EntryType(models.TextChoices):
    CONSUMPTION = "consumption"
    GRANT = "grant"


class CreditEntry(BaseModel):
    """One movement. Entries are numbered without gaps; `key` makes the act behind it happen once.

    `cost` is what an AI operation costs; on an unlimited account it moves nothing, so that `amount` is 0.
    """

    account = models.ForeignKey(
        CreditAccount,
        on_delete=models.CASCADE,
        related_name="entries",
        db_index=False,  # the unique pairs
    )
    number = models.PositiveIntegerField()
    previous_number: "models.PositiveIntegerField[int | None, int | None]" = models.PositiveIntegerField(null=True)
    type = models.CharField(max_length=12, choices=EntryType)
    operation = models.CharField(max_length=24, choices=Operation)
    amount = models.BigIntegerField()
    cost = models.PositiveIntegerField(default=0)
    balance_before = models.BigIntegerField()
    balance = models.BigIntegerField()
    unlimited = models.BooleanField(default=False)
    key = models.CharField(max_length=200)
    description = models.CharField(max_length=300)
    # The trigger guards every column but this one, which is cleared when the account of the staff member is deleted.
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name_plural = "credit entries"
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "key"], name="credits_entry_once_per_key"),
            models.UniqueConstraint(fields=["account", "number"], name="credits_entry_number_once"),
            models.UniqueConstraint(fields=["account", "number", "balance"], name="credits_entry_balance_named"),
            models.CheckConstraint(
                condition=Q(balance=F("balance_before") + F("amount"), balance__gte=0), name="credits_entry_adds_up"
            ),
            models.CheckConstraint(
                condition=Q(number=1, previous_number=None, balance_before=0)
                | Q(number__gt=1, previous_number__isnull=False, previous_number=F("number") - 1),
                name="credits_entry_follows",
            ),
            models.CheckConstraint(
                condition=Q(type="grant", amount__gte=0) | Q(type="consumption", amount__lte=0),
                name="credits_entry_type_tells_sign",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["account", "created_at", "number"],
                include=["operation", "cost"],
                name="credits_entry_by_month",
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.amount:+d}"


class ReservationState(models.TextChoices):
    HELD = "held"
    SETTLED = "settled"
    RELEASED = "released"
    LAPSED = "lapsed"


class ReservationQuerySet(models.QuerySet["Reservation"]):
    def overdue(self, now: datetime) -> "ReservationQuerySet":
        """Those whose work never reported back."""
        return self.filter(state=ReservationState.HELD, expires_at__lte=now)


class Reservation(BaseModel):
    """Credits set aside for one AI operation: settled when it succeeds, released when it fails.

    One that lapsed (its time ran out, or a reset or downgrade took the credits) may still be settled, by what is left.
    """

    account = models.ForeignKey(CreditAccount, on_delete=models.CASCADE, related_name="reservations")
    operation = models.CharField(max_length=24, choices=Operation)
    credits = models.PositiveIntegerField()
    held = models.PositiveIntegerField()
    key = models.CharField(max_length=160)
    state = models.CharField(max_length=8, choices=ReservationState, default=ReservationState.HELD)
    expires_at = models.DateTimeField(default=timezone.now)
    entry = models.ForeignKey(CreditEntry, on_delete=models.CASCADE, null=True, related_name="+")

    objects = ReservationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "key"], name="credits_reservation_once_per_key"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["expires_at"], condition=Q(state="held"), name="credits_reservation_overdue"),
        ]

    def __str__(self) -> str:
        return f"{self.credits} for {self.operation}, {self.state}"
