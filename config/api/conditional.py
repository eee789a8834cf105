"""Answers that the caller may have already: known by what they are made from, before they are made.

Every other answer gets its `ETag` from its bytes (ConditionalGetMiddleware), which spares the network only.
"""

import contextlib
import hashlib
import zlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware import http
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from config.api.errors import error_body
from config.api.rendering import JSONRenderer
from config.background import CACHE_AWAY
from config.release import release

KEPT_SECONDS = 900
OTHER_VERSION = "The answer is another version than the condition names; read it again"


def answer_of_version(
    request: Request, *version: object, make: Callable[[], Any], keep: bool = False
) -> HttpResponseBase:
    """304 to whoever has this version of the answer, else what `make` returns.

    `version` are the facts that the answer follows from, besides its address: it must change with each of them. With
    `keep` the answer is made once for all who ask within a quarter of an hour. `version` must then hold the query as
    well, as it was understood: with whatever a caller may write there the cache could be filled without bounds.
    """
    etag = etag_of(*version)

    def answer() -> HttpResponse:
        content = _kept(f"{request.path} {etag}", make) if keep else _rendered(make)
        return HttpResponse(content, content_type=JSONRenderer.media_type)

    return unless_held(request, etag, answer)


def unless_held(request: Request, etag: str, answer: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """304 to whoever has what this validator stands for, else what `answer` returns; the validator on both.

    RFC 9110, section 15.4.5: a 304 carries the ETag that the whole answer would have.
    """
    response = get_conditional_response(request._request, etag=etag) or answer()
    response["ETag"] = etag
    return response


class ConditionalGetMiddleware(http.ConditionalGetMiddleware):
    """Django's; a condition that does not hold (`If-Match` with another version) has the error body."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response = super().process_response(request, response)
        if request.method == "GET" and response.status_code == HTTPStatus.PRECONDITION_FAILED:
            return JsonResponse(error_body(HTTPStatus.PRECONDITION_FAILED, OTHER_VERSION), status=response.status_code)
        return response


def _kept(key: str, make: Callable[[], Any]) -> bytes:
    name = f"answer-{hashlib.sha256(key.encode()).hexdigest()}"
    with contextlib.suppress(*CACHE_AWAY):
        known = caches["answers"].get(name)
        if known is not None:
            return zlib.decompress(known)
    content = _rendered(make)
    with contextlib.suppress(*CACHE_AWAY):
        caches["answers"].set(name, zlib.compress(content, 1), timeout=KEPT_SECONDS)
    return content


def _rendered(make: Callable[[], Any]) -> bytes:
    return JSONRenderer().render(make())


def etag_of(*version: object) -> str:
    """A strong validator (RFC 9110, section 8.8.3)."""
    digest = hashlib.sha256("\0".join(map(str, (release(), *version))).encode())
    return f'"{digest.hexdigest()[:32]}"'
