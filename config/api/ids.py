"""From the id in an address to a key: a malformed id is an unknown id."""

from uuid import UUID

from config.errors import NotFound


def key_of(identifier: str, unknown: type[NotFound] = NotFound) -> UUID:
    """The UUID behind an opaque id; `unknown`, in the words of an unknown id, when it cannot be one."""
    try:
        key = UUID(identifier)
    except ValueError as error:
        raise unknown from error
    if str(key) != identifier:  # UUID() also reads braces, capitals and the digits of other scripts
        raise unknown
    return key
