"""Files that have no tree: SQL, Prisma, manifests, other text, and sources left alone for a reason."""

import re

from analysis.engine.attributes import LANGUAGE, attributes_facts
from analysis.engine.extract.comments import suppressions
from analysis.engine.extract.orm.prisma import schema
from analysis.engine.extract.orm.sql import tables
from analysis.engine.extract.text import Lines
from analysis.engine.facts import FileFacts, Mark, Model
from analysis.engine.rules import looks_at_sql

_COMMENTS = {
    "sql": re.compile(rb"--[^\n]*|/\*.*?\*/", re.DOTALL),
    "prisma": re.compile(rb"//[^\n]*"),
}


_READERS = {"sql": tables, "prisma": schema}


def _models(source: bytes, language: str) -> tuple[Model, ...]:
    reader = _READERS.get(language)
    return reader(source.decode("utf-8", "replace")) if reader is not None else ()


def _marks(source: bytes) -> tuple[Mark, ...]:
    text = source.decode("utf-8", "replace")
    return tuple(mark for look in looks_at_sql() for mark in look(text))


def plain_facts(blob: bytes, source: bytes, language: str, lines: Lines, skipped: str) -> FileFacts:
    """Line counts, suppressions, and what the language's own reader finds."""
    if language == "manifest" and not skipped:
        from analysis.engine.extract.manifests import manifest_facts

        return manifest_facts(blob)
    if language == LANGUAGE and not skipped:
        return attributes_facts(blob, lines.count)
    if language in _COMMENTS:
        for match in _COMMENTS[language].finditer(source):
            lines.blank_out(source, match.start(), match.end())
    found, unreasoned = suppressions(source, lines, None) if language in _COMMENTS and not skipped else ((), ())
    return FileFacts(
        language=language,
        models=_models(source, language) if not skipped else (),
        marks=_marks(source) if language == "sql" and not skipped else (),
        lines=lines.count,
        code_lines=lines.code(1, lines.count),
        comment_lines=lines.comments,
        skipped=skipped,
        suppressions=found,
        unreasoned_suppressions=unreasoned,
    )
