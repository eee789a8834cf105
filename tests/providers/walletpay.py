"""A loopback wallet provider: tokens, products, plans, subscriptions and their transactions, as far as we use them."""

import re
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.providers.loopback import Answer, Asked, Loopback


class Walletpay(Loopback):
    """Its `subscriptions` and `transactions` may be changed by the test, which then is the provider's world."""

    key_header = "Walletpay-Request-Id"

    def __init__(self) -> None:
        super().__init__()
        self.numbers = count(1)
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.transactions: dict[str, list[dict[str, Any]]] = {}
        self.products: dict[str, dict[str, Any]] = {}
        self.plans: dict[str, dict[str, Any]] = {}
        self.token = "token-1"

    def subscribe(self, organization_id: str, plan: str = "P-PRO-MONTHLY", **fields: Any) -> dict[str, Any]:
        """A subscription that its payer approved and paid."""
        number = next(self.numbers)
        now = fields.pop("start", datetime.now(UTC).replace(microsecond=0))
        body = {
            "id": f"I-{number}",
            "plan_id": plan,
            "status": "ACTIVE",
            "status_update_time": stamp(now),
            "custom_id": organization_id,
            "create_time": stamp(now),
            "start_time": stamp(now),
            "subscriber": {"email_address": "payer@example.org", "payer_id": payer_id(number)},
            "billing_info": {
                "outstanding_balance": {"currency_code": "USD", "value": "0.00"},
                "failed_payments_count": 0,
                "next_billing_time": stamp(now + timedelta(days=30)),
                "last_payment": {"amount": {"currency_code": "USD", "value": "29.00"}, "time": stamp(now)},
            },
            **fields,
        }
        self.subscriptions[body["id"]] = body
        return body

    def parse(self, raw: bytes) -> Any:
        return raw if raw.startswith(b"grant_type") else super().parse(raw)

    def route(self, asked: Asked) -> Answer:
        if asked.path == "/v1/oauth2/token":
            return 200, {"access_token": self.token, "token_type": "Bearer", "expires_in": 32400}
        if asked.headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {"error": "invalid_token"}
        for pattern, act in ROUTES:
            match = re.fullmatch(pattern, f"{asked.method} {asked.path}")
            if match:
                return act(self, asked, *match.groups())
        return 404, {"name": "RESOURCE_NOT_FOUND"}

    def read(self, asked: Asked, subscription_id: str) -> Answer:
        found = self.subscriptions.get(subscription_id)
        return (200, found) if found else (404, {"name": "RESOURCE_NOT_FOUND"})

    def create(self, asked: Asked) -> Answer:
        number = next(self.numbers)
        made = {
            "id": f"I-{number}",
            "plan_id": asked.body["plan_id"],
            "custom_id": asked.body["custom_id"],
            "status": "APPROVAL_PENDING",
            "create_time": stamp(datetime.now(UTC)),
            "links": [
                {"href": f"{self.url}/v1/billing/subscriptions/I-{number}", "rel": "self", "method": "GET"},
                {"href": f"{self.url}/approve?ba_token=BA-{number}", "rel": "approve", "method": "GET"},
            ],
        }
        self.subscriptions[made["id"]] = made
        return 201, made

    def revise(self, asked: Asked, subscription_id: str) -> Answer:
        if subscription_id not in self.subscriptions:
            return 404, {"name": "RESOURCE_NOT_FOUND"}
        links = [{"href": f"{self.url}/approve?revise={subscription_id}", "rel": "approve", "method": "GET"}]
        return 200, {"plan_id": asked.body["plan_id"], "links": links}

    def cancel(self, asked: Asked, subscription_id: str) -> Answer:
        found = self.subscriptions.get(subscription_id)
        if found is None:
            return 404, {"name": "RESOURCE_NOT_FOUND"}
        if found["status"] == "CANCELLED":
            return 422, {"name": "UNPROCESSABLE_ENTITY", "details": [{"issue": "SUBSCRIPTION_STATUS_INVALID"}]}
        found |= {"status": "CANCELLED", "status_update_time": stamp(datetime.now(UTC))}
        return 204, None

    def list_transactions(self, asked: Asked, subscription_id: str) -> Answer:
        return 200, {"transactions": self.transactions.get(subscription_id, [])}

    def read_product(self, asked: Asked, product_id: str) -> Answer:
        found = self.products.get(product_id)
        return (200, found) if found else (404, {"name": "RESOURCE_NOT_FOUND"})

    def make_product(self, asked: Asked) -> Answer:
        self.products[asked.body["id"]] = asked.body
        return 201, asked.body

    def list_plans(self, asked: Asked) -> Answer:
        return 200, {"plans": [plan for plan in self.plans.values() if plan["product_id"] == asked.query["product_id"]]}

    def make_plan(self, asked: Asked) -> Answer:
        made = {"id": f"P-{next(self.numbers)}", **asked.body}
        self.plans[made["id"]] = made
        return 201, made


SUBSCRIPTION = r"/v1/billing/subscriptions/([\w-]+)"
ROUTES = [
    (rf"GET {SUBSCRIPTION}", Walletpay.read),
    (r"POST /v1/billing/subscriptions", Walletpay.create),
    (rf"POST {SUBSCRIPTION}/revise", Walletpay.revise),
    (rf"POST {SUBSCRIPTION}/cancel", Walletpay.cancel),
    (rf"GET {SUBSCRIPTION}/transactions", Walletpay.list_transactions),
    (r"GET /v1/catalogs/products/([\w-]+)", Walletpay.read_product),
    (r"POST /v1/catalogs/products", Walletpay.make_product),
    (r"GET /v1/billing/plans", Walletpay.list_plans),
    (r"POST /v1/billing/plans", Walletpay.make_plan),
]


def stamp(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def payer_id(number: int) -> str:
    """13 characters of the provider's alphabet, which leaves out what can be mistaken: 0, 1, I and O."""
    return "PAYER" + f"{number:08}".translate(str.maketrans("01", "AB"))
