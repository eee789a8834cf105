"""Files that have no tree: SQL, Prisma, manifests, other text, and sources left alone for a reason."""

import re

from analysis.engine.extract.comments import suppressions
from analysis.engine.extract.text import Lines
from analysis.engine.facts import FileFacts

_COMMENTS = {
    "sql": re.compile(rb"--[^\n]*|/\*.*?\*/", re.DOTALL),
    "prisma": re.compile(rb"//[^\n]*"),
}


def plain_facts(blob: bytes, source: bytes, language: str, lines: Lines, skipped: str) -> FileFacts:
    """Line counts, suppressions, and what the language's own reader finds."""
    if language == "manifest" and not skipped:
        from analysis.engine.extract.manifests import manifest_facts

        return manifest_facts(blob)
    if language in _COMMENTS:
        for match in _COMMENTS[language].finditer(source):
            lines.blank_out(source, match.start(), match.end())
    found, unreasoned = suppressions(source, lines, None) if language in _COMMENTS and not skipped else ((), ())
    return FileFacts(
        language=language,
        lines=lines.count,
        code_lines=lines.code(1, lines.count),
        comment_lines=lines.comments,
        skipped=skipped,
        suppressions=found,
        unreasoned_suppressions=unreasoned,
    )
