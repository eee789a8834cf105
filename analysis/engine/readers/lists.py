"""Which names hold lists, by their nearest declaration, and whether those hold few elements."""

import re

from tree_sitter import Node

from analysis.engine.extract.orm.steps import parts_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import LONGEST_TEXT, followed, function_text

_OBJECT_TYPE = r"\{(?:[^{}=]|\{[^{}=]*\}){0,160}\}"  # written out: `{ id: number; total: number }`
# What the declaration of a name says: a list by its type or by its value.
_LIST_TYPES = re.compile(
    r"""\s*:\s*["']?(?:Optional\[)?(?:typing\.)?(?:list|List|Sequence|MutableSequence)\b"""
    rf"|\s*[?!]?:\s*(?:readonly\s+)?(?:[\w.<>|{{}}: ]+?|\([^)\n]*\)|{_OBJECT_TYPE})\[\]|\s*[?!]?:\s*(?:Readonly)?Array<"
)
_LIST_VALUES = re.compile(
    r"\s*(?::[^=\n]+)?=\s*(?:await\s+)?(?!(?:frozen)?set\(|dict\()(?:\[|\(\s*await\s|list\(|sorted\(|Promise\.all\(|Array\.from\("
    r"|Object\.(?:keys|values|entries)\("
    r"|(?:[\w.()\[\]'\"]+)\.(?:map|filter|flatMap|findMany|values_list|tolist|split|splitlines|readlines)\()"
)
_MADE_BY = re.compile(r"\s*(?::[^=\n]+)?=\s*(?:await\s+)?(?:(?:self|this|cls)\.)?(\w+)\(")
_GIVES_LISTS = re.compile(  # behind the name of a function: what it says that it gives
    rb"\([^()]*\)\s*(?:->\s*[\"']?(?:typing\.)?(?:list|List|Sequence)\b|:\s*(?:Promise<)?[\w.]+\[\])"
)
_ALIAS = re.compile(r"\s*=\s*([a-z_]\w*)\s*\n")  # `self.ids = ids`, where the parameter has a type
_DECLARED = re.compile(  # an assignment, or an annotation that names a type
    r"""\s*[?!]?(?::\s*["']?(?:readonly\s+)?[\w.(\[{][^=\n]{0,80}?)?=(?![=>])|\s*[?!]?:\s*["']?(?:readonly\s+)?"""
    r"(?:[A-Z]\w*|list|set|dict|str|tuple|frozenset|string|number|any|unknown|typing\.\w+)(?:[\[<.]|\[\]|\s*[,=)|;\n])"
    rf"|\s*[?!]?:\s*(?:readonly\s+)?{_OBJECT_TYPE}\[\]"
)
_TYPE_BEFORE = re.compile(r"([\w.]+)(?:<(?:[^<>;=(){}]|<[^<>]*>)*>)?\s+\Z")  # of Java
_JAVA_LISTS = re.compile(r"(?:.*\.)?(?:(?:Array|Linked|CopyOnWriteArray)?List|Vector)$")
_JAVA_VALUES = re.compile(  # of `var`
    r"<var>\s*=\s*(?:new\s+(?:(?:Array|Linked|CopyOnWriteArray)List|Vector)\b|(?:List\.(?:of|copyOf)|Arrays\.asList)\()"
)
_NO_TYPES = frozenset({"return", "new", "case", "throw", "else", "instanceof", "in", "package", "import"})
_JAVA_BEHIND = re.compile(r"\s*[=;,)]")
_GROWS = re.compile(r"\.(append|push|add|extend|insert)\(")
_OTHER_TARGETS = re.compile(
    r"^[ \t]*(?:[\w.]+,[ \t]*)+\Z", re.MULTILINE
)  # `pending, ` before `seen = [start], {start}`
_ENDS_THERE = re.compile(rb"(?![\w$])")
FEW = 10  # elements of a literal that cost nothing to search


def is_few(name: str, node: Node, file: SourceFile) -> bool:
    """Whether a literal of few elements is all that the list ever holds."""
    if re.fullmatch(r"[A-Z][A-Z0-9_]+", name):
        return True
    declared = declaration(name, node, file)
    begin = re.match(r"[^=]*=\s*(?:\[\]\w+\{|(?:List|Arrays|Set)\.(?:of|asList)\(|\[)([^\[\](){}]*)[\])}]", declared)
    if begin is None or begin[1].count(",") >= FEW or re.search(r"\bfor\b|\.\.\.|\*", begin[1]):
        return False
    return bool(begin[1].strip()) and not grows(name, node, file)


def grows(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the list is filled in the function: a short literal is only its beginning then."""
    return next(followed(name, function_text(node, file), _GROWS, "_"), None) is not None


def is_list(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the nearest declaration of a name says that it holds a list."""
    declared = declaration(name, node, file)
    typed = re.match(r"<(?!var>)([\w.]+)>", declared)
    if typed is not None:
        return _JAVA_LISTS.match(typed[1]) is not None
    if _JAVA_VALUES.match(declared) or _LIST_TYPES.match(declared) or _LIST_VALUES.match(declared):
        return True
    made = _MADE_BY.match(declared)
    if made is not None and next(followed(made[1].encode(), file.source, _GIVES_LISTS, b"_.$"), None) is not None:
        return True
    alias = _ALIAS.match(declared) if file.language == "python" and "." in name else None
    if alias is None:
        return False
    return next(followed(alias[1], file.source.decode("utf-8", "replace"), _LIST_TYPES, "_.$"), None) is not None


def declaration(name: str, node: Node, file: SourceFile) -> str:
    """What follows the last declaration of a name before the node, from the innermost function that has one, else from
    the file; of Java its type goes before in angle brackets. Empty when there is none or a parameter has no type."""
    function = None if "." in name else file.enclosing_function(node)
    while function is not None:
        found = _last_declaration(name, file, function.start_byte, node.start_byte)
        if found or _is_parameter(name, function, file):
            return found
        function = file.enclosing_function(function)
    return _last_declaration(name, file, 0, len(file.source))


def _last_declaration(name: str, file: SourceFile, start: int, end: int) -> str:
    text = file.source[max(start, end - LONGEST_TEXT) : end].decode("utf-8", "replace")
    bare = name.rpartition(".")[2] if file.language != "python" else name
    behind, no_start = _JAVA_BEHIND if file.language == "java" else _DECLARED, "_$" if "." in name else "_.$"
    found = ""
    for match in followed(bare, text, behind, no_start):
        begin = match.start()
        if file.language == "java":
            before = _TYPE_BEFORE.search(text, max(0, begin - len(bare) - 120), begin - len(bare))
            if before is None or before[1] in _NO_TYPES:
                continue
            found = f"<{before[1]}>"
        else:
            found = ""
        others = _OTHER_TARGETS.search(text, max(0, begin - 120), begin - len(bare))
        declared = text[begin : begin + 200]
        found += declared if others is None else _one_of(declared, others[0].count(","))
    return found


def _one_of(declared: str, position: int) -> str:
    """What one of several names is given: ` = {start}` of ` = [start], {start}`."""
    values = parts_of(declared.partition("=")[2].partition("\n")[0])
    return f" = {values[position]}" if position < len(values) else ""


def _is_parameter(name: str, function: Node, file: SourceFile) -> bool:
    body = function.child_by_field_name("body")
    head = file.source[function.start_byte : body.start_byte if body is not None else function.start_byte]
    return next(followed(name.encode(), head, _ENDS_THERE, b"_.$"), None) is not None
