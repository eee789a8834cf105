"""Rows or statements of a database are opened and not closed on every way out."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_results import bound_names, end_of_block, without_failure
from analysis.engine.readers.reading import text_after, text_before
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="risk-rows-not-closed",
    type="rows_not_closed",
    category=Category.RUNTIME_RISK,
    title="Rows not closed",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Add `defer rows.Close()` directly after the error check and test `rows.Err()` after the loop.",
    languages=GO,
)
GUIDE = Guide(
    why="Rows that are not closed keep their connection; when all are kept, every request waits.",
    flagged=(
        {
            "shop/store.go": """
package shop

import "database/sql"

func names(db *sql.DB) error {
	rows, err := db.Query("select name from customer")
	if err != nil {
		return err
	}
	for rows.Next() {
		if broken() {
			return nil
		}
	}
	return nil
}
"""
        },
    ),
    fine=(
        {
            "shop/store.go": """
package shop

import "database/sql"

func names(db *sql.DB) error {
	rows, err := db.Query("select name from customer")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}
"""
        },
    ),
)

_DRIVERS = re.compile(r"^(database/sql|github\.com/(jmoiron/sqlx|jackc/pgx))\b")
_PGX = "github.com/jackc/pgx"
_LEAVES = re.compile(r"\b(?:return|break|goto)\b")
_GORM = re.compile(r"^(gorm\.io/gorm|github\.com/jinzhu/gorm)\b")
_OPENERS = frozenset(
    f"{name}{form}"
    for name in ("Query", "Queryx", "Prepare", "Preparex", "PrepareNamed", "NamedQuery")
    for form in ("", "Context")
) | {"Conn", "Rows"}
_TRANSACTION = re.compile(r"(?:^|\.)[tT]x$")
_HANDLE = re.compile(r"(?i)(?:db|tx|conn|connection|pool|database|store|client|p|q|s)$")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    drivers = _GORM if file.callee(call).endswith(".Rows") else _DRIVERS  # `db.Model(&Order{}).Rows()`
    if not any(drivers.match(full) for full in file.bindings.values()):
        return
    names = bound_names(call, file)
    if len(names) != 2 or names[0] == "_" or not re.fullmatch(r"\w+", names[0]):
        return
    name, rest = names[0], text_after(call, file)
    handle, _, opened = file.callee(call).rpartition(".")
    # What prepares statements may keep them, where it is no handle of the driver by its name.
    kept = "medium" if opened.startswith("Prepare") and not _HANDLE.search(handle) else ""
    if _is_given_away(name, rest):
        return
    if opened.startswith("Prepare") and _is_transaction(handle, call, file):
        return  # closed when its transaction ends
    if _closes_when_read(file) and _is_read_to_its_end(names, rest):
        return
    if not re.search(rf"\b{name}\.Close\(", rest):
        yield file.mark(
            RULE.id, call, f"`{name}` of `{opened}` is never closed: its connection stays taken", confidence=kept
        )
    elif not re.search(rf"\bdefer\b[^\n]*\b{name}\.Close\(|\bdefer func\(\)\s*\{{[^}}]*\b{name}\.Close\(", rest):
        before_close = without_failure(rest, names).partition(f"{name}.Close(")[0]
        if re.search(r"\breturn\b", before_close.rpartition("\n")[0]):  # `return rows.Close()` closes them
            message = f"`{name}` of `{opened}` is not closed on the way out by an earlier return"
            yield file.mark(RULE.id, call, message, confidence="medium")
    if re.search(rf"\bfor\b[^\n{{]*\b{name}\.Next\(", rest) and not re.search(rf"\b{name}\.Err\(", rest):
        message = f"The loop over `{name}` can end early by an error that nobody asks for (`{name}.Err()`)"
        yield file.mark(RULE.id, call, message, severity="info", data={"form": "unchecked"})


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """On the request path the pool runs dry under load."""
    if mark.data.get("form") != "unchecked" and place.in_request_path:
        return place.finding(mark, severity=Severity.CRITICAL)
    return place.finding(mark)


def _closes_when_read(file: SourceFile) -> bool:
    """Whether the rows are those of pgx, which close behind the last one, and when one cannot be scanned."""
    drivers = [full for full in file.bindings.values() if _DRIVERS.match(full)]
    return bool(drivers) and all(full.startswith(_PGX) for full in drivers)


def _is_read_to_its_end(names: list[str], rest: str) -> bool:
    """Whether nothing leaves before the loop over the rows, and nothing but a failed `Scan` leaves the loop."""
    name = re.escape(names[0])
    loop = re.search(rf"\bfor\s+{name}\.Next\(\)\s*\{{", rest)
    if loop is None or _LEAVES.search(without_failure(rest[: loop.start()], names)):
        return False
    body = rest[loop.end() : end_of_block(rest, loop.end())]
    scanned = re.search(rf"\b{name}\.Scan\([^{{}}]*!=\s*nil\s*\{{", body)
    if scanned is not None:
        body = body[: scanned.start()] + body[end_of_block(body, scanned.end()) :]
    return _LEAVES.search(body) is None


def _is_transaction(handle: str, call: Node, file: SourceFile) -> bool:
    """Whether statements are prepared in a transaction, which closes them when it ends."""
    if _TRANSACTION.search(handle):
        return True
    return re.search(rf"\b{re.escape(handle)}\s+\*sqlx?\.Tx\b", text_before(call, file)) is not None


def _is_given_away(name: str, rest: str) -> bool:
    """Whether it is returned, stored, or passed to somebody who may close it."""
    return bool(
        re.search(
            rf"\breturn\s+([^\n]*[\s,&{{])?{name}\b(?!\.)|[\w\]]\s*=\s*{name}\b(?![.(])|[:,(]\s*{name}\s*[,)}}]|append\([^\n]*\b{name}\b"
            rf"|\breturn func\([\s\S]*\b{name}\.",
            rest,
        )
    )


WATCHES = (Watch("call", look, GO, names=_OPENERS),)
