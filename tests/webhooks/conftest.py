"""What the tests of the inbox share: secrets, a wallet provider, and an inbox whose handlers the test chooses."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from tests.webhooks import deliveries
from tests.webhooks.wallet_server import Wallet, running_wallet
from webhooks import inbox
from webhooks.models import SourceName, WebhookEvent
from webhooks.sources import SOURCES
from webhooks.sources.base import Fact, Handler


@pytest.fixture(autouse=True)
def secrets(settings):
    settings.CARDPAY_WEBHOOK_SECRETS = [deliveries.CARDPAY_SECRET, "whsec_second"]
    settings.CODEHOST1_WEBHOOK_SECRET = deliveries.CODEHOST1_SECRET
    settings.CODEHOST2_WEBHOOK_TOKEN = deliveries.CODEHOST2_TOKEN


@pytest.fixture(autouse=True)
def no_breaks(monkeypatch):
    """Where one test has the database to itself nobody waits for the write lock."""
    monkeypatch.setattr(inbox, "SQLITE_BREAK_SECONDS", 0)


@pytest.fixture
def wallet(settings) -> Iterator[Wallet]:
    with running_wallet() as server:
        settings.WALLETPAY_API_URL = server.url
        settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET = "client", "secret"
        settings.WALLETPAY_WEBHOOK_ID = "1JE4291016473214C"
        yield server


@pytest.fixture
def handled_by(monkeypatch) -> Callable[[Callable[[Fact], object]], None]:
    """Let every event of code host 2 that is called `Test Hook` lead to the given call."""

    def use(apply: Callable[[Fact], object], *, read: Callable[[Fact], Fact] = lambda fact: fact) -> None:
        source = replace(SOURCES[SourceName.CODEHOST2], handlers={"Test Hook": Handler(read=read, apply=apply)})
        monkeypatch.setitem(SOURCES, SourceName.CODEHOST2, source)

    return use


def note(fact: Fact) -> None:
    """A change whose repetition shows: one row more, carrying the event's id."""
    Session.objects.create(session_key=f"effect{uuid4().hex}", session_data=fact.event_id, expire_date=timezone.now())


def noted() -> list[str]:
    """The ids of the events that took effect, as often as they did."""
    return sorted(Session.objects.filter(session_key__startswith="effect").values_list("session_data", flat=True))


def stored(event_id: str, *, subject: str = "", **fields: object) -> WebhookEvent:
    """An event as `accept` leaves it, put there without a request."""
    return WebhookEvent.objects.create(
        source=SourceName.CODEHOST2,
        event_id=event_id,
        type="Test Hook",
        subject=subject or event_id,
        occurred_at=timezone.now(),
        body=b"{}",
        **fields,
    )
