"""One adapter module per ORM: queries as shapes (rules.md 1.5.2) and models for the index (1.5.1).

An adapter offers `READERS`, looks by the last name of a callee, which append to `file.queries`, and
`models(file)`. It decides by names resolved through imports; nothing here knows other files.
"""

from collections.abc import Iterator

from analysis.engine.extract.orm import django, prisma, sql, sqlalchemy
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Model
from analysis.engine.rules.base import Look

_ADAPTERS = {
    "python": (django, sqlalchemy, sql),
    "javascript": (prisma, sql),
    "typescript": (prisma, sql),
    "tsx": (prisma, sql),
    "java": (sql,),
    "go": (sql,),
}


def readers_of(language: str) -> Iterator[tuple[str, Look]]:
    """Looks at calls, by the callee's last name."""
    for adapter in _ADAPTERS.get(language, ()):
        yield from adapter.READERS.items()


def join_variables(file: SourceFile) -> None:
    """Complete lazy queries with what runs them through a variable. Call it when all calls were read."""
    if file.queries and file.language == "python":
        django.join_variables(file)


def models_of(file: SourceFile) -> tuple[Model, ...]:
    """Models that this file defines."""
    return tuple(model for adapter in _ADAPTERS.get(file.language, ()) for model in adapter.models(file))
