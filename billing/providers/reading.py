"""Reading foreign JSON: a value of the expected kind, or a sentence that names what is missing."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from config.errors import ProviderFailed


class MalformedPayload(ProviderFailed):
    """A provider's object lacks something that its protocol promises; the sentence that says what is for staff."""

    message = "The payment provider answered nonsense; nothing was changed"

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.args = (sentence,)


def at_path(payload: Any, path: str) -> Any:
    """The value behind a dotted path through objects and lists (`items.data.0.price`), or None."""
    value = payload
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def listed(payload: Any, path: str) -> list[Any]:
    """The list behind a path, empty where there is none; MalformedPayload for anything that is no list."""
    value = at_path(payload, path)
    if value is None:
        return []
    if not isinstance(value, list):
        raise MalformedPayload(f"{path} is no list")
    return value


def text(payload: Any, *paths: str) -> str:
    """The first of several places that holds a string, else an empty one. An expanded object stands for its id."""
    for path in paths:
        value = at_path(payload, path)
        if isinstance(value, Mapping):
            value = value.get("id")
        if isinstance(value, str) and value:
            return value
    return ""


def required(payload: Any, *paths: str) -> str:
    """As `text`, but MalformedPayload when there is none."""
    value = text(payload, *paths)
    if not value:
        raise MalformedPayload(f"{paths[0]} is missing")
    return value


def unix_instant(payload: Any, *paths: str) -> datetime | None:
    """The first of several places that holds Unix seconds."""
    for path in paths:
        value = at_path(payload, path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                return datetime.fromtimestamp(value, UTC)
            except (OverflowError, ValueError, OSError) as error:
                raise MalformedPayload(f"{path} is no instant") from error
    return None


def iso_instant(payload: Any, *paths: str) -> datetime | None:
    """The first of several places that holds an ISO 8601 instant with a zone."""
    for path in paths:
        value = at_path(payload, path)
        if isinstance(value, str) and value:
            try:
                instant = datetime.fromisoformat(value)
            except ValueError as error:
                raise MalformedPayload(f"{path} is no instant") from error
            return instant.replace(tzinfo=instant.tzinfo or UTC).astimezone(UTC)
    return None


def decimal(payload: Any, *paths: str) -> Decimal:
    """The first of several places that holds an amount, else zero."""
    for path in paths:
        value = at_path(payload, path)
        if isinstance(value, str | int) and not isinstance(value, bool):
            try:
                amount = Decimal(value)
            except InvalidOperation as error:
                raise MalformedPayload(f"{path} is no amount") from error
            if not amount.is_finite():
                raise MalformedPayload(f"{path} is no amount")
            return amount
    return Decimal(0)
