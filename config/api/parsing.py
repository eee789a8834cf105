"""A JSON parser that hostile bodies cannot hurt: bounded size, bounded depth, no lone surrogates, no NaN."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import IO, Any

import orjson
from rest_framework import exceptions, parsers

LARGEST_BODY_BYTES = 1024 * 1024
DEEPEST_NESTING = 64


class BodyTooLarge(exceptions.APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body is larger than {LARGEST_BODY_BYTES // 1024} KiB"


class SafeJSONParser(parsers.BaseParser):
    """Read at most the limit, whatever Content-Length says, then parse strictly."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        body = stream.read(LARGEST_BODY_BYTES + 1)
        if len(body) > LARGEST_BODY_BYTES:
            raise BodyTooLarge
        try:
            parsed = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise exceptions.ParseError("The body is not valid JSON") from error
        if not isinstance(parsed, dict):
            raise exceptions.ParseError("The body must be a JSON object")
        if _is_deeper_than(parsed, DEEPEST_NESTING):
            raise exceptions.ParseError(f"The body is nested more than {DEEPEST_NESTING} levels deep")
        return parsed


def _is_deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [child for node in layer for child in _children(node)]
        if not layer:
            return False
    return True


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [child for child in node.values() if isinstance(child, dict | list)]
    return [child for child in node if isinstance(child, dict | list)]
