"""Queries that each request asks: Django builds and compiles them once, and binds other ids from then on.

To build and compile a look-up takes Django twice as long as to ask PostgreSQL and make an object of the row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

R = TypeVar("R")  # a row: an object of the model, or what `values_list` makes of it


class Key(models.Expression):
    """Stands in a queryset for an id that is known later: `filter(pk=Key("run"))`. What is no id has another field."""

    def __init__(self, name: str, field: "models.Field[Any, Any] | None" = None) -> None:
        super().__init__(output_field=field or models.UUIDField())
        self.name = name

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        return "%s", [self]

    def bound(self, keys: dict[str, Any], connection: BaseDatabaseWrapper) -> Any:
        """The value as the database takes it."""
        return self.output_field.get_db_prep_value(keys[self.name], connection)


class CompiledQuery(Generic[R]):
    """A queryset with named ids: `CompiledQuery(lambda: Run.objects.filter(pk=Key("run"))).all(run=run_id)`.

    `build` is called once for each connection, which is once in each thread of a server. What it filters by besides
    its keys stays as it was then.
    """

    def __init__(self, build: Callable[[], models.QuerySet[Any, R]]) -> None:
        self._build = build

    def first(self, **keys: Any) -> R | None:
        """The first row in the queryset's order, or None. One query."""
        return next(iter(self.all(**keys)), None)

    def all(self, **keys: Any) -> list[R]:
        """Every row. One query."""
        return self._compiled().rows(keys)

    def page(self, part: slice, **keys: Any) -> list[R]:
        """The rows of a part, of a queryset that is cut nowhere else. One query."""
        return self._compiled().rows(keys, part)

    def _compiled(self) -> "_Compiled[R]":
        connection = connections["default"]
        # Kept by the connection, which a compiler refers to: it goes when its thread goes.
        known: dict[CompiledQuery[R], _Compiled[R]] = vars(connection).setdefault("compiled_queries", {})
        if self not in known:
            known[self] = _Compiled(self._build(), connection)
        return known[self]


def count_of(rows: models.QuerySet[Any, Any], by: str) -> models.QuerySet[Any, int]:
    """How many rows there are, all of which have the same value of the column `by`; none where there are none."""
    return rows.order_by().values(by).annotate(number=models.Count("pk")).values_list("number", flat=True)


@dataclass(frozen=True)
class CompiledRows(Generic[R]):
    """A list that `page_of` counts and cuts a page from, as it does with a queryset: one query each."""

    counted: CompiledQuery[int]
    rows: CompiledQuery[R]
    keys: dict[str, Any]

    def count(self) -> int:
        return self.counted.first(**self.keys) or 0

    def __getitem__(self, part: slice) -> list[R]:
        return self.rows.page(part, **self.keys)


class _Compiled(Generic[R]):
    """A queryset whose compiler says the same SQL each time; rows are made of the answer as Django makes them."""

    def __init__(self, queryset: models.QuerySet[Any, R], connection: BaseDatabaseWrapper) -> None:
        compiler = queryset.query.get_compiler(queryset.db)
        self._sql, self._parameters = compiler.as_sql()
        self._asked: tuple[str, tuple[Any, ...]] = self._sql, ()
        vars(compiler)["as_sql"] = lambda: self._asked
        vars(queryset.query)["get_compiler"] = lambda *_, **__: compiler
        self._queryset, self._connection = queryset, connection

    def rows(self, keys: dict[str, Any], part: slice | None = None) -> list[R]:
        values = [each.bound(keys, self._connection) if isinstance(each, Key) else each for each in self._parameters]
        self._asked = self._sql, tuple(values)
        if part is not None:
            self._asked = f"{self._sql} LIMIT %s OFFSET %s", (*values, part.stop - part.start, part.start)
        iterable: Any = self._queryset._iterable_class
        return list(iterable(self._queryset))
