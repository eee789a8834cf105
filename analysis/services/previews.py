"""What a changed policy would detect. Nothing is stored."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from analysis.engine.gate_metrics import fires
from analysis.engine.model import Finding, Severity
from analysis.engine.policy import Policy
from analysis.engine.policy_file import to_mapping
from analysis.engine.report import Report
from analysis.models import PullRequest, Repository, Violation, ViolationStatus
from analysis.selectors.results import judged, open_violations
from analysis.services.policies import present_policy
from analysis.services.policy_changes import policy_of_body, without_read_only
from analysis.services.rejudging import last_state
from analysis.shapes import finding_shape
from config.errors import Conflict

RECENT_PULL_REQUESTS = 10


class FactsTooOld(Conflict):
    message = "The last scan was made by an older engine; start an analysis and try again"


def preview_policy(*, repository: Repository, body: Any, today: date) -> dict[str, Any]:
    """The results now and under the present policy with `body` merged over it.

    InvalidInput for a body that is no part of a policy, FactsTooOld when the last scan cannot be judged again.
    `removed` are stored violations, `added` are in the same shape; one that was known before keeps its id.
    """
    present = present_policy(repository)
    policy = policy_of_body(merged(to_mapping(present), without_read_only(body)))
    pull_requests = [_other_verdict(row, policy) for row in _with_metrics(repository)]
    if repository.current_report_id is None:
        nothing = _totals({}, None)
        return {"current": nothing, "preview": nothing, "added": [], "removed": [], "recentPRs": pull_requests}
    state = last_state(repository)
    if state is None:
        raise FactsTooOld
    report = state.judge(policy, today)
    before = list(open_violations(repository))
    now = Counter(row.severity for row in before)
    return {
        "current": _totals(now, repository.health_score),
        "preview": _totals(Counter(str(finding.severity) for finding in report.findings), report.health_score),
        "added": _added(repository, report, before),
        "removed": _removed(report, before),
        "recentPRs": pull_requests,
    }


def merged(present: Mapping[str, Any], part: Any) -> Any:
    """The part of a policy over a whole one: each field given stands in place of the present one; of `stack` and
    `gates` each entry given. Whatever makes no sense is left for the validation to name."""
    if not isinstance(part, dict):
        return part
    whole = dict(present)
    for name, value in part.items():
        whole[name] = {**present[name], **value} if _is_merged(name) and isinstance(value, dict) else value
    return whole


def _is_merged(name: str) -> bool:
    return name in ("stack", "gates")


def _totals(by_severity: Mapping[str, int], health_score: int | None) -> dict[str, Any]:
    return {
        "totalViolations": sum(by_severity.values()),
        "critical": by_severity.get(Severity.CRITICAL, 0),
        "warning": by_severity.get(Severity.WARNING, 0),
        "healthScore": health_score,
    }


def _added(repository: Repository, report: Report, before: Iterable[Violation]) -> list[dict[str, Any]]:
    known = {row.fingerprint for row in before}
    added = [finding for finding in report.findings if finding.fingerprint not in known]
    ids = _ids(repository, added)
    return [finding_shape(each) | {"id": ids.get(each.fingerprint, each.fingerprint)} for each in added]


def _removed(report: Report, before: Iterable[Violation]) -> list[Violation]:
    found = {finding.fingerprint for finding in report.findings}
    return [row for row in before if row.fingerprint not in found]


def _ids(repository: Repository, findings: Iterable[Finding]) -> dict[str, str]:
    """Ids of violations that were open once: the policy would open them again."""
    wanted = {finding.fingerprint for finding in findings}
    if not wanted:
        return {}
    rows = repository.violations.exclude(status=ViolationStatus.OPEN).values_list("fingerprint", "pk")
    return {fingerprint: str(pk) for fingerprint, pk in rows if fingerprint in wanted}


def _with_metrics(repository: Repository) -> list[PullRequest]:
    recent = judged(repository.pull_requests.all())[:RECENT_PULL_REQUESTS]
    return [row for row in recent if row.verdict.get("metrics")]


def _other_verdict(pull_request: PullRequest, policy: Policy) -> dict[str, Any]:
    """The gates of `policy` on what was measured when the pull request was judged."""
    measured = pull_request.verdict["metrics"]
    blocked = any(fires(gate, measured[gate.metric]) for gate in policy.block_merge if gate.metric in measured)
    return {
        "prNumber": pull_request.number,
        "currentResult": pull_request.gate_result,
        "previewResult": "fail" if blocked else "pass",
    }
