"""The broker without Redis hands out whole messages only."""

import threading
from pathlib import Path
from queue import Empty
from typing import Any

from kombu import Connection

MESSAGES = 300


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
