"""The wallet provider: it is asked itself whether a delivery is its own (specification, Wallet provider webhook)."""

from collections.abc import Mapping
from typing import Any

import orjson
import structlog
from django.conf import settings

from billing.providers.walletpay_events import walletpay_facts
from billing.services.inflow import confirm, record
from webhooks.models import SourceName
from webhooks.sources.base import (
    MEBIBYTE,
    BadEnvelope,
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
from webhooks.sources.walletpay_check import VerificationUnavailable, ask

SIGNATURE_FIELDS = ("auth_algo", "cert_url", "transmission_id", "transmission_sig", "transmission_time")

log = structlog.get_logger("webhooks")


def verify(delivery: Delivery) -> None:
    """Accept what the provider's verification operation calls SUCCESS; VerificationUnavailable when it does not say."""
    question = {name: delivery.header(f"walletpay-{name.replace('_', '-')}") for name in SIGNATURE_FIELDS}
    if not settings.WALLETPAY_API_URL or not settings.WALLETPAY_WEBHOOK_ID or not all(question.values()):
        raise BadSignature
    try:
        orjson.loads(delivery.body)
    except orjson.JSONDecodeError as error:
        # What is not JSON can neither be verified nor be an event.
        raise BadEnvelope("The body is not valid JSON") from error
    _require_success(ask(_verification_body(question, delivery.body)))


def describe(delivery: Delivery, payload: Mapping[str, Any]) -> Envelope:
    """A sale is about the subscription it pays for, everything else about its own resource."""
    event_id = identifier(payload.get("id"), delivery)
    resource = payload.get("resource")
    subject = plain(at(resource, "billing_agreement_id")) or plain(at(resource, "id")) or event_id
    return Envelope(
        event_id=event_id,
        type=event_type(payload.get("event_type")),
        subject=subject,
        account=subject,
        occurred_at=instant(payload.get("create_time")),
    )


def _verification_body(question: Mapping[str, str], event: bytes) -> bytes:
    # The provider checks its signature against the event's very bytes: a copy written by us would fail.
    head = orjson.dumps({**question, "webhook_id": settings.WALLETPAY_WEBHOOK_ID})
    return head[:-1] + b',"webhook_event":' + event + b"}"


def _require_success(answer: Any) -> None:
    status = at(answer, "verification_status")
    if status == "FAILURE":
        raise BadSignature
    if status != "SUCCESS":
        log.warning("wallet verification answered something else")
        raise VerificationUnavailable


def _read(fact: Fact) -> Any:
    return confirm(walletpay_facts(fact.payload, received_at=fact.occurred_at))


BILLING = Handler(read=_read, apply=record)
WALLETPAY = Source(
    name=SourceName.WALLETPAY,
    largest_body_bytes=MEBIBYTE,
    verify=verify,
    describe=describe,
    handlers={
        "BILLING.SUBSCRIPTION.CREATED": BILLING,
        "BILLING.SUBSCRIPTION.ACTIVATED": BILLING,
        "BILLING.SUBSCRIPTION.UPDATED": BILLING,
        "BILLING.SUBSCRIPTION.SUSPENDED": BILLING,
        "BILLING.SUBSCRIPTION.CANCELLED": BILLING,
        "BILLING.SUBSCRIPTION.EXPIRED": BILLING,
        "PAYMENT.SALE.COMPLETED": BILLING,
    },
)
