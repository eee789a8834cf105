"""A process that dies at any statement of an act leaves the credits as they were (A2)."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from credits import services
from credits.models import CreditAccount, CreditEntry, Operation, Reservation
from organizations.models import AuditEntry, Organization
from tests.credits.conftest import month
from tests.webhooks.test_crashes import Executioner, Killed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dies_everywhere(credited: Organization) -> Callable[..., None]:
    """Kill an act at its first statement, then at its second and so on, until it comes to its end."""

    def check(act: Callable[..., object], **arguments: Any) -> None:
        before = everything()
        for number in count(1):
            try:
                with connection.execute_wrapper(Executioner(number)):
                    act(**arguments)
            except Killed:
                connection.close()
                assert everything() == before, f"killed at statement {number}"
            else:
                break
        assert number > 3
        assert everything() != before

    return check


@pytest.fixture
def held(credited: Organization) -> Reservation:
    """20 of the 500 credits are reserved."""
    return reserve(credited)


def reserve(organization: Organization, key: str = "run-1") -> Reservation:
    return services.reserve(organization=organization, operation=Operation.AI_SCAN_SUMMARY, credits=20, key=key)


def everything() -> list[Any]:
    tables = (CreditAccount, CreditEntry, Reservation, AuditEntry)
    return [sorted(map(str, table.objects.values_list())) for table in tables]


def test_reserving(credited, dies_everywhere):
    dies_everywhere(reserve, organization=credited)


def test_settling(held, dies_everywhere):
    dies_everywhere(services.settle, reservation_id=held.pk, description="Summary")


def test_giving_back(held, dies_everywhere):
    dies_everywhere(services.release, reservation_id=held.pk)


def test_freeing_what_was_never_settled(held, dies_everywhere):
    dies_everywhere(services.lapse_overdue_reservations, now=timezone.now() + timedelta(hours=1))


def test_spending(credited, dies_everywhere):
    dies_everywhere(
        services.spend,
        organization=credited,
        operation=Operation.AI_CROSS_FILE,
        credits=12,
        key="work",
        description="Work",
    )


@pytest.mark.parametrize(
    "given", [month(window="sub_1:2026-12"), month(2000), month(50), month(-1)], ids=["reset", "up", "down", "no limit"]
)
def test_allocating(credited, held, dies_everywhere, given):
    dies_everywhere(services.allocate, organization=credited, allocation=given)


def test_the_end_of_the_plan(credited, held, dies_everywhere):
    dies_everywhere(services.withdraw, organization=credited)


def test_what_staff_give(credited, owner: User, dies_everywhere):
    dies_everywhere(services.grant, organization=credited, credits=25, key="ticket-7", reason="Sorry", by=owner)
