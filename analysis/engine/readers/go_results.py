"""What Go functions give back, as far as their own file tells, the names that an assignment binds, and where errors are
handled."""

import re
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FunctionFlag

_SUITES = frozenset(
    {"testing", "net/http/httptest", "github.com/stretchr/testify/suite", "github.com/stretchr/testify/require"}
)
_FOR_TESTS = (
    "github.com/ory/dockertest",
    "github.com/testcontainers/",
    "github.com/onsi/ginkgo",
    "github.com/onsi/gomega",
)
# A field that holds a function whose last result is an error: `run func(Job) error`.
_FIELD_THAT_FAILS = re.compile(
    rb"(?m)^[ \t]+(\w+)[ \t]+func\([^()\n]*\)[ \t]*(?:error|\([^()\n]*\berror\))[ \t]*(?://[^\n]*)?$"
)
_INTERFACE = re.compile(rb"(?m)^[ \t]*(?:type[ \t]+)?(\w+)[ \t]+interface[ \t]*\{\n([^}]*)\}")
_METHOD_THAT_FAILS = re.compile(rb"(?m)^[ \t]+(\w+)\([^()\n]*\)[ \t]*(?:error|\([^()\n]*\berror\))[ \t]*(?://[^\n]*)?$")
_RECEIVER = re.compile(r"\(\s*(\w+)\s+\S")
_LAST_IS_ERROR = re.compile(r"(^|[\s,(])error\)?$")


def helps_tests(file: SourceFile) -> bool:
    """Whether a file works with what only tests have, whatever it is called."""
    return any(full in _SUITES or full.startswith(_FOR_TESTS) for full in file.bindings.values())


def without_failure(rest: str, names: list[str]) -> str:
    """The text behind a call that gave a result and an error, without the branches in which it has failed: those that
    ask for the error, until something else gives that name a value, or for nil instead of the result."""
    name, error = map(re.escape, names)
    asks = re.compile(rf"\bif\s+([^\n{{]*(?:\b{error}\b|\b{name}\s*==\s*nil)[^\n{{]*)\{{")
    gives = re.compile(rf"\b{error}\s*(?:,\s*\w+\s*)*:?=(?!=)")
    succeeded = re.compile(rf"\b{error}\s*==\s*nil|\b{name}\.")
    kept, position = "", 0
    while (branch := asks.search(rest, position)) is not None:
        if gives.search(rest, position, branch.end()):
            break
        kept += rest[position : branch.start()]
        position = branch.end() if succeeded.search(branch[1]) else end_of_block(rest, branch.end())
    return kept + rest[position:]


def end_of_block(text: str, start: int) -> int:
    """Where the block ends that is open at the start, whatever blocks it holds."""
    depth, position = 1, start
    while depth and position < len(text):
        depth += (text[position] == "{") - (text[position] == "}")
        position += 1
    return position


def returns_error(function: Node, file: SourceFile) -> bool:
    """Whether the last result of a function is an `error`."""
    result = function.child_by_field_name("result")
    if result is None or result.type == "function_type":
        return False  # what it gives back may fail, later
    return bool(_LAST_IS_ERROR.search(file.text(result)))


@lru_cache(maxsize=1)
def functions_that_fail(file: SourceFile) -> dict[str, bool]:
    """The functions and methods (`Store.save`) of a file, and whether their last result is an error that they have not
    told of themselves. Kept for the file asked last."""
    return {each.name: fails_unheard(each.flags) for each in file.functions[1:]}


def fails_unheard(flags: int) -> bool:
    """Whether the flags of a function say that it gives an error, and has not told of it itself."""
    return bool(flags & FunctionFlag.RETURNS_ERROR) and not flags & FunctionFlag.SETTLES_ERRORS


@lru_cache(maxsize=1)
def fields_that_fail(file: SourceFile) -> frozenset[str]:
    """The fields of the structs of a file that hold functions with an error as their last result."""
    if not file.mentions(b" func("):
        return frozenset()
    return frozenset(found[1].decode() for found in _FIELD_THAT_FAILS.finditer(file.source))


@lru_cache(maxsize=1)
def declared_to_fail(file: SourceFile) -> frozenset[str]:
    """The methods (`Notifier.Notify`) of the interfaces of a file with an error as their last result."""
    if not file.mentions(b" interface"):
        return frozenset()
    return frozenset(
        f"{declared[1].decode()}.{method[1].decode()}"
        for declared in _INTERFACE.finditer(file.source)
        for method in _METHOD_THAT_FAILS.finditer(declared[2])
    )


@lru_cache(maxsize=1)
def function_names(file: SourceFile) -> frozenset[str]:
    """The last names of the functions and methods of a file, a cheap first question about a callee."""
    return frozenset(name.rpartition(".")[2] for name in functions_that_fail(file)) | fields_that_fail(file)


def receiver_of(node: Node, file: SourceFile) -> tuple[str, str]:
    """The name and the type of the receiver of the method around a node; empty outside of methods."""
    function = file.functions[file.function_of(node)]
    listed = function.node.child_by_field_name("receiver") if function.owner else None
    found = _RECEIVER.match(file.text(listed)) if listed is not None else None
    return (found[1], function.owner) if found is not None else ("", "")


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


def is_in_failure(statement: Node, file: SourceFile) -> bool:
    """Whether a statement stands right in the branch that handles an error: `if err != nil { ... }`."""
    if file.scope_of(statement).kind != "if":
        return False
    block = statement.parent.parent if statement.parent is not None else None
    above = block.parent if block is not None else None
    return (
        above is not None
        and above.type == "if_statement"
        and bool(re.match(rb"if\b[^{]*\berr\w*\s*!=\s*nil", file.source[above.start_byte : above.start_byte + 200]))
    )
