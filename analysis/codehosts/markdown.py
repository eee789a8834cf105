"""Foreign words in Markdown: shown as they are, without effect. Nobody is pinged, nothing is linked, no HTML."""

import re

# A word joiner is seen by nobody, and neither host takes what it stands in for a mention or a reference.
_BREAK = "\u2060"
_MARKUP = re.compile(r"([\\`*_{}\[\]|])")
_REFERENCES = re.compile(r"([@#!~$%&^](?=\w)|\bGH-(?=\d))", re.IGNORECASE)
_ADDRESSES = re.compile(r"(://|(?<=www)\.)", re.IGNORECASE)
# Long hexadecimal numbers become links to commits.
_HASHES = re.compile(r"\b([0-9a-f]{6})(?=[0-9a-f]+\b)", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


def text(words: str, most: int) -> str:
    """Prose of at most `most` characters in one line, without any effect. What stands between backticks is code."""
    parts = shortened(words, most).split("`")
    if len(parts) % 2 == 0:  # one backtick has no partner
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(code(part, most) if index % 2 else _prose(part) for index, part in enumerate(parts))


def _prose(words: str) -> str:
    broken = _ADDRESSES.sub(rf"{_BREAK}\1", _REFERENCES.sub(rf"\1{_BREAK}", words))
    broken = _HASHES.sub(rf"\1{_BREAK}", broken)
    return _MARKUP.sub(r"\\\1", broken).replace("<", "&lt;").replace(">", "&gt;")


def code(words: str, most: int) -> str:
    """A code span of at most `most` characters; long ones keep their end, as paths say most there."""
    plain = one_line(words)
    if len(plain) > most:
        plain = f"…{plain[1 - most :]}"
    fence = "`" * (_longest_run(plain) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}" if plain else "` `"


def shortened(words: str, most: int) -> str:
    """One line of at most `most` characters."""
    plain = one_line(words)
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"


def one_line(words: str) -> str:
    """Without line ends, controls, and characters that turn the direction of writing."""
    return " ".join(_UNSEEN.sub(" ", words).split())


def _longest_run(words: str) -> int:
    return max((len(run) for run in re.findall("`+", words)), default=0)
