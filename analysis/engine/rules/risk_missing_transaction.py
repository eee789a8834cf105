"""Several rows are written one after the other, and a failure in between leaves the first half behind."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers import transactions
from analysis.engine.readers.branches import calls_apart, is_on_purpose
from analysis.engine.readers.calls_in_a_row import calls_in_a_row
from analysis.engine.readers.declared_writes import with_declared
from analysis.engine.readers.go_handlers import may_be_reached
from analysis.engine.readers.java_stores import has_proxies, is_of_jakarta, keeps_only_documents
from analysis.engine.readers.parted_writes import is_begun_by_hand, unprotected
from analysis.engine.readers.proxied_calls import self_invocations
from analysis.engine.readers.reading import function_text, node_at, short, text_after, text_before
from analysis.engine.readers.repeatable_writes import comes_out_alike, finds_or_makes, is_upsert
from analysis.engine.readers.second_writes import with_callee, with_callees, with_commits
from analysis.engine.readers.session_commits import committed, half_done
from analysis.engine.readers.table_writes import Write, writes_by_function
from analysis.engine.readers.transaction_callers import called_in_transactions
from analysis.engine.readers.transactions import GO_BEGINS, TRANSACTIONAL, in_transaction
from analysis.engine.readers.written_rows import MADE
from analysis.engine.rules.base import GO, JAVA, PYTHON, ROOTS, SCRIPT, Watch
from analysis.engine.rules.example_models import DJANGO_SHOP

RULE = Rule(
    id="risk-missing-transaction",
    type="missing_transaction",
    category=Category.RUNTIME_RISK,
    title="Writes without a transaction",
    severity=Severity.WARNING,
    points=2,
    suggestion="Wrap the writes in one transaction, so a failure between them leaves nothing half done.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="The second write fails and the first stays: an order without lines, money taken and nothing booked.",
    flagged=(
        {
            "shop/tasks.py": """
from celery import shared_task

from shop.models import Line, Order


@shared_task
def place(customer):
    order = Order.objects.create(customer=customer)
    Line.objects.create(order=order, amount=1)
"""
        },
    ),
    fine=(
        {
            "shop/tasks.py": """
from celery import shared_task
from django.db import transaction

from shop.models import Line, Order


@shared_task
def place(customer):
    with transaction.atomic():
        order = Order.objects.create(customer=customer)
        Line.objects.create(order=order, amount=1)
"""
        },
    ),
    given=DJANGO_SHOP,
)

_MONEY = re.compile(
    r"(?i)payment|invoice|balance|wallet|credit|stock|inventor|refund|ledger|charge|transfer(?!_?(?:status|request|owner|invite))|payout"
)
_ATOMIC_REQUESTS = re.compile(rb"[\"']?ATOMIC_REQUESTS[\"']?\s*\]?\s*[:=]\s*True")
_WRITES = re.compile(rb"\.(?:save|insert|update|delete|remove|persist|merge|create|add|store)\w*\(")
_STARTS_UP = re.compile(r"^_*(?:run_?)?(?i:seed|migrat|bootstrap|init)(?:[A-Z_s]|ers?\b|e(?:rs?|s)?\b|ial|$)")
_USED = re.compile(
    r"\.(?:Must|Named)?(?:Exec|Query|Create|Save|Delete|Update|Insert|Prepare|Set|Put|Get|Model|Where|First|Find)\w*\("
)
_APART = re.compile(rb"\b(?:REQUIRES_NEW|NESTED)\b")
_NEAR = 200  # characters
_FIX_OF_COMMITS = "Commit once, when all is added, or use `with session.begin():`."
_FIX = {
    "python": "Wrap the writes in `with transaction.atomic():`, so a failure between them leaves nothing half done.",
    "java": "Put `@Transactional` on the public method that does these writes.",
    "go": "Run the writes in one transaction (`db.BeginTx` with a deferred `Rollback`).",
}


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The functions of a file that write to two tables outside of any transaction."""
    is_watched = any(file.mentions(need) for need in _NEEDED[file.language])
    for index, writes in writes_by_function(file).items():
        pair = unprotected(writes, root, file) if len(writes) > 1 else None
        if pair is None and index and is_watched:
            yield from _alone(writes, root, file)
        elif pair is not None and not is_on_purpose(pair[0].start, file):
            first, second = pair
            node = node_at(first.start, root)
            message = (
                f"`{first.label}` is {first.verb} here and `{second.label}` {second.verb} on line {second.line}, not in"
                " one transaction"
            )
            data = {"form": "writes"} | _needed(first) | _needed(second)
            if all(is_upsert(each, root, file) for each in pair):
                data["repeatable"] = "1"
            elif all(comes_out_alike(each, root, file) for each in pair):
                data["again"] = "1"
            # Two rows that are made alike may have nothing to do with each other.
            confidence = "low" if first.label == second.label and first.row.startswith(MADE) else ""
            fix = _FIX.get(file.language, "")
            yield file.mark(RULE.id, node, message, confidence=confidence, suggestion=fix, data=data)


def _alone(writes: list[Write], root: Node, file: SourceFile) -> Iterator[Mark]:
    """A write that is half of what its function does, when that calls another one which writes elsewhere."""
    writes = [write for write in writes if not write.is_guessed] or writes
    bare = [write for write in writes if not in_transaction(write.start, file)]
    if bare and len(bare) == len(writes) and len({write.label for write in bare}) == 1:
        write, node = bare[0], node_at(bare[0].start, root)
        if not is_begun_by_hand(function_text(node, file)) and not is_on_purpose(write.start, file):
            data = {"form": "alone", "table": write.label, "verb": write.verb} | _needed(write)
            data |= {"found": "1"} if finds_or_makes(write, root, file) else {}
            data |= {"guess": "1"} if write.is_guessed else {}
            if apart := calls_apart(node, file.functions[file.function_of(node)].node, file):
                data["apart"] = " ".join(apart)
            yield file.mark(RULE.id, node, "", suggestion=_FIX.get(file.language, ""), data=data)


def look_at_row(function: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: a function that opens no transaction and calls several others in a row, which may write."""
    body = function.child_by_field_name("body")
    if body is None or function.type == "func_literal" or is_begun_by_hand(file.text(function)):
        return
    calls = [f"{name}@{line}" for name, line in calls_in_a_row(body, file)]
    if len(calls) > 1:
        yield file.mark(RULE.id, body, "", data={"form": "row", "calls": " ".join(calls)}, suggestion=_FIX["go"])


def _needed(write: Write) -> dict[str, str]:
    return {"needs": write.needs} if write.needs else {}


def look_at_settings(root: Node, file: SourceFile) -> Iterator[Mark]:
    """Whether Django puts every request into a transaction."""
    if _ATOMIC_REQUESTS.search(file.source):
        yield file.mark(RULE.id, root, "", data={"form": "atomic requests"})


def look_at_begin(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A Go transaction that is committed but never rolled back."""
    after = text_after(call, file)
    if "Close()" in text_before(call, file)[-_NEAR:]:
        return  # a session that rolls back when it is closed
    if ".Commit(" in after and "Rollback" not in after and "rollback" not in after and not file.in_test(call):
        used = _USED.search(after)
        if used is None:
            return  # nothing is written
        if re.search(r"\breturn\b", after[used.start() : after.find(".Commit(")].rpartition("\n")[0]) is None:
            return  # every way leads to the commit
        yield file.mark(
            RULE.id,
            call,
            f"The transaction of `{short(file.text(call))}` has no `Rollback`: an error leaves it open with its locks",
            confidence="high",
            suggestion="Add `defer tx.Rollback()` right after the error check; after a commit it does nothing.",
            data={"form": "begin"},
        )


def look_at_method(method: Node, file: SourceFile) -> Iterator[Mark]:
    """`@Transactional` on a method that Spring's proxy cannot see."""
    name, body = method.child_by_field_name("name"), method.child_by_field_name("body")
    if name is None or body is None or method.type != "method_declaration":
        return
    header = file.source[method.start_byte : name.start_byte]
    if TRANSACTIONAL.search(header) is None:
        return
    if re.search(rb"\breadOnly\s*=\s*true", header):
        return  # nothing is written that could stay half done
    if not re.search(rb"\bpublic\b", header) and not file.is_in(method, "interface"):
        is_private = re.search(rb"\bprivate\b", header) is not None
        yield file.mark(
            RULE.id,
            name,
            f"`@Transactional` on `{file.text(name)}`, which is not public, has no effect: no proxy sees the call",
            confidence="high" if is_private else "medium",
            suggestion="Make the method public and call it from another bean.",
            data={"form": "proxy"} | ({} if is_private else {"class": "1"}),
        )
    called = file.text(name)
    writes = len(_WRITES.findall(file.source, body.start_byte, body.end_byte))
    is_apart = _APART.search(header) is not None
    if not writes and not is_apart:
        return
    for call in self_invocations(method, called, file):
        yield file.mark(
            RULE.id,
            call,
            f"`{called}` is called on `this`: its `@Transactional` has no effect, because no proxy sees the call",
            confidence="high" if writes > 1 or is_apart else "low",  # one write alone is whole by itself
            suggestion=f"Put `@Transactional` on the caller, or move `{called}` to another bean.",
            data={"form": "proxy"},
        )


def look_at_commits(root: Node, file: SourceFile) -> Iterator[Mark]:
    """SQLAlchemy: rows written and committed, and then others written and committed."""
    for first, line in half_done(root, file):
        message = f"Rows are committed before those of line {line}: a failure in between leaves the first half"
        yield file.mark(RULE.id, first, message, suggestion=_FIX_OF_COMMITS, data={"form": "writes"})
    for each in committed(root, file):
        data = {"form": "committed", "calls": " ".join(each.calls)} | ({"sure": "1"} if each.is_sure else {})
        yield file.mark(RULE.id, each.first, "", suggestion=_FIX_OF_COMMITS, data=data)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Writes on the path of a request or a job whose callers open no transaction either."""
    found = [
        (place, mark)
        for place, mark in codebase.marks(RULE.id)
        if ("needs" not in mark.data or mark.data["needs"] in codebase.queries.libraries)
        and ("guess" not in mark.data or codebase.models.named(mark.data["table"]) is not None)
    ]
    every_request = any(
        mark.data["form"] == "atomic requests" for place, mark in found if place.kind is FileKind.SOURCE
    )
    heard = [(place, mark) for place, mark in found if place.kind is FileKind.SOURCE and mark.message]
    heard.extend(with_callee(found, codebase))
    heard.extend(with_callees(found))
    heard.extend(with_commits(found))
    told = {(place.path, place.index) for place, _ in heard}
    heard.extend(each for each in with_declared(RULE.id, codebase) if (each[0].path, each[0].index) not in told)
    if not heard:
        return
    only_documents = any(place.facts.language == "java" for place, _ in heard) and keeps_only_documents(codebase)
    covered = called_in_transactions(codebase, {place.callee for place, _ in heard})
    is_spring = any(mark.data["form"] == "proxy" for _, mark in heard) and has_proxies(codebase)
    is_spring_6 = any("class" in mark.data for _, mark in heard) and is_of_jakarta(codebase)
    for place, mark in heard:
        if mark.data["form"] != "writes":
            # Since Spring 6 the proxies of classes, though not those of interfaces, see all methods but private ones.
            is_seen = is_spring_6 and "class" in mark.data
            if mark.data["form"] != "proxy" or is_spring:
                yield place.finding(mark, confidence=Confidence.LOW) if is_seen else place.finding(mark)
        elif _STARTS_UP.search(place.function.short_name):
            continue  # it runs again with the next start
        elif place.callee not in covered and (_is_run(place, every_request=every_request) or _may_be_run(mark, place)):
            is_guess = (
                _is_made_good(mark, place)
                or _may_be_run(mark, place)
                or _is_run_by_a_view(place, codebase)
                or (place.facts.language == "java" and only_documents)
            )
            changes = {"confidence": Confidence.LOW} if is_guess else {}
            yield place.finding(mark, severity=_severity(mark, place), **changes)


def _is_run_by_a_view(place: Place, codebase: Codebase) -> bool:
    """Whether a framework runs it for a view of the same folder, and views there open transactions: which ones hold it
    no call tells."""
    folder, _, name = place.path.rpartition("/")
    return "serializer" in name and any(
        other.path.rpartition("/")[0] == folder and mark.function in codebase.handlers.get(other.path, ())
        for other, mark in codebase.marks(transactions.ANNOTATION)
    )


def _is_made_good(mark: Mark, place: Place) -> bool:
    """Whether a job that runs again makes good what its statements left out, or a request that comes again does."""
    return "repeatable" in mark.data or ("again" in mark.data and not place.in_request_path)


def _severity(mark: Mark, place: Place) -> Severity | None:
    if _is_made_good(mark, place) and not place.in_request_path:
        return Severity.INFO
    return Severity.CRITICAL if _MONEY.search(mark.message) else None


def _is_run(place: Place, *, every_request: bool) -> bool:
    if runs_by_hand(place.codebase, place.path) or "/cli/" in f"/{place.path}":
        return False
    return place.in_job_path or (place.in_request_path and not every_request)


def _may_be_run(mark: Mark, place: Place) -> bool:
    """Whether a request of a program in Go may reach it unseen; not where the next time makes it come out alike."""
    return mark.data.keys().isdisjoint({"again", "repeatable"}) and may_be_reached(place)


_NEEDS = {
    PYTHON: (b".objects", b"execute(", b".save("),
    SCRIPT: (
        *(b"sequelize", b"mongoose", b"typeorm", b"risma", b"epository", b"Repo.", b"execute(", b"query("),
        *(b".create(", b".save(", b".destroy(", b"bulkCreate(", b"insertMany(", b"findByIdAnd", b"findOneAnd"),
        *(b"updateOne(", b"updateMany(", b"deleteOne(", b"deleteMany("),  # of a model that another file makes
        *(b"knex", b"db('", b'db("', b"conn('", b'conn("', b"database('", b'database("', b".values(", b".set("),
    ),
    JAVA: (b"epository", b"executeUpdate("),
    GO: (b"gorm.io", b"Exec(", b"ExecContext("),
}

_NEEDED = {language: needs for languages, needs in _NEEDS.items() for language in languages}

WATCHES = (
    Watch("module", look_at_commits, PYTHON, needs=(b".commit()",)),
    *(Watch(root, look, languages, needs=_NEEDS[languages]) for languages, root in ROOTS),
    Watch("module", look_at_settings, PYTHON, needs=(b"ATOMIC_REQUESTS",)),
    Watch("function", look_at_row, GO, needs=(b"(ctx, ", b".Context(), ")),
    Watch("call", look_at_begin, GO, names=GO_BEGINS),
    Watch("function", look_at_method, JAVA, needs=(b"@Transactional",)),
)
