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
        connection = connections["default"]
        # Kept by the connection, which a compiler refers to: it goes when its thread goes.
        known: dict[CompiledQuery[R], _Compiled[R]] = vars(connection).setdefault("compiled_queries", {})
        if self not in known:
            known[self] = _Compiled(self._build())
        return known[self].rows(keys, connection)


class PageOf(models.Subquery):
    """The ids of a page, for a filter of compiled rows: `filter(pk__in=PageOf(rows))`. The keys `number` and `first`
    say how many there are and after how many of the rows, which have an order."""

    template = "(%(subquery)s LIMIT %%s OFFSET %%s)"

    def __init__(self, rows: models.QuerySet[Any, Any]) -> None:
        super().__init__(rows.values("pk"))

    def as_sql(self, *given: Any, **options: Any) -> tuple[str, Any]:
        sql, parameters = super().as_sql(*given, **options)
        bounds = (Key(name, models.PositiveIntegerField()) for name in ("number", "first"))
        return sql, (*parameters, *bounds)


def count_of(rows: models.QuerySet[Any, Any]) -> models.QuerySet[Any, int]:
    """One row: how many there are."""
    return rows.order_by().values_list(_NumberOfRows(), flat=True)


class _NumberOfRows(models.Func):
    """Not Django's `Count`, with which it would group: counting groups takes PostgreSQL a third longer."""

    template = "COUNT(*)"
    output_field = models.IntegerField()


@dataclass(frozen=True)
class CompiledRows(Generic[R]):
    """A list that `page_of` counts and cuts a page from, as it does with a queryset: one query each."""

    counted: CompiledQuery[int]
    page: CompiledQuery[R]  # filtered by `PageOf` the rows
    keys: dict[str, Any]

    def count(self) -> int:
        return self.counted.first(**self.keys) or 0

    def __getitem__(self, part: slice) -> list[R]:
        return self.page.all(**self.keys, first=part.start, number=part.stop - part.start)


class _Compiled(Generic[R]):
    """A queryset whose compiler says the same SQL each time; rows are made of the answer as Django makes them."""

    def __init__(self, queryset: models.QuerySet[Any, R]) -> None:
        compiler = queryset.query.get_compiler(queryset.db)
        self._sql, self._parameters = compiler.as_sql()
        self._values: tuple[Any, ...] = ()
        vars(compiler)["as_sql"] = lambda: (self._sql, self._values)
        # Each answer has the same columns, and Django would find out anew how each is read.
        converters = compiler.get_converters([column for column, *_ in compiler.select[: compiler.col_count]])
        vars(compiler)["get_converters"] = lambda _: converters
        vars(queryset.query)["get_compiler"] = lambda *_, **__: compiler
        self._queryset = queryset

    def rows(self, keys: dict[str, Any], connection: BaseDatabaseWrapper) -> list[R]:
        self._values = tuple(
            each.bound(keys, connection) if isinstance(each, Key) else each for each in self._parameters
        )
        iterable: Any = self._queryset._iterable_class
        return list(iterable(self._queryset))
