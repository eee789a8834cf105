"""Which functions the rules with thresholds look at, and how a number becomes a severity."""

from collections.abc import Iterator

from analysis.engine.facts import FileFacts, Function, FunctionFlag
from analysis.engine.model import Severity

# Plain integers: operations on flag enums cost a microsecond, and large repositories have 100,000 functions.
_NOT_JUDGED = int(FunctionFlag.ABSTRACT | FunctionFlag.TEST)


def judged_functions(facts: FileFacts) -> Iterator[Function]:
    """Functions with a body that are no tests; the top level of the file is none."""
    for index, function in enumerate(facts.functions):
        if index and not function.flags & _NOT_JUDGED:
            yield function


def graded(value: float, info: float, warning: float, critical: float) -> Severity | None:
    """The severity of a value above these limits, None when it is above none."""
    if value > critical:
        return Severity.CRITICAL
    if value > warning:
        return Severity.WARNING
    return Severity.INFO if value > info else None
