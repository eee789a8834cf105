"""Findings that a change merely moved: their function got another name, their code another file, their circle shrank.

The identity of a finding names its function and its file (rules.md 1.1), so a renamed function resolves one finding and
introduces another for the same statement. Such a pair is neither new nor repaired.
"""

from collections.abc import Callable, Iterable, Mapping

from analysis.engine.model import Finding, Severity

TOP_LEVEL = "module"  # the name that facts give to what stands outside functions
CIRCLE = "arch-circular-import"  # its findings name what goes in the circle as their anchor
Origins = Mapping[str, str]
Place = tuple[str, ...]
PlaceOf = Callable[[Finding, Origins], Place | None]


def without_moved(
    introduced: list[Finding], resolved: list[Finding], *, before: Origins, after: Origins
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Both without the pairs that are one finding at another place: the same rule and statement, in the same file or in
    a function of the same name; the same measure of a function, also when it went to another class. One that has become
    graver stays. `before` and `after` are the first known paths of the files on both sides."""
    for place_of in (_in_file, _in_function):
        introduced, resolved = _unpaired(introduced, resolved, place_of, before, after)
    introduced, resolved = _without_shrunk_circles(introduced, resolved)
    return tuple(introduced), tuple(resolved)


def _in_file(finding: Finding, origins: Origins) -> Place | None:
    said = _statement(finding)
    return (finding.rule_id, origins.get(finding.file, finding.file), said) if said else None


def _in_function(finding: Finding, origins: Origins) -> Place | None:
    said = _statement(finding)
    is_told = finding.function != TOP_LEVEL  # a statement outside functions stands in many files
    function = finding.function if finding.anchor else finding.function.rpartition(".")[2]
    return (finding.rule_id, function, said) if said and is_told else None


def _statement(finding: Finding) -> str:
    """The statement that a finding is about, or what the message measures of the function that it names."""
    name = finding.function.rpartition(".")[2]
    measured = finding.message.replace(finding.function, "").replace(name, "") if name in finding.message else ""
    return finding.anchor or measured


def _unpaired(
    introduced: Iterable[Finding], resolved: Iterable[Finding], place_of: PlaceOf, before: Origins, after: Origins
) -> tuple[list[Finding], list[Finding]]:
    resolved = list(resolved)
    gone: dict[Place | None, list[Finding]] = {}
    for finding in resolved:
        gone.setdefault(place_of(finding, before), []).append(finding)
    gone.pop(None, None)
    new, moved = [], set()
    for finding in introduced:
        twins = gone.get(place_of(finding, after), [])
        if twins and _gravity(finding) <= _gravity(twins[0]):
            moved.add(twins.pop(0).fingerprint)
        else:
            new.append(finding)
    return new, [finding for finding in resolved if finding.fingerprint not in moved]


def _without_shrunk_circles(introduced: list[Finding], resolved: list[Finding]) -> tuple[list[Finding], list[Finding]]:
    """What is left of a circle, however many pieces it fell into, is no new circle."""
    wholes = [finding for finding in resolved if finding.rule_id == CIRCLE]
    left_of = {
        part.fingerprint: whole.fingerprint
        for part in introduced
        for whole in wholes
        if part.rule_id == CIRCLE and _is_part(part, whole)
    }
    return (
        [finding for finding in introduced if finding.fingerprint not in left_of],
        [finding for finding in resolved if finding.fingerprint not in left_of.values()],
    )


def _is_part(part: Finding, whole: Finding) -> bool:
    return set(part.anchor.split()) <= set(whole.anchor.split()) and _gravity(part) <= _gravity(whole)


def _gravity(finding: Finding) -> int:
    return (finding.severity or Severity.INFO).rank
