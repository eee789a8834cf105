"""The badge, for anybody."""

from http import HTTPStatus

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from analysis.badge import badge_of
from config.api.schema import describe

CACHE_SECONDS = 300
SVG = "image/svg+xml"


class BadgeViewSet(ViewSet):
    """An SVG that may stand in any README: cached, sandboxed, and never limited per client."""

    authentication_classes = []
    permission_classes = []

    @describe(
        "Read the health badge of a repository",
        description="For a README. Grey below the plan solo and before the first scan. May be cached for five minutes.",
        response=str,
        media_type=SVG,
        example='<svg xmlns="http://www.w3.org/2000/svg" width="98" height="20">...</svg>',
        other_answers={(404, SVG): "A grey badge: nobody has connected this repository"},
    )
    def retrieve(self, request: Request, owner: str, repo: str) -> HttpResponse:
        badge = badge_of(owner, repo)
        response = HttpResponse(
            badge.svg(),
            content_type=f"{SVG}; charset=utf-8",
            status=HTTPStatus.OK if badge.is_known else HTTPStatus.NOT_FOUND,
        )
        response["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
        response["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        return response
