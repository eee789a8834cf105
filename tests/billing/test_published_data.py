"""Our parsers and loopback providers against what the real providers publish.

The data is not ours to commit: PROVIDER_DATA_DIR names its folder, and without it these tests are skipped.
"""

import os
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest

from billing.providers.cardpay_events import payment_fact, subscription_fact
from billing.providers.reading import unix_instant
from tests.providers.cardpay import Cardpay
from tests.providers.loopback import Asked
from tests.providers.walletpay import Walletpay

FOLDER = Path(os.environ.get("PROVIDER_DATA_DIR", "no-such-folder"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="PROVIDER_DATA_DIR names no folder")


def published(name: str) -> Any:
    return orjson.loads((FOLDER / name).read_bytes())


@pytest.fixture(scope="module")
def examples() -> dict[str, Any]:
    return dict(published("cardpay-fixtures.json")["resources"])


def kinds(value: Any) -> str:
    return "number" if isinstance(value, int) and not isinstance(value, bool) else type(value).__name__


class TestCardpay:
    def test_the_published_subscription_is_read(self, examples):
        body = examples["subscription"]

        fact = subscription_fact(body, unix_instant(body, "created"))

        assert fact.subscription_id == body["id"]
        assert fact.price_id == body["items"]["data"][0]["price"]["id"]
        assert fact.customer_id == body["customer"]

    def test_the_published_invoice_is_read(self, examples):
        invoice = examples["invoice"]

        fact = payment_fact(invoice, unix_instant(invoice, "created"))

        assert fact is None or fact.invoice_id == invoice["id"]

    @pytest.mark.parametrize("path", ["id", "customer", "cancel_at_period_end", "created", "metadata", "items"])
    def test_our_subscription_has_the_published_kinds(self, examples, path):
        server = Cardpay()
        ours = server.subscribe("organization")
        server.server_close()

        assert kinds(ours[path]) == kinds(examples["subscription"][path])


class TestWalletpay:
    @pytest.fixture
    def server(self):
        made = Walletpay()
        yield made
        made.server_close()

    def conforms(self, body: Any, name: str) -> None:
        document = published("walletpay-subscriptions.openapi.json")
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        jsonschema_rs.Draft4Validator(schema).validate(body)

    def test_our_subscription_conforms(self, server):
        self.conforms(server.subscribe("organization"), "subscription")

    def test_our_new_subscription_conforms(self, server):
        body = {"plan_id": "P-5ML4271244454362WXNWU5NQ", "custom_id": "organization"}
        self.conforms(body, "subscription_request_post")
        status, made = server.create(Asked("POST", "/v1/billing/subscriptions", {}, body, "", {}))

        assert status == 201
        self.conforms(made, "subscription")
