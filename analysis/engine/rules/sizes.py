"""How many elements a collection may have, as far as its name and origin tell."""

import re
from enum import Enum

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.rules.reading import assigned_values

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = re.compile(
    r"^\(?(?:await\s+)?(?:enumerate|list|sorted|reversed|tuple|set|Array\.from|Object\.(?:keys|values|entries))?\(?\s*&?\*?"
    r"([A-Za-z_$][\w$.]*)"
)
_FEW = frozenset(
    """option options flag flags type types kind kinds column columns header headers field fields label labels tag
    tags role roles permission permissions action actions name names provider providers currency currencies
    language languages locale locales extension extensions ext exts arg args argument arguments param params
    parameter parameters method methods scope scopes box boxes tab tabs step steps status statuses state states
    mode modes format formats level levels category categories attribute attributes attr attrs prop props property
    properties plugin plugins feature features protocol protocols scheme schemes team teams allowed supported
    valid exclude excluded excludes ignore ignored include included reserved required prefix prefixes suffix
    suffixes pattern patterns base bases class classes module modules backend backends env envs version versions
    section sections choice choices operator operators keyword keywords opts config configs setting settings theme
    themes color colors unit units day days week weeks month months metric metrics series sources source platforms
    platform template templates validators validator rules rule dependencies imports import annotations annotation
    modifiers modifier parts part segments segment queue""".split()
)
_MANY = frozenset(
    """id ids pk pks row rows record records user users customer customers order orders account accounts product
    products line lines event events entry entries message messages doc docs document documents post posts comment
    comments word words token tokens point points seen visited blocked email emails member members transaction
    transactions payment payments log logs url urls history children items item people contacts invoices tickets
    assets photos articles subscribers notifications candidates matches samples""".split()
)
_LOADED = re.compile(
    r"\.(?:findMany|findAll|find|all|filter|values_list|getMany|fetchall|readlines|splitlines)\(|\.split\(\s*[\"']\\n|\bSELECT\b"
)


class Size(Enum):
    FEW = "few"
    UNKNOWN = "unknown"
    MANY = "many"


def size_of(expression: str, node: Node, file: SourceFile) -> Size:
    """The size of what an expression holds, before this node: by what loads it, then by the last word of its name."""
    if _LOADED.search(expression):
        return Size.MANY
    named = _NAME.match(expression)
    if named is None:
        return Size.UNKNOWN
    name = named[1].rpartition(".")[2]
    words = [word.lower() for word in _WORDS.findall(name)]
    if words and (
        words[-1] in _FEW or words[0] in ("allowed", "supported", "valid", "ignored", "excluded", "reserved")
    ):
        return Size.FEW
    if words and words[-1] in _MANY:
        return Size.MANY
    if named[1].isidentifier():
        values = assigned_values(name, node, file)
        if any(_LOADED.search(file.text(each)[:400]) for each in values):
            return Size.MANY
    return Size.UNKNOWN
