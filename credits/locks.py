"""The row lock of credits: the account, the last one in the order of locks."""

from credits.models import CreditAccount
from organizations.models import Organization


def lock_account(organization: Organization) -> CreditAccount:
    """The organization's account, made on first use and held until the transaction ends.

    PostgreSQL locks the row; SQLite holds its one write lock from the start of the transaction.
    """
    account = _locked(organization)
    if account is None:
        CreditAccount.objects.bulk_create([CreditAccount(organization=organization)], ignore_conflicts=True)
        account = _locked(organization)
    if account is None:
        raise CreditAccount.DoesNotExist
    return account


def _locked(organization: Organization) -> CreditAccount | None:
    rows = CreditAccount.objects.select_for_update(of=("self",), no_key=True)
    return rows.filter(organization=organization).first()
