"""Names of people and organizations, which others read in letters, lists and logs."""

import re
import unicodedata

# They turn the direction of the text around them, or break its line.
_DECEIVING = re.compile(r"[\u2028-\u202e\u2066-\u2069]")
_VISIBLE = ("L", "M", "N", "P", "S")  # letters, marks, numbers, punctuation, symbols


def deceives(name: str) -> bool:
    """Whether it makes what stands beside it look like something else."""
    return _DECEIVING.search(name) is not None


def is_visible(name: str) -> bool:
    """Whether there is anything to see of it."""
    return any(unicodedata.category(sign)[0] in _VISIBLE for sign in name)


def honest(name: str) -> str:
    """The name without what deceives and without control characters; empty when nothing of it is to be seen."""
    kept = "".join(sign for sign in _DECEIVING.sub("", name) if unicodedata.category(sign) not in ("Cc", "Cs")).strip()
    return kept if is_visible(kept) else ""
