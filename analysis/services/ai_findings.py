"""What a model found over several files, kept beside the findings of scans.

Such a row has the source `ai` and no debt points. Scans neither take it over nor resolve it, no list, score, trend or
gate counts it; it is there to be read by its id. It keeps its id as long as an analysis finds the same again, and is
resolved when a later analysis of the same file no longer mentions it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from django.utils import timezone

from analysis.ai.answers import Remark
from analysis.models import Repository, Violation, ViolationSource, ViolationStatus

RULE_ID = "ai-cross-file"
TYPE = "ai_cross_file"
DIGEST_BYTES = 16
CHANGING_FIELDS = (
    "status", "severity", "severity_rank", "confidence", "line", "function", "message", "suggestion", "resolved_at",
)  # fmt: skip


def store_remarks(repository: Repository, remarks: Iterable[Remark], lines: Mapping[str, list[str]]) -> list[Violation]:
    """Store the findings of an analysis of the files in `lines` (path to its lines); the rows, the gravest first.

    Runs inside the caller's transaction, which holds a lock of the organization.
    """
    rows = _rows(repository, remarks, lines)
    Violation.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["repository", "fingerprint"],
        update_fields=[*CHANGING_FIELDS, "updated_at"],
    )
    open_ones = repository.violations.filter(source=ViolationSource.AI, status=ViolationStatus.OPEN)
    open_ones.filter(file__in=lines).exclude(fingerprint__in=rows).update(
        status=ViolationStatus.RESOLVED, resolved_at=timezone.now()
    )
    return list(open_ones.filter(fingerprint__in=rows).order_by("-severity_rank", "file", "line", "pk"))


def _rows(repository: Repository, remarks: Iterable[Remark], lines: Mapping[str, list[str]]) -> dict[str, Violation]:
    seen: Counter[tuple[str, ...]] = Counter()
    rows: dict[str, Violation] = {}
    for remark in remarks:
        # The text of the line stands for the place: it survives moved lines, and other words for the same thing.
        identity = (RULE_ID, remark.file, remark.category, "".join(lines[remark.file][remark.line - 1].split()))
        print_ = _digest(identity, seen[identity])
        seen[identity] += 1
        rows[print_] = _row(repository, remark, print_)
    return rows


def _digest(identity: Iterable[str], ordinal: int) -> str:
    text = "\x1f".join((*identity, str(ordinal)))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()


def _row(repository: Repository, remark: Remark, fingerprint: str) -> Violation:
    return Violation(
        repository=repository,
        fingerprint=fingerprint,
        source=ViolationSource.AI,
        status=ViolationStatus.OPEN,
        rule_id=RULE_ID,
        type=TYPE,
        category=remark.category,
        severity=remark.severity,
        severity_rank=remark.severity.rank,
        confidence=remark.confidence,
        file=remark.file,
        line=remark.line,
        function=remark.function,
        message=remark.message,
        suggestion=remark.suggestion,
        debt_points=0,
        first_seen_at=timezone.now(),
    )
