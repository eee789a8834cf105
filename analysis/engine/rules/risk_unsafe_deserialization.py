"""Bytes are turned into objects by a loader that runs code chosen by whoever wrote them."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.graph.manifest import manifest_of
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.reading import (
    assigned_values,
    first_argument,
    followed,
    function_name,
    function_text,
    is_imported,
    is_parameter,
    text_before,
)
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="risk-unsafe-deserialization",
    type="unsafe_deserialization",
    category=Category.RUNTIME_RISK,
    title="Unsafe deserialization",
    severity=Severity.WARNING,
    points=3,
    suggestion="Use JSON or a safe loader; this runs code chosen by whoever wrote the bytes.",
    languages=(*PYTHON, *SCRIPT, *JAVA),
    version=2,
)
GUIDE = Guide(
    why="Such a loader runs what the bytes tell it to: whoever wrote them runs code here.",
    grades="Critical for data of requests, queues and uploads, else warning.",
    flagged=(
        {
            "shop/work.py": """
import pickle


def read(request):
    return pickle.loads(request.body)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import json


def read(request):
    return json.loads(request.body)
"""
        },
    ),
)

_LOADERS = frozenset(
    {
        f"{module}.{name}"
        for module in ("pickle", "cPickle", "_pickle", "dill", "cloudpickle")
        for name in ("load", "loads")
    }
    | {"marshal.load", "marshal.loads", "shelve.open", "jsonpickle.decode", "pandas.read_pickle", "joblib.load"}
    | {"pickle.Unpickler", "dill.Unpickler"}
)
_OF_OWN_FILES = frozenset({"shelve.open", "pandas.read_pickle", "joblib.load"})
_YAML = frozenset({"yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load", "yaml.unsafe_load_all"})
_ALWAYS_UNSAFE_YAML = frozenset({"yaml.unsafe_load", "yaml.unsafe_load_all"})
_SAFE_LOADERS = ("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader")
NEAR = 600  # bytes
_JUST_WRITTEN = re.compile(rb"\.writeObject\([\s\S]*\.toByteArray\(\)")
_DUMPED = re.compile(rb"\s*=\s*(?:pickle|cPickle|dill|cloudpickle|marshal)\.dumps\(")
_FROM_MEMORY = re.compile(r"(?m)^[ \t]*([\w, ]+?)\s*=\s*(self\.\w+)(?:\.get\(|\[)")
_PUT = re.compile(rb"\[[^\]\n]+\]\s*=(?!=)[^;]{0,120}?\b(?:pickle|cPickle|dill|cloudpickle|marshal)\.dumps\(")
_FIELD = re.compile(r"self\.\w+$")
_OWN_BYTES = re.compile(r"\b(pickle|cPickle|dill|cloudpickle|marshal)\.dumps?\(")
_PICKLED = ("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal")
_UPLOAD = re.compile(r"(?:\brequest\b|\.FILES\b|\bupload|\.body\b|\bmessage\.(?:value|body|data)|\.recv\()")
_READS_YAML = re.compile(r"\.(?:load\w*|parse|compose\w*)\(")
_OWN_RESOURCE = re.compile(r"\bgetResource(?:AsStream)?\(|ClassPathResource\(")  # comes with the program
_CONSTRUCTOR = re.compile(r"onstructor$")
_FILTERED = re.compile(rb"\bresolveClass\s*\(|setObjectInputFilter|ValidatingObjectInputStream")
_HOOKS = ("readObject", "readExternal", "readResolve")  # methods that the stream itself calls
_ALLOW_LIST = "SecurityJackson2Modules"  # Spring's own, which builds only classes that it knows
_SCRIPT_LOADERS = frozenset({"node-serialize.unserialize", "v8.deserialize"})
_SCRIPT_WRITERS = frozenset({"node-serialize.serialize", "v8.serialize"})


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if not is_imported(callee, file):
        return
    if callee in _LOADERS:
        if not _reads_own_bytes(call, callee, file):
            mark = _mark(call, f"`{callee}` runs code that stands in the bytes", file)
            yield structs.replace(mark, confidence="medium") if callee in _OF_OWN_FILES else mark
    elif callee in _YAML and not _has_safe_loader(call, callee, file):
        if callee == "yaml.full_load" or "FullLoader" in file.text(call):  # since PyYAML 5.4 its gaps are closed
            message = f"`{callee}` builds more than plain data from the text"
            yield file.mark(RULE.id, call, message, severity="info", confidence="medium")
        else:
            message = f"`{callee}` without a safe loader builds any object that the text names"
            yield structs.replace(_mark(call, message, file), confidence="medium" if _is_own_loader(call, file) else "")
    elif callee == "torch.load" and file.text(file.arguments(call)[1].get("weights_only", call)) != "True":
        # Since PyTorch 2.6 nothing but weights is read unless it is asked for.
        is_asked = "weights_only" in file.arguments(call)[1]
        mark = _mark(call, "`torch.load` without `weights_only=True` unpickles the file", file)
        yield mark if is_asked else structs.replace(mark, confidence="medium")


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    if (callee := file.callee(call)) in _SCRIPT_LOADERS and not _copies(call, file):
        yield file.mark(RULE.id, call, f"`{callee}` builds objects from bytes that somebody else may have written")


def _copies(call: Node, file: SourceFile) -> bool:
    """Whether the bytes were made right there, as a deep copy does it: `v8.deserialize(v8.serialize(rows))`."""
    given = next(iter(file.arguments(call)[0]), None)
    if given is None:
        return False
    made = [given, *(assigned_values(file.text(given), call, file) if given.type == "identifier" else [])]
    return any(each.type == "call_expression" and file.callee(each) in _SCRIPT_WRITERS for each in made)


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if call.type == "object_creation_expression":
        if callee == "java.beans.XMLDecoder":
            yield file.mark(RULE.id, call, "`XMLDecoder` runs methods that the document names")
        elif callee == "org.yaml.snakeyaml.Yaml" and not _is_safe_yaml(call, file):
            text = function_text(call, file)
            if "setTagInspector" in text or (".dump" in text and not _READS_YAML.search(text)):
                return  # which says what may be built, or builds nothing
            message = "`new Yaml()` without `SafeConstructor` builds any class that the text names"
            if _OWN_RESOURCE.search(text):
                yield file.mark(RULE.id, call, message, severity="info", data={"library": "snakeyaml"})
                return
            given = file.arguments(call)[0]  # what an own constructor builds stands elsewhere
            is_own = bool(given) and _CONSTRUCTOR.search(file.text(given[0])) is not None
            confidence = "medium" if is_own else ""
            yield file.mark(RULE.id, call, message, confidence=confidence, data={"library": "snakeyaml"})
    elif callee.endswith((".enableDefaultTyping", ".activateDefaultTyping")) and _ALLOW_LIST not in callee:
        yield file.mark(RULE.id, call, "Default typing lets the JSON choose which class is built")
    elif callee.endswith(".readObject") and "java.io.ObjectInputStream" in file.bindings.values():
        if function_name(call, file).rpartition(".")[2] in _HOOKS:
            return
        if _JUST_WRITTEN.search(file.source, max(0, call.start_byte - NEAR), call.end_byte):
            return  # a copy by way of memory
        if _FILTERED.search(file.source) or (file.mentions(b"PipedOutputStream(") and file.mentions(b".writeObject(")):
            return  # a copy by way of a pipe
        yield file.mark(RULE.id, call, "`readObject` builds any serializable class that the stream names")


def _is_safe_yaml(call: Node, file: SourceFile) -> bool:
    """Whether the constructor that the `Yaml` is given is safe, or a class of this file that extends the safe one."""
    given = file.text(call)
    return "SafeConstructor" in given or any(
        f"{each.name.rpartition('.')[2]}(" in given and any("SafeConstructor" in base for base in each.bases)
        for each in file.classes
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """What a request or a queue brings in was written by somebody else; who runs a script chose the file."""
    if mark.data.get("library") == "snakeyaml":
        if _is_safe_by_version(codebase):
            return None
        mark = structs.replace(mark, confidence="low")  # another package may bring the version that is safe
    if place.kind is FileKind.SCRIPT and not place.in_request_path:
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if "given" in mark.data and place.in_handler:
        return place.finding(mark, severity=Severity.CRITICAL)
    return place.finding(mark)


def _is_safe_by_version(codebase: Codebase) -> bool:
    """Whether a manifest asks for SnakeYAML 2, which builds plain data alone."""
    return any(
        manifest_of(facts).get("snakeyaml") for facts in codebase.files.values() if "snakeyaml" in facts.manifest
    )


def _mark(call: Node, message: str, file: SourceFile) -> Mark:
    """Bytes that come with a request, a message or an upload make it critical, also when they were given a name before;
    `given` are those of a parameter."""
    first = first_argument(call, file)
    held = _origins(first, call, file) if first.isidentifier() else []
    is_brought = any(_UPLOAD.search(text) for text in (file.text(call), *held))
    given = next(iter(file.arguments(call)[0]), None)
    data = {"given": "1"} if given is not None and not held and is_parameter(given, call, file) else None
    return file.mark(RULE.id, call, message, severity="critical" if is_brought else "", data=data)


def _origins(name: str, call: Node, file: SourceFile) -> list[str]:
    """What a local name was given, or opened from."""
    opened = re.findall(rf"\bwith\s+([^\n]+?)\s+as\s+{name}\s*:", text_before(call, file))
    return [*opened, *(file.text(value) for value in assigned_values(name, call, file))]


def _reads_own_bytes(call: Node, callee: str, file: SourceFile) -> bool:
    """Whether the same function pickled what it reads, or another one put it into that field."""
    if not callee.startswith(_PICKLED):
        return False
    given = first_argument(call, file)
    held = _FROM_MEMORY.search(text_before(call, file)) if given.isidentifier() else None
    if held is not None and given in held[1] and _puts_own_bytes(held[2], file):
        return True
    if _FIELD.fullmatch(given):
        made = followed(given.encode(), file.source, _DUMPED, b"_.")
        return next(made, None) is not None
    return bool(_OWN_BYTES.search(file.text(call)) or _OWN_BYTES.search(text_before(call, file)))


def _puts_own_bytes(field: str, file: SourceFile) -> bool:
    """Whether the class itself pickles what it puts into a dict of its own: `self._rows[key] = pickle.dumps(row)`."""
    return next(followed(field.encode(), file.source, _PUT, b"_."), None) is not None


def _has_safe_loader(call: Node, callee: str, file: SourceFile) -> bool:
    positional, keywords = file.arguments(call)
    if callee in _ALWAYS_UNSAFE_YAML:
        return False
    loader = keywords.get("Loader") or (positional[1] if len(positional) > 1 else None)
    if loader is None:
        return False
    name = file.text(loader).rpartition(".")[2]
    return name.endswith(_SAFE_LOADERS) or _is_kind_of_safe_loader(name, file)


def _is_own_loader(call: Node, file: SourceFile) -> bool:
    """Whether the loader comes from elsewhere than the library: what it is made from stands there."""
    loader = file.arguments(call)[1].get("Loader")
    return loader is not None and not file.resolve(file.text(loader)).startswith("yaml.")


def _is_kind_of_safe_loader(name: str, file: SourceFile) -> bool:
    """Whether a class of this file is made from a safe loader."""
    bases = re.search(rb"\bclass\s+%b\s*\(([^)]*)\)" % re.escape(name.encode()), file.source)
    return bases is not None and any(base.encode() in bases[1] for base in _SAFE_LOADERS)


WATCHES = (
    Watch(
        "call",
        look_at_python,
        PYTHON,
        names=last_names(_LOADERS | _YAML) | {"load"},
    ),
    Watch("call", look_at_script, SCRIPT, names=frozenset({"unserialize", "deserialize"})),
    Watch(
        "call",
        look_at_java,
        JAVA,
        names=frozenset({"readObject", "XMLDecoder", "Yaml", "enableDefaultTyping", "activateDefaultTyping"}),
    ),
)
