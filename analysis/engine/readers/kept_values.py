"""What keeps a value that was made or loaded before: a cache, whose races cost no more than a second loading."""

import re

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import KEY

_DATES = rb"(?:(?:Last)?(?:Synced|Loaded|Fetched|Cached|Refreshed|Updated)At|(?:Cache)?(?:Expir\w+|Ttl|TTL|Timestamp))"
_ASKED = (
    # `if (!rates)`, `if (!rates[key])`, `if (rates[key]) return`
    rb"\bif\s*\(?\s*(?:not\s+|!\s*)?NAME\b(?!\[|\.(?:length|size)(?:\(\))?\s*>)|\bif\s*\(\s*!\s*NAME\["
    rb"|\bif\s*\(\s*NAME\[" + KEY + rb"\]\s*\)\s*\{?\s*return\b"
    # `key in rates`, `rates.has(key)`, `rates ?? load()`
    rb"|\bnot in NAME\b|\bin NAME\b|(?<![\w.])NAME\.(?:get|has|containsKey|setdefault)\("
    rb"|(?<![\w.])NAME\s*(?:\?\?|\|\|)=?"
    # `rates == null`, `rate, ok := rates[key]`, `null != rates`
    rb"|(?<![\w.])NAME\s*(?:={2,3}|is)\s*(?:null|nil|None|undefined)|(?:, ok\s*:?=|ok\s*:=)\s*NAME\["
    rb"|!=\s*NAME\b(?!\[)|(?<![\w.])NAME\s*!="
    # `rates[key] ??= load()`, `rate = rates[key]`
    rb"|(?<![\w.])NAME\[" + KEY + rb"\]\s*(?:\?\?=|={2,3}\s*(?:null|undefined))|=\s*NAME\[(?![^\]\n]*:)"
)
_COUNTED = rb"(?<![\w.])NAME\[" + KEY + rb"\]\s*(?:[-+]=|\+\+|--|=(?!=)[^\n]*[-+]\s*\d)"


def is_remembered(name: bytes, file: SourceFile) -> bool:
    """Whether some method gives back what it finds there: what is made for each key is kept."""
    word = rb"this\." + re.escape(name)
    return re.search(rb"\bif\s*\(\s*" + word + rb"\.has\([^\n]*\)\s*\{?\s*return\s+" + word, file.source) is not None


def is_dated(name: bytes, file: SourceFile) -> bool:
    """Whether another field says when it was loaded, or until when it holds: a cache of one value."""
    return re.search(rb"\b" + re.escape(name) + _DATES + rb"\b", file.source) is not None


def is_filled_once(name: str, text: bytes) -> bool:
    """Whether the function asks for the value before it sets it: made on first use, or a cache."""
    word = re.escape(name.encode())
    return (
        re.search(_ASKED.replace(b"NAME", word), text) is not None
        and re.search(_COUNTED.replace(b"NAME", word), text) is None
    )
