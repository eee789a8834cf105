"""Whether a query finds its rows by an index: its plan, run and read (PostgreSQL)."""

import json
from collections.abc import Iterator
from typing import Any

LARGE = 5_000  # rows of a table that nobody should read from end to end
WASTED = 1_000  # rows read and thrown away


def judge(sql: str) -> tuple[float, list[str]]:
    """Milliseconds that the database took, and what is wrong with the plan in words."""
    from django.db import connection

    if not sql.lstrip().upper().startswith("SELECT"):
        return 0.0, []
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}")
        (plan,) = cursor.fetchone()
        (plan,) = json.loads(plan) if isinstance(plan, str) else plan
        faults = [fault for node in _nodes(plan["Plan"]) if (fault := _fault(node, cursor))]
    return plan["Execution Time"], faults


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _fault(node: dict[str, Any], cursor: Any) -> str:
    table = node.get("Relation Name")
    if node["Node Type"].endswith("Seq Scan") and _rows_of(table, cursor) > LARGE:
        return f"reads all of {table}"
    removed = node.get("Rows Removed by Filter", 0) * node["Actual Loops"]
    if removed > WASTED and removed > 10 * node["Actual Rows"] * node["Actual Loops"]:
        return f"reads {removed:,} rows of {table} in vain"
    if node.get("Sort Space Type") == "Disk":
        return "sorts on disk"
    return ""


def _rows_of(table: str | None, cursor: Any) -> float:
    cursor.execute("SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)", [table])
    return float(cursor.fetchone()[0])
