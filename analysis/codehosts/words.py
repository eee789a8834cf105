"""What a code host shows of a verdict: the line of a status, one comment, a check run with annotations. No Django.

A comment is short and silent: without anything that somebody should do or know, there is none, and one that stands
from an earlier commit shrinks to a line. Everything that people wrote elsewhere is escaped.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

import orjson

from analysis.changes import BREAKS_POLICY
from analysis.codehosts.markdown import code, shortened, text
from analysis.engine.gate_metrics import METRICS

State = Literal["pending", "success", "failure", "error"]

DESCRIPTION_CHARACTERS = 140
MESSAGE_CHARACTERS = 240
REASON_CHARACTERS = 300
PATH_CHARACTERS = 90
FINDINGS_SHOWN = 10
EXCEPTIONS_SHOWN = 5
NOTES_SHOWN = 3
MOST_ANNOTATIONS = 200
SEVERITY_MARKS = {"critical": "🔴", "warning": "🟠", "info": "⚪"}
ANNOTATION_LEVELS = {"critical": "failure", "warning": "warning", "info": "notice"}
RUN_AGAIN = "Push a commit, or close and reopen the request, to run it again."


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A verdict with what the words about it need. `verdict` has the shape of `PullRequest.verdict`.

    `page` is the address of the details, `files` that of the repository's files at the judged commit.
    """

    sha: str
    base_branch: str
    passed: bool
    score: float
    blocking: int
    warnings: int
    verdict: Mapping[str, Any]
    page: str
    files: str = ""

    @property
    def is_evaluated(self) -> bool:
        """False when nothing was analysed, for example because the plan has no gate."""
        return bool(self.verdict.get("evaluated", True))

    def listed(self, name: str) -> Sequence[Mapping[str, Any]]:
        """One of the verdict's lists."""
        return self.verdict.get(name) or ()

    def count(self, name: str) -> int:
        """`introduced` or `resolved`: how many there are, however many are listed."""
        return int(self.verdict.get(f"{name}Total") or len(self.listed(name)))


@dataclass(frozen=True, slots=True)
class Status:
    """One line beside a commit."""

    state: State
    description: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark at a line."""

    path: str
    line: int
    level: str
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A page of its own at the host, with remarks in the diff."""

    conclusion: Literal["success", "failure", "neutral"]
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = field(default=())


def queued() -> Status:
    """Before there is a verdict."""
    return Status("pending", "Waiting for the analysis")


def superseded() -> Status:
    """On a commit that nobody will look at any more."""
    return Status("error", "Not evaluated: a newer commit came before the analysis began")


def farewell() -> Status:
    """On a commit that waited when its repository went away: as without a gate, nobody is held up."""
    return Status("success", "Not evaluated: this repository is no longer analysed")


def status(judged: Judged) -> Status:
    """The verdict in one line."""
    if not judged.is_evaluated:
        return Status("success", _described(f"Not evaluated: {_why_not(judged)}"))
    state: State = "success" if judged.passed else "failure"
    return Status(state, _described(f"{_headline(judged)}; {_balance(judged)}"))


def unjudged_status(reason: str) -> Status:
    """The end of a run without a verdict."""
    return Status("error", _described(f"Not evaluated: {reason}"))


def comment(judged: Judged) -> str:
    """The comment; empty when there is nothing that anybody should do or know."""
    if not _is_worth_words(judged):
        return ""
    return "\n\n".join((f"### {_mark(judged)} {text(_headline(judged), 200)}", *_body(judged)))


def all_clear(judged: Judged) -> str:
    """What an earlier comment shrinks to."""
    if not judged.is_evaluated:
        return f"⚪ Not evaluated: {text(_why_not(judged), REASON_CHARACTERS)}"
    return f"✅ Nothing to do here any more: {_balance(judged)}. {_footer(judged)}"


def unjudged_comment(reason: str, sha: str, page: str) -> str:
    """What an earlier comment is replaced by when the newest commit has no verdict."""
    said = text(reason, REASON_CHARACTERS)
    return f"⚪ Commit {code(sha[:7], 7)} was not evaluated: {said}\n\n{RUN_AGAIN} [Details]({page})"


def check_run(judged: Judged) -> CheckRun:
    """The verdict as a check run; each introduced finding is an annotation, the gravest first."""
    if not judged.is_evaluated:
        return CheckRun("neutral", "Not evaluated", text(_why_not(judged), REASON_CHARACTERS))
    return CheckRun(
        "success" if judged.passed else "failure",
        _headline(judged),
        "\n\n".join(_body(judged)),
        tuple(_annotation(finding) for finding in gravest(judged.listed("introduced"))[:MOST_ANNOTATIONS]),
    )


def unjudged_check_run(reason: str) -> CheckRun:
    """Neither good nor bad."""
    return CheckRun("neutral", "Not evaluated", f"{text(reason, REASON_CHARACTERS)}\n\n{RUN_AGAIN}")


def with_advice(body: str, advice: str) -> str:
    """A comment with the words of a model, which come without effect already (`analysis.ai.answers`)."""
    quoted = "\n".join(f"> {line}" for line in advice.splitlines())
    return f"{body}\n\n**In other words** (by a language model)\n\n{quoted}"


def verdict_in_words(judged: Judged) -> str:
    """The result and what fired, as plain sentences."""
    return ". ".join((_headline(judged), *(_gate_sentence(gate) for gate in judged.listed("gates"))))


def about(judged: Judged) -> str:
    """A name for what a comment speaks of: the same while the findings are."""
    told = sorted([each["ruleId"], each["file"], each["message"]] for each in judged.listed("introduced"))
    return hashlib.sha256(orjson.dumps(told)).hexdigest()[:32]


def gravest(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What blocks first, then what warns, then by severity."""
    actions, severities = ("block", "warn", "none"), ("critical", "warning", "info")
    return sorted(findings, key=lambda each: (actions.index(each["gateAction"]), severities.index(each["severity"])))


def _is_worth_words(judged: Judged) -> bool:
    return judged.is_evaluated and bool(
        judged.listed("gates")
        or any(finding["severity"] != "info" for finding in judged.listed("introduced"))
        or any(entry["covered"] for entry in judged.listed("exceptions"))
        or any(note.startswith(BREAKS_POLICY) for note in judged.verdict.get("notes") or ())
    )


def _headline(judged: Judged) -> str:
    if judged.passed:
        return f"Passed with {_amount(judged.warnings, 'warning')}" if judged.warnings else "Passed"
    blocking = [gate for gate in judged.listed("gates") if gate["action"] == "block"]
    if not blocking:
        return f"Blocked: {_amount(judged.blocking, 'reason')}"
    first, more = blocking[0], len(blocking) - 1
    reason = (
        f"{_title(first)[:1].lower()}{_title(first)[1:]} {first['actual']:g} ({first['operator']} {first['value']:g})"
    )
    return f"Blocked: {reason}" + (f" and {more} more" if more else "")


def _balance(judged: Judged) -> str:
    new, gone = judged.count("introduced"), judged.count("resolved")
    if not new and not gone:
        return "no new debt"
    return f"{_amount(new, 'new finding')}, {gone} resolved, debt score {judged.score:+.1f}"


def _mark(judged: Judged) -> str:
    return "❌" if not judged.passed else "⚠️" if judged.warnings else "✅"


def _body(judged: Judged) -> list[str]:
    balance = f"{_balance(judged)[:1].upper()}{_balance(judged)[1:]}."
    parts = [balance, _gates(judged), _findings(judged), _exceptions(judged), _notes(judged), _footer(judged)]
    return [part for part in parts if part]


def _gates(judged: Judged) -> str:
    marks = {"block": "❌", "warn": "⚠️"}
    return "\n".join(f"- {marks[gate['action']]} {text(_gate_sentence(gate), 200)}" for gate in judged.listed("gates"))


def _gate_sentence(gate: Mapping[str, Any]) -> str:
    verb = "blocks" if gate["action"] == "block" else "warns"
    return f"{_title(gate)}: {gate['actual']:g} (the policy {verb} at {gate['operator']} {gate['value']:g})"


def _title(gate: Mapping[str, Any]) -> str:
    metric = METRICS.get(gate["metric"])
    return metric.title if metric else str(gate["metric"])


def _findings(judged: Judged) -> str:
    worth = [finding for finding in gravest(judged.listed("introduced")) if finding["severity"] != "info"]
    if not worth:
        return ""
    lines = [_finding(judged, finding) for finding in worth[:FINDINGS_SHOWN]]
    left = judged.count("introduced") - len(lines)
    if left > 0:
        lines.append(f"- [{left} more]({judged.page})")
    return "**New findings**\n" + "\n".join(lines)


def _finding(judged: Judged, finding: Mapping[str, Any]) -> str:
    place = code(f"{finding['file']}:{finding['line']}", PATH_CHARACTERS)
    if judged.files:
        place = f"[{place}]({judged.files}/{quote(finding['file'])}#L{finding['line']})"
    said = text(finding["message"], MESSAGE_CHARACTERS)
    advice = text(finding.get("suggestion") or "", MESSAGE_CHARACTERS)
    blocks = " **blocks**" if finding["gateAction"] == "block" else ""
    return f"- {SEVERITY_MARKS[finding['severity']]} {place}{blocks}<br>{said}" + (f"<br>_{advice}_" if advice else "")


def _exceptions(judged: Judged) -> str:
    relevant = [entry for entry in judged.listed("exceptions") if entry["covered"] or entry["expired"]]
    if not relevant:
        return ""
    lines = [_exception(entry) for entry in relevant[:EXCEPTIONS_SHOWN]]
    if len(relevant) > len(lines):
        lines.append(f"- {len(relevant) - len(lines)} more")
    return "**Exceptions of the policy**\n" + "\n".join(lines)


def _exception(entry: Mapping[str, Any]) -> str:
    what = f"{code(entry['rule'], 64)} in {code(entry['file'], PATH_CHARACTERS)}"
    until = text(str(entry["expires"]), 10)
    reach = f"expired on {until}" if entry["expired"] else f"covers {entry['covered']} here until {until}"
    return f"- {what} {reach}: “{text(entry['reason'], REASON_CHARACTERS)}”"


def _notes(judged: Judged) -> str:
    notes = (judged.verdict.get("notes") or ())[:NOTES_SHOWN]
    return "\n".join(f"- {text(str(note), REASON_CHARACTERS)}" for note in notes)


def _footer(judged: Judged) -> str:
    return f"[Details]({judged.page}) · {code(judged.sha[:7], 7)} into {code(judged.base_branch, 60)}"


def _annotation(finding: Mapping[str, Any]) -> Annotation:
    said = " ".join(part for part in (finding["message"], finding.get("suggestion")) if part)
    return Annotation(
        path=finding["file"],
        line=max(1, int(finding["line"])),
        level=ANNOTATION_LEVELS[finding["severity"]],
        title=shortened(finding["ruleId"], 64),
        message=shortened(said, 1000),
    )


def _why_not(judged: Judged) -> str:
    return str(next(iter(judged.verdict.get("notes") or ()), "there is no verdict on this commit"))


def _described(words: str) -> str:
    return shortened(words, DESCRIPTION_CHARACTERS)


def _amount(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
