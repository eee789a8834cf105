"""The wire shapes of the authentication endpoints."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import SignInProvider
from accounts.passwords import LONGEST
from config.api.fields import NameField, TextField, TimestampField


class EmailField(serializers.EmailField):
    """An address, lower-case from here on."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data)).lower()


class PasswordField(serializers.CharField):
    """A password exactly as typed, blanks included, never longer than what is hashed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, write_only=True, max_length=LONGEST, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class NewPasswordField(PasswordField):
    """A password to be set: it must satisfy the rules."""

    def to_internal_value(self, data: Any) -> str:
        password = super().to_internal_value(data)
        try:
            validate_password(password)
        except ValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return password


@extend_schema_field({"type": "boolean", "default": False})
class RefreshCookieField(serializers.Field):
    """true: the refresh token travels as a cookie that scripts cannot read, and not in the body."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, default=False, **options)

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("must be true or false")
        return data

    def to_representation(self, value: bool) -> bool:
        return value


class SignUpSerializer(serializers.Serializer):
    email = EmailField(max_length=254)
    password = NewPasswordField()
    name = NameField()
    refreshCookie = RefreshCookieField()


class LogInSerializer(serializers.Serializer):
    email = EmailField(max_length=254)
    password = PasswordField()
    refreshCookie = RefreshCookieField()


class RefreshSerializer(serializers.Serializer):
    refreshToken = TextField(max_length=4096, required=False)
    refreshCookie = RefreshCookieField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "refreshToken" not in attrs and not attrs["refreshCookie"]:
            raise serializers.ValidationError({"refreshToken": "is required"})
        return attrs


class ForgotPasswordSerializer(serializers.Serializer):
    email = EmailField(max_length=254)


class ResetPasswordSerializer(serializers.Serializer):
    token = TextField(max_length=200)
    newPassword = NewPasswordField()


class UserSerializer(serializers.Serializer):
    id = serializers.CharField()
    email = serializers.EmailField()
    name = serializers.CharField()
    createdAt = TimestampField(source="created_at")


class ProfileSerializer(serializers.Serializer):
    id = serializers.CharField()
    email = serializers.EmailField()
    name = serializers.CharField()
    avatarUrl = serializers.CharField(source="avatar_url")
    provider = serializers.ChoiceField(SignInProvider.choices)
    createdAt = TimestampField(source="created_at")
    updatedAt = TimestampField(source="updated_at")


class PairSerializer(serializers.Serializer):
    accessToken = serializers.CharField(source="access")
    refreshToken = serializers.CharField(
        source="refresh", required=False, help_text="Absent where `refreshCookie` was true."
    )


class SignedInSerializer(PairSerializer):
    user = UserSerializer()


class SuccessSerializer(serializers.Serializer):
    success = serializers.BooleanField()


class MessageSerializer(serializers.Serializer):
    message = serializers.CharField()


class SignInProviderSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField(help_text="The host that people will sign in at.")
