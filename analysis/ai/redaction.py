"""Secrets that stand in a repository do not leave the house: what looks like one is replaced before a prompt is sent.

Guessing errs on the side of silence: a redacted constant costs the model a detail, a leaked key costs more. No rule
changes the number of lines.
"""

import math
import re
from collections import Counter

from analysis.git.command import redact as redact_addresses

REDACTED = "[redacted]"

_NAMES = r"pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|client[_-]?key"
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.{0,5000}?-----END [A-Z0-9 ]*PRIVATE KEY-----", re.S)
# Tokens that say by their first letters what they are.
_MARKED = re.compile(
    r"\b(?:A(?:KIA|SIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|(?:sk|rk|pk)_(?:live|test)_\w{8,}|whsec_\w{8,}|sk-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
)
_NAMED_LITERAL = re.compile(
    rf"""(?i)((?:{_NAMES})[\w-]{{0,40}}["'\]]{{0,2}}\s{{0,9}}(?:=>|:=|=|:)\s{{0,9}}[a-z]{{0,2}})(["'`])[^"'`\n]{{4,}}\2"""
)
_NAMED_WORD = re.compile(
    rf"(?im)((?:{_NAMES})[\w-]{{0,40}}[ \t]{{0,9}}[:=][ \t]{{0,9}})(?=\S*\d)[^\s\"'`()\[\]{{}},;$<>]{{6,}}$"
)
_HEXADECIMAL = re.compile(r"(?i)\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{32,}\b")
_LONG_WORD = re.compile(r"[A-Za-z0-9+/=_-]{40,}")
# Some patterns look at each line from each of its words on: a long one would take the square of its length.
LONGEST_LINE_CHARACTERS = 2000
RANDOM_BITS = 4.5  # a character of English or of a path carries about 4 bits, one of Base64 up to 6
RANDOM_DIGITS = 3


def redact(text: str) -> str:
    """`text` without what looks like a password, key or token; as many lines as before, long ones cut."""
    text = "\n".join(line[:LONGEST_LINE_CHARACTERS] for line in text.split("\n"))
    text = _PRIVATE_KEY.sub(lambda found: REDACTED + "\n" * found[0].count("\n"), text)
    text = redact_addresses(_MARKED.sub(REDACTED, text)).replace("[secret]", REDACTED)
    text = _NAMED_LITERAL.sub(rf"\1\2{REDACTED}\2", text)
    text = _NAMED_WORD.sub(rf"\1{REDACTED}", text)
    text = _HEXADECIMAL.sub(REDACTED, text)
    return _LONG_WORD.sub(lambda found: REDACTED if _is_random(found[0]) else found[0], text)


def _is_random(word: str) -> bool:
    """Whether a long word is more likely a key than a name: digits and both cases, evenly mixed (Shannon entropy)."""
    if sum(map(str.isdigit, word)) < RANDOM_DIGITS or word.islower() or word.isupper():
        return False
    shares = [count / len(word) for count in Counter(word).values()]
    return -sum(share * math.log2(share) for share in shares) >= RANDOM_BITS
