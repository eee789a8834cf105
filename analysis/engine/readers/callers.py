"""Whether anybody is seen to call a function."""

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts, Function


def is_called(function: Function, codebase: Codebase) -> bool:
    """Whether a function of the project's sources calls something of this name. Who is called by nobody may be called
    by a framework, by way of an interface, or by another project."""
    name = function.name.rpartition(".")[2]
    called_in = codebase.summaries(called_names)
    return any(path in called_in and name in called_in[path] for path, _ in codebase.sources)


def called_names(facts: FileFacts) -> frozenset[str]:
    """The last names of all that the functions of a file call."""
    return frozenset(call.rpartition(".")[2] for function in facts.functions for call in function.calls)
