"""Turns what the rules saw in one file into findings with severity, points, identity and state."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from analysis.engine.codebase import file_kind
from analysis.engine.facts import FileFacts
from analysis.engine.gate_metrics import StandingActions
from analysis.engine.identity import Fingerprints
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, GateAction, Ladder, Rule, Severity, Volume
from analysis.engine.policy import Policy
from analysis.engine.precedence import bill_payers, shares_bill, without_silenced
from analysis.engine.scoring import Tally, tally
from analysis.engine.severity import EXPIRED, REQUEST_PATH, confidence_of, points_of, severity_of
from analysis.engine.suppression import Exemptions, InlineSuppressions
from analysis.engine.volumes import Volumes


@dataclass(frozen=True, slots=True)
class FileJudgement:
    """The findings of one file and what the open ones add up to."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    tally: Tally = field(default_factory=Tally)


NOTHING = FileJudgement()  # shared by all files without findings; its tally is never added to


@dataclass(frozen=True, slots=True)
class FileContext:
    """What else than its own content decides about the findings of a file."""

    path: str
    facts: FileFacts
    origin: str  # the path that stands in fingerprints
    in_request: frozenset[str] = frozenset()  # names of its functions on the request path
    is_hotspot: bool = False

    @property
    def kind(self) -> FileKind:
        return file_kind(self.path, self.facts)


@dataclass(slots=True)
class _Draft:
    finding: Finding
    rule: Rule
    severity: Severity
    confidence: Confidence
    volume: Volume | None
    in_request: bool


class FileJudge:
    """Judges files under one policy on one day."""

    def __init__(
        self,
        policy: Policy,
        rules: Mapping[str, Rule],
        exemptions: Exemptions,
        volumes: Volumes,
        model_names: Mapping[str, str],
    ) -> None:
        self._rules = rules
        self._exemptions = exemptions
        self._volumes = volumes
        self._model_names = model_names
        self._actions = StandingActions(policy)

    def judge(self, context: FileContext, raw: Iterable[Finding]) -> FileJudgement:
        """Everything about the findings of one file that can be said without looking at other findings elsewhere."""
        kind = context.kind
        heard = [finding for finding in raw if is_heard(self._rules[finding.rule_id], kind)]
        if not heard:
            return NOTHING
        drafts = self._drafts(context, heard)
        audible = without_silenced([draft.finding for draft in drafts])
        if len(audible) < len(drafts):
            kept = {id(finding) for finding in audible}
            drafts = [draft for draft in drafts if id(draft.finding) in kept]
        return self._settled(context, kind, drafts)

    def _drafts(self, context: FileContext, heard: list[Finding]) -> list[_Draft]:
        drafts = []
        seen = set()
        for finding in sorted(heard, key=_position):
            place = (finding.rule_id, finding.line, finding.function, finding.anchor)
            if place not in seen:
                seen.add(place)
                draft = self._draft(context, finding)
                if draft is not None:
                    drafts.append(draft)
        return drafts

    def _draft(self, context: FileContext, finding: Finding) -> _Draft | None:
        rule = self._rules[finding.rule_id]
        volume = finding.volume
        if volume is None and finding.table:
            volume = self._volumes.of(finding.table, self._model_names.get(finding.table.lower(), ""))
        in_request = finding.function in context.in_request
        confidence = confidence_of(finding, rule)
        severity = severity_of(finding, rule, volume, confidence, in_request=in_request, in_hotspot=context.is_hotspot)
        if severity is None or (confidence is Confidence.LOW and not rule.guesses):
            return None
        if rule.ladder is Ladder.NONE and not finding.table:
            volume = None
        return _Draft(finding, rule, severity, confidence, volume, in_request)

    def _settled(self, context: FileContext, kind: FileKind, drafts: list[_Draft]) -> FileJudgement:
        prints = Fingerprints(context.origin)
        inline = InlineSuppressions(context.facts)
        payers = bill_payers([draft.finding for draft in drafts])
        opened: list[Finding] = []
        suppressed: list[Finding] = []
        scored: list[tuple[Finding, Category]] = []
        for draft in drafts:
            settled = self._finding(context, draft, kind, inline, payers, prints)
            if settled.suppressed_by:
                suppressed.append(settled)
            else:
                opened.append(settled)
                scored.append((settled, draft.rule.category))
        sums = tally(scored, is_script=kind is FileKind.SCRIPT, is_hotspot=context.is_hotspot)
        return FileJudgement(tuple(opened), tuple(suppressed), sums)

    def _finding(
        self,
        context: FileContext,
        draft: _Draft,
        kind: FileKind,
        inline: InlineSuppressions,
        payers: dict[str, str],
        prints: Fingerprints,
    ) -> Finding:
        finding, rule = draft.finding, draft.rule
        tags = finding.tags | {REQUEST_PATH} if draft.in_request else finding.tags
        reason = inline.reason(rule.id, finding.line)
        if not reason:
            excuse = self._exemptions.excuse(rule.id, context.path)
            if excuse and excuse.expired:
                tags |= {EXPIRED}
            elif excuse:
                reason = excuse.reason
        judged = Finding(
            rule_id=rule.id,
            file=finding.file,
            line=finding.line,
            message=finding.message,
            function=finding.function,
            anchor=finding.anchor,
            suggestion=finding.suggestion or rule.suggestion,
            severity=draft.severity,
            confidence=draft.confidence,
            excess=finding.excess,
            table=finding.table,
            volume=draft.volume,
            points=points_of(finding, rule, draft.volume, shares_function=shares_bill(finding, payers)),
            fingerprint=prints.of(finding),
            suppressed_by=reason,
            in_test=kind is FileKind.TEST,
            tags=tags,
        )
        action = self._actions.of(judged, rule.category)
        return judged if action is GateAction.NONE else replace(judged, gate_action=action)


def is_heard(rule: Rule, kind: FileKind) -> bool:
    """Whether a rule has a say in files of this kind (rules.md 1.7)."""
    match kind:
        case FileKind.TEST:
            return rule.tests_too
        case FileKind.MIGRATION:
            return rule.in_migrations
        case FileKind.SCRIPT:
            return rule.in_scripts
        case FileKind.SOURCE:
            return True
        case _:
            return False


def _position(finding: Finding) -> tuple[int, str, str, str, str]:
    return finding.line, finding.rule_id, finding.function, finding.anchor, finding.message
