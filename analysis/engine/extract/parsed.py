"""Source to facts by way of its tree: parse, walk, let the rules look, and put the drafts into facts."""

import logging
from collections.abc import Iterable
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.extract import orm
from analysis.engine.extract.comments import suppressions
from analysis.engine.extract.dialect import COMMENTS, WATCHED
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.finish import class_facts, function_facts, loop_facts
from analysis.engine.extract.source import SourceFile
from analysis.engine.extract.text import Lines
from analysis.engine.extract.walk import Walk
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.rules import watches_of
from analysis.engine.rules.base import Look

logger = logging.getLogger(__name__)


def parsed_facts(source: bytes, language: str, lines: Lines) -> FileFacts:
    """Facts of a source in one of the parsed languages."""
    file, walk, streams = _walked(source, language, lines)
    dialect, by_kind = file.dialect, _looks(language)[1]
    comments = [(node.start_byte, node.end_byte) for node in streams[COMMENTS]]
    for start, end in comments:
        lines.blank_out(source, start, end)
    candidates = walk.candidates + [(by_kind[node.kind_id], node) for node in streams[WATCHED]]
    functions = function_facts(file)
    marks = _marks(candidates, file)
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
        classes=class_facts(file, walk.classes, functions),
        imports=walk.imports(),
        exports=dialect.exports(functions, file),
        loops=loop_facts(file),
        models=orm.models_of(file),
        queries=tuple(file.queries),
        entries=(*dialect.entries(functions, file), *file.entries),
        marks=marks,
        suppressions=reasoned,
        unreasoned_suppressions=unreasoned,
    )


def parse(source: bytes, language: str) -> SourceFile:
    """The file as rules see it, without asking them."""
    return _walked(source, language, Lines(source))[0]


def _walked(source: bytes, language: str, lines: Lines) -> tuple[SourceFile, Walk, list[list[Node]]]:
    dialect = dialect_of(language)
    file = SourceFile(language, source, dialect.parser.parse(source), lines, dialect)
    walk = Walk(file, _looks(language)[0])
    return file, walk, walk.run()


@lru_cache(maxsize=16)
def _looks(language: str) -> tuple[dict[str, tuple[Look, ...]], dict[int, tuple[Look, ...]]]:
    """What to call for a callee's last name, and for a kind of node."""
    dialect = dialect_of(language)
    by_name: dict[str, tuple[Look, ...]] = {}
    by_kind: dict[int, tuple[Look, ...]] = {}
    for watch in watches_of(language):
        if watch.on == "call":
            for name in watch.names:
                by_name[name] = (*by_name.get(name, ()), watch.look)
            continue
        for node_type in dialect.nodes_of(watch.on):
            kind = dialect.kind_id(node_type)
            if kind is not None:
                by_kind[kind] = (*by_kind.get(kind, ()), watch.look)
    for name, reader in (*dialect.readers().items(), *orm.readers_of(language)):
        by_name[name] = (*by_name.get(name, ()), reader)
    return by_name, by_kind


def _marks(candidates: Iterable[tuple[tuple[Look, ...], Node]], file: SourceFile) -> tuple[Mark, ...]:
    """What the rules say about the candidates, by line. A rule that fails costs its own mark only."""
    check_scopes = file.tree.root_node.has_error
    marks: list[Mark] = []
    for looks, node in candidates:
        if check_scopes and file.scope_of(node).broken:
            continue
        for look in looks:
            try:
                marks.extend(look(node, file))
            except Exception:
                logger.exception("A rule failed in %s on a %s", look.__module__, node.type)
    marks.sort(key=lambda mark: (mark.line, mark.rule, mark.message))
    return tuple(marks)
