"""The texts that a watch needs stand in every file with a mark of it: asked without that gate, no look finds more."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree_sitter import Node

from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.parsed import parse
from analysis.engine.rules import watches_of
from analysis.engine.rules.base import Watch

ROOT = Path(__file__).resolve().parents[3]
LANGUAGES = ("python", "javascript", "typescript", "tsx", "java", "go")
LONGEST_EXAMPLE = 4_000  # characters


def texts() -> Iterator[str]:
    """Our own sources, and the examples of all languages that stand in the tests of the rules."""
    for path in sorted((ROOT / "analysis" / "engine").rglob("*.py")):
        yield path.read_text()
    for path in sorted((ROOT / "tests" / "engine" / "rules").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < LONGEST_EXAMPLE:
                yield node.value


CORPUS = sorted(set(texts()))


def nodes_below(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node.children)


def is_marked(watch: Watch, node: Node, file) -> bool:
    starts = watch.starts is None or watch.starts.match(file.source, node.start_byte)
    return bool(starts) and any(True for _ in watch.look(node, file))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_with_a_mark_has_a_text_that_its_watch_needs(language):
    dialect = dialect_of(language)
    watches = [watch for watch in watches_of(language) if watch.needs]
    marked = 0
    for text in CORPUS:
        source = text.encode()
        missing = [watch for watch in watches if not any(each in source for each in watch.needs)]
        marked += len(watches) - len(missing)
        if not missing or dialect.parser.parse(source).root_node.has_error:
            continue
        file = parse(source, language)
        for node in nodes_below(file.tree.root_node):
            for watch in missing:
                assert node.type not in dialect.nodes_of(watch.on) or not is_marked(watch, node, file), text
    assert marked
