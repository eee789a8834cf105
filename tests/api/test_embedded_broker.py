"""The broker without Redis hands out whole messages only, and forgets no queue."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any

from kombu import Connection

MESSAGES = 300
STARTS = 50


def channel(folder: Path) -> Any:
    options = {"data_folder_in": str(folder), "data_folder_out": str(folder), "control_folder": str(folder / "control")}
    return Connection("files://localhost", transport_options=options).channel()


def test_a_message_is_never_taken_half_written(tmp_path):
    payload = {"body": "x" * 50_000}
    put, get = channel(tmp_path), channel(tmp_path)
    sender = threading.Thread(target=lambda: [put._put("celery", payload) for _ in range(MESSAGES)])
    taken: list[Any] = []

    sender.start()
    while len(taken) < MESSAGES:
        try:
            taken.append(get._get("celery"))
        except Empty:
            continue
    sender.join()

    assert taken == [payload] * MESSAGES


def test_workers_that_start_together_all_have_their_queues_bound(tmp_path):
    names = ["events", "scans", "pulls"]
    together = threading.Barrier(len(names), timeout=10)
    workers = [channel(tmp_path) for _ in names]

    def bind(worker: Any, name: str) -> None:
        for start in range(STARTS):
            together.wait()
            worker._queue_bind(f"control{start}", "", "", f"{name}.control")

    with ThreadPoolExecutor() as pool:
        list(pool.map(bind, workers, names))

    for start in range(STARTS):
        bound = {binding.queue for binding in workers[0].get_table(f"control{start}")}
        assert bound == {f"{name}.control" for name in names}
