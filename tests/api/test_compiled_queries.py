"""A query that is compiled once answers as Django's own: for other ids, in other threads, on a new connection."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, connections, models

from accounts.models import User
from config.compiled import CompiledQuery, CompiledRows, Key, PageOf, count_of
from organizations.models import Membership, Role
from tests import factories


def test_the_same_query_finds_the_rows_of_each_id(db: Any) -> None:
    query = CompiledQuery(lambda: User.objects.filter(pk=Key("user")))
    ada, grace = factories.user(), factories.user()
    assert [query.first(user=each.pk) for each in (ada, grace, ada)] == [ada, grace, ada]
    assert query.first(user=uuid4()) is None
    assert query.all(user=uuid4()) == []


def test_rows_are_read_anew_each_time(db: Any) -> None:
    query = CompiledQuery(lambda: User.objects.filter(pk=Key("user")))
    ada = factories.user(name="Ada")
    assert query.all(user=ada.pk) == [ada]
    User.objects.filter(pk=ada.pk).update(name="Ada Lovelace")
    assert [each.name for each in query.all(user=ada.pk)] == ["Ada Lovelace"]


def test_related_rows_annotations_and_fixed_conditions_come_along(db: Any, django_assert_num_queries: Any) -> None:
    query = CompiledQuery(
        lambda: (
            Membership.objects.filter(organization=Key("organization"), role=Role.MEMBER)
            .select_related("user", "organization__plan")
            .annotate(address=models.F("user__email"))
            .order_by("user__email")
        )
    )
    ada, grace = factories.user("ada@example.org"), factories.user("grace@example.org")
    team, other = factories.organization(members=[grace, ada]), factories.organization(members=[ada])
    query.all(organization=other.pk)
    with django_assert_num_queries(1):
        rows: list[Any] = query.all(organization=team.pk)
        assert [row.user for row in rows] == [ada, grace]
        assert [row.address for row in rows] == [ada.email, grace.email]
        assert {row.organization.plan.pk for row in rows} == {team.plan_id}


def test_values_come_as_tuples(db: Any) -> None:
    query = CompiledQuery(lambda: User.objects.filter(pk=Key("user")).values_list("pk", "created_at")[:1])
    ada = factories.user()
    assert query.all(user=ada.pk) == [(ada.pk, ada.created_at)]


@pytest.mark.django_db(transaction=True)
def test_threads_and_new_connections_ask_for_themselves() -> None:
    query = CompiledQuery(lambda: User.objects.filter(pk=Key("user")))
    people = [factories.user() for _ in range(4)]

    def look(user: User) -> bool:
        try:
            return all(query.first(user=user.pk) == user for _ in range(20))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(look, people))
    assert query.first(user=people[0].pk) == people[0]
    connection.close()
    assert query.first(user=people[1].pk) == people[1]


@pytest.mark.django_db(transaction=True)
def test_the_connection_of_a_thread_goes_with_the_thread() -> None:
    query = CompiledQuery(lambda: User.objects.filter(pk=Key("user")))
    ada = factories.user()

    def look() -> weakref.ref[Any]:
        query.first(user=ada.pk)
        connection.close()
        return weakref.ref(connections["default"])

    with ThreadPoolExecutor(1) as pool:
        used = pool.submit(look).result()
    gc.collect()
    assert used() is None


def test_a_page_is_cut_from_the_rows_and_counted(db: Any, django_assert_num_queries: Any) -> None:
    def members() -> models.QuerySet[Membership]:
        return Membership.objects.filter(organization=Key("organization")).order_by("-user__email")

    page = CompiledQuery(
        lambda: (
            Membership.objects.filter(pk__in=PageOf(members()))
            .order_by("-user__email")
            .values_list("user__email", flat=True)
        )
    )
    counted = CompiledQuery(lambda: count_of(members()))
    people = [factories.user(f"p{number}@example.org") for number in range(4)]
    team, empty = factories.organization(members=people), uuid4()
    rows = CompiledRows(counted, page, {"organization": team.pk})
    emails = list(members_of(team))
    with django_assert_num_queries(4):
        assert rows.count() == len(emails)
        assert [rows[0:2], rows[2:4], rows[4:99]] == [emails[0:2], emails[2:4], emails[4:99]]
    nobody = CompiledRows(counted, page, {"organization": empty})
    assert (nobody.count(), nobody[0:5]) == (0, [])


def test_a_key_may_be_of_another_kind(db: Any) -> None:
    query = CompiledQuery(lambda: User.objects.filter(created_at__lt=Key("now", models.DateTimeField())))
    ada = factories.user()
    assert query.all(now=ada.created_at) == []
    assert query.all(now=ada.created_at + timedelta(seconds=1)) == [ada]


def members_of(team: Any) -> models.QuerySet[Membership, str]:
    return team.memberships.order_by("-user__email").values_list("user__email", flat=True)
