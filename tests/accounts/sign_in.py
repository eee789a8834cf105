"""The steps of a browser that signs in through a provider."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests


def start(client: Any, provider: str, **query: str) -> str:
    """Ask our service to begin; the address at the provider that the browser is sent to."""
    response = client.get(f"/v1/auth/{provider}", query)
    assert response.status_code == 302, response.content
    return str(response["Location"])


def come_back(client: Any, location: str) -> dict[str, str]:
    """Follow the provider's redirect to our callback; the query that the front end gets."""
    parts = urlsplit(location)
    response = client.get(parts.path, dict(parse_qsl(parts.query)))
    assert response.status_code == 302, response.content
    assert response["Location"].startswith("http://127.0.0.1:8000/auth/callback?")
    assert response["Cache-Control"] == "no-store"
    return query_of(response["Location"])


def agree_at_idp2(address: str, sub: str) -> str:
    """Give consent as somebody; where the provider sends the browser."""
    response = requests.post(address, data={"sub": sub}, allow_redirects=False, timeout=5)
    return response.headers["Location"]


def deny_at_idp2(address: str) -> str:
    response = requests.post(address, data={"action": "deny"}, allow_redirects=False, timeout=5)
    return response.headers["Location"]


def agree_at_codehost1(address: str, login: str) -> str:
    """Press the button of an account on the page that the code host serves."""
    page = requests.get(address, timeout=5).text
    for form in re.findall(r"<form.*?</form>", page, re.DOTALL):
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        if fields.get("login") == login:
            action = re.search(r'action="([^"]*)"', form)[1]
            base = "{0.scheme}://{0.netloc}".format(urlsplit(address))
            return requests.post(f"{base}{action}", data=fields, allow_redirects=False, timeout=5).headers["Location"]
    raise AssertionError(f"the page offers no account {login}")


def through_idp2(client: Any, sub: str) -> dict[str, str]:
    """The whole way."""
    return come_back(client, agree_at_idp2(start(client, "idp2"), sub))


def through_codehost1(client: Any, login: str) -> dict[str, str]:
    """The whole way."""
    return come_back(client, agree_at_codehost1(start(client, "codehost1"), login))


def query_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))
