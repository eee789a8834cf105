"""One blob to its facts.

`extract` is pure: the same bytes and reading give the same facts, on any machine, whatever the path. It never raises.
A blob that cannot be read as source gives facts with `skipped` and its lines.
"""

import logging

from analysis.engine.extract.dialect import TookTooLong
from analysis.engine.extract.looks import gates_of
from analysis.engine.extract.parsed import parsed_facts
from analysis.engine.extract.plain import plain_facts
from analysis.engine.extract.text import LONGEST_LINE, Lines, is_copied_library, normalise, reason_to_skip
from analysis.engine.facts import PARSER_FAILED, TOOK_TOO_LONG, FileFacts
from analysis.engine.languages import PARSED, language_read

logger = logging.getLogger(__name__)


def extract(blob: bytes, reading: str) -> FileFacts:
    """Everything that this blob says when read as that (see FileFacts and `languages.reading_of`). Never raises."""
    language = language_read(reading)
    try:
        return _extract(blob, language, is_test=language != reading)
    except Exception:
        logger.exception("Extracting facts failed for a file in %s", language)
        return FileFacts(language=language, lines=blob.count(b"\n") + 1, skipped=PARSER_FAILED)


def prepare(reading: str) -> None:
    """Make the parser of a language and what its rules look with: some ten milliseconds that processes forked later
    are spared."""
    extract(b"\n", reading)


def _extract(blob: bytes, language: str, *, is_test: bool) -> FileFacts:
    source = normalise(blob)
    skipped = reason_to_skip(source)
    if skipped == "binary":
        return FileFacts(language=language, skipped=skipped)
    lines = Lines(source)
    if not skipped and lines.longest > LONGEST_LINE and language in PARSED:
        skipped = "minified"
    if not skipped and language == "javascript" and is_copied_library(source):
        skipped = "copied library"
    if skipped or language not in PARSED:
        return plain_facts(blob, source, language, lines, skipped)
    try:
        gates = gates_of(language, source, in_tests=is_test)
        return parsed_facts(source, language, lines, gates, is_test=is_test)
    except TookTooLong:
        return plain_facts(blob, source, language, lines, TOOK_TOO_LONG)
