"""Which of several findings about one place speaks (rules.md 1.10 and section 7)."""

from collections.abc import Sequence

from analysis.engine.model import Finding

# rule: the rules that are silent about an expression on the same line of the same file
SILENCES: dict[str, frozenset[str]] = {
    "perf-write-in-loop": frozenset({"perf-n-plus-one-query", "perf-serial-await"}),
    "perf-n-plus-one-query": frozenset({"perf-serial-await", "risk-unbounded-concurrency"}),
    "perf-n-plus-one-relation": frozenset({"perf-serial-await", "risk-unbounded-concurrency"}),
    "perf-count-by-loading": frozenset({"perf-unbounded-query"}),
    "perf-filter-in-memory": frozenset({"perf-unbounded-query"}),
    "perf-missing-pagination": frozenset({"perf-unbounded-query"}),
    "risk-locking-migration": frozenset({"risk-unscoped-bulk-write"}),
    "rel-promise-unhandled": frozenset({"risk-floating-promise"}),
}
# Of these, the first that fires on a function carries its full points and the others half a point each.
ONE_BILL = (
    "maint-cognitive-complexity",
    "maint-cyclomatic-complexity",
    "maint-long-function",
    "maint-deep-nesting",
)


def without_silenced(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of one file that no other finding on the same line makes superfluous."""
    loud = [finding for finding in findings if finding.rule_id in SILENCES]
    if not loud:
        return list(findings)
    silenced = {(finding.line, rule) for finding in loud for rule in SILENCES[finding.rule_id]}
    return [finding for finding in findings if (finding.line, finding.rule_id) not in silenced]


def bill_payers(findings: Sequence[Finding]) -> dict[str, str]:
    """Per function of one file the rule that carries the full points, where several of `ONE_BILL` fire."""
    payers: dict[str, str] = {}
    for finding in findings:
        if finding.rule_id not in ONE_BILL:
            continue
        payer = payers.get(finding.function)
        if payer is None or ONE_BILL.index(finding.rule_id) < ONE_BILL.index(payer):
            payers[finding.function] = finding.rule_id
    return payers


def shares_bill(finding: Finding, payers: dict[str, str]) -> bool:
    """Whether another finding about the same function carries the full points."""
    return finding.rule_id in ONE_BILL and payers.get(finding.function) != finding.rule_id
