"""A scan that would find what the last one found: the commit, the policy, the day and the code are the same."""

import hashlib
from datetime import date

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.engine.policy_file import to_mapping
from analysis.git.tree import list_tree
from analysis.models import Repository, Run, ScanInputs, ScanReport
from analysis.services.git_limits import git_limits
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
    when the clone lacked what is there now. Up to four queries."""
    report = repository.current_report
    if report is None or report.commit_sha != commit_sha or _was_incomplete(repository, commit_sha):
        return None
    policy = in_force(repository, own_policy_as_last_read(repository))
    digest = judged_from(commit_sha=commit_sha, policy=policy, day=day)
    return report if report.judged_from == digest else None


def _was_incomplete(repository: Repository, commit_sha: str) -> bool:
    """Whether the last scan lacked files that may be there now, or a part of the history. Files that are too large are
    never there: what lacks as many as before has the others too."""
    notes = ScanInputs.objects.filter(repository=repository).values_list("notes", flat=True).first()
    if not notes:
        return True
    of_tree = notes[0]  # behind them stand those of the policy
    return bool(of_tree) and of_tree != list_tree(repository.folder, commit_sha, limits=git_limits()).notes


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
