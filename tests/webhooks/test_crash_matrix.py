"""Every handler of every source, killed before and after each statement, comes to the same end (A2).

What a handler announces to a code host is sent here too, so the calls of the sender are among the places to die at.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, groupby
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Letter
from analysis.models import Installation, Platform, Publication, PublicationState, PullRequest, Repository
from analysis.services import sending
from billing.models import Payment, Subscription
from config import background
from credits.models import CreditEntry
from tests import factories
from tests.providers.cardpay import Cardpay
from tests.providers.codehosts import APP_ID, PRIVATE_KEY, TOKEN_OF_HOST2
from tests.providers.loopback import serving
from tests.providers.walletpay import Walletpay, stamp
from tests.stress.hosts import Forge, Forge1, Forge2
from tests.webhooks import deliveries
from tests.webhooks.deliveries import Signed
from tests.webhooks.test_crashes import Executioner, dies, later, statements
from webhooks import inbox
from webhooks.models import State, WebhookEvent
from webhooks.sources import SOURCES

pytestmark = pytest.mark.django_db(transaction=True)

NOW = int(datetime.now(UTC).timestamp())
MONTH = 30 * 86_400
NUMBERS = count(1)
CARD_PRICE, WALLET_PRICE = "price_pro_monthly", "P-PRO-MONTHLY"


@dataclass(frozen=True)
class Case:
    """One event to be killed at: what was done before it, the event itself, and what is so in the end."""

    before: list[Signed]
    event: Signed
    end: Callable[[], Any]


@pytest.fixture(autouse=True)
def _no_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a hint would start, the test starts itself."""
    monkeypatch.setattr(background._Broker, "rests_until", math.inf)


@pytest.fixture
def cardpay(settings: Any) -> Iterator[Cardpay]:
    with serving(Cardpay) as server:
        settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = server.url, "sk_test_1"
        settings.CARDPAY_PRICES = {"pro_monthly": CARD_PRICE}
        yield server


@pytest.fixture
def walletpay(settings: Any) -> Iterator[Walletpay]:
    with serving(Walletpay) as server:
        settings.WALLETPAY_API_URL = server.url
        settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET = "client", "secret"
        settings.WALLETPAY_PLANS = {"pro_monthly": WALLET_PRICE}
        yield server


@pytest.fixture
def forge1(settings: Any) -> Iterator[Forge1]:
    with serving(Forge1) as server:
        settings.CODEHOST1_URL = settings.CODEHOST1_API_URL = server.url
        settings.CODEHOST1_APP_ID, settings.CODEHOST1_PRIVATE_KEY = APP_ID, PRIVATE_KEY
        yield server


@pytest.fixture
def forge2(settings: Any) -> Iterator[Forge2]:
    with serving(Forge2) as server:
        settings.CODEHOST2_URL, settings.CODEHOST2_API_URL = server.url, f"{server.url}/api/v4"
        settings.CODEHOST2_TOKEN = TOKEN_OF_HOST2
        yield server


@pytest.fixture
def survives(figure: Any, dice: Any) -> Callable[[Callable[[], Case]], None]:
    """Kill the work on a case at some places (all of them at tier S), then work on: the end is that of a calm day."""
    most = figure(c=2, s=10_000, of="places to die at, a handler, at most")

    def check(make: Callable[[], Case]) -> None:
        calm = make()
        _arrange(calm)
        total = statements(_work)
        wanted = calm.end()
        places = [(number, after) for number in range(1, total + 1) for after in (False, True)]
        for number, after in dice.sample(places, min(most, len(places))):
            case = make()
            _arrange(case)
            dies(_work, Executioner(number, after=after))
            with later(sending.LEASE.seconds + 1):
                _work()
            assert case.end() == wanted, f"killed {'after' if after else 'before'} statement {number} of {total}"

    return check


def _arrange(case: Case) -> None:
    for signed in case.before:
        _accept(signed)
    _work()
    _accept(case.event)


def _accept(signed: Signed) -> None:
    """Store the event without a request; whether it is genuine is another test's matter."""
    envelope = SOURCES[signed.source].describe(
        inbox.Delivery(headers=signed.headers, body=signed.body), inbox.payload_of(signed.body)
    )
    WebhookEvent.objects.create(
        source=signed.source,
        event_id=envelope.event_id,
        type=envelope.type,
        subject=envelope.subject,
        occurred_at=envelope.occurred_at or timezone.now(),
        body=signed.body,
    )


def _work() -> None:
    """What the workers do: the events that are due, then what is to be shown at the hosts."""
    inbox.drain()
    for publication in Publication.objects.due(timezone.now()).order_by("created_at").values_list("pk", flat=True):
        sending.send(publication)


# Payments


def paid_state(organization: Any, name: str) -> Callable[[], Any]:
    """All that an organization's payments have led to, without the names that differ from case to case."""

    def state() -> Any:
        organization.refresh_from_db()
        events = WebhookEvent.objects.filter(subject=name)
        return {
            "events": sorted(events.values_list("state", flat=True)),
            "plan": organization.plan_id,
            "subscriptions": [
                (row.status, row.plan_id, row.cancel_at_period_end, row.current_period_start, row.current_period_end)
                for row in Subscription.objects.filter(organization=organization)
            ],
            "payments": Payment.objects.filter(organization=organization).count(),
            "letters": Letter.objects.filter(key__contains=name).count(),
            "credits": list(
                CreditEntry.objects.filter(account__organization=organization)
                .order_by("number")
                .values_list("type", "amount", "balance")
            ),
        }

    return state


def card_case(provider: Cardpay, kind: str) -> Case:
    organization, name = factories.organization(plan="free"), f"sub_{next(NUMBERS)}x"
    body = provider.subscribe(str(organization.pk), CARD_PRICE, start=NOW, end=NOW + MONTH)
    provider.subscriptions[name] = subscription = {**body, "id": name}
    invoice = {
        "id": f"in_{name}",
        "subscription": name,
        "amount_paid": 2900,
        "amount_due": 2900,
        "attempt_count": 1,
        "currency": "usd",
        "lines": {"data": [{"period": {"start": NOW, "end": NOW + MONTH}}]},
    }
    told = {
        "customer.subscription.created": subscription,
        "checkout.session.completed": {
            "id": f"cs_{name}",
            "mode": "subscription",
            "subscription": name,
            "client_reference_id": str(organization.pk),
        },
        "customer.subscription.updated": {**subscription, "cancel_at_period_end": True},
        "customer.subscription.deleted": {**subscription, "status": "canceled", "ended_at": NOW + 60},
        "invoice.payment_succeeded": invoice,
        "invoice.payment_failed": invoice,
    }
    is_first = kind in ("customer.subscription.created", "checkout.session.completed")
    begin = deliveries.cardpay("customer.subscription.created", thing=subscription, created=NOW)
    event = deliveries.cardpay(kind, thing=told[kind], created=NOW + 60)
    return Case([] if is_first else [begin], event, paid_state(organization, name))


def wallet_case(provider: Walletpay, kind: str) -> Case:
    organization, name = factories.organization(plan="free"), f"I-{next(NUMBERS)}X"
    start = datetime.fromtimestamp(NOW, UTC)
    body = provider.subscribe(str(organization.pk), WALLET_PRICE, start=start)
    provider.subscriptions[name] = active = {**body, "id": name}
    over = {"status_update_time": stamp(start + timedelta(minutes=1))}
    told = {
        "BILLING.SUBSCRIPTION.CREATED": {**active, "status": "APPROVAL_PENDING"},
        "BILLING.SUBSCRIPTION.ACTIVATED": active,
        "BILLING.SUBSCRIPTION.UPDATED": active,
        "BILLING.SUBSCRIPTION.SUSPENDED": {**active, "status": "SUSPENDED"},
        "BILLING.SUBSCRIPTION.CANCELLED": {**active, **over, "status": "CANCELLED"},
        "BILLING.SUBSCRIPTION.EXPIRED": {**active, **over, "status": "EXPIRED"},
        "PAYMENT.SALE.COMPLETED": {
            "id": f"sale_{name}",
            "billing_agreement_id": name,
            "state": "completed",
            "amount": {"total": "29.00", "currency": "USD"},
            "create_time": stamp(start),
            "custom": str(organization.pk),
        },
    }
    is_first = kind in ("BILLING.SUBSCRIPTION.CREATED", "BILLING.SUBSCRIPTION.ACTIVATED")
    begin = wallet_event("BILLING.SUBSCRIPTION.ACTIVATED", active, NOW)
    return Case([] if is_first else [begin], wallet_event(kind, told[kind], NOW + 60), paid_state(organization, name))


def wallet_event(kind: str, resource: dict[str, Any], at: int) -> Signed:
    moment = stamp(datetime.fromtimestamp(at, UTC))
    return deliveries.walletpay(
        {"id": f"WH-{next(NUMBERS)}", "event_type": kind, "create_time": moment, "resource": resource}
    )


@pytest.mark.parametrize("kind", SOURCES["cardpay"].handlers)
def test_card_events(kind: str, cardpay: Cardpay, survives: Any) -> None:
    survives(lambda: card_case(cardpay, kind))


@pytest.mark.parametrize("kind", SOURCES["walletpay"].handlers)
def test_wallet_events(kind: str, walletpay: Walletpay, survives: Any) -> None:
    survives(lambda: wallet_case(walletpay, kind))


# Code hosts


def hosted_state(forge: Forge, installation: str, names: list[str]) -> Callable[[], Any]:
    def state() -> Any:
        events = WebhookEvent.objects.filter(state=State.DONE)
        rows = Repository.objects.filter(full_name__in=names).order_by("full_name")
        pulls = PullRequest.objects.filter(repository__in=rows).order_by("number")
        said = Publication.objects.filter(repository__in=rows)
        return {
            "unfinished": WebhookEvent.objects.count() - events.count(),
            "repositories": [
                (names.index(row.full_name), row.default_branch, bool(row.installation_id)) for row in rows
            ],
            "runs": sorted(row for each in rows for row in each.runs.values_list("kind", "status", "commit_sha")),
            "pulls": list(pulls.values_list("number", "head_sha", "title", "is_open", "is_draft", "is_merged")),
            "unsent": said.exclude(state=PublicationState.SENT).count(),
            "shown": sorted(
                (sha, [state for state, _ in groupby(shown)])
                for (name, sha), shown in forge.statuses.items()
                if name in names
            ),
            "comments": len([1 for name, _, _ in forge.comments.values() if name in names]),
            "installations": list(
                Installation.objects.filter(external_id=installation).values_list("is_suspended", "is_deleted")
            ),
        }

    return state


def host1_case(forge: Forge1, kind: str) -> Case:
    event, _, action = kind.partition(".")
    number = next(NUMBERS)
    organization, installation = factories.organization(plan="pro"), f"{9000 + number}"
    Installation.objects.create(
        platform=Platform.CODEHOST1,
        external_id=installation,
        organization=organization,
        fact_at=datetime.fromtimestamp(NOW, UTC),
    )
    name, other = f"acme/shop-{number}", f"acme/late-{number}"
    Repository.objects.create(
        organization=organization,
        platform=Platform.CODEHOST1,
        full_name=name,
        external_id=f"{number}",
        clone_url=f"https://codehost.example/{name}.git",
        default_branch="main",
        installation_id=installation,
        came_by_installation=True,
    )
    hosted = {"id": number, "full_name": name, "default_branch": "main"}
    late = {"id": 100_000 + number, "full_name": other, "default_branch": "main"}
    about: dict[str, Any] = {"installation": {"id": installation, "account": {"login": "acme"}}, "sender": {"id": 1}}

    def pull(action: str, at: int, **changes: Any) -> Signed:
        request = {
            "number": 7,
            "state": "open",
            "title": "Add rates",
            "draft": False,
            "merged": False,
            "updated_at": datetime.fromtimestamp(at, UTC).isoformat(),
            "head": {"sha": "a" * 40, "ref": "feature", "repo": {"full_name": name}},
            "base": {"sha": "b" * 40, "ref": "main"},
            **changes,
        }
        payload = {"action": action, "pull_request": request, "repository": hosted, **about}
        return deliveries.codehost1("pull_request", payload)

    opened = pull("opened", NOW)
    head = {"head": {"sha": "c" * 40, "ref": "feature", "repo": {"full_name": name}}}
    changes = {
        "closed": {"state": "closed", "merged": True},
        "converted_to_draft": {"draft": True},
        "edited": {"title": "Add all rates"},
    }
    bodies: dict[str, dict[str, Any]] = {
        "push": {"ref": "refs/heads/main", "after": "d" * 40, "repository": hosted},
        "installation": {"action": action, "repositories": [hosted, late] if action == "created" else [hosted]},
        "installation_repositories": {
            "action": action,
            "repositories_added": [late] if action == "added" else [],
            "repositories_removed": [hosted] if action == "removed" else [],
        },
        "repository": {"action": action, "repository": {**hosted, "default_branch": "trunk"}},
        "ping": {"zen": "Calm"},
    }
    if event == "pull_request":
        before = [] if action == "opened" else [opened]
        signed = opened if action == "opened" else pull(action, NOW + 60, **changes.get(action, head))
    else:
        before, signed = [], deliveries.codehost1(event, {**about, **bodies[event]})
    return Case(before, signed, hosted_state(forge, installation, [name, other]))


def host2_case(forge: Forge2, kind: str) -> Case:
    number = next(NUMBERS)
    name = f"acme/shop-{number}"
    Repository.objects.create(
        organization=factories.organization(plan="pro"),
        platform=Platform.CODEHOST2,
        full_name=name,
        external_id=f"{number}",
        clone_url=f"https://codehost.example/{name}.git",
        default_branch="main",
    )
    project = {"project": {"id": number, "path_with_namespace": name, "default_branch": "main"}}

    def request(action: str, at: int, **changes: Any) -> Signed:
        attributes = {
            "iid": 7,
            "action": action,
            "state": "opened",
            "title": "Add rates",
            "source_branch": "feature",
            "target_branch": "main",
            "last_commit": {"id": "a" * 40},
            "updated_at": f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC",
            **changes,
        }
        payload = {"object_kind": "merge_request", "object_attributes": attributes, **project}
        return deliveries.codehost2("Merge Request Hook", payload)

    end = hosted_state(forge, "", [name])
    if kind == "Push Hook":
        push = {"object_kind": "push", "ref": "refs/heads/main", "after": "d" * 40, **project}
        return Case([], deliveries.codehost2("Push Hook", push), end)
    action = kind.rpartition(".")[2]
    changes = {"merge": {"state": "merged"}, "close": {"state": "closed"}}.get(
        action, {"last_commit": {"id": "c" * 40}}
    )
    opened = request("open", NOW)
    return Case([opened] if action != "open" else [], request(action, NOW + 60, **changes), end)


@pytest.mark.parametrize("kind", SOURCES["codehost1"].handlers)
def test_events_of_code_host_1(kind: str, forge1: Forge1, survives: Any) -> None:
    survives(lambda: host1_case(forge1, kind))


@pytest.mark.parametrize("kind", SOURCES["codehost2"].handlers)
def test_events_of_code_host_2(kind: str, forge2: Forge2, survives: Any) -> None:
    survives(lambda: host2_case(forge2, kind))
