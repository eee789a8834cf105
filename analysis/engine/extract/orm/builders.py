"""TypeORM's query builder: `orders.createQueryBuilder("o").leftJoinAndSelect("o.lines", "l").where(…).getMany()`."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.conditions import alternatives, conditions_in
from analysis.engine.extract.orm.script_models import model_of
from analysis.engine.extract.orm.steps import (
    Step,
    Written,
    assigned_to,
    parts_of,
    split,
    statements_on,
    steps_after,
    takes_length,
)
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter, Mark

_OPERATIONS = {
    **dict.fromkeys(
        ("getMany", "getManyAndCount", "getRawMany", "getRawAndEntities", "getOne", "getOneOrFail"), "select"
    ),
    **dict.fromkeys(("getRawOne",), "select"),
    "getCount": "count",
    "getExists": "exists",
    "execute": "update",
}
_SINGLE = frozenset({"getOne", "getOneOrFail", "getRawOne", "getExists"})
_JOINS = frozenset({"leftJoinAndSelect", "innerJoinAndSelect", "leftJoinAndMapOne", "leftJoinAndMapMany"})
_WHERES = frozenset({"where", "andWhere", "orWhere"})
_READABLE = frozenset("\"'`{")  # how conditions begin that can be read
_WRITES = {"insert": "bulk_insert", "update": "update", "delete": "delete", "softDelete": "delete"}
_CLASS = re.compile(r"^[A-Z]\w*$")
_GROUPS = re.compile(r"\b(?:COUNT|SUM|AVG|MAX|MIN)\(", re.IGNORECASE)
_TEXT = re.compile(r"""^\s*["'`]([^"'`]*)""")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A builder that runs."""
    if not file.mentions(b"createQueryBuilder"):
        return iter(())
    written = split(file.text(call))
    if written.base.isidentifier() and all(step.name != "createQueryBuilder" for step in written.steps):
        steps = tuple(step for text in statements_on(written.base, call, file) for step in split(text).steps)
        origin = next((split(text) for text in statements_on(written.base, call, file)), written)
        written = Written(origin.base, (*steps, *written.steps))
    names = [step.name for step in written.steps]
    if "createQueryBuilder" in names:
        _append(call, written, names.index("createQueryBuilder"), file)
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


def _append(call: Node, written: Written, start: int, file: SourceFile) -> None:
    steps, terminal = written.steps[start:], written.steps[-1].name
    model = _model(call, written, start, file)
    alias = next((part.strip("\"'`") for part in parts_of(steps[0].arguments)[-1:] if part[:1] in "\"'`"), "")
    alias = alias or next(
        (part.strip("\"'`") for step in steps if step.name == "from" for part in parts_of(step.arguments)[1:2]), ""
    )
    texts = {name: [step.arguments for step in steps if step.name == name] for name in {step.name for step in steps}}
    operation = _OPERATIONS[terminal]
    if terminal == "execute":
        operation = next((_WRITES[step.name] for step in steps if step.name in _WRITES), "select")
    if operation == "select" and any(
        _GROUPS.search(text) for text in texts.get("select", []) + texts.get("addSelect", [])
    ):
        operation = "aggregate"
    order = (*texts.get("orderBy", ()), *texts.get("addOrderBy", ()))
    after = steps_after(call.end_byte, file)
    is_counted = any(step.name == "length" for step in after) or takes_length(call.start_byte, call.end_byte, file)
    file.queries.append(
        query_at(
            call,
            file,
            orm="typeorm",
            model=model,
            operation=operation,
            terminal=terminal,
            filters=tuple(alternatives(_sides(steps, alias))),
            order=tuple(match[1].rpartition(".")[2] for text in order if (match := _TEXT.match(text)) is not None),
            limit=1 if terminal in _SINGLE else _amount(texts, "take", "limit"),
            offset=_amount(texts, "skip", "offset"),
            eager=tuple(_joined(steps, alias)),
            lock="setLock" in texts,
            streaming=terminal == "stream",
            variable="" if is_counted else assigned_to(call.start_byte, file),
            raw=any(_is_opaque(step) for step in steps),
            counted="len" if is_counted else "",
        )
    )


def _model(call: Node, written: Written, start: int, file: SourceFile) -> str:
    """The class that the builder is made for, or that a later step names."""
    for step in written.steps[start:]:
        if step.name in ("createQueryBuilder", "from", "into", "update", "delete", "insert"):
            first = next(iter(parts_of(step.arguments)), "")
            if _CLASS.match(first):
                return first
    steps = [f"{each.name}({each.arguments})" for each in written.steps[:start]]
    receiver = ".".join([written.base, *steps] if written.base else steps)
    found = model_of("".join(receiver.split()), call, file)
    return found[0] if found is not None else ""


def _is_opaque(step: Step) -> bool:
    """Conditions that cannot be read, and joins that leave rows out."""
    if step.name.startswith("innerJoin"):
        return True
    return step.name in _WHERES and step.arguments.strip()[:1] not in _READABLE


def _sides(steps: tuple[Step, ...], alias: str) -> list[list[Filter]]:
    """The conditions, those behind each `orWhere` apart."""
    sides: list[list[Filter]] = [[]]
    for step in steps:
        if step.name == "orWhere":
            sides.append([])
        if step.name in _WHERES:
            sides[-1] += _filters(step, alias)
    return sides


def _filters(step: Step, alias: str) -> Iterator[Filter]:
    arguments = parts_of(step.arguments)
    first = arguments[0] if arguments else ""
    if first[:1] in "\"'`":
        yield from conditions_in(first.strip("\"'`"), alias, arguments[1:])
    elif first.startswith("{"):
        yield from (Filter(name, "eq") for name in re.findall(r"[{,]\s*(\w+)", first))


def _joined(steps: tuple[Step, ...], alias: str) -> Iterator[str]:
    known = {alias: ""}
    for step in steps:
        parts = [part.strip("\"'`") for part in parts_of(step.arguments)]
        if step.name in _JOINS and parts:
            owner, _, relation = parts[-3 if "Map" in step.name and len(parts) > 2 else 0].partition(".")
            path = f"{known.get(owner, '')}.{relation}".strip(".") if relation else owner
            yield path
            if len(parts) > 1:
                known[parts[1]] = path


def _amount(texts: dict[str, list[str]], *names: str) -> int:
    for name in names:
        for text in texts.get(name, ()):
            return int(text) if text.strip().isdigit() else -1
    return 0
