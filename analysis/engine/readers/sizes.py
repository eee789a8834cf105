"""How many elements a collection may have, as far as its name and origin tell."""

import re
from enum import Enum

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.names import named_thing
from analysis.engine.readers.go_rows import filled_by
from analysis.engine.readers.reading import assigned_values

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = re.compile(
    r"^!?\(?!?(?:await\s+)?(?:enumerate|list|sorted|reversed|tuple|set|Array\.from|Object\.(?:keys|values|entries))?\(?\s*&?\*?"
    r"([A-Za-z_$][\w$.]*)"
)
_FEW = frozenset(
    """option options flag flags type types kind kinds column columns header headers field fields label labels tag tags
    role roles permission permissions action actions provider providers currency currencies language languages
    locale locales extension extensions ext exts arg args argument arguments param params parameter parameters
    method methods scope scopes box boxes tab tabs step steps status statuses state states mode modes format formats
    level levels category categories attribute attributes attr attrs prop props property properties plugin plugins
    feature features protocol protocols scheme schemes team teams allowed supported valid exclude excluded excludes
    ignore ignored include included reserved required prefix prefixes suffix suffixes pattern patterns base bases
    class classes module modules backend backends env envs version versions section sections choice choices operator
    operators keyword keywords opts config configs setting settings theme themes color colors unit units day days
    week weeks month months metric metrics series sources source platforms platform template templates validators
    validator rules rule dependencies imports import annotations annotation modifiers modifier stage stages
    queue queues model models workflow workflows project projects dict dicts block blocks description
    descriptions group groups service services capability capabilities reaction reactions emoji emojis table tables
    dependency library libraries map selected connector connectors loader loaders adapter adapters listener listeners
    handler handlers middleware middlewares component components widget widgets cookie cookies filter filters keymap
    preference preferences question questions survey surveys engagement
    engagements index indices tool tools replica replicas cluster clusters directory directories hook hooks mapping
    mappings environment environments favorite favorites favourite favourites allowlist denylist whitelist blacklist
    namespace namespaces cmd cmds command commands
    trigger triggers constraint constraints separator separators delimiter delimiters splits primary foreign join joins
    partition disk disks mount mounts region regions zone zones country countries menu menus icon icons""".split()
)
_MANY = frozenset(
    """ids pks rows records users customers orders accounts products lines events entries messages docs documents posts
    comments words tokens points seen visited blocked emails members transactions payments logs urls history
    children items people contacts invoices tickets assets photos articles subscribers notifications candidates
    matches samples cases sites files paths images jobs tasks results requests responses sessions invites
    invitations recipients reservations subscriptions songs books papers reviews histories skus catalog inventory
    employees students patients cities movies films tracks albums votes bids trades prices vendors suppliers
    shipments parcels bookings appointments vehicles devices sensors readings measurements chunks characters chars
    numbers nums elements strings nodes vertices edges list lists arr array friends followers players games
    companies addresses phones participants guests attendees leads deals banned existing cards boards issues commits
    repositories repos packages wallets views visits clicks purchases returns coupons ingredients recipes meals
    courses lessons scores persons applications enrollments ratings notes bookmarks activities statistics stats
    conversations threads replies likes feedback audits incidents alerts alarms outbox outboxes""".split()
)
_MANY_OF_THEM = frozenset(word.removesuffix("s") for word in _MANY)  # `user` of `userIds`
_OF_A_MAP = re.compile(r"\.(?:items|values|keys|entrySet|keySet|entries)$")
_CONTAINERS = frozenset({"list", "array", "data"})  # `userList` holds users
_OF_ELEMENTS = frozenset({"id", "ids", "name", "names", "key", "keys", "pk", "pks", "title", "titles", "details"})
_LOADED = re.compile(
    r"\.(?:findMany|findAll|values_list|getMany|fetchall|readlines|splitlines)\(|\.find\(\s*\{|(?:\)|\bobjects|\bquery)\.all\(\)"
    r"|\b(?:objects|query)\b[^\n]*\.(?:all|filter|exclude)\(|\.split\(\s*[\"']\\n|\bSELECT\b"
)


_PARTS = re.compile(r"""\b[sS]plit\([^()\n]*["'](?:[/.:@&=_-]|__|::)["']\s*[,)]""")  # of a path, a name, an address


class Size(Enum):
    FEW = "few"
    UNKNOWN = "unknown"
    MANY = "many"


def size_of(expression: str, node: Node, file: SourceFile) -> Size:
    """The size of what an expression holds, before this node: by what loads it, then by the last word of its name."""
    if _LOADED.search(expression):
        return Size.MANY
    name = _name_of(expression)
    if _PARTS.search(expression) or _holds_parts(name, node, file):
        return Size.FEW
    size = size_by_name(name.rpartition(".")[2])
    return Size.MANY if size is Size.UNKNOWN and is_loaded(expression, node, file) else size


def _holds_parts(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the name stands for the parts of a path or an address: `parts = path.split("/")`."""
    if not name.isidentifier() or not (file.mentions(b".split(") or file.mentions(b".Split(")):
        return False
    return any(_PARTS.search(file.text(each)[:200]) for each in assigned_values(name, node, file))


def size_by_name(name: str) -> Size:
    """How many there are of what a name stands for: `orders`, `orderIds`, `allowedHosts`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if len(words) > 1 and words[-1] in _CONTAINERS:
        words.pop()
    if len(words) > 1 and words[-1] in _OF_ELEMENTS and words[-2] in _FEW | _MANY_OF_THEM:
        words.pop()  # there are as many `choiceIds` as choices
    if words and (
        words[-1] in _FEW or words[0] in ("allowed", "supported", "valid", "ignored", "excluded", "reserved")
    ):
        return Size.FEW
    return Size.MANY if words and words[-1] in _MANY else Size.UNKNOWN


def is_named_for_many(model: str) -> bool:
    """Whether the rows of a model are of those that grow with use, by its name: `Order`, `BlogPost`."""
    thing = named_thing(model)
    return Size.MANY in (size_by_name(thing), size_by_name(f"{thing}s"))


def is_loaded(expression: str, node: Node, file: SourceFile) -> bool:
    """Whether a query or a file gives what the expression holds."""
    name = _name_of(expression)
    if _LOADED.search(expression) or not name.isidentifier():
        return _LOADED.search(expression) is not None
    if expression == name and filled_by(name, node, file):
        return True
    return any(_LOADED.search(file.text(each)[:400]) for each in assigned_values(name, node, file))


def _name_of(expression: str) -> str:
    """The name that the expression begins with, without a call that lists what a map holds."""
    named = _NAME.match(expression)
    return _OF_A_MAP.sub("", named[1]) if named is not None else ""
