"""SQL is put together from text and values, and run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers import handed_values, request_parameters, sql_calls
from analysis.engine.readers.built_text import built_text, values_of
from analysis.engine.readers.joined_text import joined_name
from analysis.engine.readers.reading import CALLS, function_text, short, text_before
from analysis.engine.readers.sql_calls import Statement, statement_of
from analysis.engine.readers.sql_parts import holds_numbers, holds_text, is_counted, is_safe, joined_into
from analysis.engine.readers.sql_places import (
    AFTER_SIGN,
    FROM_REQUEST,
    is_in_quotes,
    stands_for_a_value,
    takes_a_value,
)
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-sql-string-building",
    type="sql_string",
    category=Category.RUNTIME_RISK,
    title="SQL built from text",
    severity=Severity.CRITICAL,
    points=2,
    suggestion="Pass the values as parameters.",
    version=4,
)
GUIDE = Guide(
    why="A quote in a name breaks the statement; a clever name rewrites it.",
    flagged=(
        {
            "shop/work.py": """
def find(cursor, name):
    cursor.execute(f"select * from customer where name = '{name}'")
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def find(cursor, name):
    cursor.execute("select * from customer where name = %s", [name])
"""
        },
    ),
)

# What a list is sorted by is mostly asked for, `?sort=name&dir=desc`.
_SORTED_BY = re.compile(r"(?i)^(?:sort|order)(?:_?(?:by|col|column|field|key|order|dir|direction))?$|^dir(?:ection)?$")
_ORDER_PLACE = re.compile(r"(?i)\border\s+by\s[^()]{0,80}\Z")
# What the catalogue of a database is asked for: the program itself chose it, though it could be a parameter.
_NAME_OF_A_THING = re.compile(
    r"(?i)(?:^|[._])(?:table|column|col|index|schema|constraint|sequence|view|trigger|database|db|key|func|function"
    r"|routine|type|enum|extension|role)_?name$"
)
_ASKS_CATALOGUE = re.compile(
    r"(?i)\b(?:information_schema|sqlite_(?:master|schema)|pg_(?:catalog|class|tables|indexes|constraint|type|trigger|stat\w*)"
    r"|sys(?:tem|cat)?\.\w+|dm_db_\w+|synonyms|all_(?:tables|indexes|constraints|tab_columns)|user_(?:tables|indexes|tab_columns))\b"
)
_THING = re.compile(
    r"(?i)(?:table|column|index|schema|database|constraint|sequence|view|trigger|owner|db|namespace)(?:_?name)?(?:\(\))?$"
)
_OWN_KEY = re.compile(r"(?:this|self)\._?(?:id|pk|uuid)")  # the database gave it to the row
# Text for what databases say differently, which the program's own side of the driver knows: `db.now()`.
_OF_THE_DRIVER = re.compile(r"(?:\w+\.)*(?:db|driver|adapter|platform|\w*[dD]ialect)\.\w+\(")
_KEY = re.compile(r"(?i)(?:^|_|[a-z])(?:id|uuid|guid)$")
_OR_FAILS = re.compile(r"(?:OrFail|OrThrow|_or_404|_or_fail)\(([^()\n]{1,200})")
_WORDS = re.compile(r"[\w.]+")
_BROUGHT = re.compile(r"\(*(?:await\s+)?(?:(?:this|self|ctx|c)\.)?(?:req|request)\b[.\[]")
_CHOICES = frozenset({"ternary_expression", "conditional_expression"})
_BEFORE_COLUMN = re.compile(rb"\}\.[\w\"`*]|\s*\+\s*[\"'`]\.[\w\"`*]")  # behind an alias: `${alias}.id`
_NUMBERED = re.compile(r"(?:[=<>(,\s]\$|[\s(,=]@p|[\s(,=]:p)\Z")  # before the number of a placeholder
_DEFINES = re.compile(
    r"[rbfuRBFU]{0,2}[\"'`\s]*(?:create|alter|drop|truncate|grant|revoke|reindex|vacuum"
    r"|comment)\b",
    re.IGNORECASE,
)


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    statement = statement_of(call, file)
    if statement is not None:
        yield from _marked(statement)


@dataclass(frozen=True)
class _Told:
    """A part of the text that the program puts in. A value could be a parameter; a certain one stands where only a
    value can; numbers break nothing."""

    part: Node
    lead: str
    is_value: bool
    is_certain: bool
    is_number: bool


def _marked(statement: Statement) -> Iterator[Mark]:
    file, told = statement.file, _told(statement)
    if not told:
        return
    worst = [each for each in told if each.is_certain] + [each for each in told if not each.is_certain]
    names = ", ".join(f"`{short(file.text(each.part), 40)}`" for each in worst[:3])
    severity, confidence, data = _graded_by_text(statement, told)
    yield file.mark(
        RULE.id,
        statement.call,
        f"`{statement.method}` runs SQL with {names} put into its text",
        severity=severity,
        confidence=confidence,
        data=data or None,
    )


def _told(statement: Statement) -> list[_Told]:
    """The parts that nobody is seen to make safe."""
    file, text = statement.file, statement.text
    context = function_text(statement.call, file)
    told = []
    for part, lead in zip(text.parts, text.leads, strict=True):
        is_value = stands_for_a_value(part, lead, file)
        if is_value is None or is_safe(part, context, file) or _is_the_programs(part, lead, statement):
            continue
        is_certain = is_value and takes_a_value(part, lead, file)
        told.append(_Told(part, lead, is_value, is_certain, bool(holds_numbers(part, file))))
    return told


def _is_the_programs(part: Node, lead: str, statement: Statement) -> bool:
    """Whether a part is a placeholder, a count, an alias, or a name that only the program itself gives."""
    file = statement.file
    return bool(
        _NUMBERED.search(lead)
        or is_counted(part, lead, file)
        or _BEFORE_COLUMN.match(file.source, part.end_byte)
        or (_OF_THE_DRIVER.match(file.text(part)) and not is_in_quotes(part, lead, file))
        or (statement.is_clause and not AFTER_SIGN.search(lead))  # there names of columns are its own
    )


def _graded_by_text(statement: Statement, told: list[_Told]) -> tuple[str, str, dict[str, str]]:
    """Severity, confidence and what `judge` wants to know, as far as the text around tells.

    Names of tables and lists of conditions cannot be parameters; that a user chose them is a guess. Numbers can be, but
    they break nothing. A statement that defines something takes no parameters but in quotes.
    """
    file, fixed = statement.file, statement.text.fixed
    certain = [each for each in told if each.is_certain]
    data = _facts_of(statement, told, certain)
    internal = ("defines" in data and not certain) or all(each.is_number or not each.is_value for each in told)
    asks_catalogue = _ASKS_CATALOGUE.search(fixed) is not None
    names_of_things = _THING if asks_catalogue else _NAME_OF_A_THING
    is_named = bool(certain) and all(names_of_things.search(file.text(each.part)) for each in certain)
    is_own = bool(certain) and all(_OWN_KEY.fullmatch(file.text(each.part)) for each in certain)
    if is_named and asks_catalogue and not internal:
        internal, data["named"] = True, "1"  # the program's own names, though they could be parameters
    is_resolved = any(_is_resolved(each, statement) for each in certain) and not (is_named or is_own)
    severity = "warning" if internal or is_named or is_own else ""
    return severity, "low" if internal else "" if is_resolved else "medium", data


def _facts_of(statement: Statement, told: list[_Told], certain: list[_Told]) -> dict[str, str]:
    file, fields = statement.file, _fields(certain, statement.file)
    data = {
        "defines": _DEFINES.match(statement.text.fixed) is not None,
        "given": any(_is_given(each.part, statement.call, file) for each in told),
        "asked": any(request_parameters.is_brought(name, statement.call, file) for name in fields)
        or any(not each.is_number and _is_of_a_request(each.part, file) for each in told),
        "number": any(each.is_number for each in told),
        "sorted": any(_is_asked_order(each, statement) for each in told),
        "stored": bool(certain) and all(_is_key_of_a_row(each.part, statement) for each in certain),
    }
    value = {"value": _kind_of_value(certain, file)} if certain else {}
    if fields:
        value["fields"] = " ".join(fields)
    if positions := _positions(told, statement.call, file):
        value["positions"] = positions
    return {**{name: "1" for name, holds in data.items() if holds}, **value}


def _fields(certain: list[_Told], file: SourceFile) -> list[str]:
    """The parameters of which fields or elements stand in quotes, where no number does."""
    in_quotes = [each.part for each in certain if is_in_quotes(each.part, each.lead, file) and not each.is_number]
    return list(dict.fromkeys(filter(None, (request_parameters.taken_from(each, file) for each in in_quotes))))


def _positions(told: list[_Told], call: Node, file: SourceFile) -> str:
    """Which parameters of a function of a script stand in the text, as they are."""
    if file.language not in SCRIPT:
        return ""
    function = file.functions[file.function_of(call)].node
    listed = [each.name for each in file.dialect.parameters(function, file)]
    return " ".join(str(listed.index(name)) for each in told if (name := file.text(each.part)) in listed)


def _is_asked_order(told: _Told, statement: Statement) -> bool:
    """Whether a parameter of the function, a text by its name for an order, says what the rows are sorted by."""
    part, file = told.part, statement.file
    if not _SORTED_BY.search(file.text(part)) or _ORDER_PLACE.search(told.lead) is None:
        return False
    return _is_given(part, statement.call, file)


def _is_key_of_a_row(part: Node, statement: Statement) -> bool:
    """Whether the function has failed before where no row has this key: `await this.getOrderOrFail(orderId)`."""
    name, before = statement.file.text(part), text_before(statement.call, statement.file)
    if not _KEY.search(name) or not _OR_FAILS.search(before):
        return False
    return any(name in _WORDS.findall(found[1]) for found in _OR_FAILS.finditer(before))


def _is_of_a_request(part: Node, file: SourceFile) -> bool:
    """Whether a part says by its name that a request brings it, or is a local name for what one holds, as it came:
    `const order = req.query.order ?? "title"`."""
    if FROM_REQUEST.search(file.text(part)):
        return True
    values = values_of(file.text(part), part, file) if part.type == "identifier" else []
    return any(value.type not in _CHOICES and _BROUGHT.match(file.text(value)) for value in values)


def _kind_of_value(certain: list[_Told], file: SourceFile) -> str:
    """`quoted` inside of quotes of SQL, `text` by its declaration, `bare` otherwise."""
    if any(
        is_in_quotes(each.part, each.lead, file) and _may_hold_text(each.part, file) and not each.is_number
        for each in certain
    ):
        return "quoted"
    return "text" if any(holds_text(each.part, file) for each in certain) else "bare"


def _is_resolved(told: _Told, statement: Statement) -> bool:
    """Whether it is seen that a value is put in: outside of quotes a local name may hold a piece of SQL, or what a
    driver gives."""
    part, file = told.part, statement.file
    return bool(
        (is_in_quotes(part, told.lead, file) and not _is_asked_for(part, file))
        or _is_given(part, statement.call, file)
        or FROM_REQUEST.search(file.text(part))
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """How certain it is that somebody outside of the program writes what is put into the text: a request does, a caller
    may. What stands in quotes or is declared as text is a value; anything else is told where it comes from outside, or
    where nobody calls the function, so that nothing is known of it."""
    is_given = "given" in mark.data and "number" not in mark.data
    from_outside = "asked" in mark.data or (is_given and (place.in_handler or _is_handed(mark, place)))
    is_definition = "defines" in mark.data and "asked" not in mark.data  # with names of the program's own
    is_value = mark.confidence != "low" and "value" in mark.data and not is_definition
    is_value = is_value and (place.kind is not FileKind.SCRIPT or is_given)  # who runs a script wrote the rest
    if is_value and (from_outside or mark.data["value"] != "bare"):
        return place.finding(mark, **_graded(mark, place, from_outside=from_outside))
    # Who calls it would say what it gets.
    is_unknown = bool({"given", "number"} & mark.data.keys()) and not place.is_called
    is_handed_down = is_value and is_given and place.in_request_path
    is_sorted = "sorted" in mark.data and place.in_request_path
    is_told = "named" in mark.data or from_outside or is_unknown or is_handed_down or is_sorted
    if is_definition or place.kind is FileKind.SCRIPT or not is_told:
        return None
    return place.finding(mark, severity=Severity.WARNING, confidence=Confidence.LOW)


def _is_handed(mark: Mark, place: Place) -> bool:
    """Whether a handler gives one of the parameters that stand in the text what the request brings."""
    positions = mark.data.get("positions", "").split()
    return any(handed_values.ASKED in handed_values.handed_to(place, int(each)) for each in positions)


def _graded(mark: Mark, place: Place, *, from_outside: bool) -> dict[str, object]:
    """A value that a request brings is certain, and nearly so what is taken from an object that a handler hands down;
    of any other nobody knows here who writes it."""
    is_reached = place.in_request_path and "given" in mark.data and mark.data["value"] == "quoted"
    if "stored" in mark.data:
        return {"severity": Severity.WARNING, "confidence": Confidence.LOW}
    is_certain = from_outside or (is_reached and mark.confidence != "medium")
    if place.kind is not FileKind.SCRIPT and is_certain:
        return {"confidence": Confidence.HIGH}
    fields = mark.data.get("fields", "").split() if place.kind is not FileKind.SCRIPT else ()
    if any(request_parameters.is_handed_down(place, each) for each in fields):
        return {"confidence": Confidence.MEDIUM}
    return {"severity": Severity.WARNING, "confidence": Confidence.LOW}


def _is_given(part: Node, call: Node, file: SourceFile) -> bool:
    """Whether the part is a parameter of the function around the call, or a local name that joins one."""
    function = file.enclosing_function(call)
    listed = function.child_by_field_name("parameters") if function is not None else None
    if listed is None:
        return False
    name = joined_name(file.text(part)) or file.text(part)
    parameters = file.text(listed)
    return any(re.search(rf"\b{re.escape(each)}\b", parameters) for each in (name, *joined_into(name, part, file)))


def _may_hold_text(part: Node, file: SourceFile) -> bool:
    """Whether a part in quotes is a name, a field or what an object tells of itself: what another call makes of what it
    is given may be a time or a number."""
    return part.type not in CALLS or (not file.arguments(part)[0] and "." in file.text(part).partition("(")[0])


def _is_asked_for(part: Node, file: SourceFile) -> bool:
    """Whether a local name only holds what a function of the program or the environment answered, and no request."""
    values = values_of(file.text(part), part, file) if part.type == "identifier" else []
    calls = [file.text(value) for value in values if "string" not in value.type]
    return bool(calls) and all(value.endswith(")") and not FROM_REQUEST.search(value) for value in calls)


def look_at_extra(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`Book.objects.extra(where=[f"title = '{title}'"])`: conditions that Django puts into its SQL as they are."""
    listed = file.arguments(call)[1].get("where")
    for each in listed.named_children if listed is not None and listed.type in ("list", "tuple") else ():
        text = built_text(each, file)
        marks = list(_marked(Statement(call, "extra", text, file))) if text.fixed.strip(" ?") else []
        if marks:
            yield marks[0]
            return


WATCHES = (
    *handed_values.WATCHES,
    *request_parameters.WATCHES,
    Watch("call", look, PYTHON, names=sql_calls.IN_PYTHON),
    Watch("call", look_at_extra, PYTHON, names=frozenset({"extra"})),
    Watch("call", look, SCRIPT, names=sql_calls.IN_SCRIPTS),
    Watch("call", look, JAVA, names=sql_calls.IN_JAVA),
    Watch("call", look, GO, names=sql_calls.IN_GO),
    Watch("call", look, GO, needs=(b"gorm.io/gorm", b"uptrace/bun"), names=sql_calls.CLAUSES_OF_GORM),
    Watch("call", look, SCRIPT, needs=(b"createQueryBuilder(",), names=sql_calls.CLAUSES_OF_BUILDERS),
)
