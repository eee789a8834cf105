"""The one place that runs git: fixed environment and configuration, limits, deadline, process group, redaction.

A small shell launcher sets the limits of the process before it becomes git, and leaves a guard in the same session that
ends the whole group as soon as this process is gone, even by SIGKILL: no git outlives the worker that started it.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from analysis.git.errors import CloneTooLarge, GitError, GitMissing, GitTimedOut, failure
from analysis.git.limits import DEFAULT_LIMITS, GitLimits

CHUNK_BYTES = 1024 * 1024
WORDS_BYTES = 64 * 1024
WATCH_SECONDS = 0.5
CPU_SECONDS = 3600
OPEN_FILES = 1024
# Nothing lies there: git finds neither a home, nor settings, nor a netrc file.
NOWHERE = "/nonexistent"
# A setting that reaches the git of the other side too, which drops those of the environment.
LOCAL_REMOTES = Path(__file__).with_name("local.gitconfig")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

# $1 file size in 512-byte blocks, $2 address space in KiB, $3 CPU seconds, $4 open files, $5 the lifeline's descriptor,
# by its path because a plain shell takes one digit after `<&`.
_LAUNCHER = """
ulimit -c 0; ulimit -f "$1"; ulimit -v "$2" 2>/dev/null; ulimit -t "$3"; ulimit -n "$4"
(read -r _; kill -KILL 0) <"/proc/self/fd/$5" >/dev/null 2>&1 &
shift 5
exec "$@"
"""

_CONFIG: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.sshCommand", "false"),
    ("core.askPass", ""),
    ("core.quotePath", "true"),
    ("core.commitGraph", "false"),
    # Large blobs are streamed instead of held, and packs are mapped in pieces.
    ("core.bigFileThreshold", "16m"),
    ("core.packedGitWindowSize", "64m"),
    ("core.packedGitLimit", "1g"),
    # A reader that lives through a whole scan would keep 96 MB of bases, and is no faster for it.
    ("core.deltaBaseCacheLimit", "8m"),
    # Newer versions of git read attributes from HEAD in a bare repository: a repository could hide its own changes.
    ("attr.tree", EMPTY_TREE),
    ("credential.helper", ""),
    ("diff.renameLimit", "1000"),
    ("fetch.fsckObjects", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.unpackLimit", "1"),
    ("gc.auto", "0"),
    ("http.followRedirects", "false"),
    ("http.proxy", ""),
    ("http.sslVerify", "true"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("protocol.version", "2"),
    ("submodule.recurse", "false"),
    ("transfer.bundleURI", "false"),
)


@dataclass(frozen=True)
class Transfer:
    """What a command that talks to a remote may use. A command without one can open no connection at all."""

    scheme: str
    config: tuple[tuple[str, str], ...] = ()
    """Settings of this one call, such as the pinned address and the credentials; they never stand in an argument."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Words that must not appear in anything that git prints."""
    watch: Callable[[], None] | None = None
    """Called about twice a second while git runs; raises to end it."""
    file_bytes: int | None = None
    """The largest file that git may write, when it is less than the pack limit."""
    traced: bool = False
    """Whether git tells on its error output of each `packet:` of its protocol."""
    hold: int | None = None
    """A descriptor that git inherits: a lock on it lives as long as the last git process."""


def run_git(
    folder: Path | None,
    *arguments: str,
    limits: GitLimits = DEFAULT_LIMITS,
    deadline: float | None = None,
    transfer: Transfer | None = None,
    feed: bytes = b"",
    accept: Sequence[int] = (0,),
) -> bytes:
    """Run git in the git directory `folder` and return what it printed, up to `limits.output_bytes`.

    `feed` goes to a command that reads all its input before it answers. `deadline` is a `time.monotonic()` instant.
    Raises the `GitError` that tells what went wrong; exit statuses in `accept` are not errors.
    """
    with stream_git(folder, *arguments, limits=limits, deadline=deadline, transfer=transfer, accept=accept) as process:
        process.write(feed)
        process.close_input()
        printed = bytearray()
        while chunk := process.read():
            printed += chunk
            if len(printed) > limits.output_bytes:
                raise CloneTooLarge("The repository gives longer answers than this service reads; make it smaller.")
        return bytes(printed)


@contextmanager
def stream_git(
    folder: Path | None,
    *arguments: str,
    limits: GitLimits = DEFAULT_LIMITS,
    deadline: float | None = None,
    transfer: Transfer | None = None,
    accept: Sequence[int] = (0,),
) -> Iterator["GitProcess"]:
    """Run git and give its pipes. Leaving the block early ends git; after its last byte the status is checked."""
    with GitProcess(folder, arguments, limits=limits, deadline=deadline, transfer=transfer) as process:
        yield process
        process.finish(accept)


def redact(text: str, secrets: Sequence[str] = ()) -> str:
    """`text` without credentials: the given secrets, user names in addresses and authorization headers."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[secret]")
    text = re.sub(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^/\s@]+@", r"\1[secret]@", text)
    return re.sub(r"(?i)(authorization|private-token|cookie)\s*:[^\r\n]*", r"\1: [secret]", text)


class GitProcess:
    """One running git with pipes. Reading honours the deadline; what git says on the side is kept for the error."""

    def __init__(
        self,
        folder: Path | None,
        arguments: Sequence[str],
        *,
        limits: GitLimits = DEFAULT_LIMITS,
        deadline: float | None = None,
        transfer: Transfer | None = None,
    ) -> None:
        self.deadline = time.monotonic() + limits.read_seconds if deadline is None else deadline
        self._transfer = transfer
        self._words = bytearray()
        held, lifeline = os.pipe()
        self._lifeline: int | None = lifeline
        try:
            self._process = subprocess.Popen(
                _command(folder, arguments, limits, transfer, held),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(limits, transfer),
                cwd="/",
                pass_fds=[held] if transfer is None or transfer.hold is None else [held, transfer.hold],
                start_new_session=True,
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(held)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101
        self._input, self._output, self._side = self._process.stdin, self._process.stdout, self._process.stderr
        self._poll = select.poll()
        self._open: set[IO[bytes]] = {self._output, self._side}
        for pipe in self._open:
            self._poll.register(pipe, select.POLLIN | select.POLLHUP)

    def __enter__(self) -> "GitProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def words(self) -> str:
        """What git printed on its error output: redacted, at most 64 KiB."""
        secrets = self._transfer.secrets if self._transfer else ()
        return redact(self._words.decode("utf-8", "replace"), secrets).strip()

    def write(self, data: bytes) -> None:
        """Give git input. A git that has ended is not an error here: its status tells more."""
        view = memoryview(data)
        with suppress(BrokenPipeError):
            while view:
                view = view[os.write(self._input.fileno(), view) :]

    def close_input(self) -> None:
        self._input.close()

    def read(self) -> bytes:
        """The next piece of output, up to 1 MiB; empty at the end. Raises GitTimedOut at the deadline."""
        while self._output in self._open:
            ready = self._wait()
            if self._side.fileno() in ready:
                self._listen()
            if self._output.fileno() in ready:
                chunk = os.read(self._output.fileno(), CHUNK_BYTES)
                if chunk:
                    return chunk
                self._forget(self._output)
        return b""

    def finish(self, accept: Sequence[int]) -> None:
        """Wait for the end and raise what the status means. A git that is still printing is ended without complaint."""
        if self._output in self._open:
            return
        while self._side in self._open:
            self._wait()
            self._listen()
        status = None
        while status is None:
            self._check()
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(timeout=min(WATCH_SECONDS, max(0.0, self._left())))
        if status not in accept:
            raise failure(status, self.words)

    def kill(self) -> None:
        """End git and everything it started, and close the pipes. Safe to call twice."""
        if self._lifeline is not None:
            self._end_group()
            os.close(self._lifeline)
            self._lifeline = None
        self._process.wait()
        for pipe in (self._input, self._output, self._side):
            pipe.close()

    def _end_group(self) -> None:
        # The guard of the launcher belongs to the group too, so the group exists even when git has ended.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _left(self) -> float:
        return self.deadline - time.monotonic()

    def _check(self) -> None:
        """Raise when the time is over or the watcher of a transfer objects."""
        if self._left() <= 0:
            raise GitTimedOut(detail=self.words)
        if self._transfer and self._transfer.watch:
            self._transfer.watch()

    def _wait(self) -> set[int]:
        """The open descriptors that can be read now."""
        while True:
            self._check()
            ready = self._poll.poll(1000 * min(WATCH_SECONDS, max(0.0, self._left())))
            if ready:
                return {number for number, _ in ready}
            if self._process.poll() is not None:
                # Its helpers hold the pipes: a transfer would go on for nobody until the deadline.
                self._end_group()

    def _listen(self) -> None:
        """Take what git says on its error output."""
        said = os.read(self._side.fileno(), WORDS_BYTES)
        if not said:
            self._forget(self._side)
        self._words += said[: max(0, WORDS_BYTES - len(self._words))]

    def _forget(self, pipe: IO[bytes]) -> None:
        self._poll.unregister(pipe)
        self._open.discard(pipe)


def _command(
    folder: Path | None, arguments: Sequence[str], limits: GitLimits, transfer: Transfer | None, lifeline: int
) -> list[str]:
    git = shutil.which("git")
    if git is None:
        raise GitMissing
    if any("\0" in argument for argument in arguments):
        raise GitError("A name with a NUL byte cannot be looked up; remove it.")
    file_bytes = limits.pack_bytes if transfer is None or transfer.file_bytes is None else transfer.file_bytes
    caps = (file_bytes // 512, limits.memory_bytes // 1024, CPU_SECONDS, OPEN_FILES, lifeline)
    where = [f"--git-dir={folder.absolute()}"] if folder else []
    return ["/bin/sh", "-c", _LAUNCHER, "git", *map(str, caps), git, "--no-pager", *where, *arguments]


def _environment(limits: GitLimits, transfer: Transfer | None) -> Mapping[str, str]:
    """Everything that git sees of the outside. Nothing is inherited but the search path and the certificates."""
    config = [
        *_CONFIG,
        ("http.lowSpeedLimit", str(limits.low_speed_bytes)),
        ("http.lowSpeedTime", str(limits.low_speed_seconds)),
        *(transfer.config if transfer else ()),
    ]
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": NOWHERE,
        "XDG_CONFIG_HOME": NOWHERE,
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": str(LOCAL_REMOTES) if transfer and transfer.scheme == "file" else "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": transfer.scheme if transfer else "none",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": str(len(config)),
    }
    if transfer and transfer.traced:
        environment["GIT_TRACE_PACKET"] = "1"
    for name in ("GIT_SSL_CAINFO", "GIT_EXEC_PATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    for number, (key, value) in enumerate(config):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment
