"""A class that does too many things."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Class, FileFacts, Function, FunctionFlag
from analysis.engine.graph.paths import folder_of
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="arch-god-class",
    type="god_class",
    category=Category.ARCHITECTURE,
    title="Class with too many responsibilities",
    severity=Severity.WARNING,
    points=8,
    suggestion="Extract a group of methods around their fields into its own class.",
)
GUIDE = Guide(
    why="Everything changes in it, everybody waits for it, and nobody knows all of it.",
    grades=(
        "At least two of: more than 20 public methods, more than 15 fields, cyclomatic complexity above 60, more than "
        "500 lines, or groups of methods that share no field; fields and groups alone make a row, not a god class. "
        "Builders, visitors, facades, readers of settings and classes that only delegate are left alone."
    ),
)
MOST_METHODS = 20
MOST_FIELDS = 15
MOST_COMPLEXITY = 60
MOST_LINES = 500
SIGNS_NEEDED = 2
_DELEGATE_LINES = 3
_DELEGATING_SHARE = 0.8
_MAKER_COMPLEXITY = 3  # makes it on first use
_ONE_PER_KIND_SHARE = 0.5
_PLAIN_MEAN = 1.5  # of the cyclomatic complexity of readers
_BY_DESIGN = re.compile(
    r"(Builder|Visitor|Parser|Listener|Transformer|Facade|Converters?|Mapper|Criteria)$", re.IGNORECASE
)
_PER_KIND = re.compile(r"^(visit|parse|enter|exit|leave|handle|generic_visit)_?[A-Z\w]|^(to|from|convert)[A-Z]")

_PROPERTY = re.compile(r"(?:^|[._])property\b|\.(?:setter|deleter|expression|comparator|inplace)\b")
_OF_ROWS = frozenset({"equals", "hashCode", "toString", "compareTo", "__eq__", "__hash__", "__repr__", "__str__"})
_MADE = re.compile(r"[A-Z]\w*[a-z]|[nN]ew_?[A-Z]")  # a class, or a function of Go that makes something
_MAPPED = re.compile(r"(?:^|\.)(?:Entity|Document|Embeddable|MappedSuperclass|PersistenceCapable)\b")
_THROWN = ("Exception", "Error")
_ASKING = re.compile(r"(?:get|is|has)[A-Z_]")


@dataclass(frozen=True, slots=True)
class _Body:
    """A class with its methods; in Go those of all files of the package that have it as their receiver."""

    entry: Class
    methods: Sequence[Function]

    @property
    def name(self) -> str:
        return self.entry.name.rpartition(".")[2]


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    """One finding per class that shows two or more of the signs."""
    if facts.language != "go":
        for entry in facts.classes:
            methods = [function for function in facts.functions if function.owner == entry.name]
            yield from _judged(path, facts, entry, methods)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """The same for Go, where the methods of a type stand in any file of its package."""
    receivers = _methods_of_packages(codebase)
    for path, facts in codebase.sources:
        for entry in facts.classes if facts.language == "go" else ():
            methods = receivers.get((folder_of(path), entry.name))
            if methods is None:
                methods = [function for function in facts.functions if function.owner == entry.name]
            yield from _judged(path, facts, entry, methods)


def _judged(path: str, facts: FileFacts, entry: Class, methods: Sequence[Function]) -> Iterator[Finding]:
    body = _Body(entry, [method for method in methods if not _is_of_data(method)])
    if _is_row(body, methods):
        return
    if body.methods and not _is_by_design(body):
        signs, is_large = _signs(body, facts)
        if len(signs) >= SIGNS_NEEDED and is_large:
            yield _finding(path, body, signs)


def _is_row(body: _Body, methods: Sequence[Function]) -> bool:
    """Whether nearly nothing but accessors works on the fields."""
    return len(methods) > MOST_METHODS and len(body.methods) <= (1 - _DELEGATING_SHARE) * len(methods)


def _is_of_data(method: Function) -> bool:
    """An accessor, or what rows have to be compared and printed."""
    is_accessor = bool(method.flags & FunctionFlag.ACCESSOR) or (
        method.cyclomatic == 1 and any(map(_PROPERTY.search, method.decorators))
    )
    return is_accessor or method.short_name in _OF_ROWS


def _finding(path: str, body: _Body, signs: list[str]) -> Finding:
    groups = field_groups(body.entry)
    fields = ", ".join(sorted(groups[-1])[:3]) if len(groups) > 1 else ""
    return Finding(
        rule_id=RULE.id,
        file=path,
        line=body.entry.line,
        message=f"`{body.entry.name}` does too much: {', '.join(signs)}",
        function=body.entry.name,
        anchor=body.entry.name,
        suggestion=f"Extract the group of methods around `{fields}` into its own class." if fields else "",
    )


def _signs(body: _Body, facts: FileFacts) -> tuple[list[str], bool]:
    """What speaks against the class, and whether there is much work in it: fields alone make a row or a message."""
    complexity = sum(method.cyclomatic for method in body.methods)
    code_lines = body.entry.code_lines
    if facts.language == "go":
        code_lines += sum(method.code_lines for method in body.methods)
    # Columns of a model belong together because they are one row.
    is_model = any(model.name == body.name for model in facts.models) or _is_mapped(body.entry)
    groups = 1 if is_model else len(field_groups(body.entry))
    fields = 0 if is_model else sum(1 for name in body.entry.fields if not name.isupper())  # constants are no state
    measured = (
        (len(body.methods) > MOST_METHODS, f"{len(body.methods)} methods"),
        (fields > MOST_FIELDS, f"{fields} fields"),
        (complexity > MOST_COMPLEXITY, f"a summed complexity of {complexity}"),
        (code_lines > MOST_LINES, f"{code_lines} lines"),
        (groups > 1, f"{groups} groups of methods that share no field"),
    )
    is_large = len(body.methods) > MOST_METHODS or complexity > MOST_COMPLEXITY or code_lines > MOST_LINES
    return [text for is_sign, text in measured if is_sign], is_large


def _is_mapped(entry: Class) -> bool:
    return any(_MAPPED.search(decorator) for decorator in entry.decorators)


def field_groups(entry: Class) -> list[set[str]]:
    """Fields that two or more methods use together, directly or through other methods; largest group first.

    A field that only one method touches tells nothing about cohesion and is left out.
    """
    groups: list[tuple[set[str], int]] = []
    for _, fields in entry.field_use:
        joined, methods = {name for name in fields if not name.isupper()}, 1
        if not joined:
            continue
        apart = []
        for group, users in groups:
            if group.isdisjoint(joined):
                apart.append((group, users))
            else:
                joined |= group
                methods += users
        groups = [*apart, (joined, methods)]
    shared = [group for group, methods in groups if methods > 1]
    return sorted(shared, key=lambda group: (-len(group), sorted(group)))


def _is_by_design(body: _Body) -> bool:
    if _BY_DESIGN.search(body.name):
        return True
    per_kind = sum(1 for method in body.methods if _PER_KIND.match(method.short_name))
    asking = sum(1 for method in body.methods if _ASKING.match(method.short_name))
    plain = sum(method.cyclomatic for method in body.methods) < _PLAIN_MEAN * len(body.methods)
    delegating = sum(1 for method in body.methods if method.code_lines <= _DELEGATE_LINES and method.cyclomatic == 1)
    total = len(body.methods)
    if asking >= _DELEGATING_SHARE * total and plain:
        return True  # one reader for each setting
    if _makes_all(body):
        return True
    return per_kind > _ONE_PER_KIND_SHARE * total or delegating >= _DELEGATING_SHARE * total


def _makes_all(body: _Body) -> bool:
    """Whether nearly each method makes another thing of its own and does little else: what wires an application."""
    made = [each for method in body.methods if method.cyclomatic <= _MAKER_COMPLEXITY for each in _made_by(method)]
    return len(made) >= _DELEGATING_SHARE * len(body.methods) and len(set(made)) >= _DELEGATING_SHARE * len(made)


def _made_by(method: Function) -> list[str]:
    """The first class that a method makes."""
    return [call for call in method.calls if _MADE.match(call.rpartition(".")[2]) and not call.endswith(_THROWN)][:1]


def _methods_of_packages(codebase: Codebase) -> dict[tuple[str, str], list[Function]]:
    """Methods of Go receivers over the files of a package, where one file declares the type.

    Several declarations are variants that build tags choose from; their methods must not be added up.
    """
    methods: dict[tuple[str, str], list[Function]] = {}
    declared: Counter[tuple[str, str]] = Counter()
    for path, facts in codebase.sources:
        if facts.language == "go":
            declared.update((folder_of(path), entry.name) for entry in facts.classes)
            for function in facts.functions:
                if function.owner:
                    methods.setdefault((folder_of(path), function.owner), []).append(function)
    return {key: group for key, group in methods.items() if declared[key] == 1}
