"""What a map is filled under: keys of which there are few, and keys that callers bring."""

import re
from collections.abc import Sequence

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts
from analysis.engine.readers.own_callers import gets_only_literals
from analysis.engine.readers.reading import KEY, followed, node_at

# Keys of which there are as many as there are users, requests or texts.
_OPEN_KEYS = re.compile(
    r"(?i)id(?![a-z])|uuid|user|account|tenant|org|customer|member|owner|session|token|e_?mail|\bip|addr|host|ur[il]\b"
    r"|link|quer(?:y|ies)|sql|message|msg|text|content|request|\breq\b|\bctx\b|hash|digest|path|file|date|time|order"
    r"|product|sku|phone|login|region|slug|key(?![a-z])|\b[a-z]\b"
)
# Of whom there are as many as use the service, and what they send.
_OF_PEOPLE = re.compile(
    r"(?i)uuid|user|account|tenant|org(?:ani[sz]ation)?(?:_?id)?(?![a-z])|customer|member|owner|session|token|e_?mail"
    r"|(?<![a-z])ip(?![a-z])|addr|request|(?<![a-z])req(?![a-z])|project|workspace|team|device|phone|link|message|quer(?:y|ies)"
    r"|\b[a-z]\b|\bpath\b"
)
# One of them, in whatever is called after something else: `templates.set(to, text)`.
_OF_ONE_PERSON = re.compile(
    r"(?i)(?<![a-z])to(?![a-z])|recipient|sender|e_?mail|phone|session|token|user|visitor|customer|(?<![a-z])ip(?![a-z])"
)
_KEY_TYPE = re.compile(r"(?:Map|[dD]ict|Record)[<\[]\s*[\"']?(?:\w+\.)*(\w+)|\bmap\[(\w+)\]")
_A_CLASS = re.compile(r"[\"']?(?:\w+\.)*([A-Z]\w+)[\"']?(?:\s*\|\s*(?:None|undefined))?")
_LISTED = re.compile(r"(?:typing\.)?Literal\[|[\"'][^\"']*[\"']\s*\|")  # all values are written out
_DECLARES_ENUM = (
    rb"\bclass\s+NAME\s*\([^)\n]*Enum\b|\benum\s+NAME\b|\btype\s+NAME\s*=\s*\|?\s*[\"'][^;\n]*(?:[\"']|\|)\s*(?:;|\n)"
)
_OF_SETTINGS = re.compile(r"(?i)\((?:\w+\.)*(?:policy|config|options?)\)")  # a key that is made of settings
_CLOSED_KEYS = re.compile(
    r"(?i)locale|lang|time_?zone|\btz\b|format|type|kind|(?<![a-z])ext(ension)?$|class|enum|level|status|currency"
    r"|country|mode(?!l)|^model$|theme|clazz"
    r"|codename|permission|schema|template|queue|topic|protocol|table|column|field|dialect|driver|provider|env\b|stage|version"
    r"|(?:func(?:tion)?|method|event|pack(?:age)?|prop(?:erty)?)_?name|plugin|module|scene|timer|metric|\bflag|^(?:length|size|width|height|count)$"
)
_ASKED = (
    rb"(?<![\w.])(?P<table>\w+)(?:\[\s*KEY(?:\s+as\s[^\]\n]*)?\]|\.(?:get|has|includes)\(\s*KEY\s*\))"
    rb"|\bKEY\s+(?:not\s+)?in\s+(?P<list>\w+)"
)
_ENUM = rb"\bKEY\s*===?\s*[A-Z]\w*\.[A-Z]\w*"  # asked for members one by one
_CONSTANT = re.compile(rb"_?[A-Z][A-Z0-9_]{2,}")
_OF_CONSTANTS = re.compile(rb"=\s*(?:tuple|frozenset|sorted|str|repr)\(\s*(?:\w+\.)?_?[A-Z][A-Z0-9_]{2,}\s*\)")
_TABLE = rb"^(?:export\s+)?(?:const\s+)?NAME\s*(?::[^=\n]+)?=\s*(?:new \w+\(|Object\.freeze\()?\s*[\[{(]\s*[^\s\]})]"
# Of which there are as many as callers have: no enumeration, and no class of the project.
_OF_TEXT = re.compile(
    r"(?i)|(?:final )?(?:java\.lang\.)?(?:string|str|u?int\d*|integer|long|number|bigint|uuid|bytes|objectid)"
    r"(?: \| none)?"
    r"|optional\[(?:str|int)\]"
    r"|\*?(?:kafka|nats|jetstream|amqp|sarama|pubsub)\.\w*(?:message|msg|delivery)"  # there is no end of them
)
_QUOTED = re.compile(r"[\"'`][^\"'`\n]*[\"'`]")
_HOLE = re.compile(r"\{([\w.]+)(?:\(\))?\}")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?![\w.(])")
_MADE_OF = re.compile(rb"\s*:?=(?!=)([^\n]*)")
_ASKS = re.compile(rb"(\[" + KEY + rb"\]|\.(?:get|has|contains|containsKey|getOrDefault|Load)\([^\n]*)")
_ASKS_AND_ADDS = re.compile(rb"\.(?:putIfAbsent|computeIfAbsent|setdefault|LoadOrStore)\(")
# What runs: there may be as many as are configured, which only the name tells.
_RUNS = re.compile(
    r"(?i)cool_?down|debounce|handler|middleware|client|connect|engine|loader|module|plugin|compiled|prompt|model|llm"
)


def says_few(text: str) -> bool:
    """Whether a name speaks of something of which there are few."""
    return _CLOSED_KEYS.search(text) is not None


def are_of_one_person(keys: str) -> bool:
    """Whether keys by their names are people or what they come with, whatever the map itself is called."""
    return _OF_ONE_PERSON.search(keys) is not None


def written_keys(added: Sequence[re.Match[bytes]]) -> str:
    """The keys under which something is added, as they are written."""
    return " ".join((each["key"] or each["given"] or b"").decode("utf-8", "replace") for each in added)


def told_of_keys(held: str, declares: str, added: Sequence[re.Match[bytes]]) -> dict[str, str]:
    """For the mark of a map: whether its keys, by their names or its declared type, are what people bring, and whether
    there may be no more of them than somebody configures."""
    keys = written_keys(added)
    of_people = any(map(_OF_PEOPLE.search, (keys, " ".join(map("".join, _KEY_TYPE.findall(declares))))))
    may_be_few = says_few(held) or _RUNS.search(held) is not None or not (of_people or _says_many(keys))
    return {name: "1" for name, holds in (("people", of_people), ("configured", may_be_few)) if holds}


def kind_of_keys(declared: str, added: Sequence[re.Match[bytes]], file: SourceFile) -> str:
    """The class that all keys of a map are of, by its declaration or by the parameters under which functions add;
    empty for texts and numbers, and where it is not seen."""
    kinds = {first or second for first, second in _KEY_TYPE.findall(declared)} - {"Map", "Dict", "Record"}
    if not kinds:
        kinds = {_annotation_of((each["key"] or each["given"] or b"").strip(), each, file) for each in added}
    kind = kinds.pop() if len(kinds) == 1 else ""
    found = _A_CLASS.fullmatch(kind)
    return found[1] if found is not None and _OF_TEXT.fullmatch(kind.lower()) is None else ""


def is_enumeration(kind: str, file: SourceFile) -> bool:
    """Whether the file declares a type whose values it lists."""
    return re.search(_DECLARES_ENUM.replace(b"NAME", re.escape(kind.encode())), file.source) is not None


def is_enumerated(kind: str, codebase: Codebase) -> bool:
    """Whether a class of this name lists all its values."""
    return any(kind in listed for listed in codebase.summaries(_enumerations).values())


def _enumerations(facts: FileFacts) -> frozenset[str]:
    """The classes of a file that list all their values."""
    return frozenset(
        each.name for each in facts.classes if any(base.endswith(("Enum", "Choices")) for base in each.bases)
    )


def _says_many(keys: str) -> bool:
    """Whether keys by their names are as many as users, requests or texts."""
    return _OPEN_KEYS.search(keys) is not None


def _annotation_of(key: bytes, added: re.Match[bytes], file: SourceFile) -> str:
    function = file.scope_at(added.end() - 1, added.end()).function
    given = file.dialect.parameters(function.node, file) if function.index else ()
    return next((each.annotation for each in given if each.name.encode() == key), "")


def has_few_keys(name: bytes, added: re.Match[bytes], file: SourceFile) -> bool:
    """Whether the key, or what the function made it from, is of a kind of which there are few."""
    key = (added["key"] or added["given"] or b"").strip()
    if _LISTED.match(_annotation_of(key, added, file)):
        return True
    made = re.compile(rb"(?<![\w.])" + re.escape(key) + rb"\s*:?=(?!=)[^\n]*") if re.fullmatch(rb"\w+", key) else None
    function = file.scope_at(added.end() - 1, added.end()).function.node
    found = made.search(file.source, function.start_byte, added.start()) if made is not None else None
    if found is not None and _OF_CONSTANTS.search(found[0]):
        return True
    if made is not None and _is_looked_up(key, name, file.source[function.start_byte : function.end_byte], file):
        return True
    if gets_only_literals(key.decode("utf-8", "replace"), node_at(added.start(), file.tree.root_node), file):
        return True
    text = (found[0] if found is not None else key).decode("utf-8", "replace")
    if any(_says_many(each) and not says_few(each) for each in _parts_of(text)):
        return False  # of one thing there are few, and many of what stands beside it
    return says_few(text) or _OF_SETTINGS.search(text) is not None


def _parts_of(key: str) -> list[str]:
    """The names that a text for a key is put together from: `kind + ":" + userId`, `${kind}:${userId}`."""
    parts = [each.strip() for each in _QUOTED.sub("", key).split("+")] if "+" in key else []
    return parts + [each for quoted in _QUOTED.findall(key) for each in _HOLE.findall(quoted)]


def given_by_callers(name: str, added: Sequence[re.Match[bytes]], file: SourceFile) -> str:
    """Whether the caller of a function brings the text or number under which it adds, also as the `slug` of a row;
    `remembered` where it looks first what is there for that key, as a cache does."""
    found = ""
    for match in added:
        key = (match["key"] or match["given"] or b"").strip()
        function = file.scope_at(match.end() - 1, match.end()).function
        given = file.dialect.parameters(function.node, file) if function.index else ()
        parameters = {each.name.encode() for each in given if _OF_TEXT.fullmatch(each.annotation)}
        text = file.source[function.node.start_byte : match.start() - len(name)]
        made = [each[1] for each in followed(key, text, _MADE_OF, b"_.")] if _WORD.fullmatch(key) else []
        words = b" ".join((key, *made))
        of_rows = {each[1] for each in _ATTRIBUTE.finditer(words) if _says_many(each[2].decode())}
        if parameters.isdisjoint(_WORD.findall(words)) and of_rows.isdisjoint(each.name.encode() for each in given):
            continue
        asks = (key in each[1] for each in followed(name.encode(), text, _ASKS, b"_$"))
        asked = _ASKS_AND_ADDS.match(match[0]) is not None or b" in " + name.encode() in text or any(asks)
        found = "remembered" if asked else found or "1"
    return found


def _is_looked_up(key: bytes, cache: bytes, text: bytes, file: SourceFile) -> bool:
    """Whether the function looks the same key up in a table that the source writes out: there are as many keys."""
    if re.search(_ENUM.replace(b"KEY", re.escape(key)), text):
        return True
    for asked in re.finditer(_ASKED.replace(b"KEY", re.escape(key)), text):
        table = asked["table"] or asked["list"]
        if table == cache:
            continue
        if _CONSTANT.fullmatch(table) or re.search(_TABLE.replace(b"NAME", table), file.source, re.MULTILINE):
            return True
    return False
