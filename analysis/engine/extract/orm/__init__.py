"""One adapter module per ORM: queries as shapes (rules.md 1.5.2) and models for the index (1.5.1).

An adapter offers some of: `READERS`, looks by the last name of a callee, which append to `file.queries` or
`file.models`; `models(file)`; `read(file)`, for calls of any name; and `accesses(file)`, the repositories. It decides
by names of the file; nothing here knows other files.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any

from analysis.engine.extract.orm import (
    alembic,
    builders,
    bun,
    classes,
    django,
    django_models,
    drizzle,
    drizzle_tables,
    entities,
    gorm,
    jdbc_client,
    jpa,
    jpa_references,
    knex,
    mongoose,
    panache,
    prisma,
    script_queries,
    sequelize,
    sql,
    sql_wrappers,
    sqlalchemy,
    sqlalchemy_models,
)
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Access, Model
from analysis.engine.rules.base import Look

_SCRIPT = (
    prisma,
    script_queries,
    builders,
    classes,
    sequelize,
    mongoose,
    knex,
    drizzle,
    drizzle_tables,
    sql,
    sql_wrappers,
)
_ADAPTERS: dict[str, tuple[ModuleType, ...]] = {
    "python": (django, django_models, sqlalchemy, sqlalchemy_models, alembic, sql, sql_wrappers),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "java": (entities, jpa, jpa_references, panache, sql, sql_wrappers, jdbc_client),
    "go": (gorm, bun, sql, sql_wrappers),
}


def readers_of(language: str) -> Iterator[tuple[str, Look]]:
    """Looks at calls, by the callee's last name."""
    for adapter in _ADAPTERS.get(language, ()):
        yield from getattr(adapter, "READERS", {}).items()


def read_others(file: SourceFile) -> None:
    """Queries that no name of a call gives away; before the calls are looked at."""
    for read in _offered("read", file.language):
        read(file)


def join_variables(file: SourceFile) -> None:
    """Complete lazy queries with what runs them through a variable. Call it when all calls were read."""
    if file.language == "python":
        sqlalchemy.join_variables(file)
        if file.queries:
            django.join_variables(file)


def models_of(file: SourceFile) -> tuple[Model, ...]:
    """Models that this file defines."""
    offered = (models(file) for models in _offered("models", file.language))
    return (*chain.from_iterable(offered), *file.models)


def accesses_of(file: SourceFile) -> tuple[Access, ...]:
    """Repositories that this file defines."""
    return tuple(chain.from_iterable(accesses(file) for accesses in _offered("accesses", file.language)))


@cache
def _offered(part: str, language: str) -> tuple[Callable[[SourceFile], Iterable[Any]], ...]:
    """This part of all adapters of a language that have it."""
    return tuple(getattr(adapter, part) for adapter in _ADAPTERS.get(language, ()) if hasattr(adapter, part))
