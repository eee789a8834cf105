"""What a browser is told with every answer: run nothing foreign, guess no types, be framed by nobody."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

CHECKOUT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.django_db

NAMES_OF_COOKIES = """
from django.conf import settings
from accounts import refresh_cookie
print(settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, refresh_cookie.NAME)
"""


@pytest.mark.parametrize("path", ["/v1/plans", "/v1/auth/me", "/v1/nowhere", "/v1/docs", "/admin/login/", "/"])
def test_every_answer_has_a_policy_that_lets_nobody_frame_it(path: str) -> None:
    response = Client().get(path)

    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "base-uri 'none'" in policy and "frame-ancestors 'none'" in policy
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] in {"same-origin", "no-referrer"}


def test_what_has_not_changed_keeps_the_policy_that_it_came_with() -> None:
    page = Client().get("/")

    again = Client().get("/", headers={"If-None-Match": page["ETag"]})

    assert again.status_code == 304
    assert "Content-Security-Policy" not in again


def test_data_runs_and_loads_nothing(as_owner: Any) -> None:
    assert "-src 'self'" not in as_owner.get("/v1/auth/me")["Content-Security-Policy"]


def test_nobody_between_keeps_it_and_the_browser_asks_again(as_owner: Any) -> None:
    assert as_owner.get("/v1/orgs")["Cache-Control"] == "private, no-cache"


def test_nothing_is_traced(as_owner: Any) -> None:
    assert as_owner.generic("TRACE", "/v1/plans").status_code == 405


def test_over_tls_cookies_are_bound_to_it_by_their_names(tmp_path: Path) -> None:
    shell = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", NAMES_OF_COOKIES],
        cwd=CHECKOUT,
        env={**os.environ, "BASE_URL": "https://debt.example.org/v1", "VAR_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert shell.stdout.split() == ["__Host-sessionid", "__Host-csrftoken", "__Secure-refresh"]
