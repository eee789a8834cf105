"""Credits renew once a month each, whoever looks for what is due (B4)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import time_machine
from django.db import connections

from billing.facts import SubscriptionFact
from billing.services.inflow import record
from billing.services.renewals import renew_due_credits
from credits.models import CreditEntry
from tests import factories


@pytest.mark.django_db(transaction=True)
def test_two_schedulers_renew_every_organization_once(cardpay, dice, figure):
    organizations = figure(c=100, s=5_000, of="organizations")
    start = datetime(2026, 1, 15, tzinfo=UTC)
    with time_machine.travel(start, tick=False):
        for number in range(organizations):
            organization = factories.organization(plan="free")
            record(
                [
                    SubscriptionFact(
                        provider="cardpay",
                        subscription_id=f"sub_{number}",
                        occurred_at=start,
                        status="active",
                        price_id=f"price_{dice.choice(['solo', 'pro'])}_annual",
                        organization_id=str(organization.pk),
                        period_start=start,
                        period_end=datetime(2027, 1, 15, tzinfo=UTC),
                    )
                ]
            )
    now = datetime(2026, 2, 15, 0, 0, 30, tzinfo=UTC)

    def scheduler(_: int) -> None:
        try:
            renew_due_credits(now=now)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(scheduler, range(2)))

    assert renew_due_credits(now=now) == 0
    assert CreditEntry.objects.filter(type="grant").count() == 2 * organizations
