"""The AI operations in the OpenAPI document."""

import pytest
from drf_spectacular.generators import SchemaGenerator

from analysis import examples_ai, serializers_ai


@pytest.fixture(scope="module")
def operations():
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return [methods["post"] for path, methods in paths.items() if "/ai/" in path or path.endswith("/ai-fix")]


def test_all_three_say_what_they_cost_and_how_they_fail(operations):
    assert len(operations) == 3
    for operation in operations:
        assert "credits" in operation["description"]
        assert {"200", "401", "403", "404", "409", "429", "500", "502", "503"} <= set(operation["responses"])


def test_every_answer_has_an_example(operations):
    for operation in operations:
        for answer in operation["responses"].values():
            for media in answer["content"].values():
                assert "example" in media or "examples" in media


@pytest.mark.parametrize(
    ("serializer", "example"),
    [
        (serializers_ai.ScanSummarySerializer, examples_ai.SCAN_SUMMARY),
        (serializers_ai.CrossFileSerializer, examples_ai.CROSS_FILE),
        (serializers_ai.CrossFileRequestSerializer, examples_ai.CROSS_FILE_REQUEST),
        (serializers_ai.FixSerializer, examples_ai.FIX),
        (serializers_ai.ViolationSerializer, examples_ai.AI_VIOLATION),
    ],
)
def test_examples_have_the_fields_of_the_answer(serializer, example):
    fields = serializer().fields

    assert list(example) == [name for name in fields if name in example]
    assert {name for name, field in fields.items() if field.required} <= set(example)
