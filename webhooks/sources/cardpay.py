"""The card provider: events signed with HMAC-SHA256 over `<t>.<raw body>` (specification, Card provider webhook)."""

import hmac
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from billing.providers.cardpay_events import cardpay_facts
from billing.services.inflow import confirm, record
from webhooks.models import SourceName
from webhooks.sources.base import (
    MEBIBYTE,
    BadSignature,
    Delivery,
    Envelope,
    Fact,
    Handler,
    Source,
    at,
    event_type,
    identifier,
    instant,
    plain,
)

MOST_DIGITS = 12


def verify(delivery: Delivery) -> None:
    """Accept `t=<unix seconds>,v1=<hex>[,v1=<hex>...]` signed with one of the configured secrets, within the tolerance.

    The tolerance holds in both directions: a time in the future is as wrong as one that is long gone.
    """
    fields = [item.partition("=")[::2] for item in delivery.header("cardpay-signature").split(",")]
    times = [value for name, value in fields if name == "t"]
    signatures = [value.encode() for name, value in fields if name == "v1"]
    if len(times) != 1 or not _is_near(times[0]):
        raise BadSignature
    signed = times[0].encode() + b"." + delivery.body
    if not any(_matches(signed, secret, signatures) for secret in settings.CARDPAY_WEBHOOK_SECRETS):
        raise BadSignature


def describe(delivery: Delivery, payload: Mapping[str, Any]) -> Envelope:
    """Events are about a subscription; those that name none are about the customer or themselves."""
    event_id = identifier(payload.get("id"), delivery)
    kind, thing = event_type(payload.get("type")), at(payload, "data", "object")
    subject = plain(_subscription(kind, thing)) or plain(_id_of(at(thing, "customer"))) or event_id
    return Envelope(
        event_id=event_id,
        type=kind,
        subject=subject,
        account=subject,
        occurred_at=instant(payload.get("created")),
    )


def _subscription(kind: str, thing: Any) -> Any:
    # An invoice names its subscription in another place since the provider's API version of 2025.
    if kind.startswith("customer.subscription."):
        return at(thing, "id")
    return _id_of(at(thing, "subscription")) or _id_of(at(thing, "parent", "subscription_details", "subscription"))


def _id_of(reference: Any) -> Any:
    # The provider writes a reference as an id, or as the whole object when it was asked to expand it.
    return at(reference, "id") if isinstance(reference, Mapping) else reference


def _is_near(seconds: str) -> bool:
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= MOST_DIGITS):
        return False
    return abs(time.time() - int(seconds)) <= settings.CARDPAY_WEBHOOK_TOLERANCE_SECONDS


def _matches(signed: bytes, secret: str, signatures: list[bytes]) -> bool:
    expected = hmac.new(secret.encode(), signed, "sha256").hexdigest().encode()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


def _read(fact: Fact) -> Any:
    return confirm(cardpay_facts(fact.payload, received_at=fact.occurred_at))


BILLING = Handler(read=_read, apply=record)
CARDPAY = Source(
    name=SourceName.CARDPAY,
    largest_body_bytes=MEBIBYTE,
    verify=verify,
    describe=describe,
    handlers={
        "checkout.session.completed": BILLING,
        "customer.subscription.created": BILLING,
        "customer.subscription.updated": BILLING,
        "customer.subscription.deleted": BILLING,
        "invoice.payment_succeeded": BILLING,
        "invoice.payment_failed": BILLING,
    },
)
