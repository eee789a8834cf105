"""Repositories made with git's plumbing, and limits that let tests reach them."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from analysis.git.limits import GitLimits


class Repository:
    """A bare repository that a test fills."""

    def __init__(self, folder: Path, hashes: str = "sha1") -> None:
        self.folder = folder
        kind = f"--object-format={hashes}"
        self.git("init", "--quiet", "--bare", kind, "--initial-branch=main", str(folder), inside=False)

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *arguments: str, feed: bytes = b"", inside: bool = True, **variables: str) -> bytes:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_AUTHOR_DATE": "1700000000 +0000",
            "GIT_COMMITTER_DATE": "1700000000 +0000",
        }
        where = ["--git-dir", str(self.folder)] if inside else []
        done = subprocess.run(
            ["git", *where, *arguments], input=feed, capture_output=True, env=environment | variables, check=False
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    def blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", feed=content).decode().strip()

    def raw(self, kind: str, content: bytes) -> str:
        """Store an object without any check of its form."""
        return self.git("hash-object", "-t", kind, "-w", "--stdin", "--literally", feed=content).decode().strip()

    def tree(self, *entries: tuple[str, bytes, str]) -> str:
        """A tree of (mode, name, hash), stored as it is."""
        return self.raw("tree", b"".join(f"{m} ".encode() + n + b"\0" + bytes.fromhex(h) for m, n, h in entries))

    def commit_tree(self, tree: str, *parents: str, at: int = 1_700_000_000, ref: str = "refs/heads/main") -> str:
        chain = [word for parent in parents for word in ("-p", parent)]
        date = f"{at} +0000"
        sha = self.git(
            "commit-tree", tree, *chain, feed=b"Change\n", GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date
        ).decode().strip()  # fmt: skip
        self.git("update-ref", ref, sha)
        return sha

    def commit(
        self, files: dict[str, bytes], *parents: str, at: int = 1_700_000_000, ref: str = "refs/heads/main"
    ) -> str:
        """A commit whose tree holds exactly `files`."""
        index = self.folder / "test-index"
        index.unlink(missing_ok=True)
        rows = b"".join(
            f"100644 {self.blob(body)}\t".encode() + os.fsencode(name) + b"\0" for name, body in files.items()
        )
        self.git("update-index", "-z", "--index-info", feed=rows, GIT_INDEX_FILE=str(index))
        tree = self.git("write-tree", GIT_INDEX_FILE=str(index)).decode().strip()
        return self.commit_tree(tree, *parents, at=at, ref=ref)


@pytest.fixture
def make_repository(tmp_path: Path) -> Iterator[Callable[..., Repository]]:
    """Makes bare repositories. Removed at once: some hold 50,000 files that later sessions would sweep up."""
    made: list[Repository] = []

    def make(name: str = "origin.git", hashes: str = "sha1") -> Repository:
        made.append(Repository(tmp_path / name, hashes))
        return made[-1]

    yield make
    for repository in made:
        shutil.rmtree(repository.folder)


@pytest.fixture
def origin(make_repository: Callable[..., Repository]) -> Repository:
    return make_repository()


@pytest.fixture
def limits() -> GitLimits:
    """Loopback and local files allowed, as a developer's settings would say."""
    return GitLimits(allowed_schemes=frozenset({"https", "http", "file"}), allow_private_addresses=True)


@pytest.fixture
def soon() -> float:
    """A deadline that no working test reaches."""
    return time.monotonic() + 60


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    """Where a clone goes. Whatever happens, nothing but the clone itself may lie beside it."""
    folder = tmp_path / "workspace" / "clones" / "clone.git"
    yield folder
    if folder.parent.exists():
        assert {entry.name for entry in folder.parent.iterdir()} <= {folder.name}
