"""A file holds more than one can know: more than 500 lines of code."""

from collections.abc import Iterator

from analysis.engine.facts import FileFacts
from analysis.engine.languages import PARSED, FileKind, kind_of
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.readers.thresholds import graded

INFO, WARNING, CRITICAL = 500, 1000, 3000
LINES_PER_POINT = 250  # beyond WARNING

RULE = Rule(
    id="maint-large-file",
    type="large_file",
    category=Category.MAINTAINABILITY,
    title="File is too large",
    severity=Severity.WARNING,
    points=4,
    suggestion="Split the file by topic.",
    tests_too=True,
)
GUIDE = Guide(
    why=(
        "Nobody knows a file that cannot be read in one sitting, so it is searched instead of read, and grows where it "
        "was found."
    ),
    grades="Info above 500 lines of code, warning above 1,000, critical above 3,000.",
)


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    if facts.language not in PARSED or facts.code_lines <= INFO or _is_data(facts):
        return
    scale = 2 if kind_of(path) is FileKind.TEST else 1
    severity = graded(facts.code_lines, INFO * scale, WARNING * scale, CRITICAL * scale)
    if severity is not None:
        yield Finding(
            rule_id=RULE.id,
            file=path,
            line=1,
            message=f"The file has {facts.code_lines} lines of code (limit {INFO * scale}) in {_content(facts)}",
            severity=severity,
            excess=max(0, facts.code_lines - WARNING * scale) / LINES_PER_POINT,
        )


def _is_data(facts: FileFacts) -> bool:
    """Tables, translations and barrels define nothing that runs."""
    return len(facts.functions) <= 1 and not facts.classes


def _content(facts: FileFacts) -> str:
    return f"{len(facts.classes)} classes and {max(0, len(facts.functions) - 1)} functions"
