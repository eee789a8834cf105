"""Where the functions of a file write to tables, as the queries and the names of repositories tell."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query
from analysis.engine.readers.reading import followed
from analysis.engine.readers.written_rows import SAVED, are_apart, row_of
from analysis.engine.rules.base import SCRIPT

_VERBS = {"insert": "inserted", "bulk_insert": "inserted", "update": "updated", "delete": "deleted"}
_REPOSITORY = re.compile(
    rb"(?<!prisma\.)(?<!tx\.)\b((?:\w+)[rR]epo(?:sitory)?)\.(save|saveAll|saveAndFlush|insert|update|delete"
    rb"|deleteById|deleteAll|remove)\((?:(\w+)\))?"
)
_CURSOR = re.compile(r"(?:await)?(\w*cur(?:sor)?)\.execute")
_GORM = re.compile(
    rb"\b(?:\w*[dD][bB]|\w+\.DB)(?:\.\w+\([^()\n]*\))*\.(Create|Save|Delete|Updates?)\(\s*&?(?:\w+\.)?(\w+)"
)
ASIDE = re.compile(
    r"(?i)log|audit|event|history|activity|analytic|metric|session|token|notification|cache|attempt"
    r"|progress|staging|_errors?$|(?:counter|sequence)s?$|(?:running|background|batch|import|export|sync|scan)_?(?:job|task)|(?:job|task)_?(?:run|result|state|status)"
)
# What was delivered, kept so that it is worked on once: the rest has to be done with it, or is never done.
CLAIMED = re.compile(r"(?i)(?:web_?hook|processed|received|handled|seen|stripe|provider|inbound)_?events?$")
# What is to be sent when the rest is done: both or neither.
_MESSAGES = re.compile(r"(?i)out_?box")
_NO_ROWS = re.compile(
    r"(?:Command|Query|D[tT][oO]|Request|Response|Error|Exception|Factory|Builder|Schema|Service|Client)$"
)
_PASSED_ON = re.compile(r"\b(?:tx|trx|transaction|transactionalEntityManager|t)\.\w|transaction:|session:")
_PASSED_ON_IN_GO = re.compile(r"\b(?:tx|trx|transaction)\.\w")  # where `t` may be anything
_HANDED = re.compile(rb"[{,]\s*transaction\s*[,}:]")  # in the options of a call
_IN_CONTEXT = re.compile(rb"\bgetRepository\(\s*\w+\s*,")  # the caller's context holds its transaction
_LONGEST_CALL = 600  # bytes
_AWAITED = re.compile(rb"\b(?:await|return)\b[^;{}]*\Z")
_NEVER_ALONE = frozenset({"executeUpdate", "persist", "merge", "remove"})  # JPA refuses them without a transaction
_MADE_AS_MAP = re.compile(rb"\s*(?::[^=\n]+)?=\s*new (?:Weak)?(?:Map|Set)\b")
_NEAR = 200  # characters


class Write(NamedTuple):
    start: int
    line: int
    label: str
    verb: str
    row: str = ""  # which row it is, see `written_rows`
    needs: str = ""  # the library without which it is no write, see `Query`
    is_guessed: bool = False  # what it writes to is known by the name of a variable alone

    def differs_from(self, other: "Write") -> bool:
        """Whether it goes to another table, or to another row that the source tells apart: what is deleted is not what
        is then made in its stead."""
        is_moved = (self.verb, other.verb) == ("deleted", "inserted")
        return self.label != other.label or is_moved or are_apart(self.row, other.row)


def writes_by_function(file: SourceFile) -> Mapping[int, list[Write]]:
    """By the index of a function what it writes, in the order of the source."""
    found: dict[int, list[Write]] = {}
    queries = list(_queries(file))
    # What a reader of the ORM knows needs no second look.
    read = {query.line for query in file.queries if query.model}
    others = (write for write in (*_repositories(file), *_gorm(file)) if write.line not in read)
    followed_up = {(query.function, query.model) for query in file.queries if query.operation in ("update", "delete")}
    for write in sorted({*queries, *others}):
        index = file.scope_at(write.start, write.start + 1).function.index
        is_aside = ASIDE.search(write.label) and (not is_claim(write) or (index, write.label) in followed_up)
        is_aside = is_aside and not _MESSAGES.search(write.label)
        if not is_aside and not _NO_ROWS.search(write.label):
            found.setdefault(index, []).append(write)
    return found


def is_claim(write: Write) -> bool:
    """Whether it keeps a delivery, so that the next one of the same is refused. Who changes the row later keeps a
    state there, by which the work is taken up again."""
    return write.verb == "inserted" and CLAIMED.search(write.label) is not None


def _queries(file: SourceFile) -> Iterator[Write]:
    passed_on = _PASSED_ON_IN_GO if file.language == "go" else _PASSED_ON
    for query in file.queries:
        if (query.orm == "jpa" and query.terminal in _NEVER_ALONE) or _is_map(query.model, file):
            continue
        label = query.model or _saved_row(query)
        if query.operation in _VERBS and label and query.orm != "sqlalchemy" and not query.in_transaction:
            start = file.lines.starts[query.line - 1]
            row = file.source[start:].partition(b"\n")[0]
            before = file.source[max(0, start - _NEAR) : start] + row.partition(b"(")[0]
            made = query.orm == "prisma" or (file.language in SCRIPT and query.operation == "insert")
            is_lazy = made and not _AWAITED.search(before)  # or an object that is only made
            whole = file.source[start : start + _LONGEST_CALL].partition(b";")[0].partition(b"\n\n")[0]
            is_passed = passed_on.search(row.decode("utf-8", "replace")) or _HANDED.search(whole)
            is_passed = is_passed or _IN_CONTEXT.search(whole)
            if not is_lazy and not is_passed and not _is_of_the_caller(query, file):
                indent = len(row) - len(row.lstrip())
                yield Write(
                    start + indent,
                    query.line,
                    label,
                    _verb(query),
                    row_of(query, whole),
                    query.needs,
                    is_guessed=not query.model,
                )


def _saved_row(query: Query) -> str:
    """What a row of Django is called that the function is given, as its class may be: `order.save(update_fields=…)`."""
    saved = SAVED.match(query.anchor) if query.orm == "django" and query.terminal in ("save", "asave") else None
    if saved is None or "update_fields=" not in query.anchor or not saved[1].isidentifier() or saved[1] == "self":
        return ""
    return "".join(word.capitalize() for word in saved[1].split("_"))


def _is_of_the_caller(query: Query, file: SourceFile) -> bool:
    """Python: whether the function is given the cursor, and with it the transaction of whoever opened that, or a block
    of the project's own opens both. A plain cursor of a connection opens none."""
    cursor = _CURSOR.match(query.anchor) if query.orm == "sql" and file.language == "python" else None
    listed = file.functions[query.function].node.child_by_field_name("parameters") if cursor is not None else None
    if cursor is None:
        return False
    if listed is not None and cursor[1] in re.findall(r"\w+", file.text(listed)):
        return True
    text = file.text(file.functions[query.function].node)
    opened = re.findall(rf"\bwith\s+([^\n]*)\bas\s+{cursor[1]}\b", text)
    return bool(opened) and not any("cursor(" in each for each in opened)


def _is_map(name: str, file: SourceFile) -> bool:
    """Whether the script made a collection of this name, whose `delete` is no statement."""
    if file.language not in SCRIPT or not name:
        return False
    return next(followed(name.encode(), file.source, _MADE_AS_MAP, b"_.$"), None) is not None


def _verb(query: Query) -> str:
    return _VERBS[query.operation]


def _repositories(file: SourceFile) -> Iterator[Write]:
    if file.language == "python" or not (file.mentions(b"epository.") or file.mentions(b"Repo.")):
        return
    for match in _REPOSITORY.finditer(file.source):
        verb = "deleted" if match[2].startswith((b"delete", b"remove")) else "saved"
        label = match[1].decode().removesuffix("sitory").removesuffix("Repo").removesuffix("repo")
        row = (match[3] or b"").decode() if verb == "saved" else ""
        yield Write(match.start(), file.lines.of(match.start()), label, verb, row)


def _gorm(file: SourceFile) -> Iterator[Write]:
    if file.language == "go" and file.mentions(b"gorm.io"):
        for match in _GORM.finditer(file.source):
            verb = {b"Create": "inserted", b"Delete": "deleted"}.get(match[1], "updated")
            yield Write(match.start(), file.lines.of(match.start()), match[2].decode(), verb)
