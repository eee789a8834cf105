"""What a change touches, measured on the two states around it: files, functions, cycles, layers, suppressions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.engine.facts import FileFacts, Function
from analysis.engine.languages import FileKind, kind_of
from analysis.engine.report import Report


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of a change. `renamed` maps new to old paths, renamed files that also changed included.

    `changed_lines` are added plus deleted lines of analysed files. `exceptions_added` counts exceptions that the change
    adds to the policy file.
    """

    added: frozenset[str] = frozenset()
    modified: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    changed_lines: int = 0
    exceptions_added: int = 0

    @property
    def before(self) -> frozenset[str]:
        """The paths that existed before the change."""
        return self.modified | self.deleted | frozenset(self.renamed.values())

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        """(path before, path after) of each file; a side that does not exist is empty."""
        yield from (("", path) for path in sorted(self.added))
        yield from ((path, path) for path in sorted(self.modified))
        yield from ((path, "") for path in sorted(self.deleted))
        yield from ((old, new) for new, old in sorted(self.renamed.items()))


def complexity_delta(base: Report, head: Report, changed: ChangedFiles) -> int:
    """Change of summed cognitive complexity over the functions of changed files; files that are not judged count 0."""
    return sum(_cognitive(head, new) - _cognitive(base, old) for old, new in changed.pairs)


def highest_changed_complexity(base: Report, head: Report, changed: ChangedFiles) -> int:
    """The highest cognitive complexity among added or changed functions; moved lines change no function."""
    highest = 0
    for old, new in changed.pairs:
        known = {_content(function) for function in _functions(base, old)}
        for function in _functions(head, new):
            if function.cognitive > highest and _content(function) not in known:
                highest = function.cognitive
    return highest


def new_cycles(base: Report, head: Report) -> list[frozenset[str]]:
    """Circles of the head that no circle of the base contains: new ones and ones that grew.

    Counted by what goes in the circle: one more class in packages that did before makes no circle.
    """
    before, after = _circles(base), _circles(head)
    return [units for units in after if not any(units <= known for known in before)]


def layer_edges(report: Report) -> frozenset[tuple[str, str]]:
    """Imports that break the layers, by the first known paths of both files."""
    origins = report.origins
    return frozenset((origins.get(one, one), origins.get(other, other)) for one, other in report.layer_violations)


def suppressions_of(report: Report) -> Iterator[tuple[str, str, str]]:
    """Every inline suppression as (file, rule, reason)."""
    for path, facts in report.files.items():
        for suppression in facts.suppressions:
            for rule_id in suppression.rules:
                yield report.origins.get(path, path), rule_id, suppression.reason


def _circles(report: Report) -> list[frozenset[str]]:
    return [frozenset(report.origins.get(unit, unit) for unit in cycle.units) for cycle in report.graph.cycles]


def _cognitive(report: Report, path: str) -> int:
    return sum(function.cognitive for function in _functions(report, path))


def _functions(report: Report, path: str) -> tuple[Function, ...]:
    """Functions of a judged file; those of tests score nothing."""
    facts: FileFacts | None = report.files.get(path)
    return facts.functions if facts and kind_of(path) is not FileKind.TEST else ()


def _content(function: Function) -> tuple[object, ...]:
    """What facts know of a function apart from its lines."""
    return (
        function.name, function.code_lines, function.cyclomatic, function.cognitive, function.nesting, function.flags,
        function.parameters, function.decorators, function.calls, function.anchor,
    )  # fmt: skip
