"""Rows that Go looks for and then makes, as `risk-check-then-act` sees them."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.checked_rows import LEAVES, NEAR, RowAct, decoded, knows_of_others
from analysis.engine.readers.reading import text_after, text_before

_NO_ROW = rb"(?:gorm\.ErrRecordNotFound|(?:sql|pgx)\.ErrNoRows|mongo\.ErrNoDocuments)"
GO_MISSING = re.compile(
    rb"if\s+(?:[^\n{]*;\s*)?(?:(?P<other>!)?errors\.Is\(\s*(?:\w+|[\w.()]*\.Error),\s*"
    + _NO_ROW
    + rb"\)|\w+ == "
    + _NO_ROW
    + rb"|\w+\.RowsAffected == 0|(?P<any>!)?ent\.IsNotFound\(\w+\))\s*\{"
)
# The answer to a question that counts, or says whether there is one, or fails where there is none.
GO_ANSWERED = re.compile(
    rb"if\s+(?:(?P<asked>[^\n{]*);\s*)?(?:(?P<count>\w+)\s*(?P<sign>==|>|!=)\s*0|err == nil"
    rb"|(?P<absent>!)?(?P<there>exists|found|taken|has\w*))\s*\{"
)
_MISSING_CASE = re.compile(rf"(?P<other>!)?errors\.Is\(\w+,\s*{_NO_ROW.decode()}\)|\w+ == {_NO_ROW.decode()}")
_SCANNED = r"\.(?:Scan|Count|Get|GetContext)\([^\n)]*&%s\b"
_LOADS = re.compile(
    r"\.(?:First|Take|Find|Last)\(&(?P<row>\w+)|\.Model\(&?(?:\w+\.)?(?P<model>[A-Z]\w*)\{"
    r"|\.Model\(\(\*(?:\w+\.)?(?P<named>\w+)\)\(nil\)"
)
_FAILED = re.compile(r"\bif err != nil \{[^{}]*\}\s*\Z")
_LOADS_ONE = re.compile(r"\.(?:First|Take|Last|FindOne|QueryRow\w*|Only)\([^\n]*\Z")
_ASKED_TABLE = re.compile(r"(?i)\bSELECT\b[^;]*?\bFROM\s+[`\"\\]*(\w+)")
_COLUMN = re.compile(r"[\"\s(](\w+)\s*=\s*(?:\?|\$\d|:\w)")
_MADE = re.compile(
    r"\.Create\(\s*&?(?:\w+\.)?(?:(?P<model>[A-Z]\w*)\{|\w)|\bINSERT\s+INTO\s+[`\"\\]*(?P<table>\w+)|\.InsertOne\(|\.Insert\(|\.NewInsert\(",
    re.IGNORECASE,
)


def go_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`if errors.Is(err, gorm.ErrRecordNotFound) { db.Create(&row) }`, `sql.ErrNoRows` and then `INSERT`, the same over
    a count of such rows, and the guard that leaves when there is one."""
    body = branch.child_by_field_name("consequence")
    if body is None:
        return None
    before = text_before(branch, file)[-NEAR:]
    absent = _is_absent(branch, before, file)
    if absent is None:
        return None
    head = file.source[branch.start_byte : body.start_byte].decode("utf-8", "replace")
    text, first = file.text(body), file.line(body)
    if not absent:
        if not LEAVES.search(text):
            return None
        text, first = text_after(branch, file)[:NEAR], file.lines.of(branch.end_byte)
    return _made_in(text, first, before + head, branch, file)


def go_switch_act(switch: Node, file: SourceFile) -> RowAct | None:
    """The same by cases: `switch { case err == nil: return row; case !errors.Is(err, sql.ErrNoRows): return err }` and
    then `INSERT`, and the case of what is missing, which makes it."""
    if switch.child_by_field_name("value") is not None:
        return None
    before = text_before(switch, file)[-NEAR:]
    is_left = False
    for case in switch.named_children:
        asks = case.child_by_field_name("value") if case.type == "expression_case" else None
        if asks is None:
            continue
        said, text = file.text(asks), file.text(case)
        if (missing := _MISSING_CASE.fullmatch(said)) is not None and not missing["other"]:
            return _made_in(text, file.line(case), before, switch, file)
        is_left = is_left or (said == "err == nil" and LEAVES.search(text) is not None)
    if not is_left or _LOADS_ONE.search(before.rstrip().rpartition("\n")[2]) is None:
        return None
    return _made_in(text_after(switch, file)[:NEAR], file.lines.of(switch.end_byte), before, switch, file)


def _made_in(text: str, first: int, asked_in: str, node: Node, file: SourceFile) -> RowAct | None:
    """The row that a text which begins on line `first` makes, of the table that was asked for right before."""
    made = _MADE.search(text)
    if made is None or knows_of_others(node, file):
        return None
    asked, table = _model(asked_in), _table(asked_in)
    if (made["model"] and asked and made["model"] != asked) or (made["table"] and table and made["table"] != table):
        return None  # another row is made
    question = asked_in.rpartition(".Where(")[2] if asked else asked_in[-NEAR:].rpartition("SELECT")[2]
    columns = tuple(dict.fromkeys(_COLUMN.findall(question)))
    return RowAct(asked or table, first + text[: made.start()].count("\n"), columns)


def _is_absent(branch: Node, before: str, file: SourceFile) -> bool | None:
    """Whether the branch is taken where there is no such row; None when it asks for something else."""
    missing = GO_MISSING.match(file.source, branch.start_byte)
    if missing is not None:
        return not (missing["other"] or missing["any"])
    answered = GO_ANSWERED.match(file.source, branch.start_byte)
    if answered is None:
        return None
    before += decoded(answered["asked"] or b"")
    if answered["count"] or answered["there"]:
        name = decoded(answered["count"] or answered["there"])
        if re.search(_SCANNED % re.escape(name), before) is None and not _is_answered(name, before):
            return None
        return bool(answered["absent"]) if answered["there"] else answered["sign"] == b"=="
    # Of an error that is none: what was asked right before has an answer.
    return False if _LOADS_ONE.search(before.rstrip().rpartition("\n")[2]) is not None else None


def _is_answered(name: str, before: str) -> bool:
    """Whether Bun gives the number of rows, or whether there is one, right before: `n, err := q.Count(ctx)`."""
    if ".Exists(" not in before and ".Count(" not in before:
        return False
    given = before.rfind(f"{name}, ")
    if given < 0:
        return False
    text = _FAILED.sub("", before[given:].rstrip()).rstrip("; \n\t")
    return "NewSelect()" in text and re.search(r"\.\s*(?:Exists|Count)\(\w+\)\Z", text) is not None


def _model(before: str) -> str:
    """The model that the last question before a branch is about; empty when unknown."""
    for found in reversed(list(_LOADS.finditer(before))):
        if found["model"] or found["named"]:
            return found["model"] or found["named"]
        declared = re.findall(rf"\b{found['row']}\s*(?::?=\s*&?|\s+)(?:\w+\.)?([A-Z]\w*)", before)
        if declared:
            return declared[-1]
    return ""


def _table(before: str) -> str:
    tables = _ASKED_TABLE.findall(before)
    return tables[-1] if tables else ""
