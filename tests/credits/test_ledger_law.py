"""The database itself holds the ledger to its law, whatever a program tries."""

import pytest
from django.db import Error, connection, transaction
from django.db.models import F, Sum

from credits.models import CreditAccount, CreditEntry, EntryType, Operation
from credits.services import spend
from tests.credits.conftest import account_of

pytestmark = pytest.mark.django_db


def check_now() -> None:
    """What the database does at the end of a transaction."""
    connection.check_constraints()


@pytest.fixture
def spent(credited):
    for number in (1, 2, 3):
        spend(
            organization=credited,
            operation=Operation.AI_SCAN_SUMMARY,
            credits=5,
            key=f"scan-{number}",
            description="A summary",
        )
    return account_of(credited)


def forged(account: CreditAccount, **changes: object) -> CreditEntry:
    last = account.entries.first()
    values = {
        "number": last.number + 1,
        "previous_number": last.number,
        "type": EntryType.GRANT,
        "operation": Operation.STAFF_GRANT,
        "amount": 7,
        "balance_before": last.balance,
        "balance": last.balance + 7,
        "key": "forged",
        "description": "forged",
    }
    return CreditEntry(account=account, **{**values, **changes})


def test_the_amounts_add_up_to_the_balance(spent):
    assert spent.entries.aggregate(sum=Sum("amount"))["sum"] == spent.balance == 485
    check_now()


@pytest.mark.parametrize(
    "change",
    [
        {"balance": 400},
        {"balance": 0, "last_number": None},
        {"last_number": 2},
        {"last_number": 2, "balance": 495},
        {"last_number": 5, "balance": 485},
    ],
)
def test_a_balance_that_is_not_that_of_the_last_entry_is_refused(spent, change):
    with pytest.raises(Error), transaction.atomic():
        CreditAccount.objects.update(**change)
        check_now()


def test_an_entry_without_its_account_moving_along_is_refused(spent):
    with pytest.raises(Error), transaction.atomic():
        forged(spent).save()
        CreditAccount.objects.update(balance=F("balance") + 1)
        check_now()


def test_an_entry_that_fits_but_whose_account_stays_is_refused(spent):
    with pytest.raises(Error), transaction.atomic():
        forged(spent).save()


@pytest.mark.parametrize(
    "change",
    [
        {"balance": 9999},
        {"balance_before": 400, "balance": 407},
        {"amount": -9999, "balance": -9514, "type": EntryType.CONSUMPTION},
        {"type": EntryType.CONSUMPTION},
        {"previous_number": None, "balance_before": 0, "balance": 7},
        {"number": 9},
        {"number": 1, "previous_number": None, "balance_before": 0, "balance": 7},
        {"key": "scan-1"},
    ],
)
def test_an_entry_that_does_not_follow_the_last_one_is_refused(spent, change):
    with pytest.raises(Error), transaction.atomic():
        entry = forged(spent, **change)
        CreditAccount.objects.update(balance=entry.balance, last_number=entry.number)
        entry.save(force_insert=True)
        check_now()


@pytest.mark.parametrize("change", [{"amount": 1}, {"description": "nothing to see"}, {"balance": 1}, {"key": "other"}])
def test_an_entry_cannot_be_changed(spent, change):
    with pytest.raises(Error), transaction.atomic():
        spent.entries.filter(number=2).update(**change)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_an_entry_cannot_go_while_its_account_remains(spent, number):
    with pytest.raises(Error), transaction.atomic():
        spent.entries.filter(number=number).delete()
        check_now()


def test_an_organization_takes_its_ledger_along(spent):
    spent.organization.delete()
    check_now()

    assert not CreditEntry.objects.exists()


def test_the_constraints_that_django_cannot_describe_stand_in_the_database():
    wanted = {
        "credits_entry_follows_balance",
        "credits_account_holds_last_balance",
        "credits_entry_is_final",
        "credits_entry_is_expected",
        "credits_account_moves_on",
    }
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT sql FROM sqlite_master")
        else:
            cursor.execute("SELECT conname FROM pg_constraint UNION SELECT tgname FROM pg_trigger")
        text = " ".join(str(row[0]) for row in cursor.fetchall())
    assert {name for name in wanted if name in text} == wanted
