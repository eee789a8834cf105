"""A scan that would find what the last one found: the commit, the policy, the day and the code are the same."""

import hashlib
from datetime import date

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.engine.policy_file import to_mapping
from analysis.models import Repository, Run, ScanInputs, ScanReport
from analysis.services.policies import in_force, own_policy_as_last_read
from analysis.services.runs import lock_my_run
from analysis.source_tree import PolicyInForce
from config.release import release


def judged_from(*, commit_sha: str, policy: PolicyInForce, day: date) -> str:
    """A digest of all that a report follows from: equal ones stand for equal reports."""
    document = orjson.dumps([commit_sha, to_mapping(policy.policy), policy.source, day, release()])
    return hashlib.sha256(document).hexdigest()


def standing_report(repository: Repository, *, commit_sha: str, day: date) -> ScanReport | None:
    """The present report, when a scan of this commit would make it again; None when something has changed since, and
    when the clone lacked something, which may be there now. Up to four queries."""
    report = repository.current_report
    if report is None or report.commit_sha != commit_sha or _lacked_something(repository):
        return None
    policy = in_force(repository, own_policy_as_last_read(repository))
    digest = judged_from(commit_sha=commit_sha, policy=policy, day=day)
    return report if report.judged_from == digest else None


def _lacked_something(repository: Repository) -> bool:
    """Whether the last scan noted files that are missing or a history that is cut."""
    notes = ScanInputs.objects.filter(repository=repository).values_list("notes", flat=True).first()
    return not notes or bool(notes[0])  # of the tree; behind them stand those of the policy


@transaction.atomic
def confirm(run: Run, report: ScanReport) -> None:
    """Let the present report stand as what this run found. LeaseLost when the run is no longer ours."""
    run = lock_my_run(run)
    now = timezone.now()
    Repository.objects.filter(pk=run.repository_id).update(last_scan_at=now, updated_at=now)
    Run.objects.filter(pk=run.pk).update(
        commit_sha=report.commit_sha,
        notes=report.run.notes,
        files_analyzed=report.files_analyzed,
        files_from_cache=report.files_analyzed,
        lease_until=now + settings.RUN_LEASE,
    )
