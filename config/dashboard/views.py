"""The one page of the dashboard: an empty shell that its modules fill from the public API."""

import base64
import hashlib

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from config.dashboard.modules import import_map, preloads


@require_safe
def shell(request: HttpRequest) -> HttpResponse:
    """The same for every address; the router in the browser chooses the page."""
    imports = import_map()
    response = render(request, "dashboard/index.html", {"import_map": imports, "preloads": preloads()})
    response["Content-Security-Policy"] = content_security_policy(imports)
    response["Cache-Control"] = "no-cache"
    # An address may hold the token of an invitation or of a password link.
    response["Referrer-Policy"] = "no-referrer"
    return response


def content_security_policy(inline_json: str) -> str:
    """Own files and the own API only; of inline text the import map alone, by its hash (CSP 3, section 6.7.2.3)."""
    digest = base64.b64encode(hashlib.sha256(inline_json.encode()).digest()).decode()
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' 'sha256-{digest}'",
            "style-src 'self'",
            "font-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ]
    )
