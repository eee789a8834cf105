"""The log of requests names routes and never what callers wrote into a path."""

import json
import logging
from typing import Any

import pytest

pytestmark = pytest.mark.django_db


def lines(caplog: Any) -> str:
    return json.dumps([record.msg for record in caplog.records if record.name == "request"], default=str)


def test_an_invitation_token_in_the_path_is_not_logged(as_member: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="request"):
        as_member.post("/v1/orgs/invitations/very-secret-token/accept")

    assert "v1/orgs/invitations/<" in lines(caplog)
    assert "very-secret-token" not in lines(caplog)


def test_an_unknown_path_is_not_logged(anonymous: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="request"):
        anonymous.get("/v1/nowhere/very-secret-token")

    assert "unknown" in lines(caplog)
    assert "very-secret-token" not in lines(caplog)
