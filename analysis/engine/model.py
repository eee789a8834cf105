"""The words of the engine: what a rule is, what a finding is, and the scales they are measured on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Category(StrEnum):
    ARCHITECTURE = "architecture"
    RUNTIME_RISK = "runtime_risk"
    PERFORMANCE = "performance"
    RELIABILITY = "reliability"
    MAINTAINABILITY = "maintainability"


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return SEVERITIES.index(self)

    def step_down(self) -> "Severity":
        """One step milder; info stays info."""
        return SEVERITIES[max(0, self.rank - 1)]

    def step_up(self) -> "Severity":
        """One step graver; critical stays critical."""
        return SEVERITIES[min(len(SEVERITIES) - 1, self.rank + 1)]


SEVERITIES = (Severity.INFO, Severity.WARNING, Severity.CRITICAL)


class Confidence(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Volume(StrEnum):
    """Declared size of a table: S under 10 K rows, M up to 1 M, XL from 1 M, XXL from 50 M."""

    S = "S"
    M = "M"
    XL = "XL"
    XXL = "XXL"


class GateAction(StrEnum):
    NONE = "none"
    WARN = "warn"
    BLOCK = "block"


class Ladder(StrEnum):
    """How the volume of the table moves the severity of a finding (rules.md 1.3)."""

    NONE = "none"
    READ = "V-read"
    SCAN = "V-scan"
    SOFT = "V-soft"
    LOCK = "V-lock"


@dataclass(frozen=True, slots=True)
class Rule:
    """What one rule module finds. `points` is the base repair effort in units of ten minutes."""

    id: str
    type: str
    category: Category
    title: str
    severity: Severity
    points: float
    suggestion: str
    confidence: Confidence = Confidence.HIGH
    ladder: Ladder = Ladder.NONE
    languages: tuple[str, ...] = ()  # empty: all
    tests_too: bool = False
    in_migrations: bool = False
    in_scripts: bool = True
    guesses: bool = True  # whether findings of confidence low are told: not where most of them were wrong
    version: int = 1  # part of the facts' key: raise it when the rule reads trees differently


Sources = Mapping[str, str]  # path to text


@dataclass(frozen=True, slots=True)
class Guide:
    """What a page about a rule says besides its `Rule`, the `GUIDE` of its module.

    `grades` tells in words how the severity moves, where neither the default nor the ladder does. Each of `flagged` and
    `fine` is a small codebase, to which the files of `given` belong; they are judged under `policy` (YAML). A rule
    that measures has no code to show, its `grades` tell the limits.
    """

    why: str
    grades: str = ""
    flagged: tuple[Sources, ...] = ()
    fine: tuple[Sources, ...] = ()
    given: Sources = field(default_factory=dict)
    policy: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that a rule objects to.

    A rule fills in what it knows; `evaluate` completes the rest (severity by ladder and context, points, fingerprint).
    `anchor` is the normalised text of the offending statement, the part of the identity that survives moved lines.
    """

    rule_id: str
    file: str
    line: int
    message: str
    function: str = "module"
    anchor: str = ""
    suggestion: str = ""  # empty: the rule's own
    severity: Severity | None = None  # None: the rule's default and ladder
    confidence: Confidence | None = None  # None: the rule's default
    excess: float = 0.0  # points above the base, already multiplied by the rule's factor
    table: str = ""
    volume: Volume | None = None
    # Completed by evaluate:
    points: float = 0.0
    fingerprint: str = ""
    gate_action: GateAction = GateAction.NONE
    suppressed_by: str = ""  # reason of the inline suppression or policy exception, empty when open
    in_test: bool = False
    tags: frozenset[str] = field(default_factory=frozenset)  # for example "request_path"

    def with_(self, **changes: object) -> "Finding":
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]
