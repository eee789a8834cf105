"""Whether an answer is the one that the OpenAPI document announces, with no field more."""

import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from config.operations.description import document


def differences(response: Any) -> list[str]:
    """What is wrong with a JSON answer by the description of its operation; empty when nothing is."""
    method, path = response.request["REQUEST_METHOD"].lower(), response.request["PATH_INFO"].removeprefix("/v1")
    found = _validator(_template(method, path), method, str(response.status_code)).iter_errors(response.json())
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


def _template(method: str, path: str) -> str:
    """The path as described; of several the one with the fewest placeholders."""
    fitting = [one for one, methods in _document()["paths"].items() if method in methods and _fits(one, path)]
    return min(fitting, key=lambda one: one.count("{"))


def _fits(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path) is not None


@cache
def _validator(template: str, method: str, status: str) -> Any:
    answer = _document()["paths"][template][method]["responses"][status]
    schema = answer["content"]["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": _document()["components"]})


@cache
def _document() -> dict[str, Any]:
    described: dict[str, Any] = json.loads(document())
    for schema in described["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return described
