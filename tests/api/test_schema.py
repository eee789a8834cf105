"""The OpenAPI document describes every operation with an example and its errors."""

import json
import re

import pytest
from django.urls import URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

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


def test_a_public_validator_finds_nothing_wrong(document):
    OpenAPIV31SpecValidator(document).validate()


def test_every_address_of_the_api_is_described(document):
    served = {
        "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern.pattern._route)
        for resolver in get_resolver().url_patterns
        if isinstance(resolver, URLResolver) and resolver.pattern._route == "v1/"
        for pattern in resolver.url_patterns
    }

    assert served == set(document["paths"])


def test_each_operation_says_in_words_what_it_does_under_a_name_of_its_own(operations):
    lacking = [name for name, one in operations.items() if not (one.get("summary") and one.get("description"))]
    names = [operation["operationId"] for operation in operations.values()]

    assert not lacking
    assert len(names) == len(set(names))
    assert all(len(operation["tags"]) == 1 for operation in operations.values())


def test_each_body_that_is_sent_has_an_example_that_its_schema_allows(document, operations):
    bodies = {name: one["requestBody"]["content"] for name, one in operations.items() if "requestBody" in one}

    assert not problems_of(document, bodies)


def test_each_good_answer_has_an_example_that_its_schema_allows(document, operations):
    answers = {
        f"{name} {status}": answer["content"]
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        if int(status) < 300 and "content" in answer
    }

    assert not problems_of(document, answers)


def test_words_of_a_closed_set_are_listed_wherever_they_are_told(document):
    told = {
        f"{name}.{field}": json.dumps(about)
        for name, schema in document["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
    }
    closed = re.compile(
        r"(Violation|ScoreEntry|PackRule)\.(category|severity|confidence|gateAction)|Violation\.(source|volume)|Run\.(kind|status)"
        r"|\w+\.(platform|productionRisk|planId|currentPlan|previousPlan|newPlan|currentResult|previewResult|gateResult)"
        r"|(Analyze|FirstScan|Invitation|Subscription|Cancelled|Reactivated|PlanPreview)\.(status|billingCycle)"
        r"|(Offer|OperationUsage|CreditTransaction)\.operation|Profile\.provider|FiredGate\.(metric|operator|action)"
    )
    fields = {name: about for name, about in told.items() if closed.fullmatch(name)}

    assert len(fields) > 45
    assert not [name for name, about in fields.items() if "$ref" not in about]


def test_no_part_of_an_answer_is_of_any_shape_but_the_details_of_the_audit_trail(document):
    shapeless = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
        if '"additionalProperties": {}' in json.dumps(about)
    ]

    assert shapeless == ["AuditEntry.details"]


def test_each_parameter_is_described(operations):
    parameters = [(name, one) for name, operation in operations.items() for one in operation.get("parameters", [])]

    assert len(parameters) > 100
    assert not [(name, one["name"]) for name, one in parameters if not one.get("description")]


def test_each_whole_number_says_how_small_it_may_be(operations):
    parameters = [(name, one) for name, operation in operations.items() for one in operation.get("parameters", [])]
    numbers = [(name, one) for name, one in parameters if one["schema"].get("type") == "integer"]

    assert len(numbers) > 10
    assert not [(name, one["name"]) for name, one in numbers if "minimum" not in one["schema"]]


def test_what_is_asked_for_by_page_is_answered_as_a_page(operations):
    answers = {
        name: operation["responses"]["200"]["content"]["application/json"]["schema"]
        for name, operation in operations.items()
        if "perPage" in [parameter["name"] for parameter in operation.get("parameters", [])]
    }

    assert {"GET /api/repos/{repository_id}/runs", "GET /orgs/{organization_id}/audit-log"} <= set(answers)
    assert not [name for name, schema in answers.items() if not schema.get("$ref", "").endswith("Page")]


def test_each_operation_lists_a_good_answer_and_what_can_go_wrong(operations):
    for name, operation in operations.items():
        statuses = {int(status) for status in operation["responses"]}
        assert any(status < 400 for status in statuses), name
        assert 500 in statuses, name
        if "{" in name and "/auth/" not in name:
            assert 404 in statuses, name
        if "requestBody" in operation:
            assert {400, 413, 415} <= statuses, name


def problems_of(document, contents):
    """What is wrong with the examples of these bodies, by operation; JSON ones are held against their schemas."""
    found = []
    for name, content in contents.items():
        for kind, body in content.items():
            examples = [one["value"] for one in body.get("examples", {}).values()] or [body.get("example")]
            if examples == [None]:
                found.append(f"{name} {kind}: no example")
            elif kind == "application/json":
                found += [f"{name}: {error.message}" for one in examples for error in errors_of(document, body, one)]
    return found


def errors_of(document, body, example):
    schema = {**body["schema"], "components": document["components"]}
    return Draft202012Validator(schema).iter_errors(json.loads(json.dumps(example, default=str)))


def test_each_json_answer_has_an_example(operations):
    lacking = [
        f"{name} {status}"
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        for kind, content in answer.get("content", {}).items()
        if kind == "application/json" and not ({"example", "examples"} & set(content))
    ]

    assert not lacking


def test_each_error_has_the_one_error_body_but_for_the_badge_which_is_always_a_picture(operations):
    odd = [
        f"{name} {status}"
        for name, operation in operations.items()
        for status, answer in operation["responses"].items()
        if int(status) >= 400
        and answer["content"].get("application/json", {}).get("schema") != {"$ref": "#/components/schemas/Error"}
    ]

    assert odd == ["GET /badge/{owner}/{repo} 404"]


def test_operations_that_need_a_token_say_so(operations):
    needing = {name for name, operation in operations.items() if any(operation.get("security", []))}

    assert {"GET /auth/me", "POST /auth/logout"} <= needing
    assert not {"POST /auth/signup", "POST /auth/login", "GET /auth/idp2"} & needing
    assert all("401" in operations[name]["responses"] for name in needing)


@pytest.mark.django_db
def test_the_document_is_served_to_everybody_and_made_once(anonymous, document):
    first, second = (anonymous.get("/v1/schema") for _ in range(2))

    assert first.json() == json.loads(json.dumps(document, default=str))
    assert anonymous.get("/v1/schema", headers={"If-None-Match": second["ETag"]}).status_code == 304


@pytest.mark.django_db
def test_its_browser_comes_from_this_service_alone(anonymous):
    response = anonymous.get("/v1/docs")
    page = response.content.decode()

    assert response.status_code == 200
    assert "script-src 'self';" in response["Content-Security-Policy"]
    assert "<script>" not in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
