"""Invitations: from the address that is asked to the member who came.

pending -> accepted | cancelled | expired. One whose time ran out is treated as expired before that is written down.
"""

import hashlib
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts import letters
from accounts.models import User
from config.errors import Conflict, InvalidInput, NotFound
from organizations.access import UnknownInvitation
from organizations.audit import record
from organizations.entitlements import require_room_for_invitation, require_room_for_member
from organizations.locks import lock_organization, lock_organization_as
from organizations.models import Invitation, InvitationStatus, Membership, Organization, Role

INVITATION_LIFETIME = timedelta(days=7)
TOKEN_PURPOSE = "organizations.invitation"  # noqa: S105 - what the token is for


class AlreadyMember(InvalidInput):
    message = "email: belongs to a member of the organization already"


class InvitationPending(Conflict):
    message = "An invitation is already pending for this email"


class UnknownToken(NotFound):
    message = "There is no invitation with this token"


class InvitationOver(InvalidInput):
    message = "This invitation has expired or was already used"


class AlreadyIn(InvalidInput):
    message = "You are a member of this organization already"


@transaction.atomic
def invite_member(*, organization: Organization, email: str, actor: User, role: Role = Role.MEMBER) -> Invitation:
    """Ask an address to join. The letter leaves once the invitation is stored.

    AlreadyMember, InvitationPending, or NoRoom when members and pending invitations fill the plan.
    """
    organization = lock_organization_as(actor, organization, at_least=Role.ADMIN)
    email = email.lower()
    if organization.memberships.filter(user__email=email).exists():
        raise AlreadyMember
    if organization.invitations.pending().filter(email=email).exists():
        raise InvitationPending
    require_room_for_invitation(organization)

    organization.invitations.filter(email=email).lapsed().expire()
    expires_at = timezone.now() + INVITATION_LIFETIME
    invitation = organization.invitations.create(email=email, role=role, expires_at=expires_at, invited_by=actor)
    letters.post(
        kind="invitation", key=f"invitation:{invitation.pk}", to=email, context={"invitation": str(invitation.pk)}
    )
    record(organization=organization, actor=actor, action="member.invited", subject=email, details={"role": role})
    return invitation


@transaction.atomic
def cancel_invitation(*, invitation: Invitation, actor: User) -> None:
    """Take an invitation back; its link is dead from now on. UnknownInvitation when it is no longer pending."""
    organization = lock_organization_as(actor, invitation.organization, at_least=Role.ADMIN)
    now = timezone.now()
    pending = organization.invitations.pending().filter(pk=invitation.pk)
    if not pending.update(status=InvitationStatus.CANCELLED, updated_at=now):
        raise UnknownInvitation
    record(organization=organization, actor=actor, action="member.invitation_cancelled", subject=invitation.email)


@transaction.atomic
def accept_invitation(*, token: str, user: User) -> Membership:
    """Join with the token of a letter; any signed-in user may, whatever the address was.

    UnknownToken, InvitationOver, AlreadyIn, or NoRoom when the members fill the plan by now.
    """
    invitation = Invitation.objects.select_related("organization").filter(token_hash=_hash(token)).first()
    if invitation is None:
        raise UnknownToken
    organization = lock_organization(invitation.organization)
    now = timezone.now()
    if not organization.invitations.pending().filter(pk=invitation.pk).exists():
        raise InvitationOver
    if organization.memberships.filter(user=user).exists():
        raise AlreadyIn
    require_room_for_member(organization)

    organization.invitations.filter(pk=invitation.pk).update(
        status=InvitationStatus.ACCEPTED, accepted_by=user, updated_at=now
    )
    membership = organization.memberships.create(user=user, role=invitation.role)
    record(
        organization=organization,
        actor=user,
        action="member.joined",
        subject=user.email,
        details={"role": invitation.role, "invitedAs": invitation.email},
    )
    return membership


def mint_token(invitation_id: UUID) -> str | None:
    """The token for one letter, None when the invitation is no longer pending. Only its hash is stored.

    It is computed from the secret key and the id, so a letter that leaves twice carries the same working link twice.
    """
    token = salted_hmac(TOKEN_PURPOSE, str(invitation_id), algorithm="sha256").hexdigest()
    stored = Invitation.objects.pending().filter(pk=invitation_id).update(token_hash=_hash(token))
    return token if stored else None


def expire_lapsed() -> int:
    """Write down for every invitation whose time ran out that it has expired. Their number."""
    return Invitation.objects.lapsed().expire()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
