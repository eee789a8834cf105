"""What code reads of a row: its attributes, and whether a database could do what is done with them."""

import re

from analysis.engine.extract.orm.go_structs import snake
from analysis.engine.readers.reading import followed

_CALL = re.compile(r"(\w+)\s*\(")
_GETTER = re.compile(r"(?<![\w.])(\w+)\.(?:get|is)([A-Z])(\w*)\(\)")
_PLAIN = re.compile(r"[\w.\s=!<>&|'\"*/+\-?:(),%\[\]]*")
_ENDING = re.compile(r"\breturn\b|\bawait\b|\byield\b|\bfor\b|\blambda\b|=>|[^=!<>]=[^=]")
_LEFT_OUT = re.compile(r"\bnot\s+in\b|!\s*[\w.]+\.(?:contains|includes|has)\(")
_BEHIND_RELATION = re.compile(r"[?!]?\.\w+[?!]?\.(?!(?:length|year|month|day|hour|date)\b)\w+\b(?!\s*\()")
_READ = re.compile(r"(?!\w)(?:[?!]?\.(\w+)(\s*\()?|\[[\"'](\w+)[\"']\]|\.get\([\"'](\w+)[\"']\))?")
_KNOWN = frozenset(  # what SQL has as well
    """abs min max round floor ceil len lower upper strip trim toLowerCase toUpperCase includes contains startsWith
    endsWith startswith endswith getTime valueOf getFullYear equals equalsIgnoreCase compareTo isAfter isBefore
    localeCompare Number String Boolean Date BigInt Decimal int float str bool now today utcnow date year month day
    instant millis Before After Equal Compare IsZero HasPrefix HasSuffix Contains EqualFold signum intValue longValue
    doubleValue add subtract negate and or not in if""".split()
)


def condition(row: str, text: str, work: str, language: str) -> str:
    """The work with the attributes of a row that an expression compares or adds. Empty when it reads none, hands the
    row on or calls what no database knows."""
    text = text.strip().rstrip(",")
    if language == "java":
        text = _GETTER.sub(lambda found: f"{found[1]}.{found[2].lower()}{found[3]}", text)
    if work == "filter" and _LEFT_OUT.search(text):
        return ""  # all but a few rows are wanted
    if any(followed(row, text, _BEHIND_RELATION, "_.")):
        return ""  # what a relation leads to
    if not _PLAIN.fullmatch(text) or _ENDING.search(text) or not _KNOWN.issuperset(_CALL.findall(text)):
        return ""
    found = attributes(row, text, language)
    return f"{work} {' '.join(found)}" if found else ""


def attributes(row: str, text: str, language: str) -> list[str]:
    """The attributes of the row that the text reads, each once. Empty when the row goes anywhere as a whole."""
    found: dict[str, None] = {}
    for match in followed(row, text, _READ, "_.\"'"):
        name = match[1] or match[3]
        if match[2] and match[1] == "get" and (read := re.match(r"\s*[\"'](\w+)[\"']", text[match.end() :])):
            name = read[1]  # of a row that is a dict
        elif match[2] and match[1].startswith(("get", "is")) and language == "java":
            name = attribute(match[1])
        elif not name or match[2]:
            return []
        found[snake(name) if language == "go" else name] = None
    return list(found)


def attribute(getter: str) -> str:
    """What a getter of Java reads: `total` of `getTotal`."""
    name = re.sub(r"^(?:get|is)(?=[A-Z])", "", getter)
    return name[:1].lower() + name[1:]
