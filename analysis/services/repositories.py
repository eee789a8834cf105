"""Connecting and disconnecting repositories."""

from threading import Lock

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts.models import User
from analysis.codehosts.facts import HostedRepository
from analysis.git.address import check_address
from analysis.git.errors import AddressRefused, CloneUnreachable
from analysis.models import Installation, Platform, Repository, has_name
from analysis.services.git_limits import git_limits
from analysis.services.publishing import take_leave
from analysis.services.runs import request_run
from analysis.services.workspaces import ask_all_to_keep
from config.errors import Conflict, InvalidInput, Unavailable
from config.retries import deletes_with_retries
from config.turns import turn
from organizations.audit import record
from organizations.entitlements import require_room_for_repository
from organizations.models import Organization

# A name server that never answers holds whoever asks it for many seconds: not every thread of the web server shall ask.
LOOKING_UP = Lock()
WAIT_SECONDS = 1.0


class AddressesBusy(Unavailable):
    message = "Another clone address is being checked; try again in a few seconds"


class AlreadyConnected(Conflict):
    message = "This repository is already connected to the organization"


def connect_repository(
    *,
    organization: Organization,
    full_name: str,
    platform: Platform,
    clone_url: str = "",
    default_branch: str = "",
    connected_by: User | None = None,
) -> Repository:
    """Connect a repository and queue its first scan. Without a `default_branch` scans follow the remote's.

    InvalidInput for a clone address that may not be used, NotAllowed at the plan's maxRepos, AlreadyConnected.
    """
    clone_url = clone_url or default_clone_url(platform, full_name)
    refuse_address(clone_url)
    repository = Repository(
        organization=organization,
        full_name=full_name,
        platform=platform,
        clone_url=clone_url,
        default_branch=default_branch,
        is_branch_chosen=bool(default_branch),
    )
    _go_by_installation(repository)
    return _connected(repository, connected_by)


@transaction.atomic
def connect_installed_repository(*, organization: Organization, hosted: HostedRepository) -> Repository:
    """Connect a repository that an installation of the organization brings; one that is there goes by it from now on.

    NotAllowed at the plan's maxRepos. The address is the host's own; each fetch checks it before it connects.
    """
    known = Q(external_id=hosted.external_id) | (Q(external_id="") & has_name(hosted.full_name))
    repository = Repository.objects.filter(known, organization=organization, platform=hosted.platform).first()
    if repository:
        repository.external_id, repository.installation_id = hosted.external_id, hosted.installation_id
        repository.save(update_fields=["external_id", "installation_id"])
        return repository
    return _connected(
        Repository(
            organization=organization,
            full_name=hosted.full_name,
            platform=hosted.platform,
            clone_url=hosted.clone_url or default_clone_url(hosted.platform, hosted.full_name),
            default_branch=hosted.default_branch,
            external_id=hosted.external_id,
            installation_id=hosted.installation_id,
            came_by_installation=True,
        )
    )


@transaction.atomic
def _connected(repository: Repository, connected_by: User | None = None) -> Repository:
    organization, full_name = repository.organization, repository.full_name
    require_room_for_repository(organization)
    try:
        with transaction.atomic():
            repository.save(force_insert=True)
    except IntegrityError as error:
        raise AlreadyConnected from error
    record(organization=organization, actor=connected_by, action="repository.connected", subject=full_name)
    request_run(repository=repository, requested_by=connected_by)
    repository.refresh_from_db(fields=["first_run"])
    return repository


def _go_by_installation(repository: Repository) -> None:
    """Where an installation of the organization holds the repository, its events and rights count from now on."""
    name = repository.full_name.lower()
    for installation in Installation.objects.filter(
        organization=repository.organization, platform=repository.platform, is_deleted=False
    ):
        for external_id, held in installation.repositories.items():
            if held["isHeld"] and held["fullName"].lower() == name:
                repository.external_id, repository.installation_id = external_id, installation.external_id


@deletes_with_retries
def disconnect_repository(*, repository: Repository, disconnected_by: User | None = None) -> None:
    """Delete a repository with all its results; its clone goes after the commit."""
    record(
        organization=repository.organization,
        actor=disconnected_by,
        action="repository.disconnected",
        subject=repository.full_name,
    )
    row = Repository.objects.filter(pk=repository.pk)
    take_leave(row)
    row.delete()  # the instance's own delete forgets the key for a second try
    ask_all_to_keep()


def default_clone_url(platform: Platform, full_name: str) -> str:
    """The address of a repository on one of the two code hosts; Unavailable when that host is not set up."""
    host = {Platform.CODEHOST1: settings.CODEHOST1_URL, Platform.CODEHOST2: settings.CODEHOST2_URL}.get(platform, "")
    if platform == Platform.GIT:
        raise InvalidInput("cloneUrl: is needed for a repository outside the two code hosts")
    if not host:
        raise Unavailable(f"{platform} is not set up here; give a cloneUrl")
    return f"{host.rstrip('/')}/{full_name}.git"


def refuse_address(clone_url: str) -> None:
    """InvalidInput for a scheme or host that may not be cloned from, and for a host that nobody knows; AddressesBusy
    while the name of another one is looked up."""
    try:
        with turn(LOOKING_UP, busy=AddressesBusy, wait_seconds=WAIT_SECONDS):
            check_address(clone_url, git_limits())
    except (AddressRefused, CloneUnreachable) as refusal:
        raise InvalidInput(f"cloneUrl: {refusal}") from refusal
