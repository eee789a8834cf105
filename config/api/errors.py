"""The error body `{statusCode, message, error}` for every refusal, known or not."""

import sys
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from config import errors
from config.api.rates import was_counted

STATUS_OF = {
    errors.InvalidInput: HTTPStatus.BAD_REQUEST,
    errors.NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    errors.NotAllowed: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.OutOfDate: HTTPStatus.PRECONDITION_FAILED,
    errors.ProviderFailed: HTTPStatus.BAD_GATEWAY,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

DatabaseAway = OperationalError | InterfaceError

log = structlog.get_logger("api")


def error_body(status: int, message: str) -> dict[str, Any]:
    """The one shape of an error; 401 says nothing but Unauthorized."""
    phrase = HTTPStatus(status).phrase
    return {"statusCode": status, "message": phrase if status == HTTPStatus.UNAUTHORIZED else message, "error": phrase}


def too_many_requests(seconds: int) -> str:
    """What a caller over a limit is told; `seconds` until the next window."""
    return f"Too many requests; try again in {seconds} second{'' if seconds == 1 else 's'}"


def handle(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an exception of a view; None lets Django log it and call `server_error`."""
    exception = _counted(exception, context)
    if isinstance(exception, DatabaseAway):
        log.error("the database is away", exc_info=exception)
        return _answer(HTTPStatus.SERVICE_UNAVAILABLE, "The database does not answer; try again", {"Retry-After": "5"})
    if isinstance(exception, errors.Refusal):
        status = next(code for kind, code in STATUS_OF.items() if isinstance(exception, kind))
        return _answer(status, exception.message)
    response = exception_handler(exception, context)
    if response is None:
        return None
    if isinstance(exception, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return _answer(HTTPStatus.UNAUTHORIZED, "")
    headers = {name: response[name] for name in ("Retry-After", "Allow") if name in response}
    if isinstance(exception, exceptions.Throttled):
        return _answer(response.status_code, too_many_requests(int(headers["Retry-After"])), headers)
    return _answer(response.status_code, _sentence(response.data), headers)


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Django's own 400: a request that never reached a view."""
    return _json(HTTPStatus.BAD_REQUEST, "The request is not valid")


def permission_denied(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Django's own 403."""
    return _json(HTTPStatus.FORBIDDEN, "You may not do this")


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    """An address that names nothing."""
    return _json(HTTPStatus.NOT_FOUND, "There is nothing at this address")


def server_error(request: HttpRequest) -> JsonResponse:
    """A fault of ours, or a database that is away from a page that is not the API's. The cause is in the log under the
    request's id, never in the answer."""
    if isinstance(sys.exception(), DatabaseAway):
        return _json(HTTPStatus.SERVICE_UNAVAILABLE, "The database does not answer; try again")
    return _json(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal server error")


def _counted(exception: Exception, context: Mapping[str, Any]) -> Exception:
    # DRF counts a call only after authentication and permission have passed. A refusal on the way is counted here, so
    # that guessing tokens is limited too and every answer carries the limit's headers.
    if isinstance(exception, DatabaseAway) or was_counted(context["request"]):
        return exception
    try:
        context["view"].check_throttles(context["request"])
    except (exceptions.Throttled, OperationalError, InterfaceError) as instead:
        return instead
    return exception


def _answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    response = Response(error_body(status, message), status=status, headers=dict(headers or {}))
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def _json(status: int, message: str) -> JsonResponse:
    return JsonResponse(error_body(status, message), status=status)


def _sentence(detail: Any, field: str = "") -> str:
    """The first complaint of DRF's nested error lists, behind the path of its field: `password: is too short`."""
    if isinstance(detail, Mapping):
        name, inner = next(iter(detail.items()), ("", "is not valid"))
        own = "" if name in ("detail", "non_field_errors") else str(name)
        return _sentence(inner, ".".join(part for part in (field, own) if part))
    if isinstance(detail, list):
        for index, item in enumerate(detail):
            if isinstance(item, Mapping) and item:
                return _sentence(item, f"{field}[{index}]")
        return _sentence(next((item for item in detail if item), "is not valid"), field)
    text = str(detail)
    if not field:
        return text
    return f"{field}: {text[:1].lower()}{text[1:].removesuffix('.')}"
