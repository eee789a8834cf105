"""Drafts into facts, when all comments are known and every line can be counted."""

import re

from msgspec import structs

from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Class, Function, FunctionFlag, Loop

FLAT_CASES = 5  # at least so many one-statement cases make a flat switch
FLAT_SHARE = 0.8  # of all decisions of the function
# Only of a class that is large in one of these ways it is worth knowing which fields each method touches.
MANY_METHODS, MANY_FIELDS, MANY_LINES, MUCH_COMPLEXITY = 20, 15, 500, 60

_MEMBER = re.compile(rb"(?:self|this)(?<!\w(?:self|this))\.(\w+)")
_WORDS_APART = bytes(each if re.match(rb"\w", bytes([each])) else ord(" ") for each in range(256))


def function_facts(file: SourceFile) -> tuple[Function, ...]:
    """All functions; entry 0 is the top level and counts the lines outside of the others."""
    complexities = _complexities(file.functions)
    functions = [_function(draft, file, *complexities[draft.index]) for draft in file.functions[1:]]
    inside = sum(each.code_lines for each in functions if each.parent == 0)
    module = file.functions[0]
    return (
        Function(
            name="module",
            line=1,
            end_line=max(1, file.lines.count),
            code_lines=max(0, file.lines.code(1, file.lines.count) - inside),
            cyclomatic=complexities[0][0],
            cognitive=complexities[0][1],
            nesting=module.nesting,
            nesting_line=file.line(module.nesting_node) if module.nesting_node is not None else 0,
            calls=tuple(module.calls),
        ),
        *functions,
    )


def _complexities(drafts: list[FunctionDraft]) -> list[tuple[int, int]]:
    """The cyclomatic and cognitive complexity of each function.

    A component is a frame around functions: those inside count on their own, from nesting 0 on.
    """
    found, outside = [], [0]  # how much of its nesting each function has from a component around it
    for draft in drafts:
        if draft.index:
            outer = drafts[draft.parent]
            outside.append(draft.count.nesting if _is_component(outer) else outside[draft.parent])
        counts = [draft.count] if _is_component(draft) else [draft.count, *draft.closures]
        cyclomatic = 1 + sum(each.cyclomatic for each in counts)
        cognitive = sum(each.cognitive - outside[draft.index] * each.nested for each in counts)
        found.append((cyclomatic, cognitive))
    return found


def _is_component(draft: FunctionDraft) -> bool:
    return draft.has_jsx and draft.short_name[:1].isupper()


def _function(draft: FunctionDraft, file: SourceFile, cyclomatic: int, cognitive: int) -> Function:
    node, lines = draft.node, file.lines
    first = lines.of(node.start_byte)
    last = lines.of(max(node.start_byte, node.end_byte - 1))
    return Function(
        name=draft.name,
        line=lines.of(draft.name_start),
        end_line=last,
        code_lines=lines.code(first, last),
        cyclomatic=cyclomatic,
        cognitive=cognitive + _is_recursive(draft, file),
        nesting=draft.nesting,
        nesting_line=lines.of(draft.nesting_node.start_byte) if draft.nesting_node is not None else 0,
        flags=_flags(draft, cyclomatic),
        parent=draft.parent,
        owner=draft.owner,
        parameters=file.dialect.parameters(node, file),
        decorators=draft.decorators,
        calls=tuple(draft.calls),
        handed=tuple(draft.handed),
    )


def _is_recursive(draft: FunctionDraft, file: SourceFile) -> bool:
    own = draft.short_name
    if not draft.owner:
        return own in draft.calls
    if f"self.{own}" in draft.calls or f"this.{own}" in draft.calls:
        return True
    # Java needs no `this`, and another method of the name may be meant.
    return (
        file.language == "java" and own in draft.calls and sum(each.name == draft.name for each in file.functions) == 1
    )


def _flags(draft: FunctionDraft, cyclomatic: int) -> int:
    flags = draft.flags
    if draft.flat_cases >= FLAT_CASES and draft.flat_cases >= FLAT_SHARE * (cyclomatic - 1):
        flags |= FunctionFlag.FLAT_SWITCH
    if _is_component(draft):
        flags |= FunctionFlag.COMPONENT
    return flags


def class_facts(file: SourceFile, classes: list[Class], functions: tuple[Function, ...]) -> tuple[Class, ...]:
    """Classes with their lines, and for those with many methods the fields that each method touches."""
    if not classes:
        return ()
    methods: dict[str, list[Function]] = {}
    for each in functions:
        if each.owner:
            methods.setdefault(each.owner, []).append(each)
    return tuple(
        structs.replace(
            each,
            code_lines=file.lines.code(each.line, each.end_line),
            field_use=_field_use(each, methods.get(each.name, []), file),
        )
        for each in classes
    )


def _field_use(owner: Class, methods: list[Function], file: SourceFile) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not owner.fields or not _is_large(owner, methods):
        return ()
    fields = frozenset(name.encode() for name in owner.fields)
    starts, used = file.lines.starts, []
    for method in methods:
        end = starts[method.end_line] if method.end_line < len(starts) else len(file.source)
        text = file.source[starts[method.line - 1] : end]
        touched = fields.intersection(
            text.translate(_WORDS_APART).split() if file.language == "java" else _MEMBER.findall(text)
        )
        used.append((method.short_name, tuple(sorted(name.decode() for name in touched))))
    return tuple(used)


def _is_large(owner: Class, methods: list[Function]) -> bool:
    return (
        len(methods) > MANY_METHODS
        or len(owner.fields) > MANY_FIELDS
        or owner.end_line - owner.line > MANY_LINES
        or sum(each.cyclomatic for each in methods) > MUCH_COMPLEXITY
    )


def loop_facts(file: SourceFile) -> tuple[Loop, ...]:
    lines = file.lines
    return tuple(
        Loop(
            function=each.function,
            line=lines.of(each.node.start_byte),
            end_line=lines.of(max(each.node.start_byte, each.node.end_byte - 1)),
            kind=each.kind,
            variables=each.variables,
            iterable=each.iterable,
            parent=each.parent.index if each.parent is not None else -1,
            bound=each.bound,
            batched=each.batched,
            calls=tuple(each.calls),
        )
        for each in file.loops
    )
