"""The texts that a watch needs stand in every file with a mark of it: asked without that gate, no look finds more."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.looks import Gate, Gates, Needs, gates_of
from analysis.engine.extract.parsed import parsed_facts
from analysis.engine.extract.text import Lines
from analysis.engine.rules import watches_of

ROOT = Path(__file__).resolve().parents[3]
LANGUAGES = ("python", "tsx", "java", "go")  # what watches script watches all of it
LONGEST_EXAMPLE = 4_000  # characters


def texts() -> Iterator[str]:
    """The sources of the extractor, and the examples of all languages that stand in the tests of the rules."""
    for path in sorted((ROOT / "analysis" / "engine" / "extract").rglob("*.py")):
        yield path.read_text()
    for path in sorted((ROOT / "tests" / "engine" / "rules").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < LONGEST_EXAMPLE:
                yield node.value


CORPUS = sorted(set(texts()))


def without_needs(language: str) -> Gates:
    """The gates of all watches, as if every text that one needs stood in the file."""
    dialect, gates = dialect_of(language), {}
    for watch in watches_of(language):
        for node_type in dialect.nodes_of(watch.on) if watch.on != "call" else ():
            gates[node_type] = (*gates.get(node_type, ()), Gate(watch.look, watch.starts, ()))
    return gates


@pytest.mark.parametrize("language", LANGUAGES)
def test_looks_see_no_more_when_nothing_is_needed(language):
    everything, seen = without_needs(language), 0
    for text in CORPUS:
        source = text.encode()
        if dialect_of(language).parser.parse(source).root_node.has_error:
            continue
        marks = parsed_facts(source, language, Lines(source), everything).marks
        if marks:
            assert parsed_facts(source, language, Lines(source), gates_of(language, source)).marks == marks, text
        seen += len(marks)
    assert seen


def test_where_no_watch_needs_a_text_no_source_meets_one():
    assert Needs(()).met_by(b"anything") == frozenset()
