"""A change of an organization that breaks halfway leaves nothing of itself."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Letter, User
from organizations import services
from organizations.models import AuditEntry, Farewell, Invitation, Membership, Organization, Role

pytestmark = pytest.mark.django_db

AUDITED = 'INTO "organizations_auditentry"'


def everything() -> list[Any]:
    models = (Organization, Membership, Invitation, AuditEntry, Letter, Farewell)
    return [list(model.objects.order_by("pk").values()) for model in models]


@pytest.fixture
def changes(organization: Any, invitation: Invitation, token: str, owner: User, admin: User, stranger: User) -> Any:
    """Every service by its name, ready to be called."""

    def member(user: User) -> Membership:
        return organization.memberships.get(user=user)

    common = {"organization": organization, "actor": admin}
    return {
        "create": lambda: services.create_organization(owner=stranger, name="Acme", slug="acme"),
        "update": lambda: services.update_organization(**common, name="Renamed"),
        "invite": lambda: services.invite_member(**common, email="eva@example.org"),
        "cancel": lambda: services.cancel_invitation(invitation=invitation, actor=admin),
        "accept": lambda: services.accept_invitation(token=token, user=stranger),
        "change role": lambda: services.change_role(member=member(admin), role=Role.MEMBER, actor=owner),
        "remove": lambda: services.remove_member(member=member(admin), actor=owner),
        "leave": lambda: services.leave_organization(member=member(admin)),
        "transfer": lambda: services.transfer_ownership(heir=member(admin), actor=owner),
        "delete": lambda: services.delete_organization(organization=organization, actor=owner),
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("create", AUDITED),
        ("update", AUDITED),
        ("invite", AUDITED),
        ("cancel", AUDITED),
        ("accept", AUDITED),
        ("change role", AUDITED),
        ("remove", AUDITED),
        ("leave", AUDITED),
        ("transfer", AUDITED),
        ("delete", 'DELETE FROM "organizations_organization"'),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_nothing_of_it_stays(changes: dict[str, Callable[[], Any]], just_before: Any, name: str, words: str) -> None:
    before = everything()

    def breaks() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError), just_before(words, breaks):
        changes[name]()

    assert everything() == before
