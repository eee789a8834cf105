"""Reads that join several tables: the subscription as it is shown, and what a plan is used for."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache

from django.db.models import CharField

from billing.models import LIVE, BillingCycle, Payment, Plan, Subscription, SubscriptionStatus
from billing.services.provisioning import current_subscription
from config.compiled import CompiledQuery, Key
from config.errors import NotFound
from credits.selectors import CreditUse, credit_use
from organizations import entitlements
from organizations.entitlements import Feature
from organizations.models import Organization
from organizations.selectors import counts_of

UNLIMITED = -1

_PLANS = CompiledQuery(lambda: Plan.objects.all())
_PLAN = CompiledQuery(lambda: Plan.objects.filter(pk=Key("plan", CharField())))
_TOLD_OF_LAST = CompiledQuery(
    lambda: (
        Subscription.objects.filter(organization=Key("organization"))
        .select_related("plan")
        .order_by("-fact_at", "-pk")[:1]
    )
)


@cache
def _payments(limit: int) -> CompiledQuery[Payment]:
    return CompiledQuery(lambda: Payment.objects.filter(organization=Key("organization"))[:limit])


class UnknownPlan(NotFound):
    message = "There is no such plan"


@dataclass(frozen=True)
class ShownSubscription:
    """What the subscription read answers; the plan in force is the organization's when nothing is live or pending."""

    plan: Plan
    status: str
    provider: str | None = None
    cycle: str | None = None
    current_period_start: datetime | None = None
    current_period_end: datetime | None = None
    cancel_at_period_end: bool = False
    amount: Decimal | None = None

    @property
    def price_monthly(self) -> Decimal:
        return self._price(BillingCycle.MONTHLY)

    @property
    def price_annual(self) -> Decimal:
        return self._price(BillingCycle.ANNUAL)

    def _price(self, cycle: str) -> Decimal:
        """What is paid in the present cycle, and the plan's price in the other one."""
        return self.plan.price(cycle) if self.amount is None or self.cycle != cycle else self.amount


@dataclass(frozen=True)
class Use:
    """How much of a limit is taken; a limit of -1 means none."""

    used: int
    limit: int

    @property
    def is_exceeded(self) -> bool:
        return self.limit != UNLIMITED and self.used > self.limit


@dataclass(frozen=True)
class PlanUse:
    """What an organization uses of its plan."""

    plan: Plan
    period: str
    repos: Use
    members: Use
    credits: Use


def all_plans() -> list[Plan]:
    """Every plan, the smallest first. One query."""
    return _PLANS.all()


def plan_of(plan_id: str) -> Plan:
    """The plan by its id; UnknownPlan otherwise."""
    plan = _PLAN.first(plan=plan_id) if plan_id.isascii() and plan_id.isprintable() else None
    if plan is None:
        raise UnknownPlan
    return plan


def shown_subscription(organization: Organization) -> ShownSubscription:
    """The live subscription, else the one told of last, else the free plan with nothing bought."""
    row = current_subscription(organization) or _TOLD_OF_LAST.first(organization=organization.pk)
    if row is None:
        return ShownSubscription(plan=organization.plan, status=SubscriptionStatus.INACTIVE)
    is_open = row.status in (*LIVE, SubscriptionStatus.PENDING)
    return ShownSubscription(
        plan=row.plan if is_open else organization.plan,
        status=row.status,
        provider=row.provider,
        cycle=row.cycle,
        current_period_start=row.current_period_start,
        current_period_end=row.current_period_end,
        cancel_at_period_end=row.cancel_at_period_end,
        amount=row.amount if is_open else None,
    )


def payments_of(organization: Organization, *, limit: int) -> list[Payment]:
    """The billing history, newest first. One query."""
    return _payments(limit).all(organization=organization.pk)


def plan_use(organization: Organization) -> PlanUse:
    """Repositories, members and credits against the plan's limits. The credits are those of the present month of
    credits. Two queries."""
    plan: Plan = organization.plan
    credits: CreditUse = credit_use(organization)
    members, repositories = counts_of(organization)
    return PlanUse(
        plan=plan,
        period=credits.period,
        repos=Use(repositories, plan.max_repos),
        members=Use(members, plan.max_members),
        credits=Use(credits.used, plan.ai_credits_per_month),
    )


def features_of(organization: Organization) -> dict[str, bool]:
    """Every feature by its name on the wire, and whether the organization may use it."""
    return {str(feature): entitlements.allows(organization, str(feature)) for feature in Feature}


def exceeded_limits(use: PlanUse) -> list[str]:
    """Names of the limits that are exceeded, after a downgrade for example."""
    limits = {"maxRepos": use.repos, "maxMembers": use.members, "aiCreditsPerMonth": use.credits}
    return [name for name, taken in limits.items() if taken.is_exceeded]
