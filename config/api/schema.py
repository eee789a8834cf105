"""How operations are described in the OpenAPI document.

Every action of a viewset carries one decorator:

    @describe(
        "Invite somebody",
        request=InviteMemberSerializer,
        response=InvitationSerializer,
        status=201,
        request_example={"email": "dana@example.org", "role": "member"},
        example={"id": "0199...", "email": "dana@example.org", ...},
        errors={403: "Your plan allows no more members", 409: "An invitation is already pending for this email"},
    )
    def create(self, request, organization_id): ...

`response` is a serializer (an instance with many=True for a list, `page(ItemSerializer)` for a page), None for an
answer without a body, or a raw JSON schema. What every operation has in common is added to all of them by `complete`:
401 where a token is needed, 400, 413 and 415 where there is a body, 429 where there is a limit, and 500.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_lib_doc_excludes, is_list_serializer
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from config.api.errors import error_body, too_many_requests
from config.api.plain import PlainSerializer
from config.api.rates import DEFAULT_RATE, RATES, is_limited

ERROR_SCHEMA = {
    "type": "object",
    "description": "Every answer with a status of 400 or above.",
    "required": ["statusCode", "message", "error"],
    "additionalProperties": False,
    "properties": {
        "statusCode": {"type": "integer", "description": "The HTTP status."},
        "message": {
            "type": "string",
            "description": "What is wrong, naming the field: `name: is required`.",
        },
        "error": {"type": "string", "description": "The reason phrase of the HTTP status."},
    },
}
ERROR = {"$ref": "#/components/schemas/Error"}
METHODS = ("get", "put", "post", "delete", "patch")
# How operations are grouped: the first prefix of the path that fits. Generated clients make a module of each.
TAGS = {
    "/auth/": "Accounts",
    "/orgs": "Organizations",
    "/plans": "Plans",
    "/billing/webhook/": "Webhooks",
    "/billing/": "Billing",
    "/credits/": "Credits",
    "/api/packs": "Rule packs",
    "/api/repos/{repository_id}/ai/": "AI operations",
    "/api/repos/{repository_id}/policy": "Policies",
    "/api/runs/": "Runs",
    "/api/repos": "Repositories",
    "/badge/": "Badges",
    "/webhooks/": "Webhooks",
}
# What stands in paths, by the name of the placeholder.
IN_PATHS = {
    "organization_id": "The id of one of the caller's organizations.",
    "user_id": "The id of the member's account.",
    "invitation_id": "The id of a pending invitation.",
    "token": "The token from the invitation's letter.",
    "plan_id": "The id of a plan, such as `pro`.",
    "feature": "The name of a feature, such as `architectureGraph`: one that the enforcement of plans lists.",
    "repository_id": "The id of a repository of one of the caller's organizations.",
    "run_id": "The id of a run.",
    "violation_id": "The id of a violation of the repository.",
    "pull_request_number": "The number that the code host gave to the pull request.",
    "name": "The name of a rule pack, as the list has it.",
    "owner": "What stands before the last slash of the repository's full name.",
    "repo": "What stands after it.",
}


class Schema(AutoSchema):
    """Names operations after their summaries; a view that stands at several paths tells them apart."""

    def get_operation_id(self) -> str:
        """`List violations` is `list_violations` in generated clients."""
        name = operation_name(self.get_summary() or "")
        suffix = getattr(self.view, "operation_suffix", "")
        return f"{name}_{suffix}" if suffix else name

    def _is_list_view(self, serializer: Any = None) -> bool:
        # drf-spectacular takes whatever an action named `list` answers for an array; here a page is one object.
        return super()._is_list_view(serializer) if serializer is None else is_list_serializer(serializer)


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Tells the document about access tokens."""

    target_class = "accounts.authentication.SessionTokenAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "An access token."}


def describe(
    summary: str,
    *,
    description: str = "",
    request: Any = None,
    response: Any = None,
    status: int = 200,
    request_example: Any = None,
    example: Any = None,
    errors: Mapping[int, str] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
    media_type: str = "application/json",
    other_answers: Mapping[tuple[int, str], str] | None = None,
) -> Callable[[Any], Any]:
    """Describe one operation: what goes in and comes out, an example of both, and its errors by status and message.

    `other_answers` are those with a body of another kind, by status and media type.
    """
    examples = []
    if request_example is not None:
        examples.append(OpenApiExample("Request", value=request_example, request_only=True))
    if example is not None:
        # drf-spectacular puts the brackets of a list around each example itself.
        for value in example if getattr(response, "many", False) else [example]:
            where: dict[str, Any] = {"status_codes": [str(status)], "media_type": media_type}
            examples.append(OpenApiExample("Answer", value=value, response_only=True, **where))
    answers: dict[Any, Any] = {(status, media_type) if response is not None else status: _success(response, status)}
    for code, message in (errors or {}).items():
        answers[code] = OpenApiResponse(ERROR, HTTPStatus(code).phrase, examples=[error_example(code, message)])
    for answer, about in (other_answers or {}).items():
        answers[answer] = OpenApiResponse(str, about)
    return extend_schema(
        summary=summary,
        description=description or f"{summary}.",
        request=request,
        responses=answers,
        examples=examples,
        parameters=list(parameters),
    )


def operation_name(summary: str) -> str:
    """The operation's name in generated clients: `Read a repository's overview` is `read_repository_overview`."""
    words = re.findall(r"[a-z0-9]+", summary.lower().replace("'s ", " "))
    return "_".join(word for word in words if word not in ("a", "an", "the"))


def query(name: str, kind: type | dict[str, Any] = str, about: str = "", **options: Any) -> OpenApiParameter:
    """A query parameter; `options` are those of OpenApiParameter (`enum`, `default`, `required`)."""
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=about, **options)


def count(name: str, about: str, *, default: int, least: int = 1) -> OpenApiParameter:
    """A whole number in the query, `least` or more."""
    return query(name, {"type": "integer", "minimum": least}, about, default=default)


PAGE = [
    count("page", "Which page, from 1.", default=1),
    count("perPage", "Rows per page, 1 to 100; more is taken as 100.", default=20),
]


def page(item: Any) -> type[Any]:
    """The serializer of a page of `item`s: `{data, total, page, perPage, totalPages}`."""
    from rest_framework import serializers

    name = f"{item.__name__.removesuffix('Serializer')}Page"
    numbers = {field: serializers.IntegerField() for field in ("total", "page", "perPage", "totalPages")}
    return type(f"{name}Serializer", (serializers.Serializer,), {"data": item(many=True), **numbers})


def error_example(code: int, message: str) -> OpenApiExample:
    """The error body as an example."""
    return OpenApiExample(message, value=error_body(code, message), response_only=True, status_codes=[str(code)])


def documented_elsewhere() -> list[type]:
    """Classes whose docstrings are for programmers: none of them describes what is made from it."""
    return [*get_lib_doc_excludes(), PlainSerializer]  # type: ignore[no-untyped-call]


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: the error schema, and on each operation the refusals and headers that all have in common."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR_SCHEMA
    for path, operations in result["paths"].items():
        for method in METHODS:
            if method in operations:
                _complete_operation(method.upper(), path, operations[method])
    return result


def _complete_operation(method: str, path: str, operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            parameter["description"] = IN_PATHS[parameter["name"]]
    operation["tags"] = [next(tag for prefix, tag in TAGS.items() if path.startswith(prefix))]
    common = {500: "Internal server error"}
    if any(operation.get("security", [])):
        common[401] = "Unauthorized"
    if "requestBody" in operation:
        common |= {400: "The body is not valid JSON", 413: "The body is larger than 1024 KiB"}
        common[415] = 'Unsupported media type "text/plain" in request.'
    if is_limited(path):
        common[429] = too_many_requests(42)
        limit = RATES.get((method, path.lstrip("/")), DEFAULT_RATE).partition("/")[0]
        operation["description"] = f"{operation.get('description', '')}\n\nAt most {limit} calls a minute.".strip()
    answers = operation["responses"]
    for code, answer in answers.items():
        if int(code) >= 400 and "content" not in answer:
            answers[code] = _raw_error(int(code), answer["description"])
    for number, message in common.items():
        answers.setdefault(str(number), _raw_error(number, message))
    operation["responses"] = dict(sorted(answers.items()))


def _success(response: Any, status: int) -> OpenApiResponse:
    return OpenApiResponse(response, HTTPStatus(status).phrase)


def _raw_error(code: int, message: str) -> dict[str, Any]:
    content = {"application/json": {"schema": ERROR, "example": error_body(code, message)}}
    return {"description": HTTPStatus(code).phrase, "content": content}
