"""The bare clones on this machine."""

import uuid
from pathlib import Path

from django.conf import settings

from analysis.git.clone import remove_clone
from analysis.models import Repository


def clones_folder() -> Path:
    """Where this machine keeps its clones, one folder a repository."""
    folder = Path(settings.WORKSPACE_DIR) / "clones"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_orphans() -> int:
    """Delete clones whose repository was disconnected; safe to repeat. Returns how many went."""
    folders = {folder.stem: folder for folder in clones_folder().iterdir() if _is_id(folder.stem)}
    known = {str(pk) for pk in Repository.objects.filter(pk__in=folders).values_list("pk", flat=True)}
    orphans = [folder for name, folder in folders.items() if name not in known]
    for folder in orphans:
        remove_clone(folder)
    return len(orphans)


def _is_id(name: str) -> bool:
    try:
        uuid.UUID(name)
    except ValueError:
        return False
    return True
