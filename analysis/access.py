"""The one way from an id to a repository, a run or a violation: through the caller's organizations."""

from django.db.models import F

from accounts.models import User
from analysis.models import PullRequest, Repository, Run, Violation
from config.api.ids import key_of
from config.errors import NotFound
from organizations.access import require_role
from organizations.models import Role


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
    repositories = Repository.objects.select_related("organization__plan") if with_plan else Repository.objects
    rows = repositories.filter(organization__memberships__user=user)
    try:
        repository = rows.annotate(role_of_caller=F("organization__memberships__role")).get(
            pk=key_of(repository_id, UnknownRepository)
        )
    except Repository.DoesNotExist as error:
        raise UnknownRepository from error
    require_role(Role(repository.role_of_caller), at_least)
    return repository


def run_for(user: User, run_id: str) -> Run:
    """The run with the number of its pull request, for members of its organization."""
    runs = Run.objects.with_number_of_pull_request()
    run = runs.filter(pk=key_of(run_id, UnknownRun), organization__memberships__user=user).first()
    if run is None:
        raise UnknownRun
    return run


def violation_in(repository: Repository, violation_id: str) -> Violation:
    """A violation of a repository that the caller was let into."""
    violation = repository.violations.filter(pk=key_of(violation_id, UnknownViolation)).first()
    if violation is None:
        raise UnknownViolation
    return violation


def pull_request_in(repository: Repository, number: str) -> PullRequest:
    """A pull request, by its number at the code host, of a repository that the caller was let into."""
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    pull_request = repository.pull_requests.filter(number=number).first() if is_number else None
    if pull_request is None:
        raise UnknownPullRequest
    return pull_request
