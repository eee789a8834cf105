"""Members: changing roles, removing, leaving."""

from django.db import transaction

from accounts.models import User
from config.errors import NotAllowed
from organizations.audit import record
from organizations.locks import lock_member, lock_organization, lock_organization_as
from organizations.models import Membership, Role


class OwnerStays(NotAllowed):
    message = "The owner's membership cannot be changed or removed; transfer ownership first"


@transaction.atomic
def change_role(*, member: Membership, role: Role, actor: User) -> Membership:
    """Make a member an admin or an admin a member. OwnerStays for the owner, UnknownMember for one who is gone."""
    organization = lock_organization_as(actor, member.organization, at_least=Role.ADMIN)
    before = _changeable(member).role
    member.role = role
    if before != role:
        member.save(update_fields=["role", "updated_at"])
        record(
            organization=organization,
            actor=actor,
            action="member.role_changed",
            subject=member.user.email,
            details={"from": before, "to": role},
        )
    return member


@transaction.atomic
def remove_member(*, member: Membership, actor: User) -> None:
    """End somebody's membership, at once. OwnerStays for the owner."""
    organization = lock_organization_as(actor, member.organization, at_least=Role.ADMIN)
    role = _changeable(member).role
    member.delete()
    record(
        organization=organization,
        actor=actor,
        action="member.removed",
        subject=member.user.email,
        details={"role": role},
    )


@transaction.atomic
def leave_organization(*, member: Membership) -> None:
    """End one's own membership. OwnerStays for the owner."""
    organization = lock_organization(member.organization)
    role = _changeable(member).role
    member.delete()
    record(
        organization=organization,
        actor=member.user,
        action="member.left",
        subject=member.user.email,
        details={"role": role},
    )


def _changeable(member: Membership) -> Membership:
    locked = lock_member(member)
    if locked.role == Role.OWNER:
        raise OwnerStays
    return locked
