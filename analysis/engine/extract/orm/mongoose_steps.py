"""The steps behind a query of Mongoose: `.sort("-created").limit(20).populate("lines").lean()`."""

import re

from analysis.engine.extract.orm.steps import Step
from analysis.engine.facts import Filter

STEPS = frozenset(
    """exec lean populate sort limit skip select where equals in gt gte lt lte session read hint cursor stream maxTimeMS
    collation allowDiskUse batchSize orFail setOptions cache comment""".split()
)
_CONDITION_STEPS = frozenset({"and", "or", "setOptions"})
_FIRST_TEXT = re.compile(r"^\s*\{?\s*(?:path\s*:\s*)?[\"'`]?([\w.]+)")
_PATH = re.compile(r"[\"'`]([\w.]+)")
_NUMBER = re.compile(r"\d{1,9}$")
_STREAMING = frozenset({"cursor", "stream"})
_RUN = frozenset({"exec", "then"})


def number_of(name: str, steps: tuple[Step, ...]) -> int:
    """What the first step of this name is given: 0 when there is none, -1 when it is no number."""
    for step in steps:
        if step.name == name:
            text = step.arguments.strip()
            return int(text) if _NUMBER.match(text) else -1
    return 0


def ordered_by(steps: tuple[Step, ...]) -> tuple[str, ...]:
    found = (_FIRST_TEXT.match(step.arguments) for step in steps if step.name == "sort")
    return tuple(match[1] for match in found if match is not None)


def populated(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(each for step in steps if step.name == "populate" for each in _PATH.findall(step.arguments)[:1])


def selected(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(word for step in steps if step.name == "select" for word in re.findall(r"[\w.]+", step.arguments)[:20])


def filters_of(steps: tuple[Step, ...]) -> tuple[Filter, ...]:
    return tuple(
        Filter(match[1], "eq")
        for step in steps
        if step.name == "where" and (match := _PATH.match(step.arguments.strip())) is not None
    )


def adds_conditions(steps: tuple[Step, ...]) -> bool:
    """Whether a step adds conditions that are not read."""
    return any(step.name in _CONDITION_STEPS for step in steps)


def is_streamed(steps: tuple[Step, ...]) -> bool:
    return any(step.name in _STREAMING for step in steps)


def is_run(steps: tuple[Step, ...]) -> bool:
    """Whether a step runs the query, that else waits to be awaited."""
    return any(step.name in _RUN for step in steps)
