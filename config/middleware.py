"""What happens to every request: it is taken in whole, it gets an id and a line in the log, and its answer gets
rate-limit and protective headers."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import structlog
from django.http import HttpRequest, HttpResponse

from config.measuring import observe_request
from config.models import new_id

Handler = Callable[[HttpRequest], HttpResponse]
LARGEST_UNREAD_BYTES = 64 * 1024
LONGEST_METHOD = 20  # of those that have a name, UPDATEREDIRECTREF
SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

log = structlog.get_logger("request")


class UnreadBodyMiddleware:
    """Take in what a request that is answered already still sends, if it is short.

    The web server hangs up where it has answered before the body came, without a word in the answer: the next request
    of a client that keeps its connection open would find nobody.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        length = request.META.get("CONTENT_LENGTH") or ""
        if length.isdecimal() and int(length) <= LARGEST_UNREAD_BYTES:
            with suppress(OSError):  # whoever has gone waits for nothing
                request.read(LARGEST_UNREAD_BYTES)
        return response


class RequestIdMiddleware:
    """Take over a sane X-Request-Id or make one; it stands in each log line and in the answer."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request_id = given if SANE_REQUEST_ID.fullmatch(given) else str(new_id())
        started = time.monotonic()
        # Whoever finds out whose request it is binds `user` anew (accounts.authentication).
        with structlog.contextvars.bound_contextvars(request_id=request_id, user=None):
            response = self.get_response(request)
            _note(request, response, seconds=time.monotonic() - started)
        response["X-Request-Id"] = request_id
        return response


def _note(request: HttpRequest, response: HttpResponse, *, seconds: float) -> None:
    method, route, status = request.method or "", _route(request), response.status_code
    observe_request(method=method, route=route, status=status, seconds=seconds)
    log.info("answered", method=method[:LONGEST_METHOD], route=route, status=status, ms=round(seconds * 1000, 1))


def _route(request: HttpRequest) -> str:
    """The pattern that matched, not the path: a path may hold an invitation's token."""
    match = request.resolver_match
    return match.route if match else "unknown"


class RateLimitHeadersMiddleware:
    """Write the state that the throttle left on the request: RateLimit-Limit, -Remaining and -Reset (seconds)."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        usage = getattr(request, "rate_usage", None)
        if usage:
            response["RateLimit-Limit"] = str(usage["limit"])
            response["RateLimit-Remaining"] = str(max(0, usage["limit"] - usage["count"]))
            response["RateLimit-Reset"] = str(max(0, usage["time_left"]))
        return response


# Data is no page: a browser that is made to show it runs, loads and embeds nothing.
POLICY_OF_DATA = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# The admin's theme evaluates expressions in attributes and styles elements inline.
POLICY_OF_STAFF_PAGES = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class ProtectiveHeadersMiddleware:
    """Where a view says nothing else: a Content-Security-Policy, and no copy of data that nobody asks about again."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            # The browser goes on with the headers that it kept; what stands here would take their place.
            return response
        staff = request.path_info.startswith("/admin/")
        response.headers.setdefault("Content-Security-Policy", POLICY_OF_STAFF_PAGES if staff else POLICY_OF_DATA)
        if request.path_info.startswith("/v1/"):
            # A browser may keep it for the ETag that it asks with; a cache between us may not.
            response.headers.setdefault("Cache-Control", "private, no-cache")
        return response
