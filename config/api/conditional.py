"""Answers that the caller may have already: known by what they are made from, before they are made.

Every other answer gets its `ETag` from its bytes (Django's ConditionalGetMiddleware), which spares the network only.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request
from rest_framework.response import Response

from config.release import release


def answer_of_version(request: Request, *version: object, make: Callable[[], Any]) -> HttpResponseBase:
    """304 to whoever has this version of the answer, else what `make` returns.

    `version` are the facts that the answer follows from, besides its address: it must change with each of them.
    """
    etag = etag_of(*version)
    unchanged = get_conditional_response(request._request, etag=etag)
    if unchanged is not None:
        return unchanged
    response = Response(make())
    response["ETag"] = etag
    return response


def etag_of(*version: object) -> str:
    """A strong validator (RFC 9110, section 8.8.3)."""
    digest = hashlib.sha256("\0".join(map(str, (release(), *version))).encode())
    return f'"{digest.hexdigest()[:32]}"'
