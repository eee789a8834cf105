"""The bare clones on this machine."""

import uuid
from pathlib import Path

from django.conf import settings

from analysis.codehosts.calls import HostFailed
from analysis.codehosts.tokens import clone_authorization
from analysis.git.cache import remove_unused
from analysis.git.errors import CloneUnreachable
from analysis.models import Installation, Platform, Repository


def clones_folder() -> Path:
    """Where this machine keeps its clones, one folder a repository."""
    folder = Path(settings.WORKSPACE_DIR) / "clones"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def credentials(repository: Repository) -> str | None:
    """The header line that lets git read the repository at its host; None where we have none.

    Those of an App's installation are lent to its own organization alone: an address is quickly typed.
    CloneUnreachable when the host gives us none now.
    """
    if repository.platform == Platform.CODEHOST1 and not _is_its_own(repository):
        return None
    try:
        return clone_authorization(repository)
    except HostFailed as failure:
        raise CloneUnreachable("The code host gave us no access now; try again later.") from failure


def _is_its_own(repository: Repository) -> bool:
    return Installation.objects.filter(
        platform=repository.platform,
        external_id=repository.installation_id,
        organization=repository.organization_id,
        is_deleted=False,
    ).exists()


def remove_orphans() -> int:
    """Delete clones whose repository was disconnected; safe to repeat. Returns how many went."""
    folders = {folder.stem: folder for folder in _folders()}
    known = {str(pk) for pk in Repository.objects.filter(pk__in=folders).values_list("pk", flat=True)}
    orphans = [folder for name, folder in folders.items() if name not in known]
    for folder in orphans:
        remove_unused(folder)
    return len(orphans)


def cloned_repositories() -> list[uuid.UUID]:
    """The ids of the repositories that this machine holds a clone of."""
    known = Repository.objects.filter(pk__in=[folder.stem for folder in _folders()])
    return list(known.values_list("pk", flat=True))


def _folders() -> list[Path]:
    return [folder for folder in clones_folder().iterdir() if _is_id(folder.stem)]


def _is_id(name: str) -> bool:
    try:
        uuid.UUID(name)
    except ValueError:
        return False
    return True
