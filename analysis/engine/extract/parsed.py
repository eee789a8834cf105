"""Source to facts by way of its tree: parse, walk, let the rules look, and put the drafts into facts."""

from itertools import chain

from analysis.engine.extract import orm
from analysis.engine.extract.blocks import blocks
from analysis.engine.extract.calls import read_calls
from analysis.engine.extract.comments import suppressions
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.finish import class_facts, function_facts, loop_facts
from analysis.engine.extract.looks import Gates, looks_at_calls, marks_of, watched, watched_types
from analysis.engine.extract.nodes import Nodes
from analysis.engine.extract.source import SourceFile
from analysis.engine.extract.text import Lines
from analysis.engine.extract.walk import Walk
from analysis.engine.facts import FileFacts


def parsed_facts(source: bytes, language: str, lines: Lines, gates: Gates) -> FileFacts:
    """Facts of a source in one of the parsed languages, with what rules see behind these gates."""
    file, walk, nodes = _walked(source, language, lines, watched_types(language))
    dialect = file.dialect
    candidates = read_calls(nodes.calls, file, looks_at_calls(language).at, walk.awaited)
    comments = _comments(nodes, file)
    functions = function_facts(file)
    orm.read_others(file)
    marks = marks_of(chain(candidates, watched(nodes, gates, file)), file)
    orm.join_variables(file)
    reasoned, unreasoned = suppressions(source, lines, comments)
    return FileFacts(
        language=language,
        lines=lines.count,
        code_lines=lines.code(1, lines.count),
        comment_lines=lines.comments,
        package=dialect.package(file),
        error_bytes=max(0, walk.error_bytes),
        is_entry=dialect.is_entry(file),
        functions=functions,
        classes=class_facts(file, file.classes, functions),
        imports=walk.imports(),
        exports=dialect.exports(functions, file),
        loops=loop_facts(file),
        models=orm.models_of(file),
        queries=tuple(file.queries),
        entries=(*dialect.entries(functions, file), *file.entries),
        marks=marks,
        suppressions=reasoned,
        unreasoned_suppressions=unreasoned,
        blocks=blocks(file, functions),
        accesses=orm.accesses_of(file),
        constants=orm.entities.table_constants(file),
    )


def facts_of_test(source: bytes, language: str, lines: Lines, gates: Gates) -> FileFacts:
    """Facts of a source that is a test: its structure, its imports, and what the few rules see that are heard in tests.

    No calls, loops, queries, models, entries and blocks: nothing is concluded from what a test does.
    """
    looks = looks_at_calls(language, in_tests=True)
    with_calls = looks.may_see_in(source)
    file, walk, nodes = _walked(source, language, lines, watched_types(language, in_tests=True), with_calls=with_calls)
    dialect = file.dialect
    candidates = read_calls(nodes.calls, file, looks.at, walk.awaited)
    comments = _comments(nodes, file)
    functions = function_facts(file)
    marks = marks_of(chain(candidates, watched(nodes, gates, file)), file)
    reasoned, unreasoned = suppressions(source, lines, comments)
    return FileFacts(
        language=language,
        lines=lines.count,
        code_lines=lines.code(1, lines.count),
        comment_lines=lines.comments,
        package=dialect.package(file),
        error_bytes=max(0, walk.error_bytes),
        is_entry=dialect.is_entry(file),
        functions=functions,
        classes=class_facts(file, file.classes, functions),
        imports=walk.imports(),
        exports=dialect.exports(functions, file),
        marks=marks,
        suppressions=reasoned,
        unreasoned_suppressions=unreasoned,
    )


def parse(source: bytes, language: str) -> SourceFile:
    """The file as rules see it, without asking them."""
    return _walked(source, language, Lines(source), frozenset())[0]


def _walked(
    source: bytes, language: str, lines: Lines, node_types: frozenset[str], *, with_calls: bool = True
) -> tuple[SourceFile, Walk, Nodes]:
    dialect = dialect_of(language)
    file = SourceFile(language, source, dialect.tree(source), lines, dialect)
    nodes = dialect.query(node_types, with_calls=with_calls).nodes(file.tree.root_node)
    walk = Walk(file)
    walk.run(nodes)
    return file, walk, nodes


def _comments(nodes: Nodes, file: SourceFile) -> list[tuple[int, int]]:
    """Where comments stand; their lines count as such from here on."""
    comments = [(node.start_byte, node.end_byte) for each in file.dialect.comments for node in nodes.by_type[each]]
    for start, end in comments:
        file.lines.blank_out(file.source, start, end)
    return comments
