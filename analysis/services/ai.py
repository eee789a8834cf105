"""The AI operations. Each reserves its credits, asks the model outside any transaction, and pays only for an answer
that makes sense; whatever goes wrong on the way gives the credits back before anybody sees them spent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from uuid_utils.compat import uuid7

from analysis.ai import answers, prompts
from analysis.ai.client import AiFailed, complete, require_ai
from analysis.ai.patches import checked_patch
from analysis.ai.sources import SourceFile, function_around, head_of, read_sources
from analysis.engine.model import Finding
from analysis.models import Repository, Run, ScanReport, Violation, ViolationStatus
from analysis.selectors.results import open_violations
from analysis.services.ai_findings import store_remarks
from config.errors import Conflict, InvalidInput, Refusal
from config.retries import atomic_with_retries
from credits import costs
from credits import services as credits
from credits.models import Operation, Reservation, ReservationState
from organizations.entitlements import Feature, require_feature

SUMMARIZED_VIOLATIONS = 20
DEFAULT_FILES = 20
LARGEST_FILES_CHARACTERS = 120_000

T = TypeVar("T")
K = TypeVar("K")


class NotScannedYet(Conflict):
    message = "There is no finished scan of this repository yet; analyze it first"


class AlreadyResolved(Conflict):
    message = "This violation is resolved already"


class FileGone(Conflict):
    message = "The file of this violation cannot be read any more; analyze the repository again"


class NoFiles(Conflict):
    message = "The last scan found no source files to look at"


class NotASourceFile(InvalidInput):
    """The message names the path."""


class FailedBefore(AiFailed):
    message = "The AI service failed on an earlier attempt"


@dataclass(frozen=True, slots=True)
class ScanSummary:
    summary: str
    credits_used: int


@dataclass(frozen=True, slots=True)
class CrossFileFindings:
    findings: list[Violation]
    credits_used: int


@dataclass(frozen=True, slots=True)
class SuggestedFix:
    explanation: str
    patch: str | None
    credits_used: int


@dataclass(frozen=True, slots=True)
class Enrichment:
    """`text` for the comment, or none; `note` says why in a sentence where the reason is of interest."""

    text: str = ""
    note: str = ""


def summarize_scan(*, repository: Repository) -> ScanSummary:
    """The last scan in words, for 5 credits."""
    report = _report_of(repository)

    def ask() -> str:
        gravest = open_violations(repository)[:SUMMARIZED_VIOLATIONS]
        return answers.read_summary(complete(prompts.scan_summary(report, gravest)))

    summary, used = _paid(
        repository=repository,
        operation=Operation.AI_SCAN_SUMMARY,
        price=costs.SCAN_SUMMARY,
        description=f"AI summary of the scan of {repository.full_name}",
        ask=ask,
        keep=lambda said: said,
    )
    return ScanSummary(summary, used)


def analyze_across_files(*, repository: Repository, files: Sequence[str] = ()) -> CrossFileFindings:
    """What shows only when files are read together, for 10 to 15 credits by their number; stored as violations.

    Without `files` the twenty of the highest risk are read. FeatureNotInPlan below pro; NotASourceFile for a path that
    the last scan did not read as source code.
    """
    report = _report_of(repository)
    require_feature(repository.organization, Feature.AI_CROSS_FILE)
    paths = list(dict.fromkeys(files)) or [spot["file"] for spot in report.hotspots[:DEFAULT_FILES]]
    if not paths:
        raise NoFiles

    def ask() -> tuple[list[answers.Remark], dict[str, SourceFile]]:
        sources = read_sources(repository, report.commit_sha, paths)
        if files:
            _require_all(paths, sources)
        if not sources:
            raise NoFiles
        excerpts = [head_of(source, LARGEST_FILES_CHARACTERS // len(paths)) for source in sources.values()]
        shown = {excerpt.path: len(excerpt.lines) for excerpt in excerpts}
        return answers.read_remarks(complete(prompts.cross_file(excerpts)), shown), sources

    findings, used = _paid(
        repository=repository,
        operation=Operation.AI_CROSS_FILE,
        price=costs.cross_file(len(paths)),
        description=f"AI analysis across {len(paths)} file{'' if len(paths) == 1 else 's'} of {repository.full_name}",
        ask=ask,
        keep=lambda said: store_remarks(repository, said[0], {path: each.lines for path, each in said[1].items()}),
    )
    return CrossFileFindings(findings, used)


def suggest_fix(*, repository: Repository, violation: Violation) -> SuggestedFix:
    """How to repair a violation, for 3 credits. `patch` is a diff that applies at the scanned commit, or None."""
    report = _report_of(repository)
    if violation.status == ViolationStatus.RESOLVED:
        raise AlreadyResolved

    def ask() -> tuple[str, str | None]:
        source = read_sources(repository, report.commit_sha, [violation.file]).get(violation.file)
        if source is None:
            raise FileGone
        said = answers.read_fix(complete(prompts.fix(violation, function_around(source, violation.line))))
        return said.explanation, checked_patch(said.patch, path=source.path, text=source.text)

    (explanation, patch), used = _paid(
        repository=repository,
        operation=Operation.AI_FIX_SUGGESTION,
        price=costs.FIX_SUGGESTION,
        description=f"AI fix for {violation.rule_id} in {repository.full_name}",
        ask=ask,
        keep=lambda said: said,
    )
    return SuggestedFix(explanation, patch, used)


def enrich_pull_request_comment(
    *, run: Run, title: str, verdict: str, findings: Sequence[Finding], seconds: float | None = None
) -> Enrichment:
    """Words for the comment on a pull request, for 5 credits, when AI is on, there are findings and credits suffice.

    Never refuses: what went wrong is a note for the run. A run that another worker takes over pays once, and asks no
    more after a failure.
    `findings` stand in the order of their gravity. `seconds` shortens the time limit.
    """
    if not settings.AI_BASE_URL or not findings:
        return Enrichment()
    repository = run.repository

    def ask() -> str:
        prompt = prompts.pull_request_comment(title, verdict, findings)
        return answers.read_comment(complete(prompt, seconds=seconds))

    try:
        text, _ = _paid(
            repository=repository,
            operation=Operation.AI_PR_COMMENT,
            price=costs.PR_COMMENT,
            description=f"AI comment on a pull request of {repository.full_name}",
            ask=ask,
            keep=lambda said: said,
            key=f"{Operation.AI_PR_COMMENT}:{run.pk}",
        )
    except Refusal as refusal:
        return Enrichment(note=f"The comment was not enriched: {refusal.message}")
    return Enrichment(text=text)


def _report_of(repository: Repository) -> ScanReport:
    require_ai()
    if repository.current_report is None:
        raise NotScannedYet
    return repository.current_report


def _require_all(paths: Sequence[str], sources: dict[str, SourceFile]) -> None:
    missing = next((path for path in paths if path not in sources), None)
    if missing is not None:
        raise NotASourceFile(f"files: {missing} is no source file of the last scan")


def _paid(
    *,
    repository: Repository,
    operation: Operation,
    price: int,
    description: str,
    ask: Callable[[], T],
    keep: Callable[[T], K],
    key: str = "",
) -> tuple[K, int]:
    """Reserve, ask, then keep the answer and settle in one transaction. What was kept, and the credits it took.

    A process that dies in between leaves a reservation that lapses by itself. `key` names the act where it may be
    tried again: it is paid once.
    """
    reservation = credits.reserve(
        organization=repository.organization, operation=operation, credits=price, key=key or f"{operation}:{uuid7()}"
    )
    if reservation.state == ReservationState.RELEASED:
        raise FailedBefore
    try:
        return _settle(reservation, description, keep, ask())
    except BaseException:
        credits.release(reservation_id=reservation.pk)
        raise


@atomic_with_retries
def _settle(reservation: Reservation, description: str, keep: Callable[[T], K], said: T) -> tuple[K, int]:
    # The account is locked by settling, before the rows of the analysis (order of locks: reliability of the ledger).
    entry = credits.settle(reservation_id=reservation.pk, description=description)
    return keep(said), entry.cost if entry else 0
