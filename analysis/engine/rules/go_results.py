"""What Go functions give back, as far as their own file tells, and the names that an assignment binds."""

import re
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

_LAST_IS_ERROR = re.compile(r"(^|[\s,(])error\)?$")


def returns_error(function: Node, file: SourceFile) -> bool:
    """Whether the last result of a function is an `error`."""
    result = function.child_by_field_name("result")
    return result is not None and bool(_LAST_IS_ERROR.search(file.text(result)))


@lru_cache(maxsize=1)
def failing_functions(file: SourceFile) -> frozenset[str]:
    """Plain names of the file's functions without receiver whose last result is an error. Of the last file only."""
    return frozenset(each.name for each in file.functions[1:] if not each.owner and returns_error(each.node, file))


def bound_names(call: Node, file: SourceFile) -> list[str]:
    """The names left of `:=` or `=` when the call is all that stands on the right; empty otherwise."""
    listed = call.parent
    statement = listed.parent if listed is not None and listed.type == "expression_list" else None
    if statement is None or statement.type not in ("short_var_declaration", "assignment_statement"):
        return []
    left, right = statement.child_by_field_name("left"), statement.child_by_field_name("right")
    if left is None or right is None or right.named_child_count != 1 or right.start_byte != call.start_byte:
        return []
    return [file.text(each) for each in left.named_children]
