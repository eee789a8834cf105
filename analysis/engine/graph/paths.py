"""Folders and relative paths of a repository, written with slashes and without a leading one."""

from collections.abc import Iterator
from functools import lru_cache
from sys import intern


def folder_of(path: str) -> str:
    """`a/b/c.py` stands in `a/b`; a file at the root stands in the empty folder."""
    return intern(path.rpartition("/")[0])


def joined(folder: str, name: str) -> str:
    """`name` inside `folder`, without resolving dots."""
    return f"{folder}/{name}" if folder and name else folder or name


@lru_cache(maxsize=100_000)
def resolved(folder: str, relative: str) -> str | None:
    """`relative` seen from `folder`, with `.` and `..` taken away; None when it leaves the repository."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def ancestors(folder: str) -> Iterator[str]:
    """`folder` itself, then each folder around it, the repository's root last."""
    while folder:
        yield folder
        folder = folder_of(folder)
    yield ""


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or stands somewhere below it."""
    return not folder or path == folder or path.startswith(folder + "/")


def shared_depth(one: str, other: str) -> int:
    """How many leading path segments two paths share."""
    depth = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        depth += 1
    return depth
