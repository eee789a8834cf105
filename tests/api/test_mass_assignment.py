"""No body changes a column that it does not name (C3): every column of every model is added to every body.

Each write of the authorization table is sent plain and laden, each in a world of its own; the two ends are the same.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from drf_spectacular.generators import SchemaGenerator

from tests.api.test_authorization_matrix import OPERATIONS, Operation, undone, world

__all__ = ["world"]
OURS = ("accounts", "organizations", "credits", "billing", "analysis")
WRITES = [one for one in OPERATIONS if one.body and one.owner < 400]
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
TIME = re.compile(r"datetime\.datetime\([^)]*\)")
NOBODY = "01a2009a-ffb2-7106-bd70-90e54ac6ccab"


def smuggled(column: "models.Field[Any, Any]") -> Any:
    """A value that fits the column and that nobody has."""
    match column:
        case models.BooleanField():
            return True
        case models.IntegerField() | models.FloatField() | models.DecimalField():
            return 4711
        case models.DateTimeField():
            return "2031-01-01T00:00:00Z"
        case models.JSONField():
            return {"smuggled": True}
        case models.UUIDField() | models.ForeignKey():
            return NOBODY
        case _:
            return list(column.choices)[-1][0] if column.choices else "smuggled"


def every_column() -> Iterator[tuple[str, Any]]:
    """By the name it has here, and by the one it would have on the wire."""
    for model in apps.get_models():
        for column in model._meta.concrete_fields:
            for name in (column.name, column.attname):
                first, *others = name.split("_")
                yield name, smuggled(column)
                yield first + "".join(part.capitalize() for part in others), smuggled(column)


@pytest.fixture(scope="module")
def document() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


def own_fields(document: Any, operation: Operation) -> set[str]:
    """What the operation says it reads."""
    body = document["paths"][operation.path][operation.method.lower()]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return set(schema.get("properties", ()))


def everything(known: set[str]) -> str:
    """All our rows as text, with new ids and times made alike."""
    rows = [
        f"{model._meta.label} {sorted(row.items())}"
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for row in model.objects.values()
    ]
    text = [UUID.sub(lambda match: match[0] if match[0] in known else "new", row) for row in rows]
    return "\n".join(sorted(TIME.sub("time", row) for row in text))


@pytest.mark.django_db
@pytest.mark.parametrize("operation", WRITES, ids=lambda one: f"{one.method} {one.path}")
def test_columns_in_a_body_change_nothing(operation: Operation, world: Any, as_owner: Any, document: Any) -> None:
    plain, own = json.loads(operation.body), own_fields(document, operation)
    laden = {name: value for name, value in every_column() if name not in own} | plain
    known = set(UUID.findall(everything(set()))) | set(world.own.values()) | set(world.foreign.values())
    ends = []
    for body in (plain, laden):
        with undone():
            answer = Operation(**{**vars(operation), "body": json.dumps(body)}).sent_by(as_owner, world.own)
            ends.append((answer.status_code, everything(known)))

    (calm, wanted), (status, found) = ends
    if status == 400 and "policy" in operation.path:  # a policy names what it does not know
        assert b"policy" in answer.content or b"unknown" in answer.content.lower()
        return
    assert status == calm, answer.content
    assert found == wanted
