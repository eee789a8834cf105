"""The embedded service on a disk that is full."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from kombu import Connection

from config import broker
from tests.operations.disks import PAGE, Disk, small_disk
from tests.operations.services import CHECKOUT, environment, wait_until
from tests.providers.servers import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


def test_a_message_that_finds_no_room_leaves_nothing_behind(disk: Disk, tmp_path: Path) -> None:
    broker.install()
    folders = {
        "data_folder_in": str(disk.folder),
        "data_folder_out": str(disk.folder),
        "control_folder": str(tmp_path / "control"),
    }
    with Connection("files://", transport_options=folders) as connection:
        queue = connection.SimpleQueue("hints")
        before = {path.name for path in disk.folder.iterdir()}
        disk.fill(leave=0)

        with pytest.raises(OSError, match="No space left"):
            queue.put({"task": "x" * 2 * PAGE})

        assert {path.name for path in disk.folder.iterdir()} == before | {"ballast"}


@pytest.fixture
def embedded_web(disk: Disk) -> Iterator[httpx.Client]:
    """The web server of the embedded default, with its database and everything else on the small disk."""
    port = free_port()
    database = f"sqlite:///{disk.folder}/db.sqlite3"
    env = environment(disk.folder, DATABASE_URL=database, REDIS_URL="", PORT=str(port))
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=CHECKOUT, env=env, check=True)
    serve = [sys.executable, "manage.py", "serve", "--only", "web"]
    process = subprocess.Popen(serve, cwd=CHECKOUT, env=env, start_new_session=True)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        wait_until(lambda: answers(client), seconds=60)
        yield client
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/health/ready").status_code == 200
    except httpx.HTTPError:
        return False


def test_the_web_lives_and_says_what_is_wrong(disk: Disk, embedded_web: httpx.Client) -> None:
    def sign_up(name: str) -> int:
        body = {"email": f"{name}@example.org", "password": "Passw0rdX", "name": name}
        return embedded_web.post("/v1/auth/signup", json=body).status_code

    disk.fill(leave=0)
    meanwhile = [(sign_up("dana"), embedded_web.get("/v1/plans").status_code) for _ in range(5)]
    alive, ready = embedded_web.get("/health/live"), embedded_web.get("/health/ready")
    disk.empty()

    assert meanwhile == [(503, 503)] * 5
    assert (alive.status_code, ready.status_code, ready.json()["down"]) == (200, 503, ["database"])
    assert (sign_up("dana"), embedded_web.get("/v1/plans").status_code) == (201, 200)
