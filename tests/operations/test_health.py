"""The probes tell whether the process lives and which part of the service is down, and nothing else."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection


@pytest.fixture
def nobody_listens() -> Any:
    """An address on this machine where nobody answers."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{nobody.getsockname()[1]}"


@pytest.fixture
def database_away(monkeypatch: pytest.MonkeyPatch, django_db_blocker: Any) -> Iterator[None]:
    """Every connection to the database is refused."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError('connection to server at "10.1.2.3", user "service" failed: password=hunter2')

    with django_db_blocker.unblock():
        connection.close()
        monkeypatch.setattr(connection, "connect", refuse)
        yield


def test_a_process_that_answers_is_alive_without_any_other_part(client: Any) -> None:
    response = client.get("/health/live")

    assert (response.status_code, response.json()) == (200, {"status": "alive"})


@pytest.mark.django_db
def test_a_service_with_all_its_parts_is_ready(client: Any) -> None:
    response = client.get("/health/ready")

    assert (response.status_code, response.json()) == (200, {"status": "ready", "down": []})
    assert response["Cache-Control"] == "no-store"


@pytest.mark.django_db
def test_without_redis_cache_and_broker_are_down(client: Any, settings: Any, nobody_listens: str) -> None:
    settings.REDIS_URL = f"redis://user:hunter2@{nobody_listens}/0"
    redis_cache = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": settings.REDIS_URL}
    settings.CACHES = {**settings.CACHES, "default": redis_cache}

    response = client.get("/health/ready")

    assert (response.status_code, response.json()["down"]) == (503, ["cache", "broker"])
    assert "hunter2" not in response.content.decode()


@pytest.mark.django_db
def test_the_embedded_queue_is_down_when_its_folder_is_gone(client: Any, settings: Any, tmp_path: Any) -> None:
    settings.REDIS_URL, settings.BROKER_DIR = "", tmp_path / "gone"

    assert client.get("/health/ready").json()["down"] == ["broker"]


def test_without_a_database_the_probe_says_so_and_no_secret(client: Any, database_away: None) -> None:
    response = client.get("/health/ready")

    assert (response.status_code, response.json()["down"]) == (503, ["database"])
    assert "hunter2" not in response.content.decode()


def test_pages_for_staff_say_503_meanwhile(client: Any, database_away: None) -> None:
    client.raise_request_exception = False
    client.cookies["sessionid"] = "a" * 32

    response = client.get("/admin/")

    assert (response.status_code, response.json()["message"]) == (503, "The database does not answer; try again")


def test_probes_come_by_address_whatever_the_host_name(client: Any) -> None:
    assert client.get("/health/live", headers={"host": "10.42.0.17:8000"}).status_code == 200
    assert client.get("/v1/plans", headers={"host": "10.42.0.17:8000"}).status_code == 400


def test_probes_are_only_read(client: Any) -> None:
    response = client.post("/health/ready")

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
