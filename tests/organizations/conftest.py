"""What the tests of organizations share beyond the cast."""

from typing import Any

import pytest

from accounts.models import User
from organizations.models import Invitation
from organizations.services import invite_member
from organizations.services.invitations import mint_token
from tests import factories


@pytest.fixture
def other(organization: Any) -> User:
    """A further member, on whom things are done."""
    person = factories.user("otto@example.org", name="Otto Other")
    organization.memberships.create(user=person, role="member")
    return person


@pytest.fixture
def invitation(organization: Any, admin: User) -> Invitation:
    """A pending invitation for dana@example.org."""
    return invite_member(organization=organization, email="dana@example.org", actor=admin)


@pytest.fixture
def token(invitation: Invitation) -> str:
    """The token that dana@example.org finds in the letter."""
    minted = mint_token(invitation.pk)
    assert minted
    return minted
