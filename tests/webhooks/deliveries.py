"""Deliveries as the providers make them: signed requests to the receivers."""

import hashlib
import hmac
import time
from dataclasses import dataclass
from itertools import count
from typing import Any

import orjson
from django.test import Client

CARDPAY_SECRET = "whsec_first"
CODEHOST1_SECRET = "the App's webhook secret"
CODEHOST2_TOKEN = "token of code host 2"
URLS = {
    "cardpay": "/v1/billing/webhook/cardpay",
    "walletpay": "/v1/billing/webhook/walletpay",
    "codehost1": "/v1/webhooks/codehost1",
    "codehost2": "/v1/webhooks/codehost2",
}
NUMBERS = count(1)


@dataclass(frozen=True)
class Signed:
    """A request that is ready to be sent."""

    source: str
    headers: dict[str, str]
    body: bytes

    def send(self, client: Client | None = None) -> Any:
        return (client or Client(raise_request_exception=False)).post(
            URLS[self.source], data=self.body, content_type="application/json", headers=self.headers
        )


def cardpay(
    kind: str = "customer.created",
    *,
    event_id: str | None = None,
    thing: dict[str, Any] | None = None,
    created: Any = None,
    secret: str = CARDPAY_SECRET,
) -> Signed:
    now = int(time.time())
    payload = {
        "id": event_id or f"evt_{next(NUMBERS)}",
        "object": "event",
        "type": kind,
        "created": created or now,
        "data": {"object": thing or {"id": "cus_1", "object": "customer"}},
    }
    return cardpay_bytes(orjson.dumps(payload), secret=secret)


def cardpay_bytes(body: bytes, *, secret: str = CARDPAY_SECRET, seconds: int | None = None) -> Signed:
    moment = str(seconds if seconds is not None else int(time.time()))
    signature = hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    return Signed("cardpay", {"cardpay-signature": f"t={moment},v1={signature}"}, body)


def walletpay(payload: dict[str, Any] | bytes) -> Signed:
    body = payload if isinstance(payload, bytes) else orjson.dumps(payload)
    headers = {
        "walletpay-transmission-id": "69cd13f0-d67a-11e5-baa3-778b53f4ae55",
        "walletpay-transmission-time": "2026-11-20T20:01:35Z",
        "walletpay-transmission-sig": "c2lnbmF0dXJl",
        "walletpay-cert-url": "https://wallet.example/cert.pem",
        "walletpay-auth-algo": "SHA256withRSA",
    }
    return Signed("walletpay", headers, body)


def codehost1(event: str, payload: dict[str, Any] | bytes, *, delivery: str | None = None) -> Signed:
    body = payload if isinstance(payload, bytes) else orjson.dumps(payload)
    headers = {
        "codehost1-event": event,
        "codehost1-delivery": delivery or f"delivery-{next(NUMBERS)}",
        "codehost1-signature-256": "sha256=" + hmac.new(CODEHOST1_SECRET.encode(), body, hashlib.sha256).hexdigest(),
    }
    return Signed("codehost1", headers, body)


def codehost2(event: str, payload: dict[str, Any] | bytes, *, uuid: str | None = None) -> Signed:
    body = payload if isinstance(payload, bytes) else orjson.dumps(payload)
    headers = {
        "codehost2-event": event,
        "codehost2-event-uuid": uuid or f"uuid-{next(NUMBERS)}",
        "codehost2-token": CODEHOST2_TOKEN,
    }
    return Signed("codehost2", headers, body)
