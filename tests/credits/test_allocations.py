"""What a plan gives and takes: resets, upgrades, downgrades, the end, and what staff add."""

import pytest

from config.errors import InvalidInput
from credits import services
from credits.models import CreditAccount, CreditEntry, Operation
from credits.selectors import balance_of
from organizations.models import AuditEntry
from tests.credits.conftest import END, START, account_of, month

pytestmark = pytest.mark.django_db


def use(organization, credits, key="work"):
    services.spend(
        organization=organization, operation=Operation.AI_CROSS_FILE, credits=credits, key=key, description="Work"
    )


def history(organization):
    entries = CreditEntry.objects.filter(account__organization=organization).order_by("number")
    return [(entry.type, entry.operation, entry.amount) for entry in entries]


def test_a_new_month_grants_the_allocation(credited):
    balance = balance_of(credited)

    assert (balance.balance, balance.allocation, balance.used, balance.resets_at) == (500, 500, 0, END)


def test_the_same_month_is_granted_once(credited):
    services.allocate(organization=credited, allocation=month())

    assert history(credited) == [("grant", "monthly_allocation", 500)]


def test_an_account_that_somebody_opens_in_the_same_moment_is_the_one(organization, just_before):
    with just_before('INTO "credits_creditaccount"', lambda: CreditAccount.objects.create(organization=organization)):
        services.allocate(organization=organization, allocation=month())

    assert account_of(organization).balance == 500


def test_what_a_plan_gives_is_said_by_names():
    with pytest.raises(TypeError):
        services.Allocation(500, "sub_1:2026-11", START, END)


@pytest.mark.parametrize("window", ["sub_1:2026-12", "sub_0:2026-11"])
@pytest.mark.parametrize(("used", "expired"), [(120, -380), (499, -1)])
def test_a_reset_writes_what_expires_and_then_the_grant(credited, window, used, expired):
    use(credited, used)

    services.allocate(organization=credited, allocation=month(window=window))

    assert history(credited)[2:] == [
        ("consumption", "monthly_allocation", expired),
        ("grant", "monthly_allocation", 500),
    ]
    assert (balance_of(credited).balance, balance_of(credited).used) == (500, 0)


def test_nothing_left_means_that_nothing_expires(credited):
    use(credited, 500)

    services.allocate(organization=credited, allocation=month(window="sub_1:2026-12"))

    assert history(credited)[2:] == [("grant", "monthly_allocation", 500)]


@pytest.mark.parametrize(
    ("used", "plan", "left"),
    [(0, 2000, 2000), (100, 2000, 1900), (0, 50, 50), (470, 50, 30), (100, 50, 50), (0, 0, 0)],
)
def test_a_change_of_plan_grants_the_difference_or_takes_what_is_above(credited, used, plan, left):
    if used:
        use(credited, used)

    services.allocate(organization=credited, allocation=month(plan))

    assert balance_of(credited).balance == left


def test_going_down_and_up_again_gives_nothing_twice(credited):
    use(credited, 400)
    for number in range(5):
        services.allocate(organization=credited, allocation=month(50))
        services.allocate(organization=credited, allocation=month(500))
        assert balance_of(credited).balance == 100, number


def test_an_upgrade_gives_nothing_while_more_was_granted_than_the_new_plan_has(credited):
    use(credited, 450)
    services.allocate(organization=credited, allocation=month(100))

    services.allocate(organization=credited, allocation=month(300))

    assert balance_of(credited).balance == 50


def test_what_a_downgrade_took_of_a_staff_grant_no_upgrade_gives_back(credited, owner):
    services.grant(organization=credited, credits=100, key="ticket-7", reason="Sorry", by=owner)
    services.allocate(organization=credited, allocation=month(100))

    services.allocate(organization=credited, allocation=month(300))

    assert balance_of(credited).balance == 300


def test_the_same_plan_told_again_leaves_a_staff_grant(credited, owner):
    services.grant(organization=credited, credits=25, key="ticket-7", reason="Sorry", by=owner)

    services.allocate(organization=credited, allocation=month())

    assert balance_of(credited).balance == 525


@pytest.mark.parametrize(("plan", "reserved"), [(100, 100), (99, 0)])
def test_a_downgrade_leaves_reservations_for_which_there_is_still_enough(credited, plan, reserved):
    services.reserve(organization=credited, operation=Operation.AI_FIX_SUGGESTION, credits=100, key="work")

    services.allocate(organization=credited, allocation=month(plan))

    assert (account_of(credited).balance, account_of(credited).reserved) == (plan, reserved)


def test_the_end_of_the_plan_takes_everything(credited):
    use(credited, 20)

    services.withdraw(organization=credited)

    balance = balance_of(credited)
    assert (balance.balance, balance.allocation, balance.resets_at) == (0, 0, None)


def test_coming_back_in_the_same_month_gives_what_was_taken(credited):
    use(credited, 400)
    services.withdraw(organization=credited)

    services.allocate(organization=credited, allocation=month())

    assert balance_of(credited).balance == 100


class TestUnlimited:
    @pytest.fixture
    def unlimited(self, organization):
        services.allocate(organization=organization, allocation=month(-1))
        return organization

    def test_it_shows_as_minus_one_and_use_still_counts(self, unlimited):
        use(unlimited, 9000)

        balance = balance_of(unlimited)
        assert (balance.balance, balance.allocation, balance.used) == (-1, -1, 9000)

    def test_an_upgrade_to_it_takes_the_counted_credits_away(self, credited):
        services.allocate(organization=credited, allocation=month(-1))

        assert account_of(credited).balance == 0
        assert balance_of(credited).balance == -1

    def test_a_downgrade_from_it_leaves_the_allocation(self, unlimited):
        use(unlimited, 9000)

        services.allocate(organization=unlimited, allocation=month(500))

        assert balance_of(unlimited).balance == 500

    def test_a_detour_over_it_gives_nothing_twice(self, credited):
        use(credited, 500)
        services.allocate(organization=credited, allocation=month(-1))
        services.allocate(organization=credited, allocation=month(500))

        assert balance_of(credited).balance == 0
        assert len(history(credited)) == 2

    def test_a_reset_from_it_to_a_number(self, unlimited):
        services.allocate(organization=unlimited, allocation=month(50, window="sub_1:2026-12"))

        assert balance_of(unlimited).balance == 50


class TestStaffGrant:
    def test_staff_add_credits_with_a_reason_and_it_is_audited(self, credited, owner):
        services.grant(organization=credited, credits=25, key="ticket-7", reason="Sorry for the outage", by=owner)

        assert balance_of(credited).balance == 525
        entry = AuditEntry.objects.get(action="credits.granted")
        assert (entry.actor, entry.subject, entry.details) == (owner, "Sorry for the outage", {"credits": 25})

    def test_the_same_key_is_one_grant(self, credited, owner):
        for _ in range(2):
            services.grant(organization=credited, credits=25, key="ticket-7", reason="Sorry", by=owner)

        assert balance_of(credited).balance == 525

    @pytest.mark.parametrize("credits", [1, 1_000_000])
    def test_one_to_a_million_are_given_at_once(self, credited, owner, credits):
        services.grant(organization=credited, credits=credits, key="x", reason="Sorry", by=owner)

        assert balance_of(credited).balance == 500 + credits

    @pytest.mark.parametrize("credits", [0, -1, 1_000_001])
    def test_odd_numbers_are_refused(self, credited, owner, credits):
        with pytest.raises(InvalidInput):
            services.grant(organization=credited, credits=credits, key="x", reason="No", by=owner)

    def test_one_that_finds_the_account_changed_under_its_lock_writes_nothing(self, credited, owner, just_before):
        with (
            pytest.raises(RuntimeError, match="although the account is locked"),
            just_before('UPDATE "credits_creditaccount"', lambda: use(credited, 10)),
        ):
            services.grant(organization=credited, credits=25, key="ticket-7", reason="Sorry", by=owner)

        assert history(credited) == [("grant", "monthly_allocation", 500)]

    def test_there_is_nothing_to_add_to_unlimited(self, organization, owner):
        services.allocate(organization=organization, allocation=month(-1))

        with pytest.raises(InvalidInput):
            services.grant(organization=organization, credits=5, key="x", reason="No", by=owner)
