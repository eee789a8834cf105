"""Methods of repositories that are given by name: `rows.forEach(orders::save)` runs one for each of the rows."""

import re

from msgspec import structs

from analysis.engine.extract.orm.jpa import declared_types, query_of
from analysis.engine.extract.source import SourceFile


def read(file: SourceFile) -> None:
    """The queries of references, in the loops that streams and `forEach` are."""
    if file.language != "java" or b"::" not in file.source:
        return
    types = declared_types(file)
    loops = {loop.node.start_byte: loop for loop in file.loops if loop.kind == "callback"} if types else {}
    names = "|".join(re.escape(name) for name in sorted(types))
    references = rf"(?<![\w.])(?:this\s*\.\s*)?({names})\s*::\s*(\w+)".encode() if loops else rb"(?!)"
    for match in re.finditer(references, file.source):
        loop = loops.get(match.start())
        if loop is not None:
            query = query_of(loop.node, types[match[1].decode()], match[2].decode(), "jpa", file)
            file.queries.append(structs.replace(query, loop=loop.index, uses_loop_variable=True, variable=""))
