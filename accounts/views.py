"""The authentication endpoints."""

from typing import Any, cast

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import services
from accounts.models import Session, User
from accounts.serializers import (
    ForgotPasswordSerializer,
    LogInSerializer,
    PairSerializer,
    ProfileSerializer,
    RefreshSerializer,
    ResetPasswordSerializer,
    SignUpSerializer,
    UserSerializer,
)
from accounts.tokens import Pair
from config.api.rates import client_address

# RFC 6749, section 5.1: answers with tokens are never kept by a cache.
NOT_STORED = {"Cache-Control": "no-store"}


class EntranceViewSet(ViewSet):
    """The ways in for callers that have no access token yet."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    def sign_up(self, request: Request) -> Response:
        body = SignUpSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        user, pair = services.sign_up(**body.validated_data, address=client_address(request._request) or None)

        return Response(signed_in(user, pair), status=status.HTTP_201_CREATED, headers=NOT_STORED)

    def log_in(self, request: Request) -> Response:
        body = LogInSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        user, pair = services.log_in(**body.validated_data, address=client_address(request._request) or None)

        return Response(signed_in(user, pair), headers=NOT_STORED)

    def refresh(self, request: Request) -> Response:
        body = RefreshSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        pair = services.refresh(token=body.validated_data["refreshToken"])

        return Response(PairSerializer(pair).data, headers=NOT_STORED)

    def forgot_password(self, request: Request) -> Response:
        body = ForgotPasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        services.forgot_password(**body.validated_data)

        return Response({"message": "If an account has this address, a link to set a new password is on its way to it"})

    def reset_password(self, request: Request) -> Response:
        body = ResetPasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        services.reset_password(token=body.validated_data["token"], password=body.validated_data["newPassword"])

        return Response({"message": "The new password is set; log in with it"})


class SessionViewSet(ViewSet):
    """What a signed-in caller asks about itself."""

    def log_out(self, request: Request) -> Response:
        services.log_out(session=cast(Session, request.auth))

        return Response({"success": True})

    def me(self, request: Request) -> Response:
        return Response(ProfileSerializer(request.user).data, headers={"Cache-Control": "private, no-cache"})


def signed_in(user: User, pair: Pair) -> dict[str, Any]:
    """The body that sign-up and login answer with."""
    return {**PairSerializer(pair).data, "user": UserSerializer(user).data}
