"""The bare clones on this machine."""

import re
import uuid
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from analysis.codehosts.calls import HostFailed
from analysis.codehosts.tokens import clone_authorization
from analysis.git.cache import remove_unused
from analysis.git.errors import CloneUnreachable, GitTimedOut
from analysis.git.folder import locked, remove_doomed
from analysis.models import Installation, Platform, Repository

_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OF_A_CLONE = re.compile(rf"\.?({_ID})\.git(?:\.use|\.lock)?")


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
    """Delete clones whose repository was disconnected, and what lies beside; safe to repeat. Returns how many went.

    Of a repository that could not be cloned only that is there. What a fetch holds stays until the next time.
    """
    remove_doomed(clones_folder())
    names = {found[1] for entry in clones_folder().iterdir() if (found := _OF_A_CLONE.fullmatch(entry.name))}
    known = {str(pk) for pk in Repository.objects.filter(pk__in=names).values_list("pk", flat=True)}
    orphans = names - known
    for name in orphans:
        folder = clones_folder() / f"{name}.git"
        with suppress(GitTimedOut), locked(folder, deadline=0):
            remove_unused(folder)
    return len(orphans)


def cloned_repositories() -> list[uuid.UUID]:
    """The ids of the repositories that this machine holds a clone of."""
    names = [folder.stem for folder in clones_folder().iterdir() if re.fullmatch(_ID, folder.stem)]
    return list(Repository.objects.filter(pk__in=names).values_list("pk", flat=True))
