"""Where providers deliver: read the bytes, hand them to the inbox, answer."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from config.api.parsing import BodyTooLarge
from config.api.schema import describe
from webhooks import inbox
from webhooks.models import SourceName
from webhooks.sources import SOURCES
from webhooks.sources.base import MEBIBYTE
from webhooks.sources.walletpay_check import VerificationUnavailable

RECEIVED = inline_serializer(
    "WebhookReceived",
    {
        "received": serializers.BooleanField(help_text="Always true."),
        "duplicate": serializers.BooleanField(help_text="Whether an event with this id was stored before."),
    },
)
ABOUT = """{how}

The event is stored once per event id and answered before any work is done; types that mean nothing here are stored too.
A real provider's own header names are taken as well (docs/webhooks.md)."""


def _receiver(source: SourceName, how: str, example: dict[str, Any], errors: dict[int, str] | None = None) -> Any:
    largest = SOURCES[source].largest_body_bytes // MEBIBYTE
    return describe(
        f"Receive an event of {source}",
        description=ABOUT.format(how=how),
        request={"application/json": {"type": "object", "additionalProperties": True}},
        response=RECEIVED,
        request_example=example,
        example={"received": True, "duplicate": False},
        errors={
            400: "The body is not valid JSON",
            401: "Unauthorized",
            413: f"The body is larger than {largest} MiB",
            **(errors or {}),
        },
    )


class WebhookViewSet(ViewSet):
    """Receivers are open to everybody and not limited per client: the signature and the size protect them."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # Providers ask for all kinds of media types and read none.
        return super().perform_content_negotiation(request, force=True)

    @_receiver(
        SourceName.CARDPAY,
        "Signed in `cardpay-signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of t.body>`.",
        {
            "id": "evt_1",
            "type": "customer.subscription.updated",
            "data": {"object": {"id": "sub_1", "status": "active"}},
        },
    )
    def cardpay(self, request: Request) -> Response:
        """An event of the card provider."""
        return self._receive(request, SourceName.CARDPAY)

    @_receiver(
        SourceName.WALLETPAY,
        "Verified by asking the provider with the headers `walletpay-transmission-id`, `-time`, `-sig`, "
        "`walletpay-cert-url` and `walletpay-auth-algo`.",
        {"id": "WH-1", "event_type": "BILLING.SUBSCRIPTION.ACTIVATED", "resource": {"id": "I-1", "status": "ACTIVE"}},
        {503: VerificationUnavailable.message},
    )
    def walletpay(self, request: Request) -> Response:
        """An event of the wallet provider."""
        return self._receive(request, SourceName.WALLETPAY)

    @_receiver(
        SourceName.CODEHOST1,
        "Signed in `codehost1-signature-256`: `sha256=<hex HMAC-SHA256 of the body>`. `codehost1-event` names the "
        "event, `codehost1-delivery` its id.",
        {"action": "opened", "pull_request": {"number": 7}, "repository": {"id": 4, "full_name": "acme/shop"}},
    )
    def codehost1(self, request: Request) -> Response:
        """An event of code host 1."""
        return self._receive(request, SourceName.CODEHOST1)

    @_receiver(
        SourceName.CODEHOST2,
        "Carries the secret token in `codehost2-token`. `codehost2-event` names the event, `codehost2-event-uuid` its "
        "id.",
        {"object_kind": "merge_request", "project": {"id": 4}, "object_attributes": {"iid": 7, "action": "open"}},
    )
    def codehost2(self, request: Request) -> Response:
        """An event of code host 2."""
        return self._receive(request, SourceName.CODEHOST2)

    def _receive(self, request: Request, source: SourceName) -> Response:
        body = _read(request, SOURCES[source].largest_body_bytes)
        duplicate = inbox.accept(source=source, headers=request.headers, body=body)
        return Response({"received": True, "duplicate": duplicate}, status=status.HTTP_200_OK)


def _read(request: Request, largest: int) -> bytes:
    """The raw body, read no further than the limit whatever Content-Length says."""
    body = request._request.read(largest + 1)
    if len(body) > largest:
        raise BodyTooLarge(f"The body is larger than {largest // MEBIBYTE} MiB")
    return body
