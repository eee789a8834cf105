"""Subscription, credits and both providers' events in any order, late and repeated, against a small model (B1).

The loopback providers are the truth that facts tell of; the model knows only that truth and what was spent. After every
step that leaves no fact undelivered the service must agree with it; the ledger must hold after every step.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce
from hypothesis import HealthCheck, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from billing.facts import PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.models import Payment
from billing.periods import next_period_end
from billing.selectors import shown_subscription
from billing.services.inflow import confirm, record
from config.errors import Refusal
from credits import services as credits
from credits.models import CreditAccount, Operation
from organizations.models import Organization
from tests import factories
from tests.providers.cardpay import Cardpay
from tests.providers.loopback import serving
from tests.providers.walletpay import Walletpay, stamp

pytestmark = pytest.mark.django_db

CREDITS = {"free": 0, "solo": 50, "pro": 500, "team": 2000, "enterprise": -1}
PLANS = [plan for plan in CREDITS if plan != "free"]
BEGIN = datetime(2026, 1, 31, 12, tzinfo=UTC)


@dataclass
class Truth:
    """What is so at the provider."""

    provider: str
    id: str
    plan: str
    anchor: datetime
    start: datetime
    end: datetime
    status: str = "active"
    ends: bool = False


class Billing(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.savepoint = transaction.atomic()
        self.savepoint.__enter__()
        self.organization = factories.organization(plan="free")
        self.now, self.serial = BEGIN, 0
        self.truth: Truth | None = None
        self.waiting: list[Any] = []
        self.told: list[Any] = []
        self.paid: set[str] = set()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.savepoint.__exit__(None, None, None)
        SERVERS["cardpay"].subscriptions.clear()
        SERVERS["walletpay"].subscriptions.clear()

    # The provider's world

    @precondition(lambda self: self.truth is None or self.truth.status == "ended")
    @rule(provider=st.sampled_from(["cardpay", "walletpay"]), plan=st.sampled_from(PLANS))
    def buy(self, provider: str, plan: str) -> None:
        self._tick()
        self.serial += 1
        end = next_period_end(self.now, self.now, "monthly")
        self.truth = Truth(provider, f"{provider}_{self.serial}", plan, self.now, self.now, end)
        self._tell_state()
        self._tell_payment()

    @precondition(lambda self: self.truth is not None and self.truth.status != "ended")
    @rule(plan=st.sampled_from(PLANS))
    def change_plan(self, plan: str) -> None:
        self._tick()
        self.truth.plan = plan
        self._tell_state()

    @precondition(lambda self: self.truth is not None and self.truth.status != "ended")
    @rule()
    def renew(self) -> None:
        self.now = self.truth.end
        self.truth.start = self.now
        self.truth.end = next_period_end(self.truth.anchor, self.now, "monthly")
        self.truth.status = "active"
        self._tell_state()
        self._tell_payment()

    @precondition(
        lambda self: self.truth is not None and self.truth.provider == "cardpay" and self.truth.status == "active"
    )
    @rule()
    def fail_to_pay(self) -> None:
        self._tick()
        self.truth.status = "past_due"
        self._mirror()
        self.serial += 1
        self._tell(PaymentFailure, invoice_id=f"failed_{self.serial}", amount=Decimal(29), currency="usd")

    @precondition(
        lambda self: self.truth is not None and self.truth.provider == "cardpay" and self.truth.status != "ended"
    )
    @rule(ends=st.booleans())
    def cancel_or_keep(self, ends: bool) -> None:
        self._tick()
        self.truth.ends = ends
        self._tell_state()

    @precondition(lambda self: self.truth is not None and self.truth.status != "ended")
    @rule()
    def end(self) -> None:
        self._tick()
        self.truth.status = "ended"
        self._mirror()
        over = "inactive" if self.truth.provider == "cardpay" else "cancelled"
        self._tell(SubscriptionEnded, status=over, price_id=self._price())

    # Its words on their way

    @precondition(lambda self: self.waiting)
    @rule(pick=st.integers(0, 1000), twice=st.booleans())
    def deliver_one(self, pick: int, twice: bool) -> None:
        fact = self.waiting.pop(pick % len(self.waiting))
        for _ in range(1 + twice):
            self._receive(fact)

    @precondition(lambda self: self.told)
    @rule(pick=st.integers(0, 1000))
    def deliver_again(self, pick: int) -> None:
        self._receive(self.told[pick % len(self.told)])

    @precondition(lambda self: self.waiting)
    @rule(order=st.randoms(use_true_random=False))
    def deliver_all(self, order: Any) -> None:
        self._drain(order)

    # Our own doing

    @rule(cost=st.integers(1, 60), fails=st.booleans(), known=st.integers(0, 5))
    def work(self, cost: int, fails: bool, known: int) -> None:
        before = self._account()
        try:
            held = credits.reserve(
                organization=self.organization,
                operation=Operation.AI_CROSS_FILE,
                credits=cost,
                key=f"work_{self.serial}_{known}",
            )
            if fails:
                credits.release(reservation_id=held.pk)
                assert self._account()[0] == before[0]
            else:
                credits.settle(reservation_id=held.pk, description="Work")
        except Refusal:
            assert self._account() == before

    @invariant()
    def the_ledger_adds_up_and_when_everything_was_told_the_service_agrees(self) -> None:
        connection.check_constraints()
        accounts = CreditAccount.objects.filter(organization=self.organization)
        account = accounts.annotate(total=Coalesce(Sum("entries__amount"), 0)).first()
        if account:
            assert account.total == account.balance >= account.reserved >= 0
        if not self.waiting:
            self._agrees(account)

    def _agrees(self, account: Any) -> None:
        organization = Organization.objects.get(pk=self.organization.pk)
        alive = self.truth is not None and self.truth.status != "ended"
        plan = self.truth.plan if alive else "free"
        assert organization.plan_id == plan
        balance, allocation = self._shown(account)
        assert allocation == CREDITS[plan]
        assert balance <= max(0, allocation)
        if alive:
            shown = shown_subscription(organization)
            words = {"cancelling", self.truth.status} - {"active"} if self.truth.ends else {self.truth.status}
            assert shown.status in words
            assert shown.cancel_at_period_end == self.truth.ends
            assert (shown.current_period_start, shown.current_period_end) == (self.truth.start, self.truth.end)
        else:
            assert balance == 0
        assert set(Payment.objects.values_list("invoice_id", flat=True)) == self.paid

    def _tick(self) -> None:
        self.now += timedelta(hours=1)

    def _tell_state(self) -> None:
        self._mirror()
        status = self.truth.status
        self._tell(
            SubscriptionFact,
            status=status,
            price_id=self._price(),
            cancel_at_period_end=self.truth.ends if self.truth.provider == "cardpay" else None,
            period_start=self.truth.start,
            period_end=self.truth.end,
            started_at=BEGIN + timedelta(seconds=self.serial) if self.serial else BEGIN,
        )

    def _tell_payment(self) -> None:
        self.serial += 1
        invoice = f"paid_{self.serial}"
        self.paid.add(invoice)
        card = self.truth.provider == "cardpay"
        period = {"period_start": self.truth.start, "period_end": self.truth.end} if card else {}
        self._tell(PaymentFact, invoice_id=invoice, amount=Decimal(29), currency="usd", **period)

    def _tell(self, kind: Any, **fields: Any) -> None:
        fact = kind(
            provider=self.truth.provider,
            subscription_id=self.truth.id,
            occurred_at=self.now,
            organization_id=str(self.organization.pk),
            **fields,
        )
        self.waiting.append(fact)

    def _receive(self, fact: Any) -> None:
        """What the inbox does: ask outside, apply inside; a refusal leaves the event for a later try."""
        try:
            facts = confirm([fact])
            with transaction.atomic():
                record(facts)
        except Refusal:
            self.waiting.append(fact)
        else:
            self.told.append(fact)

    def _drain(self, order: Any) -> None:
        for _ in range(8):
            facts, self.waiting = self.waiting, []
            order.shuffle(facts)
            for fact in facts:
                self._receive(fact)

    def _account(self) -> tuple[int, int]:
        return self._shown(CreditAccount.objects.filter(organization=self.organization).first())

    def _shown(self, account: CreditAccount | None) -> tuple[int, int]:
        if account is None:
            return 0, 0
        return (account.balance, -1 if account.unlimited else account.allocation)

    def _price(self) -> str:
        plan = self.truth.plan
        return f"price_{plan}_monthly" if self.truth.provider == "cardpay" else f"P-{plan}-monthly".upper()

    def _mirror(self) -> None:
        """What the provider answers when it is asked."""
        truth, owner = self.truth, str(self.organization.pk)
        over = truth.status == "ended"
        if truth.provider == "cardpay":
            body = SERVERS["cardpay"].subscribe(owner, self._price(), start=int(truth.start.timestamp()))
            SERVERS["cardpay"].subscriptions.pop(body["id"])
            SERVERS["cardpay"].subscriptions[truth.id] = {
                **body,
                "id": truth.id,
                "status": "canceled" if over else truth.status,
                "current_period_end": int(truth.end.timestamp()),
                "cancel_at_period_end": truth.ends,
            }
            return
        body = SERVERS["walletpay"].subscribe(owner, self._price(), start=truth.start)
        SERVERS["walletpay"].subscriptions.pop(body["id"])
        body["billing_info"]["next_billing_time"] = stamp(truth.end)
        status = "CANCELLED" if over else "ACTIVE"
        SERVERS["walletpay"].subscriptions[truth.id] = {**body, "id": truth.id, "status": status}


SERVERS: dict[str, Any] = {}


@pytest.fixture
def servers(settings: Any) -> Any:
    with serving(Cardpay) as card, serving(Walletpay) as wallet:
        settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = card.url, "sk_test_1"
        settings.WALLETPAY_API_URL = wallet.url
        settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET = "client", "secret"
        SERVERS.update(cardpay=card, walletpay=wallet)
        yield
        SERVERS.clear()


@pytest.mark.timeout(600)
def test_the_service_agrees_with_the_model_after_every_step(servers, db, figure, seed):
    run_state_machine_as_test(
        seeded(seed)(Billing),
        settings=settings(
            max_examples=figure(c=50, s=5_000, of="stories"),
            stateful_step_count=figure(c=50, s=100, of="steps"),
            suppress_health_check=list(HealthCheck),
            database=None,
            print_blob=True,
        ),
    )
