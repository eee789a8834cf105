"""Pages and slices of lists: the query parameters, their bounds and the shape of the answer."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import orjson
from django.http import HttpResponseBase
from rest_framework.request import Request

from config.api.conditional import answer_of_version
from config.errors import InvalidInput

P = TypeVar("P", covariant=True)  # a page of rows, not read yet or read

Show = Callable[[list[dict[str, Any]]], Any]  # rows of columns in the shape of the API

MOST_PER_PAGE = 100
LARGEST_NUMBER = 2**31 - 1


class Sliceable(Protocol[P]):
    """A queryset or rows of compiled queries."""

    def count(self) -> int: ...

    def __getitem__(self, part: slice, /) -> P: ...


def whole_number(request: Request, name: str, *, default: int, at_least: int, at_most: int) -> int:
    """A query parameter as a number: 400 below the minimum or when it is none, the maximum above the maximum."""
    given = request.query_params.get(name)
    if given is None:
        return default
    if not given.isascii() or not given.isdigit() or int(given[:20]) < at_least:
        raise InvalidInput(f"{name}: must be a whole number of at least {at_least}")
    return min(int(given[:20]), at_most)


def page_of(
    request: Request,
    rows: Sliceable[P],
    show: Callable[[P], Any],
    *,
    per_page: int = 20,
    total: int | None = None,
) -> dict[str, Any]:
    """One page of `rows`: `{data, total, page, perPage, totalPages}`, from ?page and ?perPage.

    Two queries; one where the caller knows how many there are in all.
    """
    page = whole_number(request, "page", default=1, at_least=1, at_most=LARGEST_NUMBER)
    per_page = whole_number(request, "perPage", default=per_page, at_least=1, at_most=MOST_PER_PAGE)
    total = rows.count() if total is None else total
    first = (page - 1) * per_page
    data = show(rows[first : first + per_page]) if first < total else []
    return {"data": data, "total": total, "page": page, "perPage": per_page, "totalPages": -(-total // per_page)}


def answer_of_page(request: Request, rows: Sliceable[list[dict[str, Any]]], show: Show) -> HttpResponseBase:
    """The same as an answer: 304 to whoever has the page, before its rows are shown. Two queries."""
    page = page_of(request, rows, lambda found: found)
    return answer_of_version(request, orjson.dumps(page).decode(), make=lambda: {**page, "data": show(page["data"])})


def limit_of(request: Request, *, default: int) -> int:
    """?limit, 1 to 100."""
    return whole_number(request, "limit", default=default, at_least=1, at_most=MOST_PER_PAGE)


def offset_of(request: Request) -> int:
    """?offset, 0 or more."""
    return whole_number(request, "offset", default=0, at_least=0, at_most=LARGEST_NUMBER)
