"""The API's description at /v1/schema, and its browser at /v1/docs, which asks nobody but this service."""

from functools import cache
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.views import APIView

# Swagger UI styles its own elements inline and draws icons from data addresses.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self' {api}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class DescriptionView(APIView):
    """The OpenAPI document, for everybody. It is the same for all callers and made once: that takes seconds."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    schema = None

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(document(), content_type="application/json")


class BrowserView(SpectacularSwaggerSplitView):
    """Swagger UI from our own static files, with its script apart from the page so that no inline script is needed."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        api = "{0.scheme}://{0.netloc}".format(urlsplit(settings.BASE_URL))
        response["Content-Security-Policy"] = POLICY.format(api=api)
        return super().finalize_response(request, response, *args, **kwargs)


@cache
def document() -> bytes:
    """The whole OpenAPI document as JSON."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return orjson.dumps(generator.get_schema(request=None, public=True), default=str)  # type: ignore[no-untyped-call]
