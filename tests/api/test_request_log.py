"""The log of requests names routes and never what callers wrote into a path."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

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


def test_it_names_the_account_that_asked_and_nobody_for_the_next_one(as_member: Any, member: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="request"):
        as_member.get("/v1/auth/me")
    assert str(member.pk) in lines(caplog)
    caplog.clear()

    with caplog.at_level(logging.INFO, logger="request"):
        Client().get("/v1/plans")

    assert str(member.pk) not in lines(caplog)
