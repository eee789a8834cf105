"""A comment that is code."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.readers.reading import short
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="maint-commented-out-code",
    type="commented_out_code",
    category=Category.MAINTAINABILITY,
    title="Commented-out code",
    severity=Severity.INFO,
    points=0.5,
    suggestion="Delete it; version control keeps it.",
)
GUIDE = Guide(
    why="Nobody dares to delete it, nobody knows whether it still holds, and git has it anyway.",
    flagged=(
        {
            "shop/work.py": """
def total(order):
    # tax = rate(order.region)
    # return order.total * tax
    return order.total
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def total(order):
    # Prices include the tax of their region.
    return order.total
"""
        },
    ),
)

LONG_BLOCK = 15  # lines
LONGEST_BLOCK = 400  # lines that are read
CODE_SHARE = 0.6  # of the lines of a block must look like code

_PYTHON_CODE = re.compile(
    r"\s*((def|class|if|elif|for|while|with|try|except|else|finally)\b.*:|return\b( [\w\[({'\"].*)?"
    r"|raise \w+[\w.]*(\(.*\))?"
    r"|(from [\w.]+ )?import [\w., ]+|[\w.\[\]'\"]+ [-+*/|]?= \S.*|(await )?[\w.]+\(.*\)"
    r"|@[\w.]+(\(.*\))?|[)\]}]+,?|pass|break|continue)$"
)
_BRACED_CODE = re.compile(
    r"\s*([^\s*].*[;{}]|[})\]]+[;,]?|(}\s*)?else\b.*\{|(if|for|while|switch)\s*\(.*\)\s*\{?"
    r"|@\w+(\(.*\))?|[\w.]+\(.*\)[,;]?|\..+\(.*\);?)$"
)
# Also without semicolons, and elements.
_SCRIPT_CODE = re.compile(
    _BRACED_CODE.pattern.removesuffix(")$")
    + r"|(if|while)\s*\(.*\)\s*(return|break|continue|throw)\b.*|(const|let|var)\s+[\w{}\[\], :]+=\s*\S.*"
    r"|(return\s+)?await\s+[\w.]+\(.*\)|return\s+[\w.]+\(.*\)|import\s.*['\"]|</?[A-Za-z][\w.]*(\s.*)?/?>(.*</[\w.]+>)?)$"
)
_GO_CODE = re.compile(
    r"\s*(.*\{|[})]+,?|[\w.,\[\]\"* ]+ [-+*/|]?:?= \S.*|[\w.]+\(.*\)|return\b( \S+(, \S+)*)?|(if|for|switch|func"
    r"|defer|go|var)\b .*\{?)$"
)
_CODE = {"python": _PYTHON_CODE, "go": _GO_CODE} | dict.fromkeys(SCRIPT, _SCRIPT_CODE)
_ONE_LINE_OF_SCRIPT = re.compile(
    r"console\.\w+\(.*\)$|(?:const|let|var) \w+ = \S|await [\w.]+\(.*\)$|import .* from ['\"][^'\"]+['\"]$"
    r"|<[A-Z][\w.]*\s[^<>]*=.*>$|<[A-Za-z][\w.]*(?:\s[^<>]*)?>.*</[A-Za-z][\w.]*>$"
)
_ELEMENT = re.compile(r"\s*<")
_STAR = re.compile(r"^\s*\* ?")
_DIRECTIVE = re.compile(
    r"\s*(type:|noqa|pragma|pylint|region|endregion|eslint|prettier|ts-|@ts-|!|-\*-|nolint|go:"
    r"|\+build|fmt:|isort|mypy|ruff|copyright|license"
    r"|spdx|https?:|[a-z]{5,}: \w+[.(]|e\.g\.|example|usage|istanbul|webpack|debt:"
    r"|TODO|FIXME|HACK|XXX|NOTE|noinspection|language=)",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"[A-Za-z]+ (the|a|an|is|are|to|of|that|this|we|in|for|and|or|not|when|it|with|by|as) [a-z]+", re.IGNORECASE
)


_WALK = re.compile(r"(?<=[(\[{])[^()\[\]]* for \w+(?:, ?\w+)* in \w+")  # `sum(row.km for row in rows)`


# The cheapest question: could the first line be code at all?
_PROMISING = {
    "python": re.compile(
        rb"#+\s*(?:[\w.\[\]'\"]+ ?[-+*/|]?=[^=]|[\w.]+\(|@\w|[)\]}]|(?:def|class|if|elif|for|while|with"
        rb"|try|except|else|finally|return"
        rb"|raise|from|import|pass|break|continue|await)\b)"
    ),
    "go": re.compile(
        rb"/[/*]\s*(?:[\w.,\[\]\"* ]{1,60}[-+*/|:]?= |[\w.]+\(|(?:if|for|switch|func|defer|go|var|return)\b|[})])"
    ),
}
_BRACED_ENDS = frozenset(b";{})],/'\">")
_ANNOUNCED = re.compile(
    rb"^\s*(?://|#|\*)[^\n]*:[ \t]*\n\s*\Z", re.MULTILINE
)  # the comment before says that an example follows


def look(comment: Node, file: SourceFile) -> Iterator[Mark]:
    source, start = file.source, comment.start_byte
    if not _is_promising(comment, file):
        return
    line_start = source.rfind(b"\n", 0, start) + 1
    sign = b"#" if file.language == "python" else b"//"
    if source.startswith(sign, start):
        if source[line_start:start].strip() or _is_continued(source, line_start, sign):
            return
        lines = _line_block(source, line_start, sign)
    elif source.startswith(b"/*", start) and not source.startswith(b"/**", start):
        rows = source[start + 2 : comment.end_byte - 2].decode("utf-8", "replace").split("\n")
        first = next(filter(None, map(_without_star, rows)), "")
        if not _looks_like_code(first, file):
            return
        lines = list(map(_without_star, rows))
    else:
        return
    if _ANNOUNCED.search(source, max(0, line_start - 200), line_start):
        return
    written = [line for line in lines if line.strip()]
    if written and _is_code(written, lines, file):
        shown = short(written[0].strip())
        yield file.mark(
            RULE.id,
            comment,
            f"{len(written)} lines of code are commented out (`{shown}`)"
            if len(written) > 1
            else f"`{shown}` is commented out",
            severity="warning" if len(written) >= LONG_BLOCK else "",
        )


def _is_promising(comment: Node, file: SourceFile) -> bool:
    pattern = _PROMISING.get(file.language)
    if pattern is None:
        begin = file.source[comment.start_byte + 2 : comment.start_byte + 12].lstrip()
        return file.source[comment.end_byte - 1] in _BRACED_ENDS or begin.startswith(b"@")
    return pattern.match(file.source, comment.start_byte, comment.end_byte) is not None


def _is_continued(source: bytes, line_start: int, sign: bytes) -> bool:
    """Whether the line before is a comment too, so that the block began earlier."""
    before = source[source.rfind(b"\n", 0, max(0, line_start - 1)) + 1 : max(0, line_start - 1)]
    return before.lstrip().startswith(sign)


def _line_block(source: bytes, start: int, sign: bytes) -> list[str]:
    lines: list[str] = []
    while start < len(source) and len(lines) < LONGEST_BLOCK:
        end = source.find(b"\n", start)
        end = len(source) if end < 0 else end
        line = source[start:end].strip()
        if not line.startswith(sign):
            break
        lines.append(line[len(sign) :].decode("utf-8", "replace").removeprefix(" ").rstrip())
        start = end + 1
    return lines


def _is_code(written: list[str], lines: list[str], file: SourceFile) -> bool:
    """Cheap questions first: how lines look, whether they read like prose; at last the parser's opinion."""
    if not _looks_like_code(written[0], file):
        return False
    pattern = _CODE.get(file.language, _BRACED_CODE)
    alike = sum(1 for line in written if pattern.match(line))
    if alike < CODE_SHARE * len(written) or any(map(_is_prose, written)):
        return False
    if len(written) == 1 and not _is_unmistakable(written[0].strip(), file.language):
        return False
    return _parses("\n".join(lines), file)


def _looks_like_code(line: str, file: SourceFile) -> bool:
    pattern = _CODE.get(file.language, _BRACED_CODE)
    return not _DIRECTIVE.match(line) and pattern.match(line.rstrip()) is not None


def _without_star(line: str) -> str:
    return _STAR.sub("", line).rstrip()


def _is_prose(line: str) -> bool:
    return bool(_PROSE.search(_WALK.sub("", line))) and not re.search(r"[\"'`]|^\s*(from|import|for|with|if)\b", line)


def _is_unmistakable(line: str, language: str) -> bool:
    """One line that nobody would write as a sentence."""
    if language == "python":
        return bool(
            re.match(
                r"[a-z_][\w.]*\((?!s\)).*\)$|[a-z_][\w.]* = [\w.]*[(\[{'\"]|(from [\w.]+ )?import [\w.]+|return "
                r"\w+[.(\[]",
                line,
            )
        )
    if language == "go":
        return bool(re.match(r"[\w., ]+ := \S|[\w.]+\.\w+\(.*\)$|return \w+[.(]|(if|for) .*\{$", line))
    if language in SCRIPT and _ONE_LINE_OF_SCRIPT.match(line):
        return True
    return bool(re.match(r"[^\s].*[\w)\]'\"`]\s*;$", line)) and bool(
        re.search(r"[(=]|^(return|import|throw|break)\b", line)
    )


def _parses(text: str, file: SourceFile) -> bool:
    """Whether the text is statements of the language; methods and loose statements are tried inside what they need."""
    indent = len(text) - len(text.lstrip(" "))
    text = "\n".join(line[indent:] if not line[:indent].strip() else line for line in text.split("\n"))
    tries: tuple[str, ...]
    if file.language == "java":
        tries = (f"class A {{ void f() {{ {text} }} }}", f"class A {{ {text} }}")
    elif file.language == "go":
        tries = (f"package a\nfunc f() {{\n{text}\n}}", f"package a\n{text}")
    elif file.language != "python" and _ELEMENT.match(text):
        tries = (f"(<>{text}</>)\n",)
    elif file.language != "python" and text.endswith("}"):
        tries = (text + "\n", f"class A {{ {text} }}")
    else:
        tries = (text + "\n",)
    return any(not file.dialect.parser.parse(each.encode()).root_node.has_error for each in tries)


WATCHES = (
    Watch("comment", look, PYTHON, starts=_PROMISING["python"]),
    Watch("comment", look, GO, starts=_PROMISING["go"]),
    Watch("comment", look, (*SCRIPT, *JAVA)),
)
