"""Reads that the caller has already, and conditions that do not hold, on both ways an ETag is made."""

from typing import Any

import pytest

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rate_limits")]

OF_BYTES, OF_A_VERSION = "/v1/orgs", "/v1/api/repos"


@pytest.mark.parametrize("url", [OF_BYTES, OF_A_VERSION])
class TestConditions:
    def test_304_has_the_validator_and_the_state_of_the_limit(self, url: str, as_owner: Any, organization: Any) -> None:
        etag = as_owner.get(url)["ETag"]

        again = as_owner.get(url, headers={"If-None-Match": etag})

        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
        assert (again["RateLimit-Limit"], again["RateLimit-Remaining"]) == ("100", "98")
        assert "RateLimit-Reset" in again

    def test_412_has_the_error_body(self, url: str, as_owner: Any, organization: Any) -> None:
        refused = as_owner.get(url, headers={"If-Match": '"another"'})

        assert refused.status_code == 412
        assert refused.json() == {
            "statusCode": 412,
            "message": "The answer is another version than the condition names; read it again",
            "error": "Precondition Failed",
        }
