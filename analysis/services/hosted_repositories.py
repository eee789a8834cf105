"""Which connected repositories an event of a code host speaks of, and what it says of them.

Facts are taken in the order in which they happened at the host: an older one never overwrites a newer one.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from analysis.codehosts.facts import HostedRepository, RepositoryFact
from analysis.codehosts.tokens import is_lent_to
from analysis.models import Installation, Platform, Repository, has_name
from analysis.services.repositories import disconnect_repository
from analysis.services.runs import request_run

NAME_CHARACTERS = 200
BRANCH_CHARACTERS = 255


@transaction.atomic
def apply_repository(fact: RepositoryFact) -> None:
    """Follow another name, owner or default branch; give up a repository that is gone."""
    for repository in followed(fact.repository, fact.occurred_at):
        if fact.is_deleted:
            give_up(repository)


def followed(hosted: HostedRepository, occurred_at: datetime) -> list[Repository]:
    """The connected repositories that may hear of an event, locked, with what it says of their names taken over.

    A repository is known by the host's id, and by its name until an event has told the id. Knowing the name of a
    private one gives no right to hear of it: that is its installation's organization's alone, at code host 2 that of
    those whom the token is lent to.
    """
    known = Q(external_id=hosted.external_id) | (Q(external_id="") & has_name(hosted.full_name))
    rows = Repository.objects.filter(known, platform=hosted.platform).select_related("organization__plan")
    heard = []
    for repository in rows.select_for_update(of=("self",)).order_by("pk"):
        if _may_hear(repository, hosted):
            _take_over(repository, hosted, occurred_at)
            heard.append(repository)
        elif repository.installation_id:
            # It was public when it was connected by name; now its code is read by its own organization only.
            Repository.objects.filter(pk=repository.pk).update(installation_id="")
    return heard


def give_up(repository: Repository) -> None:
    """The App may no longer read a repository: it goes if the installation brought it, else it is as before."""
    if repository.came_by_installation:
        disconnect_repository(repository=repository)
    else:
        Repository.objects.filter(pk=repository.pk).update(installation_id="")


def _may_hear(repository: Repository, hosted: HostedRepository) -> bool:
    if not hosted.is_private:
        return True
    if hosted.platform == Platform.CODEHOST2:
        return is_lent_to(repository.organization_id)
    return Installation.objects.filter(
        platform=hosted.platform, external_id=hosted.installation_id, organization=repository.organization_id
    ).exists()


def _take_over(repository: Repository, hosted: HostedRepository, occurred_at: datetime) -> None:
    if repository.hosted_at and occurred_at < repository.hosted_at:
        return
    branch_before = repository.default_branch
    repository.hosted_at = occurred_at
    repository.external_id = hosted.external_id
    repository.installation_id = hosted.installation_id or repository.installation_id
    if hosted.default_branch and not repository.is_branch_chosen:
        repository.default_branch = hosted.default_branch[:BRANCH_CHARACTERS]
    if _is_renamed(repository, hosted):
        repository.clone_url = _moved(repository.clone_url, repository.full_name, hosted.full_name)
        repository.full_name = hosted.full_name
    repository.save(
        update_fields=[
            "hosted_at",
            "external_id",
            "installation_id",
            "default_branch",
            "full_name",
            "clone_url",
            "updated_at",
        ]
    )
    if branch_before and repository.default_branch != branch_before:
        request_run(repository=repository)


def _is_renamed(repository: Repository, hosted: HostedRepository) -> bool:
    if repository.full_name == hosted.full_name or len(hosted.full_name) > NAME_CHARACTERS:
        return False
    others = Repository.objects.filter(organization=repository.organization_id, platform=hosted.platform)
    return not others.named(hosted.full_name).exclude(pk=repository.pk).exists()


def _moved(clone_url: str, old_name: str, new_name: str) -> str:
    """The same address under another name; an address that does not end in the name stays."""
    for ending in (".git", ""):
        if clone_url.endswith(f"/{old_name}{ending}"):
            return f"{clone_url.removesuffix(f'{old_name}{ending}')}{new_name}{ending}"
    return clone_url
