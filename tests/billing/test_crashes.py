"""A process that dies anywhere in a change at the provider: done again, the provider has changed once (A2)."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from billing.models import CancellationOrder, Subscription
from tests import factories
from tests.billing.conftest import known
from tests.conftest import client_of
from tests.providers.cardpay import Cardpay
from tests.webhooks.test_crashes import Executioner, dies, statements

pytestmark = pytest.mark.django_db(transaction=True)
NUMBERS = count(1)


@pytest.fixture
def changes_once(cardpay: Cardpay, figure: Any, dice: Any) -> Callable[..., None]:
    """Kill a call of the owner at some places (all of them at tier S) and send it again."""
    most = figure(c=6, s=10_000, of="places to die at, a call, at most")

    def check(path: str, *, before: str = "", **body: str) -> None:
        def begin() -> tuple[Any, Callable[[], Any], dict[str, Any]]:
            owner = factories.user()
            organization = factories.organization(owner=owner, plan="free")
            at_host = cardpay.subscribe(str(organization.pk))
            known("cardpay", at_host["id"])
            client = client_of(owner)
            if before:
                client.post(f"/v1/billing/{before}", {"orgId": str(organization.pk)})
            cardpay.asked.clear()
            return (
                organization,
                lambda: client.post(f"/v1/billing/{path}", {"orgId": str(organization.pk), **body}),
                at_host,
            )

        def end(organization: Any, at_host: dict[str, Any]) -> Any:
            row = Subscription.objects.get(organization=organization)
            price = at_host["items"]["data"][0]["price"]["id"]
            return (
                (row.status, row.plan_id, row.cancel_at_period_end),
                (at_host["status"], at_host["cancel_at_period_end"], price),
                CancellationOrder.objects.filter(external_id=row.external_id).count(),
                len(cardpay.changes),
            )

        organization, call, at_host = begin()
        total = statements(call)
        wanted = end(organization, at_host)
        assert wanted[-1] == 1
        places = [(number, after) for number in range(1, total + 1) for after in (False, True)]
        for number, after in dice.sample(places, min(most, len(places))):
            organization, call, at_host = begin()
            dies(call, Executioner(number, after=after))
            answer = call()
            assert answer.status_code in (200, 400), answer.content  # 400: it is so already
            assert end(organization, at_host) == wanted, f"killed {'after' if after else 'before'} {number} of {total}"

    return check


def test_cancelling(changes_once: Any) -> None:
    changes_once("cancel")


def test_keeping(changes_once: Any) -> None:
    changes_once("reactivate", before="cancel")


def test_changing_the_plan(changes_once: Any) -> None:
    changes_once("change-plan", planId="team", billingCycle="monthly")
