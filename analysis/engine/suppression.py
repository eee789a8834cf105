"""Findings that somebody decided to live with: inline comments and exceptions of the policy (rules.md 1.6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from analysis.engine.facts import FileFacts
from analysis.engine.globs import glob
from analysis.engine.policy import Exemption

NOTICE_DAYS = 7  # before an exception ends


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a finding does not count. `expired` exceptions no longer excuse anything."""

    reason: str
    expired: bool = False


class Exemptions:
    """The exceptions of a policy on one day."""

    def __init__(self, exemptions: Sequence[Exemption], today: date) -> None:
        self._today = today
        self._of_rule: dict[str, list[Exemption]] = {}
        for exemption in exemptions:
            self._of_rule.setdefault(exemption.rule, []).append(exemption)
        self.in_force = tuple(not _is_expired(exemption, today) for exemption in exemptions)

    def excuse(self, rule_id: str, path: str) -> Excuse | None:
        """The exception for this rule and file; one in force goes before an expired one."""
        expired = None
        for exemption in self._of_rule.get(rule_id, ()):
            if not glob(exemption.file).matches(path):
                continue
            if not _is_expired(exemption, self._today):
                return Excuse(exemption.reason)
            expired = expired or Excuse(exemption.reason, expired=True)
        return expired


class InlineSuppressions:
    """The comments of one file that suppress, by rule."""

    def __init__(self, facts: FileFacts) -> None:
        self._reasons: dict[tuple[str, int], str] = {}
        for suppression in facts.suppressions:
            for rule_id in suppression.rules:
                self._reasons.setdefault((rule_id, suppression.line), suppression.reason)

    def reason(self, rule_id: str, line: int) -> str:
        """The reason given for this rule on this line or for the whole file; empty when there is none."""
        if not self._reasons:
            return ""
        return self._reasons.get((rule_id, line)) or self._reasons.get((rule_id, 0), "")


def unreasoned_notes(files: Mapping[str, FileFacts]) -> Iterator[str]:
    """One sentence for each inline suppression that has no effect because it gives no reason."""
    for path, facts in files.items():
        for line in facts.unreasoned_suppressions:
            yield f"{path}:{line}: the suppression has no effect, because it gives no reason"


def expiry_notes(exemptions: Sequence[Exemption], today: date) -> Iterator[str]:
    """One sentence for each exception of the policy that has expired or will within a week."""
    return (notice.message for notice in expiry_notices(exemptions, today))


@dataclass(frozen=True, slots=True)
class ExpiryNotice:
    """An exception whose end is near or past. `days_left` counts the days after today on which it still holds; it is
    negative once the exception has expired."""

    exemption: Exemption
    days_left: int

    @property
    def is_expired(self) -> bool:
        return self.days_left < 0

    @property
    def message(self) -> str:
        """One sentence: what, where, until when and why."""
        entry = self.exemption
        day = entry.expires.isoformat()
        if self.is_expired:
            return f"exception expired: {entry.rule} in {entry.file} was accepted until {day} ({entry.reason})"
        return f"exception expires: {entry.rule} in {entry.file} is accepted until {day} ({entry.reason})"


def expiry_notices(exemptions: Sequence[Exemption], today: date) -> list[ExpiryNotice]:
    """The exceptions that have expired or will within a week, the earliest first."""
    due = [ExpiryNotice(entry, (entry.expires - today).days) for entry in exemptions]
    return sorted(
        (notice for notice in due if notice.days_left <= NOTICE_DAYS), key=lambda notice: notice.exemption.expires
    )


def _is_expired(exemption: Exemption, today: date) -> bool:
    return exemption.expires < today
