"""People at browsers: each has one of their own, and whatever it complains about fails the test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from accounts.models import User
from tests import factories
from tests.providers.chromium import grave_barriers, launched

WAIT_MS = 15_000


@dataclass
class Visitor:
    """One person at one browser. `page` is Playwright's."""

    page: Page
    service: str
    complaints: list[str] = field(default_factory=list)
    expected: set[int] = field(default_factory=set)

    def goes_to(self, path: str) -> None:
        """Open a page of the dashboard and wait until it is there."""
        self.page.goto(self.service + path)
        self.page.locator("h1").first.wait_for()
        self.page.locator(".skeleton-page").wait_for(state="detached")

    def signs_in(self, user: User, password: str = factories.PASSWORD) -> None:
        self.page.goto(f"{self.service}/login")
        self.page.get_by_label("Email").fill(user.email)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        self.page.get_by_role("navigation", name="Main").wait_for()

    def is_refused(self, status: int) -> None:
        """What follows asks for something that the API refuses, which browsers write onto their console."""
        self.expected.add(status)

    def sees(self, text: str) -> None:
        """The text appears."""
        self.page.get_by_text(text).first.wait_for()

    def clicks(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def finds_no_barrier(self) -> None:
        """axe finds nothing serious on the present page, neither in the light nor in the dark theme."""
        assert grave_barriers(self.page) == [], self.page.url


@pytest.fixture
def service(live_server: Any, settings: Any, tmp_path: Path) -> str:
    """The running service as browsers meet it."""
    settings.APP_URL, settings.BASE_URL = live_server.url, f"{live_server.url}/v1"
    settings.ALLOWED_HOSTS = ["*"]
    settings.WORKSPACE_DIR = tmp_path / "workspace"
    settings.CLONE_ALLOWED_SCHEMES = ["https", "file"]
    return str(live_server.url)


@pytest.fixture
def chromium(service: str) -> Iterator[Browser]:
    """A browser of this test alone: Playwright's event loop stands between the tests' database and Django's."""
    with pytest.MonkeyPatch.context() as patch, launched() as browser:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield browser
        connections.close_all()  # those that Django opened beside the loop


@pytest.fixture
def visitor(chromium: Browser, service: str) -> Iterator[Callable[..., Visitor]]:
    """`visitor(user)` is somebody with a browser, signed in; `visitor()` is not.

    A complaint of a browser fails the test: an error on its console, or a request to anybody but the service.
    """
    visitors: list[Visitor] = []

    def open_browser(user: User | None = None, *, beside: str = "") -> Visitor:
        page = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce").new_page()
        page.set_default_timeout(WAIT_MS)
        one = Visitor(page, service)
        page.on("console", lambda message: _hear(one, message))
        page.on("pageerror", lambda error: one.complaints.append(str(error)))
        page.on("request", lambda request: _watch(one, request, beside))
        visitors.append(one)
        if user:
            one.signs_in(user)
        return one

    yield open_browser
    for one in visitors:
        one.page.context.close()
        assert one.complaints == []


def _hear(visitor: Visitor, message: ConsoleMessage) -> None:
    is_expected = any(f"status of {status} " in message.text for status in visitor.expected)
    if message.type in ("error", "warning") and not is_expected:
        visitor.complaints.append(message.text)


def _watch(visitor: Visitor, request: Request, beside: str) -> None:
    own = (visitor.service, "data:", "blob:")
    if not request.url.startswith((*own, beside) if beside else own):
        visitor.complaints.append(f"asked {request.url}")
