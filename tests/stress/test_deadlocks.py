"""Provider events, spends, plan changes, member changes and deletion at once never wait for each other in a ring (B3).

PostgreSQL counts the deadlocks it had to end; the services' own repeating of what was given up would hide them.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from billing.facts import PaymentFact, SubscriptionEnded, SubscriptionFact
from billing.models import BillingCycle, PaymentProvider, Price
from billing.services.inflow import record
from config.errors import Refusal
from credits import services as credits
from credits.models import Operation
from organizations import services as organizations
from organizations.models import Membership, Organization, Role
from tests import factories

pytestmark = [pytest.mark.stress, pytest.mark.crowd, pytest.mark.django_db(transaction=True)]

THREADS, ORGANIZATIONS = 12, 3
PLANS = ["solo", "pro", "team"]


@pytest.fixture(autouse=True)
def _prices() -> None:
    for plan in PLANS:
        Price.objects.create(
            provider=PaymentProvider.CARDPAY,
            external_id=f"price_{plan}",
            plan_id=plan,
            cycle=BillingCycle.MONTHLY,
            amount=10,
        )


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only PostgreSQL locks rows")
def test_there_is_no_ring_of_waiting(figure, seed):
    before, ends = deadlocks(), time.monotonic() + figure(c=6, s=600, of="seconds")
    there = [Teeming(number) for number in range(ORGANIZATIONS)]
    outcomes: Counter[str] = Counter()

    def work(number: int) -> None:
        dice = random.Random(seed + number)
        try:
            while time.monotonic() < ends:
                place = dice.choice(there)
                outcomes[attempt(dice.choice(place.deeds), dice)] += 1
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {name for name in outcomes if name != "done" and not name.startswith("refused")} == set(), outcomes
    assert outcomes["done"] > THREADS
    connection.close()
    time.sleep(1.5)  # counters are told at the end of a session, and at most once a second
    assert deadlocks() == before


def deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("select pg_stat_clear_snapshot()")
        cursor.execute("select deadlocks from pg_stat_database where datname = current_database()")
        return int(cursor.fetchone()[0])


def attempt(deed: Callable[[random.Random], Any], dice: random.Random) -> str:
    try:
        deed(dice)
    except Refusal as refusal:
        return f"refused: {type(refusal).__name__}"
    except (Organization.DoesNotExist, Membership.DoesNotExist):
        return "refused: it is gone"
    except Exception as error:
        return f"{deed.__name__}: {type(error).__name__}: {error}"
    return "done"


class Teeming:
    """An organization to which everything happens; deleted, it is founded again."""

    def __init__(self, number: int) -> None:
        self.number, self.serial, self.guard = number, 0, threading.Lock()
        self.start = datetime(2026, 11, 1, tzinfo=UTC)
        self.found()
        often = [self.spend, self.reserve, self.pay, self.change_plan, self.change_role, self.invite, self.join]
        self.deeds = [*often * 4, self.transfer, self.remove, self.end, self.delete]

    def found(self) -> None:
        people = [factories.user() for _ in range(6)]
        made = factories.organization(owner=people[0], admins=people[1:3], members=people[3:], plan="free")
        self.people, self.organization = people, made
        self.subscription = f"sub_{self.number}_{self.serial}"
        record([self._fact("pro", self.start)])

    def next(self) -> int:
        with self.guard:
            self.serial += 1
            return self.serial

    def spend(self, dice: random.Random) -> None:
        credits.spend(
            organization=self.organization,
            operation=Operation.AI_FIX_SUGGESTION,
            credits=1,
            key=f"spend-{self.number}-{dice.randrange(10**6)}",
            description="A fix",
        )

    def reserve(self, dice: random.Random) -> None:
        held = credits.reserve(
            organization=self.organization, operation=Operation.AI_CROSS_FILE, credits=2, key=f"work-{self.next()}"
        )
        if dice.random() < 0.5:
            credits.settle(reservation_id=held.pk, description="Work")
        else:
            credits.release(reservation_id=held.pk)

    def pay(self, dice: random.Random) -> None:
        at = self.start + timedelta(seconds=self.next())
        fact = PaymentFact(
            provider=PaymentProvider.CARDPAY,
            subscription_id=self.subscription,
            occurred_at=at,
            invoice_id=f"in_{self.subscription}_{self.next()}",
            amount=Decimal(29),
            currency="usd",
            period_start=at,
            period_end=at + timedelta(days=30),
        )
        record([fact])

    def change_plan(self, dice: random.Random) -> None:
        record([self._fact(dice.choice(PLANS), self.start + timedelta(seconds=self.next()))])

    def end(self, dice: random.Random) -> None:
        over = SubscriptionEnded(
            provider=PaymentProvider.CARDPAY,
            subscription_id=self.subscription,
            occurred_at=self.start + timedelta(seconds=self.next()),
            status="inactive",
        )
        record([over])
        self.subscription = f"sub_{self.number}_{self.next()}"
        record([self._fact("pro", self.start + timedelta(seconds=self.next()))])

    def change_role(self, dice: random.Random) -> None:
        member = self._somebody(dice)
        organizations.change_role(member=member, role=dice.choice([Role.ADMIN, Role.MEMBER]), actor=self.people[0])

    def remove(self, dice: random.Random) -> None:
        organizations.remove_member(member=self._somebody(dice), actor=self.people[0])

    def transfer(self, dice: random.Random) -> None:
        owner = self.organization.memberships.filter(role=Role.OWNER).select_related("user").get().user
        organizations.transfer_ownership(heir=self._somebody(dice), actor=owner)

    def invite(self, dice: random.Random) -> None:
        address = f"guest{dice.randrange(20)}@example.net"
        organizations.invite_member(organization=self.organization, email=address, actor=self.people[0])

    def join(self, dice: random.Random) -> None:
        invitation = self.organization.invitations.pending().order_by("?").first()
        if invitation:
            organizations.cancel_invitation(invitation=invitation, actor=self.people[0])

    def delete(self, dice: random.Random) -> None:
        owner = self.organization.memberships.filter(role=Role.OWNER).select_related("user").get().user
        organizations.delete_organization(organization=self.organization, actor=owner)
        self.next()
        self.found()

    def _somebody(self, dice: random.Random) -> Any:
        rows = self.organization.memberships.exclude(role=Role.OWNER).select_related("organization", "user")
        found = rows.order_by("?").first()
        if found is None:
            raise Organization.DoesNotExist
        return found

    def _fact(self, plan: str, at: datetime) -> SubscriptionFact:
        return SubscriptionFact(
            provider=PaymentProvider.CARDPAY,
            subscription_id=self.subscription,
            occurred_at=at,
            status="active",
            price_id=f"price_{plan}",
            organization_id=str(self.organization.pk),
            period_start=self.start,
            period_end=self.start + timedelta(days=30),
        )
