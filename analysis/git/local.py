"""A repository on this machine, opened for reading without its configuration."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from analysis.git.errors import NotARepository
from analysis.git.folder import CONFIG, CONFIG_SHA256
from analysis.git.temporary import temporary_folder


@contextmanager
def open_local(path: Path) -> Iterator[Path]:
    """Open the repository that `path` stands in (work tree, worktree, bare or git directory) for reading.

    Gives a git directory with links to its objects and refs and a configuration of our own, so that neither the
    repository's configuration and hooks nor a partial clone's fetch on demand takes effect. The repository is not
    changed. Raises NotARepository.
    """
    own = _git_directory(path.absolute())
    shared = _common_directory(own)
    if not (shared / "objects").is_dir() or not (shared / "refs").is_dir():
        raise NotARepository
    with temporary_folder("debt-git-") as view:
        for name in ("objects", "refs", "packed-refs", "shallow"):
            if (shared / name).exists():
                (view / name).symlink_to((shared / name).resolve())
        try:
            (view / "HEAD").write_bytes((own / "HEAD").read_bytes()[:4096])
            (view / "config").write_text(_config_like(shared))
        except OSError:
            raise NotARepository from None
        yield view


def work_tree_of(path: Path) -> Path:
    """The root of the work tree that `path` stands in; itself where there is none."""
    whole = path.resolve()
    return next((folder for folder in (whole, *whole.parents) if (folder / ".git").exists()), whole)


def _git_directory(path: Path) -> Path:
    """The git directory for a path: itself, its `.git`, or that of a folder above it."""
    for folder in (path, *path.parents):
        marker = folder / ".git"
        if marker.is_dir() and (marker / "HEAD").exists():
            return marker
        if marker.is_file():
            return _linked(marker)
        if (folder / "HEAD").is_file() and ((folder / "objects").is_dir() or (folder / "commondir").is_file()):
            return folder
    raise NotARepository


def _linked(marker: Path) -> Path:
    """The git directory that the `.git` file of a worktree or submodule names."""
    text = marker.read_bytes()[:4096].decode("utf-8", "surrogateescape")
    if not text.startswith("gitdir: "):
        raise NotARepository
    return marker.parent / text.removeprefix("gitdir: ").rstrip("\n")


def _common_directory(own: Path) -> Path:
    """Where the objects and refs are: for a worktree, the repository that it belongs to."""
    with suppress(OSError):
        return own / (own / "commondir").read_bytes()[:4096].decode("utf-8", "surrogateescape").strip()
    return own


def _config_like(shared: Path) -> str:
    """Our configuration, with the one setting of theirs that is needed to read the objects: the kind of hashes."""
    text = ""
    with suppress(OSError):
        text = (shared / "config").read_bytes()[:65536].decode("utf-8", "replace")
    return CONFIG_SHA256 if re.search(r"(?im)^\s*objectformat\s*=\s*\"?sha256", text) else CONFIG
