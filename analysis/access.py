"""The one way from an id to a repository, a run or a violation: through the caller's organizations."""

from typing import Any

from django.db.models import F, PositiveIntegerField, QuerySet

from accounts.models import User
from analysis.models import PullRequest, Repository, Run, Violation
from config.api.ids import key_of
from config.compiled import CompiledQuery, Key
from config.errors import NotFound
from organizations.access import require_role
from organizations.models import Role


def _with_role_of_caller() -> QuerySet[Any]:
    rows = Repository.objects.filter(pk=Key("repository"), organization__memberships__user=Key("user"))
    return rows.annotate(role_of_caller=F("organization__memberships__role"))


_REPOSITORY = CompiledQuery(_with_role_of_caller)
_REPOSITORY_WITH_PLAN = CompiledQuery(lambda: _with_role_of_caller().select_related("organization__plan"))
_RUN = CompiledQuery(
    lambda: Run.objects.with_number_of_pull_request().filter(pk=Key("run"), organization__memberships__user=Key("user"))
)

_VIOLATION = CompiledQuery(lambda: Violation.objects.filter(pk=Key("violation"), repository=Key("repository")))
_PULL_REQUEST = CompiledQuery(
    lambda: PullRequest.objects.filter(repository=Key("repository"), number=Key("number", PositiveIntegerField()))
)


class UnknownRepository(NotFound):
    message = "There is no such repository among yours"


class UnknownRun(NotFound):
    message = "There is no such run among yours"


class UnknownViolation(NotFound):
    message = "There is no such violation in this repository"


class UnknownPullRequest(NotFound):
    message = "There is no such pull request in this repository"


def repository_for(
    user: User, repository_id: str, *, at_least: Role = Role.MEMBER, with_plan: bool = False
) -> Repository:
    """The repository, for whoever asks about the plan with its organization: NotFound for strangers, NotAllowed for a
    role too low. One query."""
    query = _REPOSITORY_WITH_PLAN if with_plan else _REPOSITORY
    repository = query.first(repository=key_of(repository_id, UnknownRepository), user=user.pk)
    if repository is None:
        raise UnknownRepository
    require_role(Role(repository.role_of_caller), at_least)
    return repository


def run_for(user: User, run_id: str) -> Run:
    """The run with the number of its pull request, for members of its organization."""
    run = _RUN.first(run=key_of(run_id, UnknownRun), user=user.pk)
    if run is None:
        raise UnknownRun
    return run


def violation_in(repository: Repository, violation_id: str) -> Violation:
    """A violation of a repository that the caller was let into."""
    violation = _VIOLATION.first(violation=key_of(violation_id, UnknownViolation), repository=repository.pk)
    if violation is None:
        raise UnknownViolation
    return violation


def pull_request_in(repository: Repository, number: str) -> PullRequest:
    """A pull request, by its number at the code host, of a repository that the caller was let into."""
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    pull_request = _PULL_REQUEST.first(repository=repository.pk, number=int(number)) if is_number else None
    if pull_request is None:
        raise UnknownPullRequest
    return pull_request
