"""The OpenAPI document describes every operation with an example and its errors."""

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

METHODS = ("get", "put", "post", "delete", "patch")


@pytest.fixture(scope="module")
def document():
    return SchemaGenerator().get_schema(request=None, public=True)


@pytest.fixture(scope="module")
def operations(document):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def test_the_document_is_valid(document):
    validate_schema(document)
    assert document["openapi"] == "3.1.1"


def test_the_authentication_operations_are_there(operations):
    assert {name for name in operations if "/auth/" in name} == {
        "POST /auth/signup",
        "POST /auth/login",
        "POST /auth/refresh",
        "POST /auth/logout",
        "POST /auth/forgot-password",
        "POST /auth/reset-password",
        "GET /auth/me",
        "GET /auth/providers",
        "GET /auth/codehost1",
        "GET /auth/codehost1/callback",
        "GET /auth/idp2",
        "GET /auth/idp2/callback",
    }


def test_each_operation_has_a_summary_and_a_name_of_its_own(operations):
    assert not [name for name, operation in operations.items() if not operation.get("summary")]
    names = [operation["operationId"] for operation in operations.values()]
    assert len(names) == len(set(names))


def test_each_json_answer_has_an_example(operations):
    lacking = [
        f"{name} {status}"
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        for kind, content in answer.get("content", {}).items()
        if kind == "application/json" and not ({"example", "examples"} & set(content))
    ]

    assert not lacking


def test_each_error_has_the_one_error_body(operations):
    odd = [
        f"{name} {status}"
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        if int(status) >= 400
        and answer["content"]["application/json"]["schema"] != {"$ref": "#/components/schemas/Error"}
    ]

    assert not odd


def test_operations_that_need_a_token_say_so(operations):
    needing = {name for name, operation in operations.items() if any(operation.get("security", []))}

    assert {"GET /auth/me", "POST /auth/logout"} <= needing
    assert not {"POST /auth/signup", "POST /auth/login", "GET /auth/idp2"} & needing
    assert all("401" in operations[name]["responses"] for name in needing)


@pytest.mark.django_db
def test_the_document_and_its_browser_are_served(anonymous):
    assert anonymous.get("/v1/schema").status_code == 200
    assert anonymous.get("/v1/docs").status_code == 200
