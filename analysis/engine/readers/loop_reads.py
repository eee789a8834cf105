"""What a loop reads from each of its rows: attributes that may be relations, which cost a query each."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.readers.reading import assigned_values
from analysis.engine.rules.base import ROOTS, Watch

MOST_READS = 40  # attributes of one loop that are noted
_KEYS = re.compile(r"^(?:pk|id|objects|_meta|\w+_id|__\w+)$")
# Row, relation, what is done with it, and the relation that is read from what it leads to.
_READS = {
    "python": re.compile(
        r"(?<![\w.\"'])(\w+)\.(?:awaitable_attrs\.)?([a-z_]\w*)(?:\.(\w+)\(|\.([a-z_]\w*)(?=\.)|(?![\w(]|\s*=[^=]))"
    ),
    "java": re.compile(
        r"(?<![\w.\"'])(\w+)\.get([A-Z]\w*)\(\)(?:\s*\.(\w+)\()?()|(?<![\w.\"'])([a-z]\w*)\.([a-z]\w*)\s*\.([a-z]\w*)\b"
    ),
    "go": re.compile(r"\.Model\(&?(\w+)(?:\[\w+\])?\)\.Association\(\"(\w+)\"\)(?:\.(\w+)\()?()"),
}
_SCRIPT_READ = re.compile(
    r"\bawait\s+(\w+)\.([a-z]\w*)\b(?!\()(?:\)\.(\w+))?()|(?<![\w.])(\w+)\.get([A-Z]\w*)\((?:\)|\{)(?:\.(\w+)\()?"
)
_MANAGED = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+\.\w+)\.(?:all\(\)|filter\([^()]*\))$")
_ROWS_OF = (  # annotations of many rows, with the model
    r"(?:\w+\.)*(?:QuerySet|[Ll]ist|Sequence|Iterable|Iterator|Collection|[Ss]et|[Tt]uple)\[[\"']?(?:\w+\.)*([A-Z]\w*)\b"
)
ANNOTATED = {  # by language the types of many rows
    "python": re.compile(_ROWS_OF),
    "java": re.compile(r"^(?:java\.util\.)?(?:List|Set|Collection|Iterable|Page|Slice|Stream)<(?:\? extends )?(\w+)>$"),
    "go": re.compile(r"^\[\]\*?(?:\w+\.)?([A-Z]\w*)$"),
    **dict.fromkeys(
        ("typescript", "tsx"), re.compile(r"^(?:readonly\s+)?(?:([A-Z]\w*)\[\]|(?:Array|Iterable|Set)<([A-Z]\w*)>)$")
    ),
}
_ANNOTATED_PARAMETER = re.compile(rf"\b(\w+)\s*:\s*[\"']?{_ROWS_OF}")
LONGEST_CALL = 300  # characters of a call that gives rows
_CALLED = re.compile(  # with calls in calls among its arguments
    r"\(?(?:await\s+)?((?:\w+\.)*\w+)\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)\)?$"
)
_OF_ALL = frozenset(
    """items values keys range enumerate zip list sorted reversed set tuple map filter get all split findAll entrySet
    keySet stream find append now len objects""".split()
)
_ORMS = {  # their words, and those of what gives their rows
    "python": (
        b"django",
        b".objects",
        b".all()",
        b"sqlalchemy",
        b"models import ",
        b"selectors",
        b"repositor",
        b"queries",
        b"crud",
    ),
    "java": (b"Repository", b"createQuery", b"Service"),
    "go": (b".Association(",),
}
_SCRIPT_ORMS = (b"typeorm", b"await", b"equelize")
_LAZY_STEPS = frozenset({"all", "filter", "exclude", "order_by", "select_related", "prefetch_related"})
_IN_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")


def watches(rule: str) -> tuple[Watch, ...]:
    """Watches that note what loops read from their rows, as marks of the rule: one mark per loop."""

    def look(root: Node, file: SourceFile) -> Iterator[Mark]:
        if not any(file.mentions(word) for word in _ORMS.get(file.language, _SCRIPT_ORMS)):
            return
        asking = {query.function for query in file.queries if query.operation == "select"}
        for loop in file.loops:
            data = _noted(loop, asking, file)
            if data is not None:
                yield file.mark(rule, loop.node, "", data=data)

    return tuple(Watch(root, look, languages) for languages, root in ROOTS)


def _noted(loop: LoopDraft, asking: set[int], file: SourceFile) -> dict[str, str] | None:
    """What a loop reads, and where its rows may come from; None where nothing tells that they are rows."""
    if loop.kind == "while":
        return None
    is_python = file.language == "python"
    managed = _MANAGED.search(loop.iterable) if is_python and loop.iterable.endswith(")") else None
    giver = _giver(loop, file)
    is_asking = loop.function in asking or (loop.kind == "callback" and file.functions[loop.function].parent in asking)
    if not (is_asking or managed or giver or _annotated(loop, file)):
        return None
    reads = [each for each in _reads(loop, file) if managed is None or not _is_brought(managed[1], each, file)]
    if not reads:
        return None
    data = {"loop": str(loop.index), "reads": " ".join(reads)}
    if giver:
        data["giver"] = giver
    if managed:
        data["manager"] = managed[1]
    return data


def _is_brought(manager: str, read: str, file: SourceFile) -> bool:
    """Whether the file asks for a relation of the rows of `obj.lines` together with them: `"lines__product"`."""
    path = f"{manager.rpartition('.')[2]}__{read.partition(':')[0]}"
    return file.mentions(f'"{path}'.encode()) or file.mentions(f"'{path}".encode())


def _giver(loop: LoopDraft, file: SourceFile) -> str:
    """The function whose answer the loop goes through, `open_orders` of `for order in open_orders():`, also where a
    variable holds it. Empty for what every program has."""
    called = _CALLED.match(loop.iterable)
    if called is None and loop.iterable.isidentifier() and loop.node.child_by_field_name("body") is not None:
        values = assigned_values(loop.iterable, loop.node, file)
        called = _CALLED.match(file.text(values[-1])[:LONGEST_CALL]) if values else None
    if called is None or called[1].rpartition(".")[2] in _OF_ALL:
        return ""
    return called[1]


def _annotated(loop: LoopDraft, file: SourceFile) -> bool:
    if file.language == "java" or not loop.iterable.isidentifier():
        return loop.iterable.isidentifier()
    if file.language != "python":
        kinds, function = ANNOTATED.get(file.language), file.functions[loop.function].node
        given = file.dialect.parameters(function, file) if kinds is not None else ()
        return any(each.name == loop.iterable and kinds.match(each.annotation) for each in given if kinds is not None)
    header = file.functions[loop.function].node.child_by_field_name("parameters")
    return header is not None and any(
        match[1] == loop.iterable for match in _ANNOTATED_PARAMETER.finditer(file.text(header))
    )


def _reads(loop: LoopDraft, file: SourceFile) -> list[str]:
    """Attributes that are read from a loop variable, each with its line and, of a manager, the step that follows."""
    node = loop.node
    function = file.functions[loop.function].node
    text = file.text(node)
    whole = file.source[function.start_byte : function.end_byte]
    if b"prefetch_related_objects(" in whole or b"_prefetched_objects_cache" in whole:
        return []
    first = file.line(node)
    found: dict[str, str] = {}
    for position, row, name, step, further in _read_in(text, file.language):
        path = f"{name}.{further}"
        if (
            (row not in loop.variables and (file.language != "go" or row != loop.iterable))
            or _KEYS.match(name)
            or path in found
            or len(found) >= MOST_READS
        ):
            continue
        if not further and any(each.startswith(path) for each in found):
            continue
        found[path] = f"{name}:{first + text.count(chr(10), 0, position)}:{step}:{further}"
    return list(found.values())


def _read_in(text: str, language: str) -> Iterator[tuple[int, str, str, str, str]]:
    """What may be relations: where, of which variable, its name, the step that follows, and the relation behind it."""
    for match in _READS.get(language, _SCRIPT_READ).finditer(text):
        if _IN_COMMENT.match(text, text.rfind("\n", 0, match.start()) + 1):
            continue
        row, name, step, further = match.groups()[:4]
        if step in _LAZY_STEPS and match.string[: match.start()].endswith(("|= ", "|=")):
            continue  # querysets that are put together run later, as one
        if row is None:  # a getter of Sequelize, a field of Java
            row, name, step = match.groups()[4:]
            if language == "java" and not match.string.startswith("(", match.end()):
                step = f"get{step[:1].upper()}{step[1:]}"  # `order.customer.email` reads as much as `getEmail()`
        name = name[:1].lower() + name[1:] if language == "java" else name
        yield match.start(), row, name, step or "", further or ""
