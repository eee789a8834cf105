"""Programs of others that listen on the loopback for as long as a test needs them."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

STOP_SECONDS = 10


@contextlib.contextmanager
def running(
    command: Sequence[str | Path], *, port: int, cwd: Path, env: Mapping[str, str] | None = None, seconds: float = 30
) -> Iterator[None]:
    """A server process, from when it listens on `port` to the end of the block. Its output goes to `cwd/output`.

    `seconds` is how long it may take to start. AssertionError with the end of its output when it ended by itself.
    """
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), **(env or {})}
    with (
        (cwd / "output").open("w+") as output,
        subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=output, stderr=output, start_new_session=True
        ) as process,
    ):
        try:
            _wait_for(port, process, output.name, seconds)
            yield
            assert process.poll() is None, f"the server on port {port} ended by itself:\n{_end_of(output.name)}"
        finally:
            _stop(process)


def free_port() -> int:
    """A port of the loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to stop, and end it with all its children when it does not."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=STOP_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _wait_for(port: int, process: "subprocess.Popen[bytes]", output: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"the server on port {port} did not start:\n{_end_of(output)}")


def _end_of(output: str) -> str:
    return Path(output).read_text()[-2000:]
