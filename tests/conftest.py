"""The cast that every test may call on, and the fence around the machine."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import hypothesis
import psycopg
import pytest
from django.core.cache import cache, caches
from django.db import connection
from rest_framework.test import APIClient

from accounts import letters, services
from accounts.models import SignInProvider, User
from config import background
from tests import factories

pytest_plugins = ["tests.scale"]

# How long a machine takes is no law of the code.
hypothesis.settings.register_profile("service", deadline=None)
hypothesis.settings.load_profile("service")

CONNECTIONS_BESIDE_A_CROWD = 25


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: drives Chromium, which must be installed")
    config.addinivalue_line("markers", "crowd: needs so many connections that no other such test may run beside it")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that commit get the seeded rows back, all of them in the same way: a mixture leaves rows that clash."""
    for item in items:
        mark = item.get_closest_marker("django_db")
        commits = bool(mark and mark.kwargs.get("transaction"))
        if commits or "live_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.django_db(transaction=True, serialized_rollback=True), append=False)
        if item.get_closest_marker("crowd"):
            item.add_marker(pytest.mark.xdist_group("crowd"))


@pytest.fixture(autouse=True, scope="session")
def only_loopback() -> Iterator[None]:
    """No test talks to anybody outside this machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        yield


def _guarded(connect: Any) -> Any:
    def connect_if_near(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(str(address[0])):
            raise AssertionError(f"a test tried to reach {address[0]}; only the loopback is allowed")
        return connect(self, address)

    return connect_if_near


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True)
def _room_for_a_crowd(request: pytest.FixtureRequest, settings: Any) -> None:
    """PostgreSQL takes a moment to end the connections of the crowd before."""
    database = settings.DATABASES["default"]
    if not request.node.get_closest_marker("crowd") or "postgresql" not in database["ENGINE"]:
        return
    names = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    given = {name: database[key] for name, key in names.items() if database[key]}
    with psycopg.connect(dbname="postgres", autocommit=True, **given) as asking:
        for _ in range(200):
            (others,) = asking.execute("select count(*) from pg_stat_activity where usename is not null").fetchone()
            if others <= CONNECTIONS_BESIDE_A_CROWD:
                return
            time.sleep(0.1)


@pytest.fixture(autouse=True)
def _empty_caches() -> Iterator[None]:
    yield
    cache.clear()
    caches["answers"].clear()
    background._Broker.rests_until = 0.0  # a test without a broker must not silence the next one


@pytest.fixture
def owner(db: None) -> User:
    return factories.user("olivia@example.org", name="Olivia Owner")


@pytest.fixture
def admin(db: None) -> User:
    return factories.user("adam@example.org", name="Adam Admin")


@pytest.fixture
def member(db: None) -> User:
    return factories.user("mia@example.org", name="Mia Member")


@pytest.fixture
def stranger(db: None) -> User:
    return factories.user("sam@example.org", name="Sam Stranger")


@pytest.fixture
def organization(owner: User, admin: User, member: User) -> Any:
    """Owner, admin and member together on the plan pro."""
    return factories.organization(owner=owner, admins=[admin], members=[member], plan="pro")


@pytest.fixture
def anonymous() -> APIClient:
    return factories.client()


@pytest.fixture
def as_owner(owner: User) -> APIClient:
    return client_of(owner)


@pytest.fixture
def as_admin(admin: User) -> APIClient:
    return client_of(admin)


@pytest.fixture
def as_member(member: User) -> APIClient:
    return client_of(member)


@pytest.fixture
def as_stranger(stranger: User) -> APIClient:
    return client_of(stranger)


def client_of(user: User) -> APIClient:
    """A client that is signed in: it sends the access token of a session of its own."""
    pair = services.open_session(user=user, provider=SignInProvider.EMAIL)
    return factories.client(pair.access)


@pytest.fixture
def rate_limits(settings: Any, django_db_blocker: Any) -> Iterator[None]:
    """The table of rate limits is in force."""
    settings.RATELIMIT_ENABLE = True
    yield
    with django_db_blocker.unblock():
        caches["counters"].clear()


@pytest.fixture
def just_before(db: None) -> Callable[..., AbstractContextManager[None]]:
    """`with just_before(words, act)`: somebody else acts in the moment before the first statement with these words;
    with several acts, before the first statements.

    It plays the races that threads win too seldom: what is read or locked next shows the other one's work.
    """

    @contextmanager
    def acting(words: str, *acts: Callable[[], object]) -> Iterator[None]:
        waiting, busy = list(acts), False

        def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            nonlocal busy
            if waiting and not busy and words in sql:
                busy = True
                waiting.pop()()
                busy = False
            return execute(sql, params, many, context)

        with connection.execute_wrapper(watch):
            yield
        assert not waiting, f"no statement with {words}"

    return acting


@pytest.fixture
def postbox(mailoutbox: list[Any]) -> Any:
    """`postbox()` does what the worker does with the letters that are due and returns every mail sent so far."""

    def deliver() -> list[Any]:
        for letter_id in letters.due():
            letters.send(letter_id)
        return mailoutbox

    return deliver
