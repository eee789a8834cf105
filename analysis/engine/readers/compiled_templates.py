"""Calls that compile a template, and whether the program always gives them the same one."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import assigned_values, is_parameter

COMPILERS = frozenset(
    """jinja2.Template mako.template.Template django.template.Template ejs.compile handlebars.compile pug.compile
    pug.compileFile nunjucks.compile lodash.template dot.template""".split()
)
GO_NAMES = frozenset({"Parse"})

_OF_GO = re.compile(r"(?:html|text)/template\.New\(\)(?:\.\w+\(\))*\.Parse$")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`$]*`")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_FILLED = re.compile(r"\$\{|\b[fF][\"']")
_READING = frozenset("readFileSync readFile read_text open read Path join resolve dirname str String".split())
_NAME = re.compile(r"[A-Za-z_]\w*")
STEPS = 2  # from a name to what it was given


def compiles(callee: str) -> bool:
    """Whether a call of this resolved name compiles the text that it is given."""
    return callee in COMPILERS or _OF_GO.match(callee) is not None


def is_fixed(call: Node, file: SourceFile) -> bool:
    """Whether the text stands in the program, or in a file that it names: what a request or a database brings may be
    another one each time."""
    given = file.arguments(call)[0]
    return bool(given) and _is_fixed(given[0], call, file, STEPS)


def _is_fixed(value: Node, call: Node, file: SourceFile, steps: int) -> bool:
    text = file.text(value)
    plain = _QUOTED.sub('""', text)
    if _FILLED.search(plain) or any(name not in _READING for name in _CALLED.findall(plain)):
        return False
    if is_parameter(value, call, file):
        return False
    if value.type in ("attribute", "member_expression", "selector_expression", "subscript", "subscript_expression"):
        return _NAME.match(plain) is not None and plain.partition(".")[0] in file.bindings
    names = (name for name in _NAME.findall(plain) if name not in _READING)
    given = [each for name in names for each in assigned_values(name, call, file)]
    return not given or (steps > 0 and all(_is_fixed(each, call, file, steps - 1) for each in given))
