"""The one way from an organization's id to the organization: through the caller's memberships."""

from accounts.models import User
from config.api.ids import key_of
from config.errors import NotAllowed, NotFound
from organizations.models import Membership, Organization, Role


class UnknownOrganization(NotFound):
    message = "There is no such organization among yours"


def organization_for(user: User, organization_id: str, *, at_least: Role = Role.MEMBER) -> Organization:
    """The organization, if the caller's role reaches: NotFound for strangers, NotAllowed for a role too low."""
    return membership_for(user, organization_id, at_least=at_least).organization


def membership_for(user: User, organization_id: str, *, at_least: Role = Role.MEMBER) -> Membership:
    """The caller's own membership with its organization and plan. One query."""
    membership = (
        Membership.objects.select_related("organization__plan")
        .filter(user=user, organization_id=key_of(organization_id))
        .first()
    )
    if membership is None:
        raise UnknownOrganization
    require_role(membership, at_least)
    return membership


def require_role(membership: Membership, at_least: Role) -> None:
    """NotAllowed when the membership's role is below the one that is needed."""
    if Role(membership.role).rank < at_least.rank:
        raise NotAllowed(f"This needs the role {at_least} or above in the organization")
