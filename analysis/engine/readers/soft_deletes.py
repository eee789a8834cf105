"""Models whose rows stay in the table when they are deleted, marked as gone."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.sequelize_options import models_with
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT

NEEDS = {
    PYTHON: (b"def delete(self", b"SoftDelet", b"SafeDelete"),
    SCRIPT: (b"paranoid",),
    JAVA: (b"@SQLDelete", b"@SoftDelete"),
    GO: (b"gorm.Model", b"gorm.DeletedAt"),
}
_OF_PYTHON = re.compile(
    rb"^(?P<indent>[ \t]*)class\s+(?P<name>\w+)\s*\((?P<bases>[^)]*)\)\s*:"
    rb"(?P<body>(?:\n(?:(?P=indent)[ \t]+[^\n]*|[ \t]*))*)",
    re.MULTILINE,
)
_BASE = re.compile(rb"Soft_?Delet|SafeDelete|Paranoid")
_OWN = re.compile(rb"\n([ \t]+)def delete\(self\b[^\n]*(?P<body>(?:\n(?:\1[ \t]+[^\n]*|[ \t]*))*)")
_DELETES = re.compile(rb"super\(|\.delete\(|DELETE")
_OF_GO = re.compile(rb"\btype\s+(?P<name>\w+)\s+struct\s*\{[^{}]*?(?:\n\s*gorm\.Model\s*\n|\bgorm\.DeletedAt\b)")
_OF_JAVA = re.compile(rb"@(?:\w+\.)*(?:SQLDelete|SoftDelete)\b[^{;]*?\bclass\s+(?P<name>\w+)")


class SoftDelete(NamedTuple):
    """A model that is never deleted; `only_rows`: by a method of its rows, which a bulk deletion does not call."""

    model: str
    start: int
    only_rows: bool = False


def soft_deletes(file: SourceFile) -> Iterator[SoftDelete]:
    """The models of a file whose rows stay."""
    if file.language in PYTHON:
        yield from _of_python(file)
    elif file.language in (*JAVA, *GO):
        for match in (_OF_JAVA if file.language in JAVA else _OF_GO).finditer(file.source):
            yield SoftDelete(match["name"].decode(), match.start())
    else:
        for start, name in models_with(rb"paranoid\s*:\s*true", file):
            yield SoftDelete(name, start)


def _of_python(file: SourceFile) -> Iterator[SoftDelete]:
    for match in _OF_PYTHON.finditer(file.source):
        own = _OWN.search(match["body"])
        if _BASE.search(match["bases"]):
            yield SoftDelete(match["name"].decode(), match.start())
        elif own is not None and not _DELETES.search(own["body"]):
            yield SoftDelete(match["name"].decode(), match.start(), only_rows=True)
