"""The rule modules of one analysis, sorted by what they need to know before they can speak.

Besides `WATCHES`, `judge` and `check` (see `rules.base`) a module may define

- `check_file(path, facts)`: findings that follow from the facts of one file alone; they are kept until the file
  changes, whatever the policy is.
- `AFTER_HOTSPOTS = True`: its `check` reads `codebase.hotspots` and runs when the risk of each file is known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, cast

from analysis.engine.codebase import Codebase, Place, file_kind, finding_of
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.failures import Failed, Failures
from analysis.engine.judging import is_heard
from analysis.engine.languages import DISPLAY_NAME, FileKind
from analysis.engine.model import Finding, Guide, Rule
from analysis.engine.policy import Policy
from analysis.engine.rules import all_rules
from analysis.engine.rules.base import ALL

RuleModule = ModuleType
Raised = dict[str, list[Finding]]  # findings by path


@dataclass(frozen=True, slots=True)
class LocalFindings:
    """What follows from one file alone, the marks whose judgement asked for more than that, and the rules that
    failed on the file."""

    findings: tuple[Finding, ...]
    open_marks: tuple[Mark, ...]
    failed: Failed


@dataclass(frozen=True, slots=True)
class Explanation:
    """A rule for people: `what` it finds in a sentence, the `languages` it reads by name, and its guide."""

    rule: Rule
    what: str
    languages: tuple[str, ...]
    guide: Guide


def explain(rule_id: str) -> Explanation:
    """What stands in the module of a rule. KeyError for an unknown one."""
    module = _modules()[rule_id]
    return Explanation(
        rule=module.RULE,
        what=" ".join((module.__doc__ or "").partition("\n\n")[0].split()),
        languages=_languages(module),
        guide=getattr(module, "GUIDE", Guide(why="")),
    )


class RuleBook:
    """Runs rule modules. One that raises costs what it would have found there, and nothing else.

    `failures` are those since `raised` was called, without those of `local`.
    """

    def __init__(self, modules: Sequence[RuleModule] | None = None) -> None:
        modules = all_rules() if modules is None else modules
        self.rules: dict[str, Rule] = {module.RULE.id: module.RULE for module in modules}
        self._logged: set[str] = set()
        self.failures = Failures(self._logged)
        self._judges = {module.RULE.id: module.judge for module in modules if hasattr(module, "judge")}
        self._silent = {
            module.RULE.id for module in modules if hasattr(module, "check") and not hasattr(module, "judge")
        }
        self._file_checks = [(module.RULE, module.check_file) for module in modules if hasattr(module, "check_file")]
        checks = [module for module in modules if hasattr(module, "check")]
        self._checks = [module for module in checks if not getattr(module, "AFTER_HOTSPOTS", False)]
        self._late_checks = [module for module in checks if getattr(module, "AFTER_HOTSPOTS", False)]

    def local(self, path: str, facts: FileFacts, codebase: Codebase, policy: Policy) -> LocalFindings:
        """The findings of one file that nothing outside it can change, the policy included."""
        kind = file_kind(path, facts)
        failures = Failures(self._logged)
        found = self._found_in_file(path, facts, kind, failures)
        open_marks = []
        for mark in facts.marks:
            rule = self.rules.get(mark.rule)
            if rule is None or mark.rule in self._silent or not is_heard(rule, kind):
                continue
            if mark.rule not in self._judges:
                found.append(finding_of(mark, path, facts))
            elif (judged := self._judged_alone(mark, path, facts, codebase, policy, failures)) is None:
                open_marks.append(mark)
            else:
                found += judged
        return LocalFindings(tuple(found), tuple(open_marks), failures.failed)

    def _found_in_file(self, path: str, facts: FileFacts, kind: FileKind, failures: Failures) -> list[Finding]:
        found: list[Finding] = []
        for rule, check_file in self._file_checks:
            if is_heard(rule, kind):
                try:
                    found += [*check_file(path, facts)]
                except Exception as error:
                    failures.note(error, rule.id, path)
        return found

    def _judged_alone(
        self, mark: Mark, path: str, facts: FileFacts, codebase: Codebase, policy: Policy, failures: Failures
    ) -> list[Finding] | None:
        """What a mark comes to; None when its judge asks for the codebase or the policy."""
        watched, by = _Watched(codebase), _Watched(policy)
        finding: Finding | None = None
        failure: Exception | None = None
        try:
            finding = self._judged(mark, path, facts, cast(Codebase, watched), cast(Policy, by))
        except Exception as error:
            failure = error
        if watched.was_asked or by.was_asked:
            return None
        if failure is not None:
            failures.note(failure, mark.rule, path)
        return [finding] if finding is not None else []

    def judged(self, marks: Sequence[Mark], path: str, codebase: Codebase, policy: Policy) -> Iterator[Finding]:
        """Marks whose judgement depends on the rest of the codebase."""
        facts = codebase.files[path]
        for mark in marks:
            try:
                finding = self._judged(mark, path, facts, codebase, policy)
            except Exception as error:
                self.failures.note(error, mark.rule, path)
                continue
            if finding is not None:
                yield finding

    def raised(self, codebase: Codebase, policy: Policy) -> Raised:
        """What the rules conclude from the whole codebase, as long as hotspots are not known."""
        self.failures.forget()
        return self._raised(self._checks, codebase, policy)

    def raised_late(self, codebase: Codebase, policy: Policy) -> Raised:
        """What the rules conclude once hotspots are known."""
        return self._raised(self._late_checks, codebase, policy)

    def _raised(self, modules: Sequence[RuleModule], codebase: Codebase, policy: Policy) -> Raised:
        raised: Raised = {}
        for module in modules:
            try:
                findings = [*module.check(codebase, policy)]
            except Exception as error:
                self.failures.note(error, module.RULE.id)
                continue
            for finding in findings:
                raised.setdefault(finding.file, []).append(finding)
        return raised

    def _judged(self, mark: Mark, path: str, facts: FileFacts, codebase: Codebase, policy: Policy) -> Finding | None:
        place = Place(codebase, path, facts, mark.function)
        return cast("Finding | None", self._judges[mark.rule](mark, place, codebase, policy))


@cache
def _modules() -> dict[str, RuleModule]:
    return {module.RULE.id: module for module in all_rules()}


def _languages(module: RuleModule) -> tuple[str, ...]:
    watched = {language for watch in getattr(module, "WATCHES", ()) for language in watch.languages}
    reads = set(module.RULE.languages) or watched or set(ALL)
    return tuple(dict.fromkeys(DISPLAY_NAME[language] for language in ALL if language in reads))


class _Watched:
    """Stands in for the codebase or the policy and remembers whether anybody asked it something."""

    __slots__ = ("_real", "was_asked")

    def __init__(self, real: object) -> None:
        self._real = real
        self.was_asked = False

    def __getattr__(self, name: str) -> Any:
        self.was_asked = True
        return getattr(self._real, name)
