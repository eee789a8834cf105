"""The running service, and a browser in front of it that forgives nothing.

`service` is `manage.py serve` on empty data: web server, workers, static files as in production. `visit` opens pages in
a browser of its own; when the test ends every page must have stayed without console errors and without a request to
anything but the public API and static files.
"""

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response

from tests.analysis.repositories import SHOP, GitRepository
from tests.providers import servers
from tests.providers.chromium import launched

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PASSWORD = "Correct-horse-9"
PATIENCE_MS = 20_000


@pytest.fixture(scope="session")
def service_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="session")
def service(service_folder: Path) -> Iterator[str]:
    """The address of the running service."""
    folder, port = service_folder, servers.free_port()
    env = {
        "VAR_DIR": str(folder),
        "PORT": str(port),
        "LOG_LEVEL": "ERROR",
        "CLONE_ALLOWED_SCHEMES": "file",
        "CLONE_ALLOW_PRIVATE_ADDRESSES": "true",
        "RATELIMIT_ENABLE": "false",
        "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
        "REDIS_URL": "",
        "PYTHONPATH": str(CHECKOUT),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    command = [sys.executable, CHECKOUT / "manage.py", "serve"]
    with servers.running(command, port=port, cwd=folder, env=env, seconds=120):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def chromium() -> Iterator[Browser]:
    """For one test: while Playwright's loop runs, Django takes every other test of the process for asynchronous."""
    with launched() as browser:
        yield browser


@dataclass
class Watch:
    """What a browser did that it should not have done."""

    home: str
    faults: list[str] = field(default_factory=list)

    def over(self, page: Page) -> Page:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._note(f"error: {error}", True))
        page.on("request", self._check_request)
        page.on("response", self._check_response)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        # Chromium also writes down each refusal of the API, which pages show as they should; see _check_response.
        is_refusal = message.text.startswith("Failed to load resource")
        self._note(f"console: {message.text}", message.type in ("error", "warning") and not is_refusal)

    def _check_response(self, response: Response) -> None:
        is_refusal = urlsplit(response.url).path.startswith("/v1/") and response.status < 500
        self._note(f"{response.status}: {response.url}", response.status >= 400 and not is_refusal)

    def _check_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        is_ours = f"{address.scheme}://{address.netloc}" == self.home
        is_page = request.resource_type == "document"
        is_public = is_page or address.path.startswith(("/v1/", "/static/"))
        self._note(f"request: {request.url}", not (is_ours and is_public) and address.scheme != "blob")

    def _note(self, fault: str, is_fault: bool) -> None:
        if is_fault:
            self.faults.append(fault)


@pytest.fixture
def visit(service: str, chromium: Browser) -> Iterator[Callable[..., Page]]:
    """`visit("/login")` opens a page in a browser without a past; further calls are further people."""
    watch, contexts = Watch(service), []

    def open_page(path: str, **options: Any) -> Page:
        context = chromium.new_context(base_url=service, **options)
        contexts.append(context)
        page = watch.over(context.new_page())
        page.set_default_timeout(PATIENCE_MS)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert watch.faults == []


@dataclass
class Person:
    """Somebody with an account, and what they can do over the API to set a stage."""

    email: str
    api: httpx.Client

    def call(self, method: str, path: str, **body: Any) -> Any:
        response = self.api.request(method, path, json=body or None)
        assert response.is_success, f"{method} {path}: {response.text}"
        return response.json() if response.content else None


@pytest.fixture(scope="session")
def enroll(service: str) -> Iterator[Callable[[str], Person]]:
    """`enroll("Dana")` signs somebody up over the API."""
    clients = ExitStack()

    def sign_up(name: str) -> Person:
        email = f"{name.lower()}@example.org"
        api = clients.enter_context(httpx.Client(base_url=f"{service}/v1", timeout=30))
        answer = api.post("/auth/signup", json={"email": email, "password": PASSWORD, "name": name}).json()
        api.headers["Authorization"] = f"Bearer {answer['accessToken']}"
        return Person(email, api)

    with clients:
        yield sign_up


@pytest.fixture(scope="session")
def on_plan(service_folder: Path) -> Callable[[str, str], None]:
    """`on_plan("pro", slug)` does what staff can do: give an organization a plan that nobody pays for."""

    def give(plan: str, slug: str) -> None:
        with closing(sqlite3.connect(service_folder / "db.sqlite3", timeout=20)) as database, database:
            changed = database.execute("update organizations_organization set plan_id = ? where slug = ?", (plan, slug))
            assert changed.rowcount == 1

    return give


@pytest.fixture(scope="session")
def scanned(enroll: Any, on_plan: Any, shop: GitRepository) -> tuple[Person, str]:
    """Olga, owner of an organization on pro, and the id of her scanned repository."""
    olga = enroll("Olga")
    organization = olga.call("POST", "/orgs", name="Olga & Co", slug="olga")
    on_plan("pro", "olga")
    body = {"orgId": organization["id"], "fullName": "olga/shop", "platform": "git", "cloneUrl": shop.url}
    repository = olga.call("POST", "/api/repos", **body)["id"]
    deadline = time.monotonic() + 60
    while olga.call("GET", f"/api/repos/{repository}")["healthScore"] is None:
        assert time.monotonic() < deadline, olga.call("GET", f"/api/repos/{repository}/runs")
        time.sleep(0.2)
    return olga, repository


def sign_in(page: Page, person: Person) -> Page:
    """Sign in where the page asks for it, and wait for the frame."""
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("navigation", name="Main").wait_for(state="attached")
    return page


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    """A small repository with findings and two weeks of history."""
    repository = GitRepository.create(tmp_path_factory.mktemp("sources") / "shop")
    today = datetime.now(UTC).date()
    repository.commit(SHOP, on=today - timedelta(days=14))
    repository.commit(
        {"shop/views.py": "from shop import orders\n\n\ndef page(request):\n    return orders.total([])\n"},
        on=today - timedelta(days=3),
    )
    return repository
