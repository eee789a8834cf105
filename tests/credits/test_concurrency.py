"""64 threads spend, reserve, settle, give back, lapse and reset on one account, every call sent twice (B2)."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from django.db import connections, transaction
from django.db.models import Sum
from django.utils import timezone

from config.errors import Refusal
from credits import services
from credits.models import CreditAccount, CreditEntry, Operation, Reservation, ReservationState
from organizations.access import UnknownOrganization
from organizations.models import Organization, Role
from organizations.services import delete_organization
from tests import factories
from tests.credits.conftest import account_of, month

pytestmark = [pytest.mark.crowd, pytest.mark.django_db(transaction=True)]

THREADS = 64


@pytest.fixture
def credited():
    organization = factories.organization()
    services.allocate(organization=organization, allocation=month(2000))
    return organization


def in_threads(calls: list[Callable[[], object]]) -> list[object]:
    """Run the calls on 64 threads, each with a connection of its own; the answers in the order of the calls."""
    ready = threading.Barrier(THREADS, timeout=60)
    answers: dict[int, object] = {}

    def run(thread: int) -> None:
        ready.wait()
        try:
            for number in range(thread, len(calls), THREADS):
                answers[number] = calls[number]()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS)))
    return [answers[number] for number in range(len(calls))]


def holds(organization: Organization) -> None:
    account = account_of(organization)
    assert account.entries.aggregate(sum=Sum("amount"))["sum"] == account.balance >= 0
    assert 0 <= account.reserved <= account.balance
    held = Reservation.objects.filter(account=account, state=ReservationState.HELD).aggregate(sum=Sum("held"))["sum"]
    assert account.reserved == (held or 0)


def spend(organization: Organization, key: str, credits: int) -> Callable[[], object]:
    def call() -> object:
        try:
            entry = services.spend(
                organization=organization,
                operation=Operation.AI_FIX_SUGGESTION,
                credits=credits,
                key=key,
                description="A fix",
            )
        except services.NotEnoughCredits:
            return "too few"
        return str(entry.pk)

    return call


def work(organization: Organization, key: str, credits: int, *, fails: bool) -> Callable[[], object]:
    def call() -> object:
        try:
            reservation = services.reserve(
                organization=organization, operation=Operation.AI_CROSS_FILE, credits=credits, key=key
            )
            return str(_end(reservation.pk, fails))
        except Refusal as refusal:
            return type(refusal).__name__

    return call


def _end(reservation_id: UUID, fails: bool) -> object:
    if fails:
        services.release(reservation_id=reservation_id)
        return "released"
    entry = services.settle(reservation_id=reservation_id, description="Work")
    return entry.pk if entry else None


def lapse() -> object:
    return services.lapse_overdue_reservations(now=timezone.now() + timedelta(hours=1))


def reset(organization: Organization, number: int) -> Callable[[], object]:
    return lambda: services.allocate(organization=organization, allocation=month(2000, window=f"sub_1:{number}"))


def test_400_spends_of_5_are_granted_from_2000_and_not_one_more(credited):
    answers = in_threads([spend(credited, f"spend-{number}", 5) for number in range(640)])

    assert answers.count("too few") == 240
    assert account_of(credited).balance == 0
    holds(credited)


def test_the_same_call_sent_twice_has_the_same_answer(credited):
    calls = [spend(credited, f"spend-{number}", 5) for number in range(400) for _ in range(2)]

    answers = in_threads(calls)

    assert answers[0::2] == answers[1::2]
    assert "too few" not in answers
    assert account_of(credited).balance == 0


@pytest.mark.timeout(300)
def test_everything_at_once_keeps_the_law(credited, dice, figure):
    calls: list[Callable[[], object]] = []
    wanted, number = figure(c=1_600, s=200_000, of="calls, each sent twice"), 0
    while number < wanted:
        kind, credits = dice.random(), dice.randint(1, 15)
        if kind < 0.5:
            calls += [spend(credited, f"spend-{number}", credits)] * 2
        elif kind < 0.96:
            calls += [work(credited, f"work-{number}", credits, fails=dice.random() < 0.4)] * 2
            number += 2  # it is reserved and ended, twice
        elif kind < 0.98:
            calls += [lapse] * 2
        else:
            calls += [reset(credited, number)] * 2
        number += 2
    dice.shuffle(calls)

    in_threads(calls)

    holds(credited)
    keys = CreditEntry.objects.values_list("key", flat=True)
    assert len(keys) == len(set(keys))


@pytest.mark.skipif("connections['default'].vendor != 'postgresql'", reason="on SQLite only one writes at a time")
def test_nobody_spends_while_the_organization_is_deleted(credited, just_before):
    owner = credited.memberships.get(role=Role.OWNER).user
    free_to_spend: list[bool] = []

    def look():
        with transaction.atomic():
            free = CreditAccount.objects.select_for_update(no_key=True, skip_locked=True)
            free_to_spend.append(free.filter(organization=credited).exists())
        connections.close_all()

    def look_elsewhere():
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(look).result()

    with just_before('DELETE FROM "credits_creditentry"', look_elsewhere):
        delete_organization(organization=credited, actor=owner)
    assert free_to_spend == [False]


def test_an_organization_that_is_gone_is_refused_and_what_it_reserved_lapses_without_harm(credited, just_before):
    reservation = services.reserve(organization=credited, operation=Operation.AI_CROSS_FILE, credits=2, key="work")
    owner = credited.memberships.get(role=Role.OWNER).user

    with just_before('"credits_creditaccount"', lambda: delete_organization(organization=credited, actor=owner)):
        lapsed = services.lapse_overdue_reservations(now=timezone.now() + timedelta(hours=1))

    assert lapsed == 0
    for begin in (services.reserve, partial(services.spend, description="A fix")):
        with pytest.raises(UnknownOrganization):
            begin(organization=credited, operation=Operation.AI_FIX_SUGGESTION, credits=1, key="late")
    for end in (services.release, partial(services.settle, description="Work")):
        with pytest.raises(UnknownOrganization):
            end(reservation_id=reservation.pk)
