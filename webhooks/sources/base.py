"""What a source of events says: how it signs, what an event is called and about, which call a type leads to."""

import hashlib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from config.errors import InvalidInput, NotAuthenticated
from webhooks.models import MOST_CHARACTERS, SourceName

MEBIBYTE = 1024 * 1024


class BadSignature(NotAuthenticated):
    """The delivery does not prove where it comes from. The answer never says which part was wrong."""


class BadEnvelope(InvalidInput):
    message = "The body is not an event of this provider"


@dataclass(frozen=True)
class Delivery:
    """One request of a provider: its headers by name without regard to case, and the raw bytes of its body."""

    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """A header by its neutral name or by the provider's own (settings.WEBHOOK_HEADERS); "" if absent."""
        for spelling in (name, *settings.WEBHOOK_HEADERS.get(name, ())):
            if value := self.headers.get(spelling):
                return value
        return ""

    def header_bytes(self, name: str) -> bytes:
        """The same as the bytes on the wire, to compare in constant time (text outside ASCII cannot be compared so)."""
        return self.header(name).encode("latin-1", "replace")


@dataclass(frozen=True)
class Envelope:
    """What the inbox files an event under. Without an `occurred_at` the time of arrival stands in.

    `account` is whose event it is at the provider: the owner of the repository, or the subscription that is paid for.
    """

    event_id: str
    type: str
    subject: str
    account: str
    occurred_at: datetime | None


@dataclass(frozen=True)
class Fact:
    """An event as a handler sees it: its payload, and when it happened by the provider's clock."""

    source: SourceName
    event_id: str
    type: str
    occurred_at: datetime
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Handler:
    """What a type of event leads to, in two steps that are both safe to repeat.

    `read` turns the event into the arguments of a service; it may ask the provider, so it runs outside any transaction.
    `apply` is the service call; it runs in the transaction that ends the event.
    """

    read: Callable[[Fact], Any]
    apply: Callable[[Any], object]


@dataclass(frozen=True)
class Source:
    """One sender of events.

    `verify` raises BadSignature, or Unavailable when it cannot tell now. `describe` raises BadEnvelope.
    """

    name: SourceName
    largest_body_bytes: int
    verify: Callable[[Delivery], None]
    describe: Callable[[Delivery, Mapping[str, Any]], Envelope]
    handlers: Mapping[str, Handler] = field(default_factory=dict)


def identifier(value: Any, delivery: Delivery) -> str:
    """An event id that fits its column: as given, or a digest of what was given, or of the body when nothing was."""
    given = str(value) if isinstance(value, str | int) and value != "" else ""
    if given and given == plain(given):
        return given
    return f"sha256:{hashlib.sha256(given.encode() or delivery.body).hexdigest()}"


def plain(value: Any) -> str:
    """Foreign text made fit for a column: cut to length, without the NUL that PostgreSQL refuses; "" for non-text."""
    text = str(value)[:MOST_CHARACTERS] if isinstance(value, str | int) else ""
    return "".join(character for character in text if unicodedata.category(character) not in ("Cc", "Cs"))


def event_type(*parts: Any) -> str:
    """The parts of a type joined by dots, `pull_request.opened`; BadEnvelope when the first is missing."""
    first, *others = (plain(part) for part in parts)
    if not first:
        raise BadEnvelope
    return ".".join([first, *(other for other in others if other)])[:MOST_CHARACTERS]


def at(mapping: Any, *path: str) -> Any:
    """The value at a path of keys in foreign JSON; None where the path ends early."""
    for step in path:
        if not isinstance(mapping, Mapping):
            return None
        mapping = mapping.get(step)
    return mapping


def required(mapping: Any, *path: str) -> str:
    """A text or number that must be there, as text; BadEnvelope names the path that is empty."""
    value = at(mapping, *path)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BadEnvelope(f"{'.'.join(path)} is missing")
    return str(value)


def owner_of(full_name: Any) -> str:
    """The first part of a repository's name, `acme` of `acme/group/shop`, in small letters; "" without one."""
    return plain(full_name).partition("/")[0].lower()


def branch_of(ref: str) -> str:
    """The branch behind a full ref; "" for tags and everything else."""
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""


def instant(value: Any) -> datetime | None:
    """An ISO 8601 string, `UTC` at its end included, or Unix seconds as an aware datetime; None for anything else."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        parsed = datetime.fromisoformat(value.removesuffix(" UTC")) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return parsed.replace(tzinfo=UTC) if parsed and parsed.tzinfo is None else parsed
