"""What docs/operations.md tells of, done to the running service: its servers restarted, it backed up and restored, and
left running for long."""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.operations.services import processes_below, wait_until
from tests.providers.servers import free_port
from tests.stress.servers import CHECKOUT, Postgres, Process, Redis, can_run_servers, own_servers, part_of_service

pytestmark = [
    pytest.mark.stress,
    pytest.mark.timeout(4000),
    pytest.mark.skipif(not can_run_servers(), reason="the programs of PostgreSQL and Redis are not on this machine"),
]

TOKEN = "the token of the hooks"


class Service:
    """The parts of the service as processes, on servers of its own."""

    def __init__(self, folder: Path, postgres: Postgres, redis: Redis) -> None:
        self.folder, self.postgres, self.redis = folder, postgres, redis
        self.parts: list[Process] = []
        self.env = {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": redis.url,
            "VAR_DIR": str(folder / "var"),
            "LOG_LEVEL": "WARNING",
            "RATELIMIT_ENABLE": "false",
            "SECRET_KEY": "a key for this test only, and long enough for everything",
            "CODEHOST2_WEBHOOK_TOKEN": TOKEN,
            "CLONE_ALLOWED_SCHEMES": "file",
            "RUN_LEASE_SECONDS": "5",
            "WEB_WORKERS": "1",
            "WORKER_CONCURRENCY": "1",
        }
        self.manage("migrate", "--verbosity", "0")

    def manage(self, *arguments: str, **changes: str) -> None:
        env = {**os.environ, **self.env, **changes}
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=CHECKOUT, env=env, check=True)

    def start(self, part: str, **changes: str) -> Process:
        self.parts.append(part_of_service(part, folder=self.folder, env={**self.env, **changes}))
        return self.parts[-1]

    def start_web(self, **changes: str) -> tuple[Process, str]:
        """A web server on a port of its own, once it answers."""
        port = changes.pop("PORT", "") or str(free_port())
        process = self.start("web", PORT=port, **changes)
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: status_of(f"{address}/health/ready") == 200, seconds=120)
        return process, address


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with own_servers() as (postgres, redis):
        service = Service(tmp_path, postgres, redis)
        yield service
        for part in service.parts:
            part.kill()


def status_of(address: str, seconds: float = 10) -> int:
    """The status of an answer; 0 for none."""
    try:
        return httpx.get(address, timeout=seconds).status_code
    except httpx.HTTPError:
        return 0


def deliver(address: str, event: str) -> int:
    """Deliver an event; 0 for no answer."""
    try:
        return post_event(address, event).status_code
    except httpx.HTTPError:
        return 0


def post_event(address: str, event: str) -> httpx.Response:
    """Deliver an event that nobody handles: it is stored, once."""
    headers = {"codehost2-event": "Job Hook", "codehost2-event-uuid": event, "codehost2-token": TOKEN}
    return httpx.post(f"{address}/v1/webhooks/codehost2", json={"job": 1}, headers=headers, timeout=20)


class Load:
    """Callers that go on until the end of the block, each after a short rest; `statuses` is what they were answered."""

    def __init__(self, call: Callable[[], int], callers: int = 4) -> None:
        self._call, self._over = call, threading.Event()
        self._pool = ThreadPoolExecutor(callers)
        self._callers = callers
        self.statuses: list[int] = []

    def __enter__(self) -> "Load":
        for _ in range(self._callers):
            self._pool.submit(self._go_on)
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._pool.shutdown()

    def _go_on(self) -> None:
        while not self._over.wait(0.01):
            self.statuses.append(self._call())

    def reaches(self, count: int) -> None:
        wait_until(lambda: len(self.statuses) >= count, seconds=120)


def test_postgresql_restarted_means_503_and_then_service_within_five_seconds(service: Service) -> None:
    _, address = service.start_web()
    plans = f"{address}/v1/plans"
    assert status_of(plans) == 200

    service.postgres.stop_at_once()
    meanwhile = {status_of(plans) for _ in range(20)}
    service.postgres.start()
    back = time.monotonic()
    wait_until(lambda: status_of(plans) == 200, seconds=5)

    assert meanwhile == {503}
    assert time.monotonic() - back < 5
    assert {status_of(plans) for _ in range(20)} == {200}


def test_redis_lost_costs_no_request(service: Service) -> None:
    _, address = service.start_web()
    service.start("events")

    service.redis.kill()
    events = [str(uuid4()) for _ in range(20)]
    accepted = {deliver(address, event) for event in events}
    down = httpx.get(f"{address}/health/ready", timeout=10).json()["down"]
    service.redis.start()

    assert accepted == {200}
    assert down == ["cache", "broker"]
    wait_until(lambda: status_of(f"{address}/health/ready") == 200, seconds=10)
    wait_until(lambda: stored(service.postgres.url, "where state = 'done'") == len(events), seconds=120)


def test_a_backup_under_load_is_whole_once_the_senders_send_again(service: Service, tmp_path: Path) -> None:
    _, address = service.start_web()
    service.start("events")
    sent: list[str] = []

    def send() -> int:
        sent.append(str(uuid4()))
        return deliver(address, sent[-1])

    with Load(send) as load:
        load.reaches(50)
        dump = tmp_path / "debt.dump"
        subprocess.run(["pg_dump", "--format", "custom", "--file", dump, service.postgres.url], check=True)
        load.reaches(len(load.statuses) + 50)
    assert set(load.statuses) == {200}

    restored = service.postgres.url.rpartition("/")[0] + "/restored"
    with psycopg.connect(service.postgres.url, autocommit=True) as connection:
        connection.execute("create database restored")
    command = ["pg_restore", "--no-owner", "--exit-on-error", "--dbname", restored, dump]
    subprocess.run(command, check=True)
    service.manage("migrate", "--verbosity", "0", DATABASE_URL=restored)
    service.manage("reconcile", DATABASE_URL=restored)
    in_backup = stored(restored)
    _, second = service.start_web(DATABASE_URL=restored)
    service.start("events", DATABASE_URL=restored, REDIS_URL=service.redis.url.replace("/0", "/1"))
    assert {deliver(second, event) for event in sent} == {200}

    assert 0 < in_backup < len(sent)
    assert stored(restored) == len(sent)
    wait_until(lambda: stored(restored, "where state = 'done'") == len(sent), seconds=120)


def test_a_rolling_restart_under_load_fails_no_request_and_loses_no_event(service: Service) -> None:
    webs = [service.start_web() for _ in range(2)]
    workers = [service.start("events"), service.start("runs")]
    addresses = [address for _, address in webs]
    sent: list[str] = []

    def send() -> int:
        event = str(uuid4())
        sent.append(event)
        return through_balancer(addresses, lambda address: post_event(address, event))

    def read() -> int:
        return through_balancer(addresses, lambda address: httpx.get(f"{address}/v1/plans", timeout=20))

    with Load(send, callers=2) as deliveries, Load(read, callers=2) as reads:
        deliveries.reaches(50)
        for process, address in webs:
            process.stop()
            process.start()
            wait_until(lambda address=address: status_of(f"{address}/health/ready") == 200, seconds=120)
            deliveries.reaches(len(deliveries.statuses) + 50)
        for process in workers:
            process.stop()
            process.start()
            deliveries.reaches(len(deliveries.statuses) + 50)

    assert set(deliveries.statuses) == set(reads.statuses) == {200}
    assert stored(service.postgres.url) == len(sent)
    wait_until(lambda: stored(service.postgres.url, "where state = 'done'") == len(sent), seconds=120)


def through_balancer(addresses: list[str], call: Callable[[str], httpx.Response]) -> int:
    """The status that a load balancer gives on: it asks the next server when one takes no connection. 0 for an answer
    that broke off, and for none."""
    for address in random.sample(addresses, len(addresses)):
        try:
            return call(address).status_code
        except httpx.ConnectError:
            continue
        except httpx.HTTPError:
            return 0
    return 0


def test_memory_and_file_handles_stay_flat(service: Service, figure: Callable[..., int]) -> None:
    """Under a megabyte for 10,000 requests, after the first tenth of the time."""
    seconds = figure(c=20, s=3600, of="seconds")
    web, address = service.start_web()
    service.start("events")
    calls = iter(range(10**9))

    def call() -> int:
        return deliver(address, str(uuid4())) if next(calls) % 5 == 0 else status_of(f"{address}/v1/plans")

    with Load(call) as load:
        time.sleep(seconds / 10)
        began, before = len(load.statuses), held_by(web)
        time.sleep(seconds * 9 / 10)
        after, requests = held_by(web), len(load.statuses) - began

    assert set(load.statuses) == {200}
    print(f"{requests} requests, {before} to {after} (kB, file handles)")
    assert after[1] <= before[1] + 10
    assert (after[0] - before[0]) / 1000 < max(1, requests / 10_000)


def held_by(process: Process) -> tuple[int, int]:
    """Anonymous memory in kB and open files of a process and all below it."""
    memory = files = 0
    for pid in (process.pid, *processes_below(process.pid)):
        status = Path(f"/proc/{pid}/status").read_text()
        memory += int(status.partition("RssAnon:")[2].split()[0])
        files += len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return memory, files


def stored(database: str, where: str = "") -> int:
    """How many events there are."""
    with psycopg.connect(database) as connection:
        return connection.execute(f"select count(*) from webhooks_webhookevent {where}").fetchone()[0]
