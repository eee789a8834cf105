"""The row lock of credits: the account, the last one in the order of locks."""

from uuid import UUID

from django.db.models import QuerySet

from credits.models import CreditAccount
from organizations.locks import lock_organization
from organizations.models import Organization


def lock_account(organization: Organization) -> CreditAccount:
    """The organization's account, made on first use and held until the transaction ends. UnknownOrganization when the
    organization was deleted.

    PostgreSQL locks the row; SQLite holds its one write lock from the start of the transaction.
    """
    locked = _locked().filter(organization=organization)
    account = locked.first()
    if account is None:
        lock_organization(organization)  # and until the end nobody deletes what the new account belongs to
        CreditAccount.objects.bulk_create([CreditAccount(organization=organization)], ignore_conflicts=True)
        account = locked.get()
    return account


def lock_account_of(reservation_id: UUID) -> CreditAccount | None:
    """The account that a reservation holds credits of, locked; None when it was deleted with its organization."""
    return _locked().filter(reservations=reservation_id).first()


def _locked() -> QuerySet[CreditAccount]:
    return CreditAccount.objects.select_for_update(of=("self",), no_key=True)
