"""Writes by methods that repositories of Spring declare, as `risk-missing-transaction` sees them: which methods change
rows stands in another file."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase, Place
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.queries import WRITES, QuerySite
from analysis.engine.readers import transactions


def with_declared(rule: str, codebase: Codebase) -> Iterator[tuple[Place, Mark]]:
    """Functions that write twice outside of a transaction, at least once by a method with a statement of its own."""
    declares = any(query.operation in WRITES for access in codebase.repositories.values() for query in access.queries)
    for path, facts in codebase.sources if declares else ():
        if facts.language != "java":
            continue
        for function, sites in _bare_writes(path, facts, codebase).items():
            first, second = sites[:2]
            if _is_declared(first) or _is_declared(second):
                yield codebase.place(path, function), _mark(rule, first, second)


def _mark(rule: str, first: QuerySite, second: QuerySite) -> Mark:
    here, there = first.query.terminal, second.query.terminal
    return Mark(
        rule,
        first.line,
        first.query.function,
        f"`{here}` writes here and `{there}` on line {second.line}, not in one transaction",
        first.query.anchor,
        confidence="" if second.line == first.line + 1 else "low",  # they may stand in two branches
        suggestion="Put `@Transactional` on the public method that does these writes.",
        data={"form": "writes"},
    )


def _bare_writes(path: str, facts: FileFacts, codebase: Codebase) -> dict[int, list[QuerySite]]:
    """By function the writes that stand in no transaction of the file."""
    covered = {
        int(call.rpartition("@")[2])
        for mark in facts.marks
        if mark.rule == transactions.ANNOTATION
        for call in mark.data["calls"].split()
    }
    found: dict[int, list[QuerySite]] = {}
    for site in codebase.queries.sites_of(path, facts):
        query = site.query
        if query.orm == "jpa" and query.operation in WRITES and not query.in_transaction and site.line not in covered:
            found.setdefault(query.function, []).append(site)
    return {function: sites for function, sites in found.items() if len(sites) > 1}


def _is_declared(site: QuerySite) -> bool:
    return site.facts.queries[site.position].operation not in WRITES
