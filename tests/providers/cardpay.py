"""A loopback card provider: products, prices, checkout, portal, subscriptions and invoices, as far as we use them."""

import re
import time
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from tests.providers.loopback import Answer, Asked, Loopback

MONTH_SECONDS, YEAR_SECONDS = 30 * 86400, 365 * 86400


class Cardpay(Loopback):
    """Its `subscriptions`, `invoices` and `prices` may be changed by the test, which then is the provider's world."""

    keeps_failures = True

    def __init__(self) -> None:
        super().__init__()
        self.numbers = count(1)
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.invoices: list[dict[str, Any]] = []
        self.products: dict[str, dict[str, Any]] = {}
        self.prices: dict[str, dict[str, Any]] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.deleted: set[str] = set()  # ids of customers and prices

    def subscribe(self, organization_id: str, price: str = "price_pro_monthly", **fields: Any) -> dict[str, Any]:
        """A subscription as a paid checkout leaves it."""
        number = next(self.numbers)
        start = fields.pop("start", int(time.time()))
        length = YEAR_SECONDS if "annual" in price else MONTH_SECONDS
        body = {
            "id": f"sub_{number}",
            "object": "subscription",
            "status": "active",
            "customer": f"cus_{number}",
            "cancel_at_period_end": False,
            "created": start,
            "start_date": start,
            "current_period_start": start,
            "current_period_end": fields.pop("end", start + length),
            "metadata": {"orgId": organization_id},
            "items": {"object": "list", "data": [{"id": f"si_{number}", "price": self.price(price)}]},
            **fields,
        }
        self.subscriptions[body["id"]] = body
        return body

    def price(self, price_id: str) -> dict[str, Any]:
        interval = "year" if "annual" in price_id else "month"
        plain = {"id": price_id, "object": "price", "unit_amount": 2900, "recurring": {"interval": interval}}
        return self.prices.get(price_id, plain)

    def parse(self, raw: bytes) -> Any:
        return dict(parse_qsl(raw.decode()))

    def route(self, asked: Asked) -> Answer:
        if not asked.headers.get("Authorization", "").startswith("Bearer sk_"):
            return 401, {"error": {"type": "invalid_request_error", "message": "No key"}}
        for pattern, act in ROUTES:
            match = re.fullmatch(pattern, f"{asked.method} {asked.path}")
            if match:
                return act(self, asked, *match.groups())
        return _missing(asked.path)

    def read(self, asked: Asked, subscription_id: str) -> Answer:
        found = self.subscriptions.get(subscription_id)
        return (200, found) if found else _missing(subscription_id)

    def update(self, asked: Asked, subscription_id: str) -> Answer:
        found = self.subscriptions.get(subscription_id)
        if found is None:
            return _missing(subscription_id)
        if "cancel_at_period_end" in asked.body:
            found["cancel_at_period_end"] = asked.body["cancel_at_period_end"].lower() == "true"
        if price := asked.body.get("items[0][price]"):
            found["items"]["data"][0]["price"] = self.price(price)
        return 200, found

    def end(self, asked: Asked, subscription_id: str) -> Answer:
        found = self.subscriptions.get(subscription_id)
        if found is None or found["status"] == "canceled":
            return _missing(subscription_id)
        found |= {"status": "canceled", "ended_at": int(time.time())}
        return 200, found

    def checkout(self, asked: Asked) -> Answer:
        for name in ("customer", "line_items[0][price]"):
            if asked.body.get(name) in self.deleted:
                return _missing(asked.body[name])
        session_id = f"cs_{next(self.numbers)}"
        self.sessions[session_id] = asked.body
        return 200, {"id": session_id, "object": "checkout.session", "url": f"{self.url}/pay/{session_id}"}

    def portal(self, asked: Asked) -> Answer:
        return 200, {
            "id": "bps_1",
            "object": "billing_portal.session",
            "url": f"{self.url}/portal/{asked.body['customer']}",
        }

    def list_invoices(self, asked: Asked) -> Answer:
        chosen = [invoice for invoice in self.invoices if invoice["subscription"] == asked.query["subscription"]]
        return 200, {"object": "list", "data": sorted(chosen, key=lambda invoice: -invoice["created"])}

    def read_product(self, asked: Asked, product_id: str) -> Answer:
        found = self.products.get(product_id)
        return (200, found) if found else _missing(product_id)

    def make_product(self, asked: Asked) -> Answer:
        self.products[asked.body["id"]] = {"object": "product", **asked.body}
        return 200, self.products[asked.body["id"]]

    def list_prices(self, asked: Asked) -> Answer:
        chosen = [price for price in self.prices.values() if price["product"] == asked.query["product"]]
        return 200, {"object": "list", "data": chosen}

    def make_price(self, asked: Asked) -> Answer:
        price = {
            "id": f"price_{next(self.numbers)}",
            "object": "price",
            "product": asked.body["product"],
            "unit_amount": int(asked.body["unit_amount"]),
            "currency": asked.body["currency"],
            "recurring": {"interval": asked.body["recurring[interval]"]},
        }
        self.prices[price["id"]] = price
        return 200, price


ROUTES = [
    (r"GET /v1/subscriptions/(\w+)", Cardpay.read),
    (r"POST /v1/subscriptions/(\w+)", Cardpay.update),
    (r"DELETE /v1/subscriptions/(\w+)", Cardpay.end),
    (r"POST /v1/checkout/sessions", Cardpay.checkout),
    (r"POST /v1/billing_portal/sessions", Cardpay.portal),
    (r"GET /v1/invoices", Cardpay.list_invoices),
    (r"GET /v1/products/([\w-]+)", Cardpay.read_product),
    (r"POST /v1/products", Cardpay.make_product),
    (r"GET /v1/prices", Cardpay.list_prices),
    (r"POST /v1/prices", Cardpay.make_price),
]


def _missing(what: str) -> Answer:
    return 404, {"error": {"type": "invalid_request_error", "code": "resource_missing", "message": f"No such {what}"}}
