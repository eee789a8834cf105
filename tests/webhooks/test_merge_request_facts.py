"""What code host 2 tells, as the facts that the services take."""

from pathlib import Path

import orjson
import pytest
from django.utils import timezone

from webhooks.models import SourceName
from webhooks.sources import codehost2
from webhooks.sources.base import BadEnvelope, Fact

PAYLOADS = Path(__file__).parent / "payloads" / "codehost2"


def fact_of(name: str, **changes: object) -> Fact:
    payload = {**orjson.loads((PAYLOADS / f"{name}.json").read_bytes()), **changes}
    return Fact(SourceName.CODEHOST2, "u-1", name, timezone.now(), payload)


def test_a_merge_request():
    fact = codehost2.merge_request_fact(fact_of("merge_request.open"))

    assert (fact.number, fact.title, fact.author, fact.head_sha) == (7, "Add a basket", "dana", "a" * 40)
    assert (fact.head_ref, fact.base_ref, fact.base_sha) == ("basket", "main", "")
    assert (fact.is_open, fact.is_draft, fact.is_merged, fact.is_from_fork) == (True, False, False, False)
    assert (fact.repository.external_id, fact.repository.full_name) == ("4", "acme/shop")


def test_whoever_acts_on_the_merge_request_of_another_is_not_its_author():
    request = fact_of("merge_request.open").payload["object_attributes"] | {"author_id": 5}

    by_author = fact_of("merge_request.open", object_attributes=request, user={"id": 5, "username": "dana"})
    by_another = fact_of("merge_request.open", object_attributes=request, user={"id": 9, "username": "carl"})

    assert codehost2.merge_request_fact(by_author).author == "dana"
    assert codehost2.merge_request_fact(by_another).author == ""


@pytest.mark.parametrize(
    ("name", "branch", "head", "is_to_default"),
    [("push", "main", "c" * 40, True), ("push.branch_deleted", "basket", "", False), ("tag_push", "", "c" * 40, False)],
)
def test_a_push(name, branch, head, is_to_default):
    fact = codehost2.push_fact(fact_of(name))

    assert (fact.branch, fact.head_sha, fact.is_to_default_branch) == (branch, head, is_to_default)


@pytest.mark.parametrize("missing", ["project", "object_attributes"])
def test_what_is_missing_is_named(missing):
    with pytest.raises(BadEnvelope, match="is missing"):
        codehost2.merge_request_fact(fact_of("merge_request.open", **{missing: None}))
