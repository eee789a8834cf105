"""Globs of the policy, matched in linear time whatever somebody wrote.

The syntax is that of ignore files: `*` inside one segment, `**` across segments, `?`, `[a-z]`. A glob without a slash
matches at any depth, one that names a folder matches everything below it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import re2
from pathspec import PathSpec

GLOB_CHARACTERS = 256


class Glob:
    """One compiled glob. ValueError when it cannot be compiled."""

    __slots__ = ("_spec", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        try:
            self._spec = PathSpec.from_lines("gitignore", [pattern], backend="re2")
        except (re.error, re2.error) as error:
            raise ValueError(f"{pattern!r} is no glob") from error

    def matches(self, path: str) -> bool:
        """Whether `path`, relative to the repository's root, is meant."""
        return bool(self._spec.match_file(path))

    def matches_any(self, paths: Iterable[str]) -> bool:
        """Whether one of `paths` is meant."""
        return next(iter(self._spec.match_files(paths)), None) is not None


@lru_cache(maxsize=1024)
def glob(pattern: str) -> Glob:
    """The compiled `pattern`; policies repeat the same few."""
    return Glob(pattern)
