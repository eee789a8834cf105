"""Rules that raised, files that no parser got through: what they would have brought is missing, and people are told."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping

from analysis.engine.facts import PARSER_FAILED, TOOK_TOO_LONG, FileFacts

EVERYWHERE = ""  # in place of a path: the rule failed on the codebase as a whole
PATHS_NAMED = 3

Failed = Mapping[str, frozenset[str]]  # paths by the rule that failed there

logger = logging.getLogger(__name__)


class Failures:
    """Collects the rules that raise, and logs the first failure of each that is not in `logged`."""

    def __init__(self, logged: set[str]) -> None:
        self._paths: dict[str, set[str]] = {}
        self._logged = logged

    def note(self, error: Exception, rule_id: str, path: str = EVERYWHERE) -> None:
        """Remember that the rule raised. A lack of memory says nothing of the rule and is raised again."""
        if isinstance(error, MemoryError):
            raise error
        self._paths.setdefault(rule_id, set()).add(path)
        if rule_id not in self._logged:
            self._logged.add(rule_id)
            logger.error("The rule %s failed on %s", rule_id, path or "the whole codebase", exc_info=error)

    def forget(self) -> None:
        """Start again."""
        self._paths.clear()

    @property
    def failed(self) -> Failed:
        """What was collected."""
        return {rule_id: frozenset(paths) for rule_id, paths in self._paths.items()}


def joined(several: Iterable[Failed]) -> Failed:
    """All failures of several."""
    paths: dict[str, frozenset[str]] = {}
    for failed in several:
        for rule_id, found in failed.items():
            paths[rule_id] = paths.get(rule_id, frozenset()) | found
    return paths


def failure_notes(failed: Failed, before: bool = False) -> Iterator[str]:
    """One sentence for each rule that failed; `before` the change that is judged, or in what is judged itself."""
    of_base = " before this change" if before else ""
    for rule_id, paths in sorted(failed.items()):
        if EVERYWHERE in paths:
            yield f"The rule {rule_id} failed{of_base} and was left out; whatever it would have found is missing."
            continue
        yield (
            f"The rule {rule_id} failed{of_base} on {_number(paths)} and was left out there ({_named(paths)}); "
            "whatever it would have found is missing."
        )


def unparsed_notes(files: Mapping[str, FileFacts]) -> Iterator[str]:
    """One sentence for each way in which files could not be parsed."""
    sentences = {TOOK_TOO_LONG: "{files} took too long to parse", PARSER_FAILED: "The parser failed on {files}"}
    for reason, sentence in sentences.items():
        if paths := {path for path, facts in files.items() if facts.skipped == reason}:
            what = sentence.format(files=_number(paths))
            yield f"{what} ({_named(paths)}); whatever would have been found there is missing."


def _number(paths: Collection[str]) -> str:
    return "1 file" if len(paths) == 1 else f"{len(paths)} files"


def _named(paths: Collection[str]) -> str:
    return ", ".join(sorted(paths)[:PATHS_NAMED]) + (", ..." if len(paths) > PATHS_NAMED else "")
