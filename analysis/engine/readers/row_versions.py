"""Models whose rows carry a version, by which a write sees that another was first."""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Model
from analysis.engine.readers.reading import node_at
from analysis.engine.readers.sequelize_options import models_with
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT

_CLASS_HEAD = re.compile(rb"\bclass\s+(\w+)|\btype\s+(\w+)\s+struct\b")
# Where a class says that it has a version, whatever its column is called: JPA, TypeORM, SQLAlchemy, Django, GORM.
_IN_A_CLASS = {
    JAVA: re.compile(rb"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?\s*)*@(?:\w+\.)*Version\b", re.MULTILINE),
    SCRIPT: re.compile(rb"@VersionColumn\("),
    PYTHON: re.compile(rb"[\"']?version_id_col[\"']?\s*[:=]|=\s*(?:\w+\.)*(?:Int\w*|Auto\w*|Trigger)VersionField\("),
    GO: re.compile(rb"\boptimisticlock\.Version\b"),
}
_MONGOOSE = re.compile(
    rb"\b(?P<schema>\w+)\s*(?::[^=\n]+)?=\s*new\s+(?:\w+\.)?Schema(?:<[^()]*>)?\((?P<rest>[^;]{0,4000}?)"
    rb"\boptimisticConcurrency\s*:\s*true"
)
_ANOTHER = re.compile(rb"new\s+(?:\w+\.)?Schema\(")
_LANGUAGE = {language: languages for languages in _IN_A_CLASS for language in languages}
NEEDS = {
    JAVA: (b"@Version", b".Version"),
    SCRIPT: (b"@VersionColumn", b"optimisticConcurrency", b"version: true", b"version: '", b'version: "'),
    PYTHON: (b"version_id_col", b"VersionField("),
    GO: (b"optimisticlock.",),
}

_VERSIONS = frozenset({"version", "lock_version", "row_version"})
_TOLD_OF_VERSIONS = frozenset({"sqlalchemy", "jpa", "typeorm", "sequelize"})  # else a column is like any other


def versioned(root: Node, file: SourceFile) -> Iterator[tuple[Node, str]]:
    """Where a file says that the rows of a model have a version, and the name of the model."""
    for match in _IN_A_CLASS[_LANGUAGE[file.language]].finditer(file.source):
        heads = list(_CLASS_HEAD.finditer(file.source, 0, match.start()))
        if heads:
            yield node_at(match.start(), root), (heads[-1][1] or heads[-1][2]).decode()
    if file.language not in SCRIPT:
        return
    for start, model in models_with(rb"version\s*:\s*(?:true|[\"'])", file):
        yield node_at(start, root), model
    for match in _MONGOOSE.finditer(file.source):
        if not _ANOTHER.search(match["rest"]):
            made = rb"\bmodel(?:<[^()]*>)?\(\s*[\"'`](\w+)[\"'`]\s*,\s*" + match["schema"] + rb"\b"
            for model in re.findall(made, file.source):
                yield node_at(match.start(), root), model.decode()


def is_versioned(model: Model, told: Iterable[str], codebase: Codebase) -> bool:
    """Whether the table has a column for versions, of its own or of a base, that the ORM is told to compare. `told` are
    the models of which a file says so."""
    lineage = [*codebase.schemas.lineage(model)]
    is_by_name = model.orm not in _TOLD_OF_VERSIONS
    if is_by_name and any(column.name in _VERSIONS for each in lineage for column in each.columns):
        return True
    return not {each.name for each in lineage}.isdisjoint(told)
