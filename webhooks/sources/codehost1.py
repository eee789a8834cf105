"""Code host 1: deliveries signed with HMAC-SHA256 over the raw body, `sha256=<hex>` (contract, section 6)."""

import hmac
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from webhooks.models import SourceName
from webhooks.sources.base import (
    MEBIBYTE,
    BadSignature,
    Delivery,
    Envelope,
    Source,
    at,
    event_type,
    identifier,
    instant,
    plain,
)


def verify(delivery: Delivery) -> None:
    """Accept the signature made with the App's webhook secret."""
    secret = settings.CODEHOST1_WEBHOOK_SECRET.encode()
    expected = b"sha256=" + hmac.new(secret, delivery.body, "sha256").hexdigest().encode()
    given = delivery.header_bytes("codehost1-signature-256")
    if not secret or not hmac.compare_digest(expected, given):
        raise BadSignature


def describe(delivery: Delivery, payload: Mapping[str, Any]) -> Envelope:
    """The type is event and action: `pull_request.opened`. The subject is a pull request, ref or installation."""
    event = delivery.header("codehost1-event")
    event_id = identifier(delivery.header("codehost1-delivery"), delivery)
    return Envelope(
        event_id=event_id,
        type=event_type(event, payload.get("action")),
        subject=_subject(payload) or event_id,
        occurred_at=instant(at(payload, "pull_request", "updated_at")),
    )


def _subject(payload: Mapping[str, Any]) -> str:
    repository, installation = at(payload, "repository", "id"), at(payload, "installation", "id")
    if number := at(payload, "pull_request", "number"):
        return plain(f"repository {repository} pull request {number}")
    if ref := at(payload, "ref"):
        return plain(f"repository {repository} ref {ref}")
    return plain(f"installation {installation}") if installation else ""


CODEHOST1 = Source(
    name=SourceName.CODEHOST1,
    largest_body_bytes=25 * MEBIBYTE,
    verify=verify,
    describe=describe,
)
