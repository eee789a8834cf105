"""A throw-away service for benchmarks in a folder and database of its own, and waiting for what it does."""

import atexit
import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.core.management import call_command

START_SECONDS = 180
# Lost blobs are left out of packs: a mirror may lack some that nothing here needs.
PACK_HOOK = '#!/bin/sh\nexec "$@" --missing=allow-any\n'


def start() -> None:
    """Set Django up on an empty SQLite file, or on the empty database that DATABASE_URL names, and migrate it."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    os.environ |= {"VAR_DIR": folder.name, "RATELIMIT_ENABLE": "false", "DJANGO_SETTINGS_MODULE": "config.settings"}
    Path(folder.name, "static").mkdir()
    django.setup()
    call_command("migrate", verbosity=0)


@contextmanager
def running(folder: Path, port: int) -> Iterator[int]:
    """The id of the first process of `manage.py serve`, in the environment as it is, once it is ready to answer."""
    with (folder / "service.log").open("wb") as log:
        server = subprocess.Popen([sys.executable, "manage.py", "serve"], stdout=log, stderr=log)
        try:
            assert wait_for(lambda: _is_ready(port), START_SECONDS), (folder / "service.log").read_text()
            yield server.pid
        finally:
            server.terminate()
            server.wait(40)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Ask every 20 milliseconds until the condition holds; false when the seconds are over."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.02)
    return False


def remote_of(git_dir: Path, folder: Path, commit: str) -> Path:
    """`folder`/remote/shop.git with the objects of `git_dir`, and a branch `main` at the commit, that we may move."""
    remote = folder / "remote" / "shop.git"
    git(None, "init", "-q", "--bare", "-b", "main", str(remote))
    (remote / "objects/info/alternates").write_text(f"{git_dir.absolute() / 'objects'}\n")
    hook = folder / "pack-hook"
    hook.write_text(PACK_HOOK)
    hook.chmod(0o700)
    os.environ["GIT_PACK_HOOK"] = str(hook)
    git(remote, "update-ref", "refs/heads/main", commit)
    return remote


def git(git_dir: Path | None, *arguments: str) -> str:
    """What a git command prints."""
    where = [f"--git-dir={git_dir}"] if git_dir else []
    return subprocess.run(["git", *where, *arguments], check=True, capture_output=True, text=True).stdout
