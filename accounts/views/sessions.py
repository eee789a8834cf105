"""What a signed-in caller asks about itself."""

from typing import cast

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import refresh_cookie, services
from accounts.models import Session
from accounts.serializers import ProfileSerializer, SuccessSerializer
from accounts.views import examples
from config.api.schema import describe


class SessionViewSet(ViewSet):
    @describe(
        "Log out",
        description="Ends the session: its access token and its refresh token are refused from now on.",
        response=SuccessSerializer,
        example={"success": True},
    )
    def log_out(self, request: Request) -> Response:
        services.log_out(session=cast(Session, request.auth))

        response = Response({"success": True})
        refresh_cookie.clear(response)
        return response

    @describe("Read the caller's profile", response=ProfileSerializer, example=examples.PROFILE)
    def me(self, request: Request) -> Response:
        return Response(ProfileSerializer(request.user).data, headers={"Cache-Control": "private, no-cache"})
