"""What happens to every request: it gets an id, and its rate-limit state goes into the headers of the answer."""

import re
import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse

from config.measuring import observe_request
from config.models import new_id

Handler = Callable[[HttpRequest], HttpResponse]
SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

log = structlog.get_logger("request")


class RequestIdMiddleware:
    """Take over a sane X-Request-Id or make one; it stands in each log line and in the answer."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request_id = given if SANE_REQUEST_ID.fullmatch(given) else str(new_id())
        started = time.monotonic()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
            _note(request, response, seconds=time.monotonic() - started)
        response["X-Request-Id"] = request_id
        return response


def _note(request: HttpRequest, response: HttpResponse, *, seconds: float) -> None:
    method, route, status = request.method or "", _route(request), response.status_code
    observe_request(method=method, route=route, status=status, seconds=seconds)
    log.info("answered", method=method, route=route, status=status, ms=round(seconds * 1000, 1))


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
