"""Fields that every serializer of the service shares."""

import unicodedata
from datetime import UTC, datetime
from typing import Any, ClassVar

from rest_framework import serializers

from config.names import deceives, is_visible


class TimestampField(serializers.DateTimeField):
    """An instant as `2026-11-20T18:33:00.123Z`."""

    def to_representation(self, value: datetime | None) -> str | None:  # type: ignore[override]
        return timestamp(value)


class BlankAsNullField(serializers.CharField):
    """A text whose column is never null: nothing in it is told as null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


class BlankAsNullChoiceField(serializers.ChoiceField):
    """One of some words, of a column that is never null: nothing in it is told as null."""

    def __init__(self, choices: Any, **options: Any) -> None:
        super().__init__(choices, allow_null=True, **options)

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


class ChoiceField(serializers.ChoiceField):
    """One of some words. Whoever sends anything else is told which there are."""

    default_error_messages: ClassVar = {"invalid_choice": "must be one of {choices}"}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(self.choices))
        return super().to_internal_value(data)


class TextField(serializers.CharField):
    """A string that really is one: numbers, NUL and other control characters are refused."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        value = super().to_internal_value(data)
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
            raise serializers.ValidationError("must not contain control characters")
        return value


class NameField(TextField):
    """What somebody or something is called, for others to read: nothing that deceives them, something to see."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=100, **options)

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if deceives(name):
            raise serializers.ValidationError("must not contain characters that turn the direction of text")
        if not is_visible(name):
            raise serializers.ValidationError("must contain a character that can be seen")
        return name


def timestamp(value: datetime | None) -> str | None:
    """An aware instant in the service's only format: UTC, milliseconds, Z."""
    if value is None:
        return None
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
