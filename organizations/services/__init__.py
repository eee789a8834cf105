"""What can be done with organizations, their members and invitations."""

from organizations.services.invitations import accept_invitation, cancel_invitation, expire_lapsed, invite_member
from organizations.services.members import change_role, leave_organization, remove_member
from organizations.services.organizations import (
    create_organization,
    delete_organization,
    transfer_ownership,
    update_organization,
)

__all__ = [
    "accept_invitation",
    "cancel_invitation",
    "change_role",
    "create_organization",
    "delete_organization",
    "expire_lapsed",
    "invite_member",
    "leave_organization",
    "remove_member",
    "transfer_ownership",
    "update_organization",
]
