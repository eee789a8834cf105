"""The embedded broker: messages are files in a folder, and each is whole before it has its name.

kombu's own transport opens a message under its final name and writes it afterwards; a worker that looks in between
takes an empty file, cannot read it, and ends.
"""

import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

SCHEME = "files"


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]  # its parents disagree on a name
        name = f"{round(time.monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        unfinished = Path(self.data_folder_out, f"{name}.part")  # an ending that no worker looks for
        try:
            unfinished.write_text(dumps(message))
        except OSError:  # a full disk; the sweeper finds the work
            unfinished.unlink(missing_ok=True)
            raise
        unfinished.rename(unfinished.with_name(name))


class Transport(filesystem.Transport):
    Channel = Channel


def install() -> None:
    """Make `files://` a broker address that kombu knows."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
