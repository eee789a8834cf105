"""The ways in for callers that have no access token yet."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import services
from accounts.models import User
from accounts.serializers import (
    ForgotPasswordSerializer,
    LogInSerializer,
    MessageSerializer,
    PairSerializer,
    RefreshSerializer,
    ResetPasswordSerializer,
    SignedInSerializer,
    SignUpSerializer,
    UserSerializer,
)
from accounts.tokens import Pair
from accounts.views import examples
from config.api.rates import client_address
from config.api.schema import describe

# RFC 6749, section 5.1: answers with tokens are never kept by a cache.
NOT_STORED = {"Cache-Control": "no-store"}
LETTER_SENT = "If an account has this address, a link to set a new password is on its way to it"
PASSWORD_SET = "The new password is set; log in with it"  # noqa: S105 - a sentence


class EntranceViewSet(ViewSet):
    """No credential is looked at here: a stale one in the header must not keep anybody out."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    @describe(
        "Sign up with address and password",
        request=SignUpSerializer,
        response=SignedInSerializer,
        status=201,
        request_example={"email": "dana@example.org", "password": "Correct-horse-9", "name": "Dana Doe"},
        example={**examples.PAIR, "user": examples.USER},
        errors={400: "password: must contain a number", 409: "email: is already registered"},
    )
    def sign_up(self, request: Request) -> Response:
        body = SignUpSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        user, pair = services.sign_up(**body.validated_data, address=client_address(request._request) or None)

        return Response(signed_in(user, pair), status=status.HTTP_201_CREATED, headers=NOT_STORED)

    @describe(
        "Log in with address and password",
        request=LogInSerializer,
        response=SignedInSerializer,
        request_example={"email": "dana@example.org", "password": "Correct-horse-9"},
        example={**examples.PAIR, "user": examples.USER},
        errors={400: "email: is required", 401: "Unauthorized"},
    )
    def log_in(self, request: Request) -> Response:
        body = LogInSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        user, pair = services.log_in(**body.validated_data, address=client_address(request._request) or None)

        return Response(signed_in(user, pair), headers=NOT_STORED)

    @describe(
        "Exchange a refresh token for a new pair",
        description="A refresh token works once. Using it a second time ends its whole session.",
        request=RefreshSerializer,
        response=PairSerializer,
        request_example={"refreshToken": examples.REFRESH},
        example=examples.PAIR,
        errors={400: "refreshToken: is required", 401: "Unauthorized"},
    )
    def refresh(self, request: Request) -> Response:
        body = RefreshSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        pair = services.refresh(token=body.validated_data["refreshToken"])

        return Response(PairSerializer(pair).data, headers=NOT_STORED)

    @describe(
        "Ask for a link to set a new password",
        description="Succeeds for every address, known or not. The link works once and for an hour.",
        request=ForgotPasswordSerializer,
        response=MessageSerializer,
        request_example={"email": "dana@example.org"},
        example={"message": LETTER_SENT},
        errors={400: "email: enter a valid email address"},
    )
    def forgot_password(self, request: Request) -> Response:
        body = ForgotPasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        services.forgot_password(**body.validated_data)

        return Response({"message": LETTER_SENT})

    @describe(
        "Set a new password with the token of a mailed link",
        description="Ends every session of the account.",
        request=ResetPasswordSerializer,
        response=MessageSerializer,
        request_example={"token": "kYb0...", "newPassword": "Battery-staple-7"},
        example={"message": PASSWORD_SET},
        errors={400: "token: is invalid or has expired"},
    )
    def reset_password(self, request: Request) -> Response:
        body = ResetPasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        services.reset_password(token=body.validated_data["token"], password=body.validated_data["newPassword"])

        return Response({"message": PASSWORD_SET})


def signed_in(user: User, pair: Pair) -> dict[str, Any]:
    """The body that sign-up and login answer with."""
    return {**PairSerializer(pair).data, "user": UserSerializer(user).data}
