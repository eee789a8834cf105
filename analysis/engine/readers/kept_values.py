"""What keeps a value that was made or loaded before: a cache, whose races cost no more than a second loading."""

import re

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import KEY

_DATES = rb"(?:(?:Last)?(?:Synced|Loaded|Fetched|Cached|Refreshed|Updated)At|(?:Cache)?(?:Expir\w+|Ttl|TTL|Timestamp))"


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
    asked = (
        rb"\bif\s*\(?\s*(?:not\s+|!\s*)?"
        + word
        + rb"\b(?!\[|\.(?:length|size)(?:\(\))?\s*>)|\bif\s*\(\s*!\s*"
        + word
        + rb"\[|\bif\s*\(\s*"
        + word
        + rb"\["
        + KEY
        + rb"\]\s*\)\s*\{?\s*return\b|\bnot in "
        + word
        + rb"\b|\bin "
        + word
        + rb"\b"
        rb"|(?<![\w.])" + word + rb"\.(?:get|has|containsKey|setdefault)\(|(?<![\w.])" + word + rb"\s*(?:\?\?|\|\|)=?"
        rb"|(?<![\w.])"
        + word
        + rb"\s*(?:={2,3}|is)\s*(?:null|nil|None|undefined)|(?:, ok\s*:?=|ok\s*:=)\s*"
        + word
        + rb"\["
        rb"|!=\s*" + word + rb"\b(?!\[)|(?<![\w.])" + word + rb"\s*!="
        rb"|(?<![\w.])"
        + word
        + rb"\["
        + KEY
        + rb"\]\s*(?:\?\?=|={2,3}\s*(?:null|undefined))|=\s*"
        + word
        + rb"\[(?![^\]\n]*:)"
    )
    counts = rb"(?<![\w.])" + word + rb"\[" + KEY + rb"\]\s*(?:[-+]=|\+\+|--|=(?!=)[^\n]*[-+]\s*\d)"
    return re.search(asked, text) is not None and re.search(counts, text) is None
