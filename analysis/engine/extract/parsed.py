"""Source to facts by way of its tree: parse, walk, let the rules look, and put the drafts into facts."""

from itertools import chain

from msgspec import structs

from analysis.engine.extract import orm
from analysis.engine.extract.blocks import blocks
from analysis.engine.extract.calls import read_calls
from analysis.engine.extract.comments import suppressions
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.finish import class_facts, function_facts, loop_facts
from analysis.engine.extract.looks import Gates, looks_at_calls, marks_of, watched, watched_types
from analysis.engine.extract.nodes import Nodes
from analysis.engine.extract.source import SourceFile
from analysis.engine.extract.text import Lines, is_built_for_tests
from analysis.engine.extract.walk import Walk
from analysis.engine.facts import FileFacts, Function
from analysis.engine.readers.held_clients import held_by


def parsed_facts(source: bytes, language: str, lines: Lines, gates: Gates, *, is_test: bool = False) -> FileFacts:
    """Facts of a source in one of the parsed languages, with what rules see behind these gates.

    Of a test only its structure, its imports and what the few rules see that are heard in tests: nothing is concluded
    from its calls, loops, queries, models, entries and blocks.
    """
    looks = looks_at_calls(language, in_tests=is_test)
    with_calls = not is_test or looks.may_see_in(source)
    file, walk, nodes = _walked(source, language, lines, watched_types(language, in_tests=is_test), with_calls)
    dialect = file.dialect
    candidates = read_calls(nodes.calls, file, looks.at, walk.awaited)
    comments = [(node.start_byte, node.end_byte) for each in dialect.comments for node in nodes.by_type[each]]
    for start, end in comments:
        lines.blank_out(source, start, end)
    functions = function_facts(file)
    if not is_test:
        orm.read_others(file)
    marks = marks_of(chain(candidates, watched(nodes, gates, file)), file)
    reasoned, unreasoned = suppressions(source, lines, comments)
    structure = FileFacts(
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
        is_built_for_tests=language == "go" and is_built_for_tests(source),
    )
    return structure if is_test else structs.replace(structure, **_deeds(file, functions))


def _deeds(file: SourceFile, functions: tuple[Function, ...]) -> dict[str, object]:
    """What the code does when it runs, as fields of its facts."""
    orm.join_variables(file)
    return {
        "loops": loop_facts(file),
        "models": orm.models_of(file),
        "queries": tuple(file.queries),
        "entries": (*file.dialect.entries(functions, file), *file.entries),
        "blocks": blocks(file, functions),
        "accesses": orm.accesses_of(file),
        "constants": orm.entities.table_constants(file),
        "annotated": file.dialect.annotated(file),
        "clients": held_by(file),
    }


def parse(source: bytes, language: str) -> SourceFile:
    """The file as rules see it, without asking them."""
    return _walked(source, language, Lines(source), frozenset(), with_calls=True)[0]


def _walked(
    source: bytes, language: str, lines: Lines, node_types: frozenset[str], with_calls: bool
) -> tuple[SourceFile, Walk, Nodes]:
    dialect = dialect_of(language)
    file = SourceFile(language, source, dialect.tree(source), lines, dialect)
    nodes = dialect.query(node_types, with_calls=with_calls).nodes(file.tree.root_node)
    walk = Walk(file)
    walk.run(nodes)
    file.prose += [(each.start_byte, each.end_byte) for kind in dialect.comments for each in nodes.by_type[kind]]
    return file, walk, nodes
