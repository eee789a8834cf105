"""The door to the admin: few tries a minute, counted like those of the API."""

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters

from config.api.rates import client_address, count, network_of


@sensitive_post_parameters("password")
def log_in(request: HttpRequest) -> HttpResponse:
    """The admin's own sign-in form; 429 after too many tries from one address."""
    if request.method == "POST" and settings.RATELIMIT_ENABLE:
        usage = count(request, "admin/login", caller=network_of(client_address(request)))
        if usage["should_limit"]:
            return _refusal(max(1, usage["time_left"]))
    return admin.site.login(request)


def _refusal(seconds: int) -> HttpResponse:
    words = f"Too many tries to sign in; try again in {seconds} seconds"
    return HttpResponse(words, status=429, content_type="text/plain", headers={"Retry-After": str(seconds)})
