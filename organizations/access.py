"""The one way from an id to an organization and what is in it: through the caller's memberships.

Views look nothing up in another way; tests/organizations/test_the_only_door.py proves it for every app.
"""

from accounts.models import User
from config.api.ids import key_of
from config.compiled import CompiledQuery, Key
from config.errors import NotAllowed, NotFound
from organizations.models import Invitation, Membership, Organization, Role

_MEMBERSHIP = CompiledQuery(
    lambda: Membership.objects.select_related("organization__plan").filter(
        user=Key("user"), organization=Key("organization")
    )
)


class UnknownOrganization(NotFound):
    message = "There is no such organization among yours"


class UnknownMember(NotFound):
    message = "There is no such member in this organization"


class UnknownInvitation(NotFound):
    message = "There is no such pending invitation in this organization"


def organization_for(user: User, organization_id: str, *, at_least: Role = Role.MEMBER) -> Organization:
    """The organization, if the caller's role reaches: NotFound for strangers, NotAllowed for a role too low."""
    return membership_for(user, organization_id, at_least=at_least).organization


def membership_for(user: User, organization_id: str, *, at_least: Role = Role.MEMBER) -> Membership:
    """The caller's own membership with its organization and plan. One query."""
    membership = _MEMBERSHIP.first(user=user.pk, organization=key_of(organization_id, UnknownOrganization))
    if membership is None:
        raise UnknownOrganization
    require_role(Role(membership.role), at_least)
    return membership


def require_role(role: Role, at_least: Role) -> None:
    """NotAllowed when a role is below the one that is needed."""
    if role.rank < at_least.rank:
        above = "" if at_least is Role.OWNER else " or above"
        raise NotAllowed(f"This needs the role {at_least}{above} in the organization")


def member_in(organization: Organization, user_id: str) -> Membership:
    """Somebody's membership in an organization that the caller was let into. One query, the user included."""
    members = organization.memberships.select_related("user", "organization")
    membership = members.filter(user_id=key_of(user_id, UnknownMember)).first()
    if membership is None:
        raise UnknownMember
    return membership


def invitation_in(organization: Organization, invitation_id: str) -> Invitation:
    """A pending invitation of an organization that the caller was let into."""
    invitations = organization.invitations.select_related("organization").pending()
    invitation = invitations.filter(pk=key_of(invitation_id, UnknownInvitation)).first()
    if invitation is None:
        raise UnknownInvitation
    return invitation
