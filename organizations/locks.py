"""Every row lock of organizations, in the order in which they are taken: user, organization, membership.
The account of credits is the last of all (credits/locks.py).

A lock lasts to the end of the transaction and keeps other writers out, while readers and rows that merely point here go
on (FOR NO KEY UPDATE). SQLite has no row locks; there a transaction holds the one write lock from its start.
"""

from django.db.models import Model, QuerySet

from accounts.models import User
from organizations.access import UnknownMember, UnknownOrganization, membership_for
from organizations.models import Membership, Organization, Role


def lock_user(user: User) -> User:
    """The user's row: it owns the number of organizations that the user owns."""
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def lock_organization(organization: Organization) -> Organization:
    """The organization as it is now, locked: it owns its members, invitations and plan.

    UnknownOrganization when it was deleted in the meantime. The plan is not joined but read afterwards: when it changed
    while we waited for the lock, PostgreSQL would find the join broken and return no row at all.
    """
    return _locked(organization, no_key=True)


def lock_organization_as(user: User, organization: Organization, *, at_least: Role) -> Organization:
    """The same, after asking again for the caller's role: it may have been lost since the request came in."""
    locked = lock_organization(organization)
    membership_for(user, str(locked.pk), at_least=at_least)
    return locked


def lock_organization_to_delete(user: User, organization: Organization) -> Organization:
    """The organization, for its owner, with its account of credits, both locked against new rows that point to them.

    Taking the full lock (FOR UPDATE) at once, and not on top of the weaker one, keeps a deletion out of deadlocks.
    Credits are spent under the account's lock alone, so the account has to be held as well.
    """
    locked = _locked(organization, no_key=False)
    membership_for(user, str(locked.pk), at_least=Role.OWNER)
    _accounts_of_credits().select_for_update().filter(organization=locked).first()
    return locked


def lock_member(member: Membership) -> Membership:
    """A membership whose organization is locked already; UnknownMember when it has ended."""
    locked = Membership.objects.select_for_update(no_key=True).filter(pk=member.pk).first()
    if locked is None:
        raise UnknownMember
    return locked


def _locked(organization: Organization, *, no_key: bool) -> Organization:
    locked = Organization.objects.select_for_update(no_key=no_key).filter(pk=organization.pk).first()
    if locked is None:
        raise UnknownOrganization
    return locked


def _accounts_of_credits() -> QuerySet[Model]:
    # By the relation's name: credits build on organizations and may not be imported here.
    account = Organization._meta.get_field("credit_account").related_model
    return account._default_manager.all()
