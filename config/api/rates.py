"""Who is limited how: one table for the whole service, enforced by one throttle class.

Windows are fixed, a minute long, and counted by django-ratelimit in the cache `counters` (see the settings). A caller
with a living session is counted by that session, everybody else by address, so a made-up Authorization header buys
nothing. Whatever stands in no row shares the default.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest
from django_ratelimit.core import get_usage
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

if TYPE_CHECKING:
    from rest_framework.views import APIView  # at run time a circle: views load the throttle named by the settings

DEFAULT_RATE = "100/m"
RATES = {
    ("POST", "auth/signup"): "3/m",
    ("POST", "auth/login"): "5/m",
    ("POST", "auth/refresh"): "10/m",
    ("POST", "auth/logout"): "20/m",
    ("POST", "auth/forgot-password"): "3/m",
    ("POST", "auth/reset-password"): "5/m",
    ("GET", "auth/me"): "60/m",
    ("POST", "admin/login"): "5/m",
}
# Protected by signature, size and caching instead.
UNLIMITED = ("billing/webhook/", "webhooks/", "badge/")


def is_limited(path: str) -> bool:
    """Whether calls of a path below /v1 are counted."""
    return not path.removeprefix("/").startswith(UNLIMITED)


class TableThrottle(BaseThrottle):
    """Counts a call once. The usage stays on the request for RateLimitHeadersMiddleware."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        match = request.resolver_match
        route = match.route.removeprefix("v1/") if match else ""
        if not settings.RATELIMIT_ENABLE or not is_limited(route):
            return True
        self.usage = count(request._request, route, caller=caller_of(request))
        setattr(request._request, "rate_usage", self.usage)  # noqa: B010 - an attribute of ours on Django's request
        return not self.usage["should_limit"]

    def wait(self) -> float:
        return max(1, self.usage["time_left"])


def count(request: HttpRequest, route: str, *, caller: str) -> Any:
    """Count one call by the table: django-ratelimit's usage, with `should_limit` and `time_left` in seconds."""
    rate = RATES.get((request.method or "", route))
    return get_usage(
        request,
        group=f"{request.method} {route}" if rate else "default",
        key=lambda group, _: caller,
        rate=rate or DEFAULT_RATE,
        increment=True,
    )


def was_counted(request: Request) -> bool:
    """Whether the throttle has seen this request already."""
    return hasattr(request._request, "rate_usage")


def caller_of(request: Request) -> str:
    """The session of a caller who proved one, else the network address: one client of IPv6 has 2**64 addresses."""
    if session := getattr(request.auth, "pk", None):
        return f"session {session}"
    return network_of(client_address(request._request))


def network_of(address: str) -> str:
    """The address itself, or the /64 that an IPv6 address lies in."""
    return str(ipaddress.ip_network(f"{address}/64", strict=False)) if ":" in address else address


def client_address(request: HttpRequest) -> str:
    """REMOTE_ADDR, or behind n trusted proxies the n-th entry from the right of X-Forwarded-For.

    An entry that is no address, or a header with too few of them, did not come from our proxies: the peer counts then.
    Empty when the peer has no address either (a Unix socket).
    """
    peer: Any = _address(request.META.get("REMOTE_ADDR", ""))
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    count = settings.TRUSTED_PROXY_COUNT
    if not 0 < count <= len(hops):
        return str(peer)
    return _address(hops[-count]) or str(peer)


def _address(text: str) -> str:
    text = text.strip()
    if text.startswith("[") or text.count(":") == 1:
        text = text.rpartition(":")[0].strip("[]") if not text.endswith("]") else text.strip("[]")
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
