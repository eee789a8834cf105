"""Which model stands behind a name in a script: that of a class, a repository, a model of Mongoose, or a row."""

import re
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query

OWN = frozenset({"this", "super"})
_CLASS = re.compile(r"(?:^|\.)([A-Z]\w*)(?:\.(?:schema|scope|unscoped|withScope|withMembershipScope)\(\)|\.unscoped)*$")
_BUILT_IN = frozenset("Object Array Map Set JSON Promise Reflect Math Buffer Date Number String Symbol Error".split())
_NO_MODELS = ("Repository", "Service", "Manager", "Controller", "Factory", "Helper", "Utils", "Api", "Client")
_GIVEN = re.compile(r"\.get(?:Custom|Tree|Mongo)?Repository(?:<\w+>)?\(\s*(?:\w+\s*,\s*)?([A-Z]\w*)")
_NAMED = re.compile(r"\bmodel(?:<[^()]*>)?\(\s*[\"'](\w+)[\"']")
_OWN_MODEL = re.compile(r"this\.(_?[mM]odel|MongooseModel|_?repo(?:sitory)?)$")  # what a class for one model asks
_DECLARED = re.compile(rb"\b(\w+)\s*[?!]?\s*:\s*(?:\w+\.)?(?:\w*Repository|\w*Model\w*)<\s*(?:\w+\.)?(\w+)")
_TYPED = re.compile(rb"\b(\w+)\s*[?!]?\s*:\s*(?:typeof\s+)?([A-Z]\w*(?:Repository|Repo))\b(?!<)")
_HELD = re.compile(rb"\b(\w+)\s*=\s*[^;\n]*?\bget(?:Custom|Tree)?Repository(?:<\w+>)?\(\s*(?:\w+\s*,\s*)?([A-Z]\w*)")
_GIVES = re.compile(  # `function orders() { return source.getRepository(Order); }`
    rb"\b(\w+)\(\)\s*(?::[^{;\n]{1,80})?\{\s*return\s[^;\n]*?\bget(?:Custom|Tree)?Repository(?:<\w+>)?\(\s*(?:\w+\s*,\s*)?([A-Z]\w*)"
)
_GIVER = re.compile(r"(?:this\.)?(\w+)\(\)")
_MODELLED = re.compile(rb"\b(\w+)\s*(?::[^=;\n]{1,80})?=\s*[^;\n]*?\bmodel(?:<[^;\n()]*>)?\(\s*[\"'](\w+)[\"']")
_OF_CLASS = re.compile(r"(?:Document|Doc)$")
LONGEST_BEFORE = 6_000  # bytes before a document that are searched for what gave it


def model_of(receiver: str, call: Node, file: SourceFile) -> tuple[str, str] | None:
    """The model that a receiver stands for: a class, a repository, `getRepository(Order)`, `model("Order")`, `this`."""
    if (held := _OWN_MODEL.match(receiver)) is not None and held[1] not in _names_in(file):
        own = _own_model(call, file)
        return (own, "class") if own else None
    if (found := _CLASS.search(_without_arguments(receiver))) is not None:
        model = found[1]
        if model in _BUILT_IN or model.endswith(_NO_MODELS):
            return None
        return class_of(model, file), "class"
    if (given := _last(_GIVEN, receiver)) is not None:
        return given, "typeorm"
    if receiver.endswith(")"):
        giver = _GIVER.fullmatch(receiver)
        if giver is not None and giver[1] in _names_in(file):
            return _names_in(file)[giver[1]], "class"
        named = _last(_NAMED, receiver)
        return (named, "mongoose") if named is not None else None
    if receiver in OWN:
        own = _own_model(call, file)
        return (own, "class") if own else None
    last = receiver.rpartition(".")[2]
    declared = _names_in(file).get(last) if receiver in (last, f"this.{last}") else None
    return (declared, "class") if declared is not None else None


def class_of(name: str, file: SourceFile) -> str:
    """The model class that a name of the file holds; the name itself where it is that of a class."""
    return _names_in(file).get(name, name)


def held_as(model: str, file: SourceFile) -> str:
    """The constant of the file that holds a model, where that is not called like it."""
    names = (name for name, held in _names_in(file).items() if held == model and name[:1].isupper())
    return next((name for name in names if name != model), "")


def model_of_row(call: Node, name: str, verb: str, file: SourceFile) -> tuple[str, str] | None:
    """A row that writes itself: `order.save()`, `order.destroy()`; known when the function shows what it is."""
    if (query := _query_of(call, name, file)) is not None:
        return query.model, query.orm
    if verb not in ("save", "destroy") or file.arguments(call)[0][1:]:
        return None
    before = file.source[max(0, call.start_byte - LONGEST_BEFORE) : call.start_byte].decode("utf-8", "replace")
    made = re.findall(rf"\b{re.escape(name)}\s*=\s*new\s+(?:this\.)?([A-Za-z]\w*)\(", before)
    if made:
        return class_of(made[-1], file), "class"
    if (named := name[:1].upper() + name[1:]) in file.bindings and name[:1].islower():
        return named, "class"  # `device` of the imported `Device`
    if file.mentions(b"mongoose") and verb == "save":
        return "", "mongoose"
    return ("", "sequelize") if file.mentions(b"sequelize") else None


def _query_of(call: Node, name: str, file: SourceFile) -> Query | None:
    """The query of the same function whose row a variable holds: its own, or that whose rows a loop goes through."""
    function, line = file.function_of(call), file.line(call)
    near = [each for each in reversed(file.queries) if each.function == function]
    own = (each for each in near if each.variable == name and each.line <= line and each.orm != "prisma")
    loops = (each for each in reversed(file.loops) if each.function == function and each.variables[:1] == (name,))
    driving = (each for loop in loops for each in near if each.variable and loop.iterable == each.variable)
    return next(own, None) or next(driving, None)


def _own_model(call: Node, file: SourceFile) -> str:
    """The model of `this`: the class that is one, or gives access to one; in a file of one schema its model."""
    scope = file.scope_of(call)
    owner = scope.function.owner
    while not owner and scope.parent is not None:
        scope = scope.parent
        owner = scope.function.owner
    if owner:
        return owner
    named = set(_names_in(file).values())
    return named.pop() if len(named) == 1 and file.mentions(b"Schema(") else ""


@lru_cache(maxsize=1)
def _names_in(file: SourceFile) -> dict[str, str]:
    """Names of the file that hold a model class, or a repository of one, with the class. Kept for the file that was
    asked last."""
    found: dict[str, str] = {}
    if file.mentions(b"Repo") or file.mentions(b"Model") or file.mentions(b"model("):
        for pattern in (_DECLARED, _TYPED, _HELD, _GIVES, _MODELLED):
            for name, model in pattern.findall(file.source):
                found.setdefault(name.decode(), _OF_CLASS.sub("", model.decode()))
    return found


def _without_arguments(receiver: str) -> str:
    return re.sub(r"\([^()]*\)", "()", receiver) if "(" in receiver else receiver


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.findall(text) if "(" in text else []
    return found[-1] if found else None
