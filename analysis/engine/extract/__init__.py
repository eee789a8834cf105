"""One blob to its facts.

`extract` is pure: the same bytes and language give the same facts, on any machine, whatever the path. It never raises.
A blob that cannot be read as source gives facts with `skipped` and its lines.
"""

import logging

from analysis.engine.extract.dialect import TookTooLong
from analysis.engine.extract.looks import gates_of
from analysis.engine.extract.parsed import parsed_facts
from analysis.engine.extract.plain import plain_facts
from analysis.engine.extract.text import LONGEST_LINE, Lines, normalise, reason_to_skip
from analysis.engine.facts import FileFacts
from analysis.engine.languages import PARSED

logger = logging.getLogger(__name__)


def extract(blob: bytes, language: str) -> FileFacts:
    """Everything that this blob says when read as `language` (see FileFacts). Never raises."""
    try:
        return _extract(blob, language)
    except Exception:
        logger.exception("Extracting facts failed for a file in %s", language)
        return FileFacts(language=language, lines=blob.count(b"\n") + 1, skipped="parser failed")


def prepare(language: str) -> None:
    """Make the parser of a language and what its rules look with: some ten milliseconds that processes forked later
    are spared."""
    extract(b"\n", language)


def _extract(blob: bytes, language: str) -> FileFacts:
    source = normalise(blob)
    skipped = reason_to_skip(source)
    if skipped == "binary":
        return FileFacts(language=language, skipped=skipped)
    lines = Lines(source)
    if not skipped and lines.longest > LONGEST_LINE and language in PARSED:
        skipped = "minified"
    if skipped or language not in PARSED:
        return plain_facts(blob, source, language, lines, skipped)
    try:
        return parsed_facts(source, language, lines, gates_of(language, source))
    except TookTooLong:
        return plain_facts(blob, source, language, lines, "took too long to parse")
