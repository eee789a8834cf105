"""Plans, what they cost at each provider, subscriptions and the history of payments."""

from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from config.models import BaseModel
from organizations.models import Organization


class PaymentProvider(models.TextChoices):
    CARDPAY = "cardpay"
    WALLETPAY = "walletpay"


class BillingCycle(models.TextChoices):
    MONTHLY = "monthly"
    ANNUAL = "annual"


class SubscriptionStatus(models.TextChoices):
    PENDING = "pending"
    ACTIVE = "active"
    CANCELLING = "cancelling"
    PAST_DUE = "past_due"
    INACTIVE = "inactive"
    CANCELLED = "cancelled"


# The plan holds while a subscription is in one of these.
LIVE = (SubscriptionStatus.ACTIVE, SubscriptionStatus.CANCELLING, SubscriptionStatus.PAST_DUE)
ENDED = (SubscriptionStatus.INACTIVE, SubscriptionStatus.CANCELLED)


class Plan(models.Model):
    """One row per plan, seeded by the first migration and edited by staff. A limit of -1 means unlimited."""

    id = models.CharField(primary_key=True, max_length=16)
    name = models.CharField(max_length=40)
    description = models.CharField(max_length=200)
    rank = models.PositiveSmallIntegerField(unique=True)
    price_monthly = models.DecimalField(max_digits=8, decimal_places=2)
    price_annual = models.DecimalField(max_digits=8, decimal_places=2)
    max_repos = models.IntegerField()
    max_members = models.IntegerField()
    max_orgs = models.IntegerField()
    ai_credits_per_month = models.IntegerField()
    cli_scan = models.BooleanField(default=True)
    dashboard = models.BooleanField(default=True)
    badge = models.BooleanField(default=False)
    pr_gate = models.BooleanField(default=False)
    architecture_graph = models.BooleanField(default=False)
    ai_cross_file = models.BooleanField(default=False)
    policy_editor = models.BooleanField(default=False)
    rule_packs = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["rank"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(price_monthly__gte=0, price_annual__gte=0),
                name="plan_prices_not_below_zero",
                violation_error_message="A price is never below zero.",
            ),
            models.CheckConstraint(
                condition=Q(max_repos__gte=-1, max_members__gte=-1, max_orgs__gte=-1, ai_credits_per_month__gte=-1),
                name="plan_limits_count_or_are_none",
                violation_error_message="A limit is a number from 0 up, or -1 for none.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_free(self) -> bool:
        """Nothing is paid for it, so the endpoints for paying customers are closed."""
        return self.price_monthly == 0

    def price(self, cycle: str) -> Decimal:
        """What one period of the cycle costs, in whole units of the currency."""
        return self.price_annual if cycle == BillingCycle.ANNUAL else self.price_monthly


class Price(BaseModel):
    """A provider's id for one plan and cycle. Former ids stay, since old subscriptions still name them."""

    provider = models.CharField(max_length=16, choices=PaymentProvider)
    external_id = models.CharField(max_length=120)
    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="prices")
    cycle = models.CharField(max_length=8, choices=BillingCycle)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    is_current = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "external_id"], name="price_once_per_provider"),
            models.UniqueConstraint(
                fields=["provider", "plan", "cycle"], condition=Q(is_current=True), name="price_current_once"
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=0),
                name="price_not_below_zero",
                violation_error_message="A price is never below zero.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan_id} {self.cycle} at {self.provider}"


class SubscriptionQuerySet(models.QuerySet["Subscription"]):
    def live(self) -> "SubscriptionQuerySet":
        """Those whose plan holds."""
        return self.filter(status__in=LIVE)

    def named(self, provider: str, external_id: str) -> "SubscriptionQuerySet":
        """The one that a provider calls so, or none."""
        return self.filter(provider=provider, external_id=external_id)


class Subscription(BaseModel):
    """One subscription at one provider. Of several live ones of an organization the one started last counts.

    `amount` is what a period costs at the price it was bought at, None where the price table does not say.
    `fact_at` is the provider's time of the newest fact applied, `version` grows with every change, and `ended_at` is
    final. `anchored_at` fixes the billing day: months are counted from it, so the 31st comes back after a February. The
    window is the month for which credits were granted last.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="subscriptions")
    provider = models.CharField(max_length=16, choices=PaymentProvider)
    external_id = models.CharField(max_length=120)
    customer_id = models.CharField(max_length=120, blank=True, db_index=True)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    cycle = models.CharField(max_length=8, choices=BillingCycle)
    amount: "models.DecimalField[Decimal | None, Decimal | None]" = models.DecimalField(
        max_digits=8, decimal_places=2, null=True, blank=True
    )
    status = models.CharField(max_length=12, choices=SubscriptionStatus)
    cancel_at_period_end = models.BooleanField(default=False)
    current_period_start: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(
        null=True, blank=True
    )
    current_period_end: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(
        null=True, blank=True
    )
    anchored_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField()
    fact_at = models.DateTimeField()
    ended_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)
    window_start: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)
    window_end: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)
    window_cycle = models.CharField(max_length=8, choices=BillingCycle, blank=True)
    version = models.PositiveIntegerField(default=0)

    objects = SubscriptionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "external_id"], name="subscription_once_per_provider"),
            models.CheckConstraint(
                condition=Q(ended_at=None, status__in=["pending", "active", "cancelling", "past_due"])
                | Q(ended_at__isnull=False, status__in=["inactive", "cancelled"]),
                name="subscription_ended_says_when",
            ),
            models.CheckConstraint(
                condition=Q(current_period_end=None) | Q(current_period_end__gt=F("current_period_start")),
                name="subscription_period_runs_forward",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["status", "current_period_end"], name="subscription_by_period_end"),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} at {self.provider}"

    @property
    def is_live(self) -> bool:
        """The organization has the plan."""
        return self.status in LIVE

    @property
    def is_ended(self) -> bool:
        """Over for good; no fact wakes it."""
        return self.status in ENDED

    @property
    def price(self) -> Decimal:
        """What a period costs, also when the plan has become dearer or cheaper since it was bought."""
        return self.plan.price(self.cycle) if self.amount is None else self.amount


class Payment(BaseModel):
    """One paid invoice, as the billing history shows it. The invoice's id keeps it single."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="payments")
    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, related_name="payments")
    provider = models.CharField(max_length=16, choices=PaymentProvider)
    invoice_id = models.CharField(max_length=120)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    currency = models.CharField(max_length=3)
    plan_name = models.CharField(max_length=60)
    paid_at = models.DateTimeField()
    pdf_url = models.CharField(max_length=1000, blank=True)

    class Meta:
        ordering: ClassVar = ["-paid_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "invoice_id"], name="payment_once_per_invoice"),
        ]
        indexes: ClassVar = [models.Index(fields=["organization", "-paid_at"], name="payment_history")]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} for {self.plan_name}"


class CancellationOrder(BaseModel):
    """A subscription that the provider must end now; kept until it did, and afterwards as the memory that we asked.

    It stands without the organization, which may be gone by then.
    """

    class Reason(models.TextChoices):
        ORGANIZATION_DELETED = "organization_deleted"
        SUPERSEDED = "superseded"
        PERIOD_ENDS = "period_ends"

    provider = models.CharField(max_length=16, choices=PaymentProvider)
    external_id = models.CharField(max_length=120)
    reason = models.CharField(max_length=24, choices=Reason)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField()
    done_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "external_id"], name="cancellation_once_per_subscription"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["next_at"], condition=Q(done_at=None), name="cancellation_due"),
        ]

    def __str__(self) -> str:
        return f"end {self.external_id} at {self.provider}"


class DepartedOrganization(models.Model):
    """The memory of a deleted organization: what a provider still tells of it is not a mistake."""

    id = models.UUIDField(primary_key=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.id)


class Repair(BaseModel):
    """One difference that reconciliation found and mended: which field, what stood here, what the provider says."""

    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, related_name="repairs")
    field = models.CharField(max_length=40)
    before = models.CharField(max_length=120, blank=True)
    after = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.field}: {self.before} -> {self.after}"
