"""The lines of a repository that a prompt needs, read from the bare clone at the commit of the last good scan."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.engine.facts import Function
from analysis.engine.languages import FileKind, kind_of
from analysis.git.blobs import BlobReader
from analysis.git.errors import GitError
from analysis.git.tree import list_tree
from analysis.models import Repository
from analysis.parsing import BlobToParse
from analysis.services.facts import stored_facts
from analysis.services.git_limits import git_limits
from analysis.source_tree import source_tree
from config.errors import Unavailable

GIT_SECONDS = 10.0  # somebody waits for the answer
AROUND_LINES = 40
CONTEXT_LINES = 3
LONGEST_EXCERPT_LINES = 200
LONGEST_LINE_CHARACTERS = 400
# Kinds whose files the engine reads as code; settings, data and documents are nobody's business.
NOT_SENT = (FileKind.VENDORED, FileKind.GENERATED)
NO_CODE = ("text", "manifest", "gitattributes")


class CodeNotAtHand(Unavailable):
    """The clone cannot be read on this machine; the message says what to do."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A text file of the scanned commit. `functions` is empty when the facts of it are not in the store."""

    path: str
    text: str
    functions: tuple[Function, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Without line ends; an empty file has none."""
        return [line.removesuffix("\r") for line in self.text.removesuffix("\n").split("\n")] if self.text else []


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some consecutive lines of a file, the first one numbered `first_line`. `total` counts all lines of the file."""

    path: str
    first_line: int
    lines: Sequence[str]
    total: int

    def numbered(self) -> str:
        """One line each: number, bar, text."""
        cut = (line[:LONGEST_LINE_CHARACTERS] for line in self.lines)
        return "\n".join(f"{number:>5} | {line}" for number, line in enumerate(cut, self.first_line))


def read_sources(repository: Repository, commit: str, paths: Iterable[str]) -> dict[str, SourceFile]:
    """The source files among these paths, in their order. A path that is no readable source file is left out.

    CodeNotAtHand when the clone is not on this machine or git fails.
    """
    folder = repository.folder
    if not folder.is_dir():
        raise CodeNotAtHand("The code is not at hand on this server; analyze the repository again")
    try:
        return _read(folder, commit, list(paths))
    except GitError as error:
        raise CodeNotAtHand(f"The code cannot be read: {error.message}") from error


def function_around(source: SourceFile, line: int) -> Excerpt:
    """The innermost function that holds the line, with a little around it; without one, the lines near it."""
    holding = [each for each in source.functions if each.name != "module" and each.line <= line <= each.end_line]
    if not holding:
        return _excerpt(source, line - AROUND_LINES, line + AROUND_LINES, line)
    innermost = min(holding, key=lambda each: each.end_line - each.line)
    return _excerpt(source, innermost.line - CONTEXT_LINES, innermost.end_line + CONTEXT_LINES, line)


def head_of(source: SourceFile, characters: int) -> Excerpt:
    """The file from its first line on, as far as it fits."""
    taken: list[str] = []
    for line in source.lines:
        characters -= min(len(line), LONGEST_LINE_CHARACTERS) + 9
        if characters < 0:
            break
        taken.append(line)
    return Excerpt(source.path, 1, taken, len(source.lines))


def _excerpt(source: SourceFile, first: int, last: int, centre: int) -> Excerpt:
    lines = source.lines
    first, last = max(1, first), min(len(lines), last)
    if last - first >= LONGEST_EXCERPT_LINES:
        first = max(first, centre - LONGEST_EXCERPT_LINES // 2)
        last = min(last, first + LONGEST_EXCERPT_LINES - 1)
    return Excerpt(source.path, first, lines[first - 1 : last], len(lines))


def _read(folder: Path, commit: str, paths: Sequence[str]) -> dict[str, SourceFile]:
    deadline = time.monotonic() + GIT_SECONDS
    known = source_tree(list_tree(folder, commit, limits=git_limits(), deadline=deadline).entries).blobs
    wanted = {path: known[path] for path in paths if path in known and _is_code(path, known[path])}
    functions = {key: facts.functions for key, facts in stored_facts({(i.blob, i.reading) for i in wanted.values()})}
    blobs = list(dict.fromkeys(item.blob for item in wanted.values()))
    with BlobReader(folder, limits=git_limits(), deadline=deadline) as reader:
        contents = dict(reader.read_many(blobs))
    return {
        path: SourceFile(path, text, functions.get((item.blob, item.reading), ()))
        for path, item in wanted.items()
        if (text := _text(contents[item.blob])) is not None
    }


def _is_code(path: str, item: BlobToParse) -> bool:
    return item.reading not in NO_CODE and kind_of(path) not in NOT_SENT


def _text(content: bytes | None) -> str | None:
    """A file that is no UTF-8 cannot be shown line by line, and no patch of it would apply."""
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
