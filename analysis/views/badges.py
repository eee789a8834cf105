"""The badge, for anybody."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views import View

from analysis.badge import badge_of

CACHE_SECONDS = 300


class BadgeView(View):
    """An SVG that may stand in any README: cached, sandboxed, and never limited per client."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, owner: str, repo: str) -> HttpResponse:
        """The badge of owner/repo; 404 with a grey badge when nobody has connected it."""
        badge = badge_of(owner, repo)
        response = HttpResponse(
            badge.svg(),
            content_type="image/svg+xml; charset=utf-8",
            status=HTTPStatus.OK if badge.is_known else HTTPStatus.NOT_FOUND,
        )
        response["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
        response["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        return response
