"""Machines that analyse: each has its own clones, says that it is there, and keeps them within their room.

Whatever decides stands in the database, so any worker can take any run. Who holds the clone only gets a head start.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from analysis.git import cache
from analysis.models import CloneCopy, Repository, Run, RunKind, Workspace
from analysis.services.clones import cloned_repositories, clones_folder, remove_orphans
from config.background import drop_queue, nudge

# A workspace that said nothing for so long gets no head start any more, and later is forgotten.
PRESENT, REMEMBERED = timedelta(minutes=3), timedelta(hours=1)
HEAD_START = timedelta(seconds=5)
MOST_HELPERS = 16
SCANS, PULL_REQUESTS = "scans", "pull_requests"  # the queues; each machine listens to one of its own beside each


def queue_of(kind: str) -> str:
    """The queue for runs of this kind."""
    return PULL_REQUESTS if kind == RunKind.PULL_REQUEST else SCANS


def address_of(run: Run, now: datetime) -> str:
    """The queue that reaches who should take this run: that of a machine which holds the clone, else everybody's."""
    holder = CloneCopy.objects.filter(repository=run.repository_id, workspace__seen_at__gte=now - PRESENT)
    found = holder.order_by("-workspace__seen_at").values_list("workspace", flat=True).first()
    return own_queue(queue_of(run.kind), found) if found else queue_of(run.kind)


def own_queue(queue: str, workspace: UUID) -> str:
    """The queue to which one machine alone listens."""
    return f"{queue}.{workspace}"


def left_to_others(now: datetime) -> Q:
    """The queued runs whose clone another machine holds and this one does not, as long as its head start lasts."""
    copies = CloneCopy.objects.filter(repository=OuterRef("repository"))
    here = copies.filter(workspace=settings.WORKSPACE_ID)
    elsewhere = copies.filter(workspace__seen_at__gte=now - PRESENT).exclude(workspace=settings.WORKSPACE_ID)
    return Q(lease=None, queued_at__gt=now - HEAD_START) & Exists(elsewhere) & ~Exists(here)


def note_clone(repository: Repository) -> None:
    """Remember that this machine holds a clone of the repository."""
    try:
        CloneCopy.objects.get_or_create(workspace_id=_here().pk, repository=repository)
    except IntegrityError:  # the repository was disconnected meanwhile
        return


def keep(*, now: datetime) -> None:
    """Say that this machine is there, delete clones that are nobody's or too many, tell which are left.

    Every minute on every machine; safe at any time.
    """
    Workspace.objects.update_or_create(pk=settings.WORKSPACE_ID, defaults={"seen_at": now})
    _forget(now)
    remove_orphans()
    cache.evict(clones_folder(), most_bytes=settings.CLONE_CACHE_BYTES)
    held = cloned_repositories()
    copies = CloneCopy.objects.filter(workspace=settings.WORKSPACE_ID)
    copies.exclude(repository_id__in=held).delete()
    rows = [CloneCopy(workspace_id=settings.WORKSPACE_ID, repository_id=each) for each in held]
    CloneCopy.objects.bulk_create(rows, ignore_conflicts=True)


def ask_all_to_keep() -> None:
    """Have every machine tidy up: after a repository has gone, and every minute."""
    for workspace in Workspace.objects.values_list("pk", flat=True):
        ask_to_keep(workspace)


def ask_to_keep(workspace: UUID) -> None:
    """Have one machine tidy up. Its workers for pull requests do that: they are never busy for long."""
    nudge("analysis.tasks.keep_workspace", queue=own_queue(PULL_REQUESTS, workspace))


def others_present(now: datetime) -> list[UUID]:
    """The other machines that could help with a scan."""
    others = Workspace.objects.filter(seen_at__gte=now - PRESENT).exclude(pk=settings.WORKSPACE_ID)
    return list(others.order_by("-seen_at").values_list("pk", flat=True)[:MOST_HELPERS])


def ask_others_to_help() -> None:
    """Tell the other machines that there is a share to take."""
    for workspace in others_present(timezone.now()):
        nudge("analysis.tasks.help_scans", queue=own_queue(SCANS, workspace))


def _forget(now: datetime) -> None:
    """Machines that are gone, with what was sent to them: their queues would stay in Redis for ever."""
    for gone in Workspace.objects.filter(seen_at__lt=now - REMEMBERED):
        if Workspace.objects.filter(pk=gone.pk, seen_at=gone.seen_at).delete()[0]:
            for queue in (SCANS, PULL_REQUESTS):
                drop_queue(own_queue(queue, gone.pk))


def _here() -> Workspace:
    return Workspace.objects.get_or_create(pk=settings.WORKSPACE_ID, defaults={"seen_at": timezone.now()})[0]
