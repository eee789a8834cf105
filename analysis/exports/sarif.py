"""Findings as SARIF 2.1.0 (OASIS), the format in which code hosts and editors take over results.

The limits are those of code host 1's upload: 25,000 results a run, the gravest being kept; texts of rules up to 1024
characters; ten tags a rule. `primaryLocationLineHash` is what that host knows an alert again by: ours survives moved
lines and renamed files.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

import orjson

from analysis.engine.model import Finding, Severity
from analysis.engine.rulebook import explain
from analysis.engine.rules import rule_by_id
from analysis.engine.suppression import Exemptions
from analysis.exports.pieces import gathered
from analysis.exports.rule_texts import help_markdown, help_text

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
LONGEST_RULE_TEXT = 1024
LEVELS = {"critical": "error", "warning": "warning", "info": "note"}
PROBLEM_SEVERITIES = {"critical": "error", "warning": "warning", "info": "recommendation"}

SuppressionKind = Literal["inSource", "external"]


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a result does not count, and whether a comment in the code or an exception of the policy says so."""

    kind: SuppressionKind
    reason: str

    @classmethod
    def found(cls, exemptions: Exemptions, rule_id: str, file: str, reason: str) -> "Suppression":
        """The suppression of a finding that does not count for this reason."""
        excuse = exemptions.excuse(rule_id, file)
        return cls("external" if excuse and not excuse.expired else "inSource", reason)


@dataclass(frozen=True, slots=True)
class Result:
    """One finding, stored or not."""

    rule_id: str
    severity: str
    file: str
    line: int
    function: str
    message: str
    suggestion: str
    debt_points: float
    gate_action: str
    fingerprint: str
    suppression: Suppression | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What the results are about. `rule_ids` are those of all results; `notes` are sentences about the run."""

    rule_ids: Sequence[str]
    engine_version: str
    commit_sha: str = ""
    address: str = ""
    branch: str = ""
    notes: Sequence[str] = ()


def result_of_finding(finding: Finding, suppression: Suppression | None = None) -> Result:
    """A finding that was never stored."""
    return Result(
        rule_id=finding.rule_id,
        severity=finding.severity or Severity.INFO,
        file=finding.file,
        line=finding.line,
        function=finding.function,
        message=finding.message,
        suggestion=finding.suggestion or rule_by_id(finding.rule_id).suggestion,
        debt_points=finding.points,
        gate_action=finding.gate_action,
        fingerprint=finding.fingerprint,
        suppression=suppression,
    )


def sarif(run: Run, results: Iterable[Result]) -> Iterator[bytes]:
    """The document in pieces. Give at most MOST_RESULTS results, the gravest first."""
    return gathered(_parts(run, results))


def cut_note(total: int) -> list[str]:
    """The sentence that says that results were left out, if they were."""
    return [f"Only the gravest {MOST_RESULTS:,} of {total:,} findings are listed."] if total > MOST_RESULTS else []


def _parts(run: Run, results: Iterable[Result]) -> Iterator[bytes]:
    index_of = {rule_id: index for index, rule_id in enumerate(run.rule_ids)}
    head = orjson.dumps(_head(run)).removesuffix(b"}")
    yield b'{"$schema":%s,"version":"2.1.0","runs":[%s,"results":[' % (orjson.dumps(SCHEMA), head)
    for number, result in enumerate(results):
        yield (b",\n" if number else b"\n") + orjson.dumps(_result(result, index_of))
    yield b"]}]}\n"


def _head(run: Run) -> dict[str, Any]:
    driver = {
        "name": "technical-debt",
        **({"version": run.engine_version} if run.engine_version else {}),
        "rules": [_rule(rule_id) for rule_id in run.rule_ids],
    }
    notifications = [{"level": "note", "message": {"text": note}} for note in run.notes]
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": "technical-debt/"},
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        **_provenance(run),
    }


def _provenance(run: Run) -> dict[str, Any]:
    """Where the code comes from; nothing for a folder, or an address that only this machine knows."""
    if not run.commit_sha or not run.address.startswith("https://"):
        return {}
    origin = {"repositoryUri": run.address, "revisionId": run.commit_sha}
    return {"versionControlProvenance": [origin | ({"branch": run.branch} if run.branch else {})]}


def _rule(rule_id: str) -> dict[str, Any]:
    try:
        explained = explain(rule_id)
    except KeyError:  # found by an older engine
        return {"id": rule_id}
    rule = explained.rule
    return {
        "id": rule.id,
        "name": rule.type,
        "shortDescription": {"text": rule.title[:LONGEST_RULE_TEXT]},
        "fullDescription": {"text": explained.what[:LONGEST_RULE_TEXT]},
        "help": {"text": help_text(explained), "markdown": help_markdown(explained)},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "tags": [rule.category, *explained.languages],
            "precision": rule.confidence,
            "problem.severity": PROBLEM_SEVERITIES[rule.severity],
        },
    }


def _result(result: Result, index_of: Mapping[str, int]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "ruleId": result.rule_id,
        "ruleIndex": index_of[result.rule_id],
        "level": LEVELS[result.severity],
        "message": {"text": f"{result.message.rstrip('.')}.\n{result.suggestion}"},
        "locations": [_location(result)],
        "partialFingerprints": {"primaryLocationLineHash": result.fingerprint},
        "properties": {"debtPoints": result.debt_points, "gateAction": result.gate_action},
    }
    if result.suppression:
        why = {"kind": result.suppression.kind, "status": "accepted", "justification": result.suppression.reason}
        shown["suppressions"] = [why]
    return shown


def _location(result: Result) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": quote(result.file), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": max(1, result.line)},
    }
    location: dict[str, Any] = {"physicalLocation": place}
    if result.function and result.function != "module":
        location["logicalLocations"] = [{"fullyQualifiedName": result.function, "kind": "function"}]
    return location
