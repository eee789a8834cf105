"""Whether a row that is changed is locked, or known to this function alone, as `risk-lost-update` sees it."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers import locks
from analysis.engine.readers.reading import followed, function_text, node_at, text_before

_WORD = re.compile(r"\w+")
_READS = (
    r"(?:(?<![A-Za-z])(?:find|get|first|load|select|query|one|fetch|scalar|read|objects)"
    r"|Find|Get|First|Load|Select|Query|One|Fetch|Read)"
)
_CREATES = re.compile(r"\s*(?:await\s+)?[\w.]+\.a?(?:create|bulk_create|insert|build)\(")
_OF_HELPER = re.compile(r"\s*(?:await\s+)?(?:(?:self|this|cls)\.)?(\w+)\(")
_RETURN = re.compile(rb"(?<![\w.$])return\b")
_NOTHING = frozenset({"None", "null", "nil", "undefined"})
_MAKES = frozenset({"new_expression", "object_creation_expression", "composite_literal"})
_CLASS = re.compile(r"(?:\w+\.)*[A-Z]\w*[a-z]\w*\(")
# Who knows of others by their versions tries again.
_VERSIONED = re.compile(
    r"@Version|[wW]ithVersion\(|save_condition|[oO]ptimistic|[vV]ersion_?Conflict|Stale(?:Object|Data)|version_id"
)
# What keeps parcels is called a locker, too.
ROW_LOCK = re.compile(
    rf"(?i:for_?update|for update|pessimistic)|{locks.WORD}(?!ers?(?![a-z])(?!\.(?:[lL]ock|acquire|with)))"
    r"|refresh_from_db\(\s*from_queryset|\.For\(\s*[\"`](?:NO KEY )?UPDATE"
)
_OF_A_LOAD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*\b(?!\s*=)")
# What many statements name, whichever row they are about.
_COMMON = re.compile(
    r"^_?(?:[A-Z]\w*|\w*[sS]ession|\w*[dD][bB]|tx|trx|conn\w*|client|em|ctx|context|this|self|await|new|prisma|\w*[rR]epo\w*"
    r"|t|s|req|request|data|body|input|params|args|kwargs|int|str|user)$"
)
LOAD = re.compile(r"\s*(?::[^=\n]+)?:?=(?!=)([^;]{0,400})|\s+in\s([^\n]{0,200})")


def is_safe(owner: str, node: Node, file: SourceFile) -> bool:
    """Whether the row is locked, or made right here."""
    if is_locked(owner, node, file) or file.in_test(node):
        return True
    before = text_before(node, file)
    opened = rf"\bwith\s+(?:\w+\.)*[A-Z]\w*\((?:[^()]|\([^()]*\))*\)\s+as\s+{re.escape(owner)}\b"
    if _is_made(owner, before) or re.search(opened, before) is not None or _is_created(owner, before):
        return True
    return _is_made_by_helper(owner, before, file)


def _is_made(owner: str, before: str) -> bool:
    """Whether a new object is given the name, and no row is read into it."""
    made = re.search(
        rf"(?<![\w.]){re.escape(owner)}\s*(?::\s*\w+\s*)?:?=\s*(?:new\((?:\w+\.)?\w+\)|(?:new\s+|&)?(?:\w+\.)*[A-Z]\w*[({{])",
        before,
    )
    filled = rf"&{re.escape(owner)}\b|\.\s*(?:First|Take|Last|Find|Get|Scan|Model)\({re.escape(owner)}\b"
    is_filled = made is not None and re.search(filled, before[made.end() :]) is not None
    return made is not None and not (is_filled and is_loaded(owner, before[made.end() :]))  # Go: empty until it is read


def _is_made_by_helper(owner: str, before: str, file: SourceFile) -> bool:
    """Whether each value that the function gives the name is what a function of the file makes anew."""
    given = [found[1] for found in followed(owner, before, LOAD, "_.") if found[1]]
    called = [_OF_HELPER.match(each) for each in given]
    return bool(called) and all(each is not None and _makes_anew(each[1], file) for each in called)


def _makes_anew(helper: str, file: SourceFile) -> bool:
    """Whether the only function of this name in the file gives back objects that it makes, and nothing else."""
    meant = [each for each in file.functions if each.index and each.short_name == helper]
    if len(meant) != 1:
        return False
    function = meant[0]
    start, end = function.node.start_byte, function.node.end_byte
    given: list[Node] = []
    for found in _RETURN.finditer(file.code, start, end):
        statement = node_at(found.start(), file.tree.root_node).parent
        if statement is not None and statement.named_children and file.function_of(statement) == function.index:
            given += [each for each in statement.named_children[:1] if file.text(each) not in _NOTHING]
    return bool(given) and all(_is_new(each, file) for each in given)


def _is_new(value: Node, file: SourceFile) -> bool:
    """Whether an expression makes an object or inserts a row, or is the name of one that its function makes."""
    if value.type == "expression_list":  # of Go: `return &Item{}, nil`
        value = value.named_children[0]
    if value.type in _MAKES:
        return True
    text = file.text(value)
    if text.isidentifier():
        before = text_before(value, file)
        return _is_made(text, before) and not is_loaded(text, before)
    called = value.child_by_field_name("function")
    name = file.text(called) + "(" if called is not None else text
    return name.startswith("&") or _CLASS.fullmatch(name) is not None or _CREATES.fullmatch(name) is not None


def _is_created(owner: str, before: str) -> bool:
    """Whether each value that the function gives the name is a row that it inserts."""
    given = [found[1] for found in followed(owner, before, LOAD, "_.") if found[1]]
    return bool(given) and all(_CREATES.match(each) for each in given)


def is_loaded(owner: str, before: str) -> bool:
    """Whether the function is seen to load the row."""
    root = re.escape(owner.partition(".")[0])
    loaded = (
        rf"(?<![\w.]){root}\s*(?:,\s*\w+\s*)?\]?\s*(?::[^=\n]+)?:?=(?!=)[^;\n]*(?:\n\s*\.[^;\n]*)?{_READS}|\bfor\b[^\n]{{0,20}}\b{root}\s+(?:in|of)\b"
        rf"|\.(?:First|Find|Take|Last|Get|Scan|NewSelect\(\)\.\s*Model)\w*\([^()\n]*&?{root}\b|\bfor\s*\([^:\n]{{0,60}}\b{root}\s*:"
    )
    return re.search(loaded, before) is not None or is_loaded_anew(owner, before)


def is_loaded_anew(owner: str, before: str) -> bool:
    """Whether the function reads a row that it was given once more: `account.refresh_from_db()`."""
    if ".refresh" not in before and ".reload(" not in before:
        return False
    word = re.escape(owner)
    again = rf"(?<![\w.]){word}\.(?:a?refresh_from_db|reload)\(|(?i:session|\bdb|em|manager)\.refresh\(\s*{word}\s*[,)]"
    return re.search(again, before) is not None


def is_locked(owner: str, node: Node, file: SourceFile) -> bool:
    """Whether a lock is held, or the row was locked, or one that it was loaded by. A lock of another row is none."""
    if locks.held_at(node.start_byte, file) or _VERSIONED.search(function_text(node, file)):
        return True
    before = text_before(node, file)
    asked = list(ROW_LOCK.finditer(before))
    if not asked:
        return False
    root = owner.partition(".")[0]
    names = {root}
    for loaded in followed(root, before, LOAD, "_."):
        names.update(name for name in _OF_A_LOAD.findall(loaded[1] or loaded[2]) if not _COMMON.match(name))
    start = len(before.encode())
    for found in asked:
        place = node.start_byte - start + len(before[: found.start()].encode())
        spot = file.tree.root_node.descendant_for_byte_range(place, place + 1)
        statement = file.text(file.statement_of(spot)) if spot is not None else ""
        if not names.isdisjoint(_WORD.findall(statement)):
            return True
    return False
