"""The log of requests names routes and never what callers wrote into a path."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

from tests.logs import formatter

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


def test_a_method_that_nobody_knows_is_cut(anonymous: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="request"):
        anonymous.generic("X" * 8000, "/v1/plans")

    assert f'"{"X" * 20}"' in lines(caplog)


def test_a_form_without_its_cookie_is_refused_without_its_path_in_the_log(caplog: Any) -> None:
    Client(enforce_csrf_checks=True).post("/invitations/very-secret-token")

    refused = [formatter().format(record) for record in caplog.records if record.name == "django.security.csrf"]
    assert [json.loads(line)["event"] for line in refused] == ["Forbidden (CSRF cookie not set.)"]


def test_it_names_the_account_that_asked_and_nobody_for_the_next_one(as_member: Any, member: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="request"):
        as_member.get("/v1/auth/me")
    assert str(member.pk) in lines(caplog)
    caplog.clear()

    with caplog.at_level(logging.INFO, logger="request"):
        Client().get("/v1/plans")

    assert str(member.pk) not in lines(caplog)
