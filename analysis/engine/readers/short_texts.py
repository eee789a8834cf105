"""Texts that are known to be short, since the function cuts them off or leaves when they are longer."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import assigned_values, text_before

LONGEST = 100  # characters; of a limit that is a name nobody knows how many it allows
_CUT = re.compile(r"\[\s*0?\s*:\s*(?P<end>\w+)\s*\]$|\.(?:slice|substring|substr)\(\s*0\s*,\s*(?P<until>[\w.]+)\s*\)$")
_MEASURED = r"(?:\blen\({0}\)|(?<![\w.]){0}\??\.length(?:\(\))?)\s*"
_TOO_LONG = r">=?\s*(?P<limit>[\w.]+)[^\n{{}}]*[:{{)]\s*(?:return|raise|throw|abort|continue|break)\b"
_SHORT = r"<=?\s*(?P<limit>[\w.]+)\s*(?:and\b|&&|\)?\s*(?::\n|\{{))[^{{}}]*\Z"


def is_short_text(name: str, place: Node, file: SourceFile) -> bool:
    """Whether a text is short for certain where a place asks for it, by its name or as it is written there."""
    if not name:
        return False
    if _is_cut(name):
        return True
    if not re.fullmatch(r"[\w.$]+", name):
        return False
    values = assigned_values(name, place, file)
    if values and all(_is_cut(file.text(each)) for each in values):
        return True
    before = text_before(place, file)
    measured = _MEASURED.format(re.escape(name))
    found = re.search(measured + _TOO_LONG.format(), before) or re.search(measured + _SHORT.format(), before)
    return found is not None and _is_low(found["limit"])


def _is_cut(text: str) -> bool:
    cut = _CUT.search(text)
    return cut is not None and _is_low(cut["end"] or cut["until"])


def _is_low(limit: str) -> bool:
    return not limit.isdigit() or int(limit) <= LONGEST
