"""The API against its own description (C2): whatever is sent, the answer is one that the OpenAPI document announces.

schemathesis makes the requests from each operation's schemas, fitting ones and broken ones.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from config.wsgi import application

# A provider that is away or not set up is announced; a fault of ours never is.
CONFIG = SchemathesisConfig.from_dict(
    {"checks": {"not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", 502, 503]}}}
)

API = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True), config=CONFIG)
API.app = application
OPERATIONS = [operation.ok() for operation in API.get_all_operations()]
BREAKABLE = [operation for operation in OPERATIONS if operation.body or operation.query]

# What no schema can say: passwords need a digit, a plan must be another one, an empty query value is none.
BEYOND_SCHEMAS = [positive_data_acceptance, negative_data_rejection]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """The application keeps the connection of the test, as with Django's own client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def callers(request: pytest.FixtureRequest) -> list[Any]:
    """At tier C the owner, who comes furthest; at tier S everybody."""
    everybody = ["as_owner"]
    if request.config.option.scale == "S":
        everybody += ["as_admin", "as_member", "as_stranger", "anonymous"]
    return [request.getfixturevalue(name) for name in everybody]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_fitting_requests(operation: Any, callers: list[Any], organization: Any, figure: Any) -> None:
    for client in callers:
        _ask(operation, GenerationMode.POSITIVE, figure(c=15, s=600, of="fitting requests an operation"), client)


@pytest.mark.parametrize("operation", BREAKABLE, ids=lambda operation: operation.label)
def test_broken_requests(operation: Any, callers: list[Any], organization: Any, figure: Any) -> None:
    for client in callers:
        _ask(operation, GenerationMode.NEGATIVE, figure(c=10, s=400, of="broken requests an operation"), client)


def _ask(operation: Any, mode: GenerationMode, examples: int, client: Any) -> None:
    token = client._credentials.get("HTTP_AUTHORIZATION")
    headers = {"Authorization": token} if token else {}

    @settings(max_examples=examples, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(headers=headers, excluded_checks=BEYOND_SCHEMAS)

    ask()
