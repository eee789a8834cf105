"""The organizations' part of the OpenAPI document."""

import pytest
from drf_spectacular.generators import SchemaGenerator

from organizations import examples, serializers


@pytest.fixture(scope="module")
def operations():
    document = SchemaGenerator().get_schema(request=None, public=True)
    return {
        (method.upper(), path.removeprefix("/v1/").lstrip("/")): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if "orgs" in path.split("/")[:3] and "/org/" not in path
    }


def test_every_operation_is_described(operations):
    assert len(operations) == 15
    for operation in operations.values():
        assert operation["summary"]
        assert len(operation["description"]) > 20
        assert "401" in operation["responses"]


def test_every_answer_with_a_body_has_an_example(operations):
    for name, operation in operations.items():
        for status, answer in operation["responses"].items():
            for media in answer.get("content", {}).values():
                assert "example" in media or "examples" in media, (name, status)


@pytest.mark.parametrize(
    ("serializer", "example"),
    [
        (serializers.NewOrganizationSerializer, examples.CREATED),
        (serializers.OrganizationListItemSerializer, examples.LIST_ITEM),
        (serializers.OrganizationSerializer, examples.DETAIL),
        (serializers.MemberSerializer, examples.MEMBER),
        (serializers.InvitationSerializer, examples.INVITATION),
        (serializers.JoinedSerializer, examples.JOINED),
        (serializers.AuditEntrySerializer, examples.AUDIT_ENTRY),
    ],
)
def test_examples_have_the_fields_of_the_answer(serializer, example):
    assert list(example) == list(serializer().fields)
