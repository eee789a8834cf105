"""Code host 2: deliveries that carry a secret token in a header (contract, section 6)."""

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
    """Accept the configured token, compared in constant time."""
    token = settings.CODEHOST2_WEBHOOK_TOKEN.encode()
    if not token or not hmac.compare_digest(token, delivery.header_bytes("codehost2-token")):
        raise BadSignature


def describe(delivery: Delivery, payload: Mapping[str, Any]) -> Envelope:
    """The type is event and action: `Merge Request Hook.open`. The subject is the merge request or the ref."""
    event_id = identifier(delivery.header("codehost2-event-uuid"), delivery)
    return Envelope(
        event_id=event_id,
        type=event_type(delivery.header("codehost2-event"), at(payload, "object_attributes", "action")),
        subject=_subject(payload) or event_id,
        occurred_at=instant(at(payload, "object_attributes", "updated_at")),
    )


def _subject(payload: Mapping[str, Any]) -> str:
    project = at(payload, "project", "id") or at(payload, "project_id")
    if at(payload, "object_kind") == "merge_request":
        return plain(f"project {project} merge request {at(payload, 'object_attributes', 'iid')}")
    if ref := at(payload, "ref"):
        return plain(f"project {project} ref {ref}")
    return ""


CODEHOST2 = Source(
    name=SourceName.CODEHOST2,
    largest_body_bytes=25 * MEBIBYTE,
    verify=verify,
    describe=describe,
)
