"""Makes the code hosts show what was announced (`analysis.services.publishing`), until it has arrived.

A row is claimed by a lease, the calls are made outside any transaction, and what came of them is recorded under the
lease. A worker that dies leaves a lease that ends, and the next one repeats the calls: each of them leads to the same
state however often it is made. A row that found new words meanwhile is sent again.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db.models import F
from django.utils import timezone

from analysis.codehosts.base import CodeHost
from analysis.codehosts.calls import HostFailed, HostRefused, NotPermitted, NotThere, TooManyCalls
from analysis.codehosts.codehost1 import CodeHost1
from analysis.codehosts.codehost2 import CodeHost2
from analysis.codehosts.comments import quieten_comment, show_comment
from analysis.codehosts.words import Annotation, CheckRun, Status, with_advice
from analysis.models import Platform, Publication, PublicationKind, PublicationState, Repository
from config.background import nudge

HOSTS: dict[Platform, CodeHost] = {Platform.CODEHOST1: CodeHost1(), Platform.CODEHOST2: CodeHost2()}
LEASE = timedelta(seconds=100)  # longer than a task may take (90 s), and two minutes with the sweeper's ten seconds
FIRST_PAUSE, PAUSE_GROWTH, LONGEST_PAUSE = timedelta(seconds=10), 3, timedelta(minutes=30)
GROWTHS = 5  # from the first pause to more than the longest
MOST_REFUSALS = 5
GIVEN_UP_AFTER = timedelta(hours=24)
NUDGES_PER_SWEEP = 500
ANNOTATIONS_PER_CALL = 50  # as many as code host 1 takes

log = structlog.get_logger("publications")


def send(publication_id: UUID) -> None:
    """Send one row if it is due and nobody else is sending it. Safe to call any number of times."""
    row = _claim(publication_id, timezone.now())
    if row is None:
        return
    try:
        external_id = _show(row)
    except HostFailed as failure:
        _record_failure(row, failure)
    except Exception as error:
        # An answer of a shape that nobody thought of counts as a failure too: else the row would be claimed for ever.
        log.warning("publication failed", publication=str(row.pk), kind=row.kind, exc_info=True)
        _record_failure(row, HostFailed(f"The code host's answer made no sense ({type(error).__name__})"))
    else:
        _record(row, state=PublicationState.SENT, external_id=external_id, sent_at=timezone.now(), error="")
        _offer_to_model(row)


def sweep(*, now: datetime) -> None:
    """Hint at what is due: hints that were lost, pauses that are over, claims whose worker was lost."""
    for publication_id in (
        Publication.objects.due(now).order_by("next_at").values_list("pk", flat=True)[:NUDGES_PER_SWEEP]
    ):
        hint(publication_id)


def hint(publication_id: UUID) -> None:
    """Tell a worker after the commit. It may be lost: the sweeper looks too."""
    nudge("analysis.tasks.send_publication", str(publication_id))


def send_again(publication_id: UUID) -> bool:
    """On the word of a member of staff: send a row from the first attempt, also one that was sent or given up. False
    while it is being sent."""
    now = timezone.now()
    changed = Publication.objects.filter(pk=publication_id, lease=None).update(
        state=PublicationState.WAITING, attempts=0, next_at=now, announced_at=now, error="", updated_at=now
    )
    if changed:
        hint(publication_id)
    return bool(changed)


def _claim(publication_id: UUID, now: datetime) -> Publication | None:
    rows = Publication.objects.select_related("repository", "pull_request__repository")
    row = rows.due(now).filter(pk=publication_id).first()
    if row is None:
        return None
    if (rests_until := _rests_until(row.place.repository)) and rests_until > now:
        Publication.objects.filter(pk=row.pk, lease=row.lease).update(lease=None, next_at=rests_until)
        return None
    lease, is_begun = uuid.uuid4(), row.is_begun or not row.payload.get("quiet")
    claimed = Publication.objects.filter(
        pk=row.pk, lease=row.lease, revision=row.revision, state=PublicationState.WAITING
    ).update(lease=lease, next_at=now + LEASE, attempts=F("attempts") + 1, is_begun=is_begun, updated_at=now)
    if not claimed:
        return None
    row.lease, row.attempts = lease, row.attempts + 1
    return row


def _show(row: Publication) -> str:
    if row.is_farewell and _is_left_to_others(row):
        return ""
    host = HOSTS[Platform(row.place.repository.platform)]
    match row.kind:
        case PublicationKind.STATUS:
            status = Status(row.payload["state"], row.payload["description"])
            host.set_status(row.place, row.sha, status, row.payload["url"])
            return ""
        case PublicationKind.COMMENT:
            return _show_comment(host, row)
        case _:
            return _show_check_run(row)


def _is_left_to_others(farewell: Publication) -> bool:
    """Whether the repository is connected again, or by others, and they have a word on the commit: then that holds,
    and is said again in case ours hid it."""
    repository = farewell.place.repository
    same = Repository.objects.named(repository.full_name).filter(platform=repository.platform)
    others = Publication.objects.filter(kind=PublicationKind.STATUS, sha=farewell.sha, repository__in=same)
    keys = list(others.values_list("pk", flat=True))
    for key in keys:
        send_again(key)
    return bool(keys)


def _show_comment(host: CodeHost, row: Publication) -> str:
    body = row.payload["body"]
    if row.payload["quiet"]:
        return quieten_comment(host, row.place, body, known_id=row.external_id, may_be_lost=row.is_begun)
    if advice := row.payload.get("advice"):
        body = with_advice(body, advice)
    return show_comment(host, row.place, body, known_id=row.external_id)


def _offer_to_model(row: Publication) -> None:
    """A plain comment stands: let a model say it in other words, if there is one."""
    is_plain = row.kind == PublicationKind.COMMENT and not row.payload["quiet"] and "advice" not in row.payload
    if settings.AI_BASE_URL and is_plain:
        nudge("analysis.tasks.enrich_comment", str(row.pk))


def _show_check_run(row: Publication) -> str:
    """Make the check run and fill it; after an attempt that was cut off, go on where it stopped."""
    host, reference = HOSTS[Platform.CODEHOST1], f"{row.pk}:{row.revision}"
    assert isinstance(host, CodeHost1)  # noqa: S101 - the other one has no check runs
    fields = {name: value for name, value in row.payload.items() if name != "url"}
    annotations = [Annotation(**each) for each in fields.pop("annotations")]
    check_run = CheckRun(**fields)
    found = host.find_check_run(row.place.repository, row.sha, reference) if row.attempts > 1 else None
    check_run_id, done = found or (
        host.add_check_run(row.place.repository, row.sha, check_run, url=row.payload["url"], reference=reference),
        0,
    )
    for start in range(done, len(annotations), ANNOTATIONS_PER_CALL):
        batch = annotations[start : start + ANNOTATIONS_PER_CALL]
        host.annotate(row.place.repository, check_run_id, check_run, batch)
    return check_run_id


def _record_failure(row: Publication, failure: HostFailed) -> None:
    now = timezone.now()
    if isinstance(failure, TooManyCalls):
        _rest(row.place.repository, failure.until)
    if row.kind == PublicationKind.CHECK_RUN and isinstance(failure, NotPermitted | NotThere):
        _record(row, state=PublicationState.REFUSED, error=str(failure))
    elif _is_hopeless(row, failure, now):
        log.warning("publication given up", publication=str(row.pk), kind=row.kind, reason=str(failure))
        _record(row, state=PublicationState.GIVEN_UP, error=str(failure))
    else:
        _put_off(row, until=_next_attempt(row, failure, now), error=str(failure))


def _is_hopeless(row: Publication, failure: HostFailed, now: datetime) -> bool:
    is_refused = isinstance(failure, HostRefused) and row.attempts >= MOST_REFUSALS
    return is_refused or now - row.announced_at >= GIVEN_UP_AFTER


def _next_attempt(row: Publication, failure: HostFailed, now: datetime) -> datetime:
    return failure.until if isinstance(failure, TooManyCalls) else now + pause_after(row.attempts)


def pause_after(attempts: int) -> timedelta:
    """How long a failed row waits: 10 s, 30 s, 90 s and so on, half an hour at most."""
    return min(FIRST_PAUSE * PAUSE_GROWTH ** min(attempts - 1, GROWTHS), LONGEST_PAUSE)


def _put_off(row: Publication, *, until: datetime, error: str) -> None:
    if not _mine(row).update(lease=None, next_at=until, error=error[:300], updated_at=timezone.now()):
        _release(row)


def _record(row: Publication, *, state: PublicationState, error: str, **changes: Any) -> None:
    """The end of the present words. Newer ones are sent at once."""
    if row.is_farewell:
        _mine(row).delete()
        return
    done = {"state": state, "lease": None, "next_at": None, "error": error[:300], "updated_at": timezone.now()}
    if not _mine(row).update(**done, **changes):
        _release(row, **{name: value for name, value in changes.items() if name == "external_id"})


def _release(row: Publication, **changes: Any) -> None:
    """Other words came while the old ones were sent; what we learnt of the place still holds."""
    if Publication.objects.filter(pk=row.pk, lease=row.lease).update(lease=None, next_at=timezone.now(), **changes):
        hint(row.pk)


def _mine(row: Publication) -> Any:
    return Publication.objects.filter(pk=row.pk, lease=row.lease, revision=row.revision)


def _rest(repository: Repository, until: datetime) -> None:
    """Leave the host alone for everybody who shares this limit."""
    seconds = max(1, (until - timezone.now()).total_seconds())
    cache.set(_resting(repository), until, timeout=seconds)


def _rests_until(repository: Repository) -> datetime | None:
    until: datetime | None = cache.get(_resting(repository))
    return until


def _resting(repository: Repository) -> str:
    return f"code-host-rests:{repository.platform}:{repository.installation_id}"
