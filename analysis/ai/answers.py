"""What a model said, believed only as far as it can be checked. Everything else is AiNonsense."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from analysis.ai.client import AiNonsense
from analysis.ai.prompts import MOST_REMARKS
from analysis.engine.model import Category, Confidence, Severity

LONGEST_TEXT_CHARACTERS = 4000
LONGEST_PATCH_CHARACTERS = 40_000

# Some models say aloud what they think before they answer.
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.S)
_ADDRESS = re.compile(r"(?i)\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S+")
_LINK = re.compile(r"\](?=[(:\[])")  # Markdown's links, pictures and definitions of addresses
# What makes a code host mention a person or refer to an issue: @name, #12, !12.
_CALL = re.compile(r"@(?=\w)|[#!](?=\d)")
_UNSHOWABLE = re.compile(r"[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Fix:
    """An explanation, and the text of a patch that nobody has checked yet."""

    explanation: str
    patch: str | None


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding of the model in a file and line that exist."""

    file: str
    line: int
    function: str
    category: Category
    severity: Severity
    confidence: Confidence
    message: str
    suggestion: str


def read_summary(content: str) -> str:
    """Plain text, also when the model wrapped it into a JSON object of its own accord."""
    text = _THOUGHT.sub("", content).strip()
    if text.startswith(("{", "```")):
        text = _text(_object(text).get("summary"), LONGEST_TEXT_CHARACTERS)
    text = _clean(text, LONGEST_TEXT_CHARACTERS)
    if not any(map(str.isalpha, text)):
        raise AiNonsense
    return text


def read_comment(content: str) -> str:
    """Plain text for a code host: it calls nobody, links nowhere and closes no issue, whatever the model was told."""
    text = _ADDRESS.sub("(link removed)", read_summary(content))
    text = _LINK.sub("] ", _CALL.sub("", text))
    return text.replace("&", "&amp;").replace("<", "&lt;")


def read_fix(content: str) -> Fix:
    """The explanation, which must be there, and the patch, which may be missing."""
    answer = _object(_THOUGHT.sub("", content))
    explanation = _text(answer.get("explanation"), LONGEST_TEXT_CHARACTERS)
    if not explanation:
        raise AiNonsense
    patch = answer.get("patch")
    return Fix(explanation, patch if isinstance(patch, str) and len(patch) <= LONGEST_PATCH_CHARACTERS else None)


def read_remarks(content: str, lines: Mapping[str, int]) -> list[Remark]:
    """The findings that name a file of `lines` and a line that it has; `lines` says how many each file has.

    The others are dropped; when only such are left, the answer makes no sense.
    """
    said = _object(_THOUGHT.sub("", content)).get("findings")
    if not isinstance(said, list):
        raise AiNonsense
    remarks = [remark for item in said[:MOST_REMARKS] if (remark := _remark(item, lines))]
    if said and not remarks:
        raise AiNonsense
    return remarks


def _remark(item: Any, lines: Mapping[str, int]) -> Remark | None:
    if not isinstance(item, dict):
        return None
    file, line, message = item.get("file"), item.get("line"), _text(item.get("message"), 1000)
    if not isinstance(file, str) or not isinstance(line, int) or isinstance(line, bool) or not message:
        return None
    if not 1 <= line <= lines.get(file, 0):
        return None
    try:
        category, severity = Category(str(item.get("category"))), Severity(str(item.get("severity")))
    except ValueError:
        return None
    return Remark(
        file=file,
        line=line,
        function=_text(item.get("function"), 300).replace("\n", " ") or "module",
        category=category,
        severity=severity,
        confidence=_confidence(item.get("confidence")),
        message=message,
        suggestion=_text(item.get("suggestion"), 500),
    )


def _confidence(said: Any) -> Confidence:
    """A model that does not say how sure it is does not get the benefit of the doubt."""
    return Confidence(said) if said in list(Confidence) else Confidence.LOW


def _object(text: str) -> dict[str, Any]:
    """The JSON object in an answer, with or without a fence and words around it."""
    first, last = text.find("{"), text.rfind("}")
    try:
        found = orjson.loads(text[first : last + 1] if first >= 0 else "")
    except orjson.JSONDecodeError as error:
        raise AiNonsense from error
    if not isinstance(found, dict):
        raise AiNonsense
    return found


def _text(said: Any, characters: int) -> str:
    return _clean(said, characters) if isinstance(said, str) else ""


def _clean(text: str, characters: int) -> str:
    """Without control characters and marks that turn the direction of text; cut."""
    return _UNSHOWABLE.sub("", text).strip()[:characters]
