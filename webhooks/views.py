"""Where providers deliver: read the bytes, hand them to the inbox, answer."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from config.api.parsing import BodyTooLarge
from webhooks import inbox
from webhooks.models import SourceName
from webhooks.sources import SOURCES
from webhooks.sources.base import MEBIBYTE

RECEIVED = inline_serializer(
    "WebhookReceived",
    {
        "received": serializers.BooleanField(help_text="Always true"),
        "duplicate": serializers.BooleanField(help_text="Whether an event with this id was stored before"),
    },
)
ANSWERS = {
    200: OpenApiResponse(RECEIVED, "Stored; the work happens in the background. Unknown types are stored too."),
    400: OpenApiResponse(description="The signature is right, but the body is not a JSON object of this provider"),
    401: OpenApiResponse(description="The signature is missing, wrong or too old. Nothing was stored."),
    413: OpenApiResponse(description="The body is larger than this receiver takes"),
}
ANSWERS_OF_WALLETPAY = {
    **ANSWERS,
    503: OpenApiResponse(
        description="The provider's verification gave no answer within 3 seconds; send the event again"
    ),
}


def _receiver(source: SourceName, answers: dict[int, OpenApiResponse]) -> Any:
    return extend_schema(
        summary=f"Receive an event of {source}",
        operation_id=f"webhooks_{source}",
        tags=["Webhooks"],
        request={"application/json": {"type": "object", "additionalProperties": True}},
        responses=answers,
        examples=[OpenApiExample("Answer", {"received": True, "duplicate": False}, response_only=True)],
        auth=[],
    )


class WebhookViewSet(ViewSet):
    """Receivers are open to everybody and not limited per client: the signature and the size protect them."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # Providers ask for all kinds of media types and read none.
        return super().perform_content_negotiation(request, force=True)

    @_receiver(SourceName.CARDPAY, ANSWERS)
    def cardpay(self, request: Request) -> Response:
        """An event of the card provider, signed in `cardpay-signature`."""
        return self._receive(request, SourceName.CARDPAY)

    @_receiver(SourceName.WALLETPAY, ANSWERS_OF_WALLETPAY)
    def walletpay(self, request: Request) -> Response:
        """An event of the wallet provider, which is asked whether the `walletpay-*` headers are its own."""
        return self._receive(request, SourceName.WALLETPAY)

    @_receiver(SourceName.CODEHOST1, ANSWERS)
    def codehost1(self, request: Request) -> Response:
        """An event of code host 1, signed in `codehost1-signature-256`."""
        return self._receive(request, SourceName.CODEHOST1)

    @_receiver(SourceName.CODEHOST2, ANSWERS)
    def codehost2(self, request: Request) -> Response:
        """An event of code host 2, with the secret token in `codehost2-token`."""
        return self._receive(request, SourceName.CODEHOST2)

    def _receive(self, request: Request, source: SourceName) -> Response:
        body = _read(request, SOURCES[source].largest_body_bytes)
        duplicate = inbox.accept(source=source, headers=request.headers, body=body)
        return Response({"received": True, "duplicate": duplicate}, status=status.HTTP_200_OK)


def _read(request: Request, largest: int) -> bytes:
    """The raw body, read no further than the limit whatever Content-Length says."""
    announced = request.META.get("CONTENT_LENGTH") or "0"
    too_large = BodyTooLarge(f"The body is larger than {largest // MEBIBYTE} MiB")
    if announced.isdigit() and int(announced) > largest:
        raise too_large
    body = request._request.read(largest + 1)
    if len(body) > largest:
        raise too_large
    return body
