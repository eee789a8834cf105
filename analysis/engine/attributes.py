"""What a repository itself calls no code of its own: `linguist-vendored` and `linguist-generated` in `.gitattributes`.

The words are those of GitHub's Linguist (its docs/overrides.md), which other hosts read as well; the patterns are those
of ignore files, and a folder stands for all below it. Later lines win, and files further down win over those above.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import re2
from pathspec import PathSpec

from analysis.engine.facts import FileFacts
from analysis.engine.languages import without_copies

LANGUAGE = "gitattributes"
LONGEST_PATTERN = 256
MOST_LINES = 1_000  # that say something, of one file
_LINE = re.compile(r'[ \t]*(?:"((?:[^"\\\n]|\\.)+)"|([^\s"#!]\S*))[ \t]+([^\n]*)')
_WORD = re.compile(r"(?<!\S)([-!]?)linguist-(vendored|generated)(?:=(\w+))?(?!\S)")
Statement = tuple[str, str, bool]  # pattern, word, whether it holds


def attributes_facts(blob: bytes, lines: int) -> FileFacts:
    """Facts of one `.gitattributes`: what it says about vendored and generated files, in its order, as a manifest."""
    text = blob.decode("utf-8", "replace")
    statements = [
        (line[1] or line[2], word[2], not word[1] and word[3] not in ("false", "0"))
        for line in map(_LINE.match, text.splitlines())
        if line is not None and len(line[1] or line[2]) <= LONGEST_PATTERN
        for word in _WORD.finditer(line[3])
    ]
    manifest = json.dumps(statements[:MOST_LINES], separators=(",", ":")) if statements else ""
    return FileFacts(language=LANGUAGE, lines=lines, manifest=manifest)


def own_paths(files: Mapping[str, FileFacts]) -> list[str]:
    """The paths, sorted, of what is the project's own: no copied library, and nothing that its attributes disown."""
    is_foreign = _foreign(files)
    return [path for path in without_copies(files) if not is_foreign(path)]


def _foreign(files: Mapping[str, FileFacts]) -> Callable[[str], bool]:
    """Tells of a path whether these files' attributes call it vendored or generated."""
    said = tuple(
        (path.rpartition("/")[0], facts.manifest)
        for path, facts in files.items()
        if facts.language == LANGUAGE and facts.manifest
    )
    return _Attributes(said) if said else lambda path: False


@lru_cache(maxsize=32)
class _Attributes:
    """The attributes of one tree; asked of the same paths for state after state."""

    def __init__(self, said: tuple[tuple[str, str], ...]) -> None:
        deepest_first = sorted(said, key=lambda each: -len(each[0]))
        self._words = [
            [(folder, spec) for folder, manifest in deepest_first if (spec := _spec_of(word, manifest)) is not None]
            for word in ("vendored", "generated")
        ]
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = any(_holds(specs, path) for specs in self._words)
        return known


def _spec_of(word: str, manifest: str) -> PathSpec | None:
    """The patterns of one word, those that take it back with a `!` as ignore files have it."""
    statements: list[Statement] = json.loads(manifest)
    patterns = [f"{'' if holds else '!'}{pattern}" for pattern, each, holds in statements if each == word]
    usable = [pattern for pattern in patterns if _can_be_compiled(pattern)]
    return PathSpec.from_lines("gitignore", usable, backend="re2") if usable else None


def _can_be_compiled(pattern: str) -> bool:
    try:
        PathSpec.from_lines("gitignore", [pattern], backend="re2")
    except (ValueError, re.error, re2.error):
        return False
    return True


def _holds(specs: list[tuple[str, PathSpec]], path: str) -> bool:
    for folder, spec in specs:
        if not folder or path.startswith(f"{folder}/"):
            said = spec.check_file(path.removeprefix(f"{folder}/") if folder else path).include
            if said is not None:
                return bool(said)
    return False
