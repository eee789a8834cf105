"""What a look-up gave is used as if it could not be empty."""

import re
from collections.abc import Callable, Iterator
from functools import wraps

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.readers.lookups import Missing
from analysis.engine.readers.lookups_go import look_at_assertion, look_at_first
from analysis.engine.readers.lookups_java import NULL_OF_JAVA, look_at_get, look_at_nothing
from analysis.engine.readers.lookups_python import look_at_python
from analysis.engine.readers.lookups_script import (
    FOUND_ONE,
    ROWS_OF_SCRIPT,
    STEPS_OF_DRIZZLE,
    look_at_drizzle,
    look_at_find,
    look_at_found,
    look_at_map,
    look_at_match,
)
from analysis.engine.readers.optional_functions import (
    GIVEN,
    GIVES_NONE,
    LOOKED_UP,
    is_optional,
    may_give_none,
    taken_at_once,
    taken_by_name,
)
from analysis.engine.readers.reading import is_named_as_test
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Look, Watch

RULE = Rule(
    id="rel-unchecked-optional",
    type="unchecked_optional",
    category=Category.RELIABILITY,
    title="Look-up used without a check",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Handle the missing case (`get_object_or_404`, `?.`, `orElseThrow(() -> new NotFound(id))`).",
    languages=(*PYTHON, *SCRIPT, *JAVA, *GO),
    version=2,
)
GUIDE = Guide(
    why=(
        "The look-up finds nothing on the day the input is another one, and the error names neither the input nor the "
        "look-up."
    ),
    flagged=(
        {
            "shop/work.py": """
import re


def number(text):
    return re.search(r"[0-9]+", text).group(0)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import re


def number(text):
    found = re.search(r"[0-9]+", text)
    return found.group(0) if found else ""
"""
        },
    ),
)
_MAY_GIVE_NOTHING = FOUND_ONE | ROWS_OF_SCRIPT | {"get", "getOne", "find", "maybeOne", "maybeSingle", "oneOrNone"}


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A type assertion matters where it takes a request with it, and a guess where callers ask for what is looked up.
    In tests, whatever they are called, where rows are made up, and in a script that somebody runs and watches, nothing
    does; nor what a method of the project looks up that gives on no empty answer of a library."""
    if mark.data == GIVES_NONE or ("giver" in mark.data and not may_give_none(mark.data["giver"], place)):
        return None
    if is_named_as_test(place.path) or MADE_UP.search(place.path) or place.kind is FileKind.SCRIPT:
        return None
    if "finder" in mark.data and _always_finds(mark.data["finder"], codebase):
        return None
    if "form" in mark.data and not place.in_request_path:
        return None
    if mark.confidence == "low" and "asked" not in mark.data:
        return None
    return place.finding(mark)


def _always_finds(name: str, codebase: Codebase) -> bool:
    """Whether the project has methods of that name, and none of them gives on what a library's look-up has found: they
    raise for what is not there, or have the type of something else."""
    own = [gives_on for found in codebase.summaries(_finders).values() for gives_on in found.get(name, ())]
    return bool(own) and not any(own)


def _finders(facts: FileFacts) -> dict[str, list[bool]]:
    """The methods of script that are named as those of a library, and whether each calls one of a library."""
    if facts.language not in SCRIPT:
        return {}
    found: dict[str, list[bool]] = {}
    for function in facts.functions:
        name = function.short_name
        if function.owner and name in FOUND_ONE:
            gives_on = any(call.rpartition(".")[2] in _MAY_GIVE_NOTHING for call in function.calls)
            found.setdefault(name, []).append(gives_on)
    return found


def look_at_type(annotation: Node, file: SourceFile) -> Iterator[Mark]:
    """The type that a function of Python gives."""
    if is_optional(annotation, file):
        yield file.mark(RULE.id, annotation, "", data=GIVES_NONE)


def _told(read: Callable[[Node, SourceFile], Iterator[Missing]]) -> Look:
    """A look that marks whatever a reader of look-ups finds."""

    @wraps(read)
    def look(node: Node, file: SourceFile) -> Iterator[Mark]:
        for each in read(node, file):
            yield file.mark(
                RULE.id,
                each.node,
                each.message,
                confidence=each.confidence,
                suggestion=each.suggestion,
                data=each.data,
            )

    return look


_PYTHON = frozenset(
    """match search fullmatch first last fetchone fetchrow fetch_one get getenv next find_one one_or_none
    scalar_one_or_none fetchall fetch_all fetchmany filter exclude all scalar""".split()
)

WATCHES = (
    Watch("call", _told(look_at_python), PYTHON, names=_PYTHON),
    Watch("(function_definition return_type: (type) @n)", look_at_type, PYTHON, needs=(b"None", b"Optional[")),
    Watch("(attribute object: (call)) @n", _told(taken_at_once), PYTHON, starts=LOOKED_UP),
    Watch(
        "(attribute object: (parenthesized_expression (await (call)))) @n",
        _told(taken_at_once),
        PYTHON,
        starts=LOOKED_UP,
    ),
    Watch("assignment", _told(taken_by_name), PYTHON, starts=GIVEN),
    Watch("call", _told(look_at_find), SCRIPT, names=frozenset({"find"})),
    Watch("call", _told(look_at_found), SCRIPT, names=FOUND_ONE | ROWS_OF_SCRIPT),
    Watch("call", _told(look_at_drizzle), SCRIPT, needs=(b"drizzle-orm",), names=STEPS_OF_DRIZZLE),
    Watch("call", _told(look_at_match), SCRIPT, names=frozenset({"match", "exec"})),
    Watch("call", _told(look_at_map), SCRIPT, names=frozenset({"get"})),
    Watch("call", _told(look_at_get), JAVA, names=frozenset({"get"})),
    Watch("call", _told(look_at_nothing), JAVA, names=NULL_OF_JAVA),
    Watch("subscript", _told(look_at_first), GO, needs=(b"[0]",), starts=re.compile(rb"\w+\[0\]")),
    Watch("type_assertion_expression", _told(look_at_assertion), GO, needs=(b".(",)),
)
