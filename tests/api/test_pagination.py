"""Bounds of page, perPage, limit and offset."""

import pytest
from rest_framework.request import Request

from accounts.models import User
from config.api.ids import key_of
from config.api.pagination import limit_of, offset_of, page_of
from config.errors import InvalidInput, NotFound
from tests import factories


@pytest.fixture
def ask(rf):
    return lambda query="": Request(rf.get(f"/?{query}"))


@pytest.fixture
def people(db):
    for number in range(5):
        factories.user(f"p{number}@example.org")
    return User.objects.order_by("email")


def emails(rows):
    return [row.email for row in rows]


class TestPage:
    def test_the_shape(self, ask, people):
        page = page_of(ask("page=2&perPage=2"), people, emails)

        assert page == {
            "data": ["p2@example.org", "p3@example.org"],
            "total": 5,
            "page": 2,
            "perPage": 2,
            "totalPages": 3,
        }

    def test_a_page_past_the_end_is_empty(self, ask, people):
        page = page_of(ask("page=999999999999&perPage=2"), people, emails)

        assert (page["data"], page["total"], page["totalPages"]) == ([], 5, 3)

    def test_more_than_a_hundred_is_a_hundred(self, ask, people):
        assert page_of(ask("perPage=100000000000000000000000"), people, emails)["perPage"] == 100

    def test_nothing_at_all(self, ask, db):
        assert page_of(ask(), User.objects.all(), emails) == {
            "data": [],
            "total": 0,
            "page": 1,
            "perPage": 20,
            "totalPages": 0,
        }

    def test_two_queries(self, ask, people, django_assert_num_queries):
        with django_assert_num_queries(2):
            page_of(ask(), people, emails)

    @pytest.mark.parametrize("name", ["page", "perPage"])
    @pytest.mark.parametrize("value", ["0", "-1", "1.5", "x", "", "1e3", "²", "٣", " 1", "0x1"])
    def test_what_is_no_page_is_refused_by_name(self, ask, people, name, value):
        with pytest.raises(InvalidInput, match=f"{name}: must be a whole number of at least 1"):
            page_of(ask(f"{name}={value}"), people, emails)


class TestSlices:
    @pytest.mark.parametrize(("query", "expected"), [("", 20), ("limit=1", 1), ("limit=100", 100), ("limit=101", 100)])
    def test_limit(self, ask, query, expected):
        assert limit_of(ask(query), default=20) == expected

    @pytest.mark.parametrize(("query", "expected"), [("", 0), ("offset=0", 0), ("offset=7", 7)])
    def test_offset(self, ask, query, expected):
        assert offset_of(ask(query)) == expected

    @pytest.mark.parametrize("value", ["-1", "x", ""])
    def test_odd_offsets(self, ask, value):
        with pytest.raises(InvalidInput):
            offset_of(ask(f"offset={value}"))


def test_an_id_is_read_as_it_was_written():
    assert str(key_of("019363a1-7c1e-7d7a-9f2c-3b1f0d6a4e55")) == "019363a1-7c1e-7d7a-9f2c-3b1f0d6a4e55"


@pytest.mark.parametrize(
    "identifier",
    [
        "",
        "x",
        "1",
        "0" * 31,
        "g" * 32,
        "019363a1-7c1e-7d7a-9f2c",
        "٣" * 32,
        "\x00",
        "{019363a1-7c1e-7d7a-9f2c-3b1f0d6a4e55}",
    ],
)
def test_a_malformed_id_is_an_unknown_id(identifier):
    with pytest.raises(NotFound):
        key_of(identifier)
