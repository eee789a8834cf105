"""The page that the dashboard's modules fill: served at the addresses of its pages."""

import base64
import hashlib
import json
import re

import pytest
from django.test import Client

from config.dashboard.modules import STATIC as FILES
from config.dashboard.modules import import_map

STATIC = FILES / "dashboard"


@pytest.mark.parametrize("path", ["/", "/login", "/repos/abc/violations", "/invitations/some-token", "/auth/callback"])
def test_every_page_is_the_same_shell(path):
    response = Client().get(path)

    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/html")
    assert response.content == Client().get("/").content


@pytest.mark.parametrize(
    "path", ["/v1/nothing", "/v1", "/nothing", "/static/missing.js", "/favicon.ico", "/repos/.env"]
)
def test_any_other_address_is_404(path):
    response = Client().get(path)

    assert response.status_code == 404
    assert response.json()["statusCode"] == 404


def test_nothing_is_sent_to_it():
    assert Client().post("/").status_code == 405


def test_the_only_inline_text_is_the_import_map_and_its_hash_is_allowed():
    response = Client().get("/")

    html = response.content.decode()
    (inline,) = re.findall(r"<script(?![^>]*src=)[^>]*>(.+?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    policy = response["Content-Security-Policy"]
    assert f"script-src 'self' 'sha256-{digest}'" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert not re.search(r"\sstyle=|<style|\son\w+=", html)


def test_tokens_in_addresses_go_nowhere():
    assert Client().get("/invitations/secret")["Referrer-Policy"] == "no-referrer"


def test_every_module_is_in_the_import_map():
    imports = json.loads(import_map())["imports"]

    assert set(imports) == {f"/static/dashboard/{file.relative_to(STATIC)}" for file in STATIC.glob("js/**/*.js")}


def test_every_import_names_a_file():
    for file in STATIC.glob("js/**/*.js"):
        for name in re.findall(r"""(?:from|import)\s*\(?\s*"(\.[^"]+)\"""", file.read_text()):
            assert (file.parent / name).resolve().is_file(), f"{file} imports {name}"
