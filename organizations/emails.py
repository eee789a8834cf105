"""The letters that organizations send."""

from typing import Any
from uuid import UUID

from django.conf import settings

from accounts import letters
from accounts.models import Letter
from organizations.models import Invitation
from organizations.services.invitations import mint_token


@letters.composer("invitation")
def compose_invitation(letter: Letter) -> dict[str, Any] | None:
    """Names, role, last day and the link with its token; None when the invitation was cancelled, used or lapsed."""
    key = UUID(letter.context["invitation"])
    token = mint_token(key)
    if token is None:
        return None
    invitation = Invitation.objects.select_related("organization", "invited_by").get(pk=key)
    return {
        "link": f"{settings.APP_URL}/invitations/{token}",
        "organization": invitation.organization.name,
        "inviter": invitation.invited_by.name if invitation.invited_by else "Somebody",
        "role": invitation.role,
        "expires_at": invitation.expires_at,
    }
