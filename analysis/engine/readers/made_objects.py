"""Where the objects of a Python class are made, as far as calls of its name tell."""

from enum import Enum

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts


class Made(Enum):
    """Who makes the objects of a class."""

    ONCE = "once"  # modules, when they are loaded
    BY_REQUESTS = "by requests"  # or by jobs: again and again
    UNKNOWN = "unknown"


def where(name: str, codebase: Codebase) -> Made:
    """Who makes the objects of the class of this name."""
    made = codebase.summaries(_made_in)
    inside = [(path, index) for path, found in made.items() for index in found.get(name, ())]
    paths = (codebase.request_path, codebase.job_path)
    if any(index in each.get(path, frozenset()) for path, index in inside for each in paths):
        return Made.BY_REQUESTS
    return Made.ONCE if inside and not any(index for _, index in inside) else Made.UNKNOWN


def _made_in(facts: FileFacts) -> dict[str, tuple[int, ...]]:
    """By the last name of what a Python file calls, where it begins like a class, the functions that do."""
    found: dict[str, tuple[int, ...]] = {}
    for index, function in enumerate(facts.functions if facts.language == "python" else ()):
        for call in function.calls:
            name = call.rpartition(".")[2]
            if name[:1].isupper():
                found[name] = (*found.get(name, ()), index)
    return found
