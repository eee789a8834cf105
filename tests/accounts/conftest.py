import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.providers import npm, servers

SEED = """
github:
  users:
    - {login: dana, name: Dana Doe, email: dana@example.org}
  oauth_apps:
    - client_id: our-client
      client_secret: our-secret
      name: Ours
      redirect_uris: ["REDIRECT_URI"]
"""


@pytest.fixture(scope="session")
def _issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = servers.free_port()
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    with servers.running(command, port=port, cwd=tmp_path_factory.mktemp("idp2")):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def idp2(_issuer: str, settings: Any) -> str:
    """Sign-in through idp2 is set up against an OpenID Connect server that others wrote; its address."""
    return set_up_idp2(settings, _issuer)


@pytest.fixture
def known_to_idp2(idp2: str) -> Any:
    """`known_to_idp2("sub", email=..., email_verified=True)` makes somebody known to the provider."""

    def add(sub: str, **claims: Any) -> str:
        requests.put(f"{idp2}/users/{sub}", json=claims, timeout=5).raise_for_status()
        return sub

    return add


@contextlib.contextmanager
def code_host(folder: Path, redirect_uri: str) -> Iterator[str]:
    """An emulator of the public code host that knows dana and our client; its address."""
    (folder / "seed.yaml").write_text(SEED.replace("REDIRECT_URI", redirect_uri))
    port, program = servers.free_port(), npm.installed("emulate") / "dist" / "index.js"
    command = [npm.NODE, program, "start", "--service", "github", "--port", str(port), "--seed", "seed.yaml"]
    with servers.running(command, port=port, cwd=folder):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def _code_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with code_host(tmp_path_factory.mktemp("emulate"), "http://127.0.0.1:8000/v1/auth/codehost1/callback") as address:
        yield address


@pytest.fixture
def codehost1(_code_host: str, settings: Any) -> str:
    """Sign-in through codehost1 is set up against an emulator of the public code host; its address."""
    return set_up_codehost1(settings, _code_host)


@pytest.fixture(scope="session")
def strict_issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An OpenID Connect server that refuses whoever does not prove possession of the code (PKCE)."""
    port, folder = servers.free_port(), tmp_path_factory.mktemp("oidc")
    script = Path(npm.__file__).with_name("oidc_provider.mjs")
    redirect_uri = "http://127.0.0.1:8000/v1/auth/idp2/callback"
    command = [npm.NODE, script, npm.installed("oidc-provider"), str(port), redirect_uri]
    with servers.running(command, port=port, cwd=folder):
        yield f"http://127.0.0.1:{port}"


def set_up_idp2(settings: Any, issuer: str) -> str:
    settings.IDP2_ISSUER, settings.IDP2_CLIENT_ID, settings.IDP2_CLIENT_SECRET = issuer, "our-client", "our-secret"
    return issuer


def set_up_codehost1(settings: Any, address: str) -> str:
    settings.CODEHOST1_URL = settings.CODEHOST1_API_URL = address
    settings.CODEHOST1_CLIENT_ID, settings.CODEHOST1_CLIENT_SECRET = "our-client", "our-secret"
    return address
