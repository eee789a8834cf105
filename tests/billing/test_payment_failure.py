"""A charge that was refused: past_due, and one letter to the owner per invoice and attempt."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from billing.facts import PaymentFact, PaymentFailure
from billing.services.inflow import confirm, record

pytestmark = pytest.mark.django_db


def failure(row, **changes):
    fields = {
        "provider": "cardpay",
        "subscription_id": row.external_id,
        "occurred_at": timezone.now() + timedelta(hours=1),
        "invoice_id": "in_1",
        "amount": Decimal("29.00"),
        "currency": "usd",
        "next_attempt_at": datetime(2026, 12, 1, 10, tzinfo=UTC),
    }
    return PaymentFailure(**{**fields, **changes})


def test_the_plan_stays_and_the_owner_is_written_to_once(by_card, organization, postbox):
    for _ in range(2):
        record([failure(by_card)])

    by_card.refresh_from_db()
    organization.refresh_from_db()
    assert (by_card.status, organization.plan_id) == ("past_due", "pro")
    [letter] = postbox()
    assert letter.to == ["olivia@example.org"]
    assert letter.subject == "Your payment for Pro failed"
    assert "29.00 USD" in letter.body
    assert "2026-12-01 10:00 UTC" in letter.body
    assert f"/orgs/{organization.pk}/plan" in letter.body


def test_the_last_attempt_says_what_comes_next(by_card, postbox):
    record([failure(by_card, attempt=5, next_attempt_at=None)])

    [letter] = postbox()
    assert "moves to the plan Free" in letter.body


def test_every_attempt_has_its_letter(by_card, postbox):
    record([failure(by_card, attempt=attempt) for attempt in (1, 2, 3)])

    assert len(postbox()) == 3


def test_a_payment_heals_it(by_card):
    at = timezone.now() + timedelta(hours=2)
    paid = PaymentFact(
        provider="cardpay",
        subscription_id=by_card.external_id,
        occurred_at=at,
        invoice_id="in_1",
        amount=Decimal(29),
        currency="usd",
    )
    record([failure(by_card), paid])

    by_card.refresh_from_db()
    assert by_card.status == "active"


@pytest.mark.parametrize(
    ("later", "at_the_provider", "status"),
    [(-1, "active", "active"), (0, "active", "active"), (0, "past_due", "past_due"), (1, "past_due", "active")],
)
def test_one_that_is_no_newer_than_the_refusal_heals_it_when_the_provider_says_so(
    by_card, cardpay, later, at_the_provider, status
):
    record([failure(by_card)])
    by_card.refresh_from_db()
    cardpay.subscriptions[by_card.external_id]["status"] = at_the_provider
    paid = PaymentFact(
        provider="cardpay",
        subscription_id=by_card.external_id,
        occurred_at=by_card.fact_at + timedelta(seconds=later),
        invoice_id="in_1",
        amount=Decimal(29),
        currency="usd",
    )

    record(confirm([paid]))

    by_card.refresh_from_db()
    assert by_card.status == status


@pytest.mark.parametrize(
    ("later", "known", "asks"), [(1, "active", False), (0, "active", True), (0, "past_due", False)]
)
def test_the_provider_is_asked_about_a_refusal_that_is_no_newer_and_is_news(by_card, cardpay, later, known, asks):
    type(by_card).objects.update(status=known)
    before = len(cardpay.asked)

    record(confirm([failure(by_card, occurred_at=by_card.fact_at + timedelta(seconds=later))]))

    assert (len(cardpay.asked) > before) == asks
    by_card.refresh_from_db()
    assert by_card.status == ("active" if asks else "past_due")


def test_a_first_payment_that_fails_gives_no_plan(by_card, organization):
    type(by_card).objects.update(status="pending")
    record([failure(by_card)])

    by_card.refresh_from_db()
    assert by_card.status == "pending"
