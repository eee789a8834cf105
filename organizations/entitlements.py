"""What an organization's plan allows: features, and room for members, repositories and further organizations.

Room is checked under a lock on the row that owns the number, so a check holds until its transaction ends. The plans are
reached through the organization's own field, since they live with billing, above this app.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from accounts.models import User
from config.errors import NotAllowed, NotFound
from organizations.locks import lock_organization, lock_user
from organizations.models import Organization, Role

if TYPE_CHECKING:
    from django.db.models import QuerySet

UNLIMITED = -1


class Feature(StrEnum):
    """What a plan can include: the name on the wire here, the plan's column is the lower-case name."""

    CLI_SCAN = "cliScan"
    DASHBOARD = "dashboard"
    BADGE = "badge"
    PR_GATE = "prGate"
    ARCHITECTURE_GRAPH = "architectureGraph"
    AI_CROSS_FILE = "aiCrossFile"
    POLICY_EDITOR = "policyEditor"
    RULE_PACKS = "rulePacks"

    @property
    def column(self) -> str:
        """The plan's field that says whether it is included."""
        return self.name.lower()


class UnknownFeature(NotFound):
    message = "There is no such feature"


class FeatureNotInPlan(NotAllowed):
    """The message names the feature and the cheapest plan that has it."""


class NoRoom(NotAllowed):
    """A limit of the plan is reached; the message names the limit and the cheapest plan with more room."""


def allows(organization: Organization, feature: str) -> bool:
    """Whether the plan includes a feature, by its name on the wire; UnknownFeature for any other name."""
    return bool(getattr(organization.plan, _feature(feature).column))


def require_feature(organization: Organization, feature: str) -> None:
    """FeatureNotInPlan unless the plan includes the feature."""
    if allows(organization, feature):
        return
    better = _plans().filter(**{_feature(feature).column: True}).first()
    offer = f"; the plan {better.name} has it" if better else ""
    raise FeatureNotInPlan(f"The plan {organization.plan.name} does not include {feature}{offer}")


def require_room_for_invitation(organization: Organization) -> None:
    """NoRoom when members and pending invitations fill maxMembers. Locks the organization."""
    organization = lock_organization(organization)
    taken = organization.memberships.count() + organization.invitations.pending().count()
    _require_room(organization.plan, "max_members", taken)


def require_room_for_member(organization: Organization) -> None:
    """NoRoom when the members alone fill maxMembers. Locks the organization."""
    organization = lock_organization(organization)
    _require_room(organization.plan, "max_members", organization.memberships.count())


def require_room_for_repository(organization: Organization) -> None:
    """NoRoom when the connected repositories fill maxRepos. Locks the organization."""
    organization = lock_organization(organization)
    _require_room(organization.plan, "max_repos", organization.repositories.count())


def require_room_for_organization(user: User) -> None:
    """NoRoom when the user owns as many organizations as the best plan among them allows. Locks the user.

    Who owns none may have as many as the free plan allows.
    """
    lock_user(user)
    owned = Organization.objects.filter(memberships__user=user, memberships__role=Role.OWNER).select_related("plan")
    plans = [organization.plan for organization in owned]
    best = max(plans or [_free_plan()], key=lambda plan: _reach(plan.max_orgs))
    _require_room(best, "max_orgs", len(plans))


def offer_of_credits(organization: Organization) -> str:
    """`; the plan Team grants more`, to end a refusal with; nothing where no plan does."""
    better = _plan_above("ai_credits_per_month", organization.plan.ai_credits_per_month)
    return f"; the plan {better.name} grants more" if better else ""


# What a limit counts: one of them, several of them.
NOUNS = {
    "max_members": ("member", "members"),
    "max_repos": ("repository", "repositories"),
    "max_orgs": ("organization", "organizations"),
}


def _require_room(plan: Any, column: str, taken: int) -> None:
    limit = getattr(plan, column)
    if taken < _reach(limit):
        return
    better = _plan_above(column, taken)
    offer = f"; the plan {better.name} allows more" if better else ""
    one, several = NOUNS[column]
    raise NoRoom(f"The plan {plan.name} is full: it allows {limit} {one if limit == 1 else several}{offer}")


def _plan_above(column: str, number: int) -> Any:
    """The cheapest plan whose limit is above a number; None when no plan has more."""
    return _plans().filter(Q(**{column: UNLIMITED}) | Q(**{f"{column}__gt": number})).first()


def _reach(limit: int) -> float:
    return float("inf") if limit == UNLIMITED else limit


def _feature(name: str) -> Feature:
    try:
        return Feature(name)
    except ValueError as error:
        raise UnknownFeature from error


def _plans() -> "QuerySet[Any]":
    """All plans, the cheapest first."""
    plans: Any = Organization._meta.get_field("plan").related_model
    return plans._default_manager.order_by("price_monthly", "rank")


def _free_plan() -> Any:
    field: Any = Organization._meta.get_field("plan")
    return _plans().get(pk=field.get_default())
