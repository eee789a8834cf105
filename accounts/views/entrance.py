"""The ways in for callers that have no access token yet."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import refresh_cookie, services
from accounts.providers import available
from accounts.serializers import (
    ForgotPasswordSerializer,
    LogInSerializer,
    MessageSerializer,
    PairSerializer,
    RefreshSerializer,
    ResetPasswordSerializer,
    SignedInSerializer,
    SignInProviderSerializer,
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
COOKIE = (
    "With `refreshCookie: true` the refresh token comes as a cookie (HttpOnly, SameSite=Strict, for the refresh "
    "endpoint only) and not in the body."
)


class EntranceViewSet(ViewSet):
    """No credential is looked at here: a stale one in the header must not keep anybody out."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    @describe(
        "Sign up with address and password",
        description=f"Opens an account and its first session. {COOKIE}",
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

        by_cookie = body.validated_data.pop("refreshCookie")
        user, pair = services.sign_up(**body.validated_data, address=client_address(request._request) or None)

        account = {"user": UserSerializer(user).data}
        return handed_out(pair, by_cookie=by_cookie, beside=account, status=status.HTTP_201_CREATED)

    @describe(
        "Log in with address and password",
        description=f"Opens a session. {COOKIE}",
        request=LogInSerializer,
        response=SignedInSerializer,
        request_example={"email": "dana@example.org", "password": "Correct-horse-9"},
        example={**examples.PAIR, "user": examples.USER},
        errors={400: "email: is required", 401: "Unauthorized"},
    )
    def log_in(self, request: Request) -> Response:
        body = LogInSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        by_cookie = body.validated_data.pop("refreshCookie")
        user, pair = services.log_in(**body.validated_data, address=client_address(request._request) or None)

        return handed_out(pair, by_cookie=by_cookie, beside={"user": UserSerializer(user).data})

    @describe(
        "Exchange a refresh token for a new pair",
        description=(
            "A refresh token works once. Using it a second time ends its whole session. "
            "With `refreshCookie: true` the new refresh token goes into the cookie, and where the body has no "
            "`refreshToken` the old one is read from there."
        ),
        request=RefreshSerializer,
        response=PairSerializer,
        request_example={"refreshToken": examples.REFRESH},
        example=examples.PAIR,
        errors={
            400: "refreshToken: is required",
            401: "Unauthorized",
            403: refresh_cookie.ForeignOrigin.message,
        },
    )
    def refresh(self, request: Request) -> Response:
        body = RefreshSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        token = body.validated_data.get("refreshToken") or refresh_cookie.read(request._request)
        pair = services.refresh(token=token)

        return handed_out(pair, by_cookie=body.validated_data["refreshCookie"])

    @describe(
        "List the providers that people can sign in with here",
        description="Those that are set up. A sign-in starts at `/auth/{id}`.",
        response=SignInProviderSerializer(many=True),
        example=[{"id": "codehost1", "name": "code.example.org"}],
    )
    def providers(self, request: Request) -> Response:
        return Response(SignInProviderSerializer(available(), many=True).data)

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


def handed_out(
    pair: Pair, *, by_cookie: bool, beside: dict[str, Any] | None = None, status: int = status.HTTP_200_OK
) -> Response:
    """A new pair: both tokens in the body, or the refresh token in its cookie instead."""
    body = {**PairSerializer(pair).data, **(beside or {})}
    if by_cookie:
        del body["refreshToken"]
    response = Response(body, status=status, headers=NOT_STORED)
    if by_cookie:
        refresh_cookie.put(response, pair.refresh)
    return response
