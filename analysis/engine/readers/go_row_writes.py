"""Which rows that a function of Go is given it writes back, and which of their columns: what a service hands to its
store is seen at the service; who asks here knows what the store does with it.

The `data` of a mark:

- `row`: the position of the parameter that holds the row
- `columns`: the fields of it that an UPDATE sets, in small letters and without underscores

or, on its own,

- `versioned`: an UPDATE of the function only finds the row in the version that was read
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.calls import Callee
from analysis.engine.codebase import Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.rules.base import GO, Watch

ANNOTATION = "row-writes"  # rule of these marks
_UPDATE = re.compile(r"(?is)\bUPDATE\s+[\w.\"]+\s+SET\s+(?P<sets>.*?)(?P<rest>\bWHERE\b.*?)?[\"`]\s*,(?P<given>.*)")
_SET_TO = re.compile(r"(\w+)\"?\s*=\s*(?:\?|\$\d+|:\w+)")
_OF_A_VERSION = re.compile(rb"(?is)\bUPDATE\s+[\w.]+\s+SET\s[^`\"]*?\bWHERE\b[^`\"]*?(?:\b|_)version\s*=")
_VERSIONED = re.compile(r"(?i)(?:\b|_)version\b")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`db.ExecContext(ctx, `UPDATE tanks SET stock = $1 WHERE id = $2`, tank.Stock, tank.ID)` of a given tank."""
    update = _UPDATE.search(file.text(call))
    function = file.functions[file.function_of(call)]
    if update is None or not function.index or _VERSIONED.search(update["rest"] or ""):
        return
    sets = {_plain(name) for name in _SET_TO.findall(update["sets"])}
    for position, parameter in enumerate(file.dialect.parameters(function.node, file)):
        if not parameter.name or parameter.name == "_":
            continue
        row = rf"(?<![\w.])&?{re.escape(parameter.name)}"
        given = {_plain(name) for name in re.findall(rf"{row}\.(\w+)\b(?!\s*[-+(])", update["given"])}
        is_whole = ":" in update["sets"] and re.search(rf"{row}\s*[,)]", update["given"]) is not None
        columns = sets if is_whole else sets & given
        if columns:
            data = {"row": str(position), "columns": " ".join(sorted(columns))}
            yield Mark(ANNOTATION, file.line(call), function.index, "", "", data=data)


def look_at_versions(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The functions with an UPDATE that asks for a version, also by way of a constant: `… AND version = ?`."""
    for update in _OF_A_VERSION.finditer(file.source):
        function = file.scope_at(update.start(), update.end()).function
        if function.index:
            yield Mark(ANNOTATION, file.lines.of(update.start()), function.index, "", "", data={"versioned": "1"})


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def writes_back(call: str, position: int, column: str, place: Place) -> bool:
    """Whether all that a call can mean write this column of the row which stands at a position of their arguments."""
    meant = place.meant_by(call)
    return bool(meant) and all(_writes(each, position, _plain(column), place) for each in meant)


def asks_for_version(call: str, place: Place) -> bool:
    """Whether all that a call can mean write a row only in the version that was read."""
    meant = place.meant_by(call)
    return bool(meant) and all(
        any(
            mark.rule == ANNOTATION and mark.function == each.position and "versioned" in mark.data
            for mark in place.codebase.files[each.path].marks
        )
        for each in meant
    )


def _writes(callee: Callee, position: int, column: str, place: Place) -> bool:
    return any(
        mark.rule == ANNOTATION
        and mark.function == callee.position
        and mark.data.get("row") == str(position)
        and column in mark.data["columns"].split()
        for mark in place.codebase.files[callee.path].marks
    )


_RUN = frozenset({"Exec", "ExecContext", "MustExec", "NamedExec", "NamedExecContext"})
WATCHES = (
    Watch("call", look, GO, needs=(b"UPDATE ",), names=_RUN),
    Watch("source_file", look_at_versions, GO, needs=(b"UPDATE ",)),
)
