"""Who is limited how: one table for the whole service, enforced by one throttle class."""

from __future__ import annotations

import hashlib
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
}


class TableThrottle(BaseThrottle):
    """A fixed window of one minute per operation and caller. The usage goes to RateLimitHeadersMiddleware."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        if not settings.RATELIMIT_ENABLE:
            return True
        match = request.resolver_match
        operation = (request.method or "", match.route.removeprefix("v1/") if match else "")
        rate = RATES.get(operation)
        group = " ".join(operation) if rate else "default"
        self.usage = get_usage(request._request, group=group, key=caller_key, rate=rate or DEFAULT_RATE, increment=True)
        setattr(request._request, "rate_usage", self.usage)  # noqa: B010 - an attribute of ours on Django's request
        return self.usage is None or not self.usage["should_limit"]

    def wait(self) -> float:
        return max(1, self.usage["time_left"]) if self.usage else 1


def caller_key(group: str, request: HttpRequest) -> str:
    """The caller's credential where there is one, else the address. Only a hash of a credential goes to the cache."""
    credential = request.headers.get("Authorization", "")
    if credential:
        return hashlib.sha256(credential.encode()).hexdigest()
    return client_address(request)


def client_address(request: HttpRequest) -> str:
    """REMOTE_ADDR, or behind n trusted proxies the n-th entry from the right of X-Forwarded-For."""
    peer: Any = request.META.get("REMOTE_ADDR", "")
    count = settings.TRUSTED_PROXY_COUNT
    if not count:
        return str(peer)
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    return hops[-count] if len(hops) >= count else str(peer)
