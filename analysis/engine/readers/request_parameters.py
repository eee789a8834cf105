"""Which parameters of a handler its framework fills from the request, by what stands before them, and which functions
they are handed on to. The `data` of a mark:

- `names`: those parameters of the function, `filter page`
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.calls import LEVELS, Callee
from analysis.engine.codebase import Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Function, Mark
from analysis.engine.readers.built_text import values_of
from analysis.engine.rules.base import JAVA, SCRIPT, Watch

ANNOTATION = "brought"  # rule of these marks
_IN_SCRIPTS = ("Query", "Body", "Param", "Headers", "Args", "Arg")  # of NestJS and its like
_IN_JAVA = ("RequestParam", "RequestBody", "PathVariable", "RequestHeader", "ModelAttribute", "QueryParam", "FormParam")
_BRACKETS = r"(?:\((?:[^()]|\([^()]*\))*\))?"
_BEFORE_NAME = re.compile(rf"@({'|'.join((*_IN_SCRIPTS, *_IN_JAVA))})\b{_BRACKETS}")
_NUMBERS = frozenset("number boolean bigint int long short double Integer Long Short Double Boolean".split())
# Types that say nothing of what they hold, so that only the same name is the same value.
_ANY_VALUE = frozenset("string any unknown object String Object Map List Set".split())
# A field of an object, an element, or a text of it: `dto.repo`, `filter.getName().trim()`, `options.get("name")`.
_TAKEN = re.compile(
    r"\(*(?P<name>[A-Za-z_$]\w*)(?P<rest>(?:[?!]?\.(?:(?:get\w*|is\w+|split|trim|strip|to(?:Lower|Upper)Case|toString)"
    r"\([^()]*\)|\w+(?!\w*\())|\[[^\[\]]*\])*)\s*(?:(?:\?\?|\|\|)[^\n]*)?"
)
_STEPS = 3  # from local name to local name


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """By function the parameters that a request brings."""
    for draft in file.functions[1:]:
        names = _brought(draft.node, file)
        if names:
            yield Mark(ANNOTATION, file.line(draft.node), draft.index, "", "", data={"names": " ".join(names)})


def _brought(function: Node, file: SourceFile) -> list[str]:
    """The parameters that the framework fills from the request; numbers hold no text."""
    listed = function.child_by_field_name("parameters")
    if listed is None or b"@" not in file.source[listed.start_byte : listed.end_byte]:
        return []
    declared = [each for each in listed.named_children if _BEFORE_NAME.search(file.text(each))]
    names = {name for each in declared for name in re.findall(r"[\w$]+", _BEFORE_NAME.sub("", file.text(each)))}
    known = file.dialect.parameters(function, file)
    return [each.name for each in known if each.name in names and each.annotation not in _NUMBERS]


def taken_from(part: Node, file: SourceFile) -> str:
    """The parameter of the function around that a part is, or is a field or an element of, also by local names."""
    function = file.enclosing_function(part)
    known = {each.name for each in file.dialect.parameters(function, file)} if function is not None else set()
    value = part
    for _ in range(_STEPS):
        taken = _TAKEN.fullmatch(file.text(value))
        if taken is None:
            return ""
        if taken["name"] in known:
            return taken["name"]
        values = values_of(taken["name"], part, file)
        if len(values) != 1:
            return ""
        value = values[0]
    return ""


def is_brought(name: str, part: Node, file: SourceFile) -> bool:
    """Whether the framework fills a parameter of the function around the part from the request."""
    function = file.enclosing_function(part)
    return function is not None and name in _brought(function, file)


def is_handed_down(place: Place, name: str) -> bool:
    """Whether a handler hands what a request brings to this parameter of a function, as far as names and types tell."""
    if not place.in_request_path:
        return False
    marks = place.codebase.marks(ANNOTATION)
    given = {(handler.callee, each) for handler, mark in marks for each in mark.data["names"].split()}
    for _ in range(LEVELS):
        given = {
            (callee, other)
            for caller, each in given
            for callee in place.codebase.calls.callees(caller)
            for other in _taken_over(each, _function(caller, place), _function(callee, place))
        }
        if (place.callee, name) in given:
            return True
    return False


def _function(callee: Callee, place: Place) -> Function:
    return place.codebase.files[callee.path].functions[callee.position]


def _taken_over(name: str, caller: Function, callee: Function) -> Iterator[str]:
    """The parameters of a called function that are of the same type as one of the caller; of texts and collections
    there are many, which are the same by their names only."""
    kind = next((each.annotation for each in caller.parameters if each.name == name), "")
    tells = kind and kind.partition("<")[0] not in _ANY_VALUE
    yield from (each.name for each in callee.parameters if each.annotation == kind and (tells or each.name == name))


WATCHES = (
    Watch("program", look, SCRIPT, needs=tuple(f"@{each}(".encode() for each in _IN_SCRIPTS)),
    Watch("program", look, JAVA, needs=tuple(f"@{each}".encode() for each in _IN_JAVA)),
)
