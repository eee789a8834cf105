"""When an error of Go that was thrown away harms nobody, as far as the call and what is around it tell."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.go_failing import IN_MEMORY
from analysis.engine.readers.go_known_calls import RARELY_FAIL
from analysis.engine.readers.go_results import receiver_of
from analysis.engine.readers.reading import WORD_END, first_argument, followed, function_text, text_after, text_before

NEAR = 300  # characters before a call
_NO_WRITE = re.compile(r"(?i)[\"`]\s*(?:select|set|pragma|notify|do\s*\$\$\s*begin\s+raise)\b")
_TO_CLIENT = re.compile(r"\b(w|rw|c\.Writer|ctx\.Writer|writer|resp)\b")
_SENT = re.compile(
    r"\b(?:FormValue|PostFormValue|PostForm|Getenv|PathValue|Param|URLParam)\(|\.Header\.Get\(|\bos\.Args\["
)
_DECODED = re.compile(r"\b(?:Decode|Unmarshal|\w*Bind\w*|ReadJSON|BodyParser)\([^\n]*\Z")
_PART = re.compile(r"(\w+)\[\w+\]")
# What says in its name that it makes a number of a text, or that a number is there.
_CONVERTS = re.compile(
    r"(?:^|[a-z])(?:Parse|Atoi|As|To|Must|Try|Safe|Conv\w*|Cast|Decode|From|Get|Read|Or|Default|Str|Int|Float|Num\w*)(?=[A-Z\d]|$)"
)
_GIVEN_BACK = re.compile(r"\s*return\s+[\w.]*\(?\w+\)?\s*\n")
_CUT_OFF = re.compile(r"(?!\w*(?:[dD]igit|[nN]um))(\w+)\[(?::[^:\[\]]+|[^:\[\]]+:)\]")  # a text without its unit
_KNOWN_AS = r"\bif\b[^\n{]*(?:[iI]s|[mM]atch|[vV]alid)\w*\(%s\b"  # a check of all of the text
_CUT = re.compile(r"\s*:?=\s*strings\.(?:Split\w*|Fields\w*)\(")
_MATCHED = re.compile(r"\s*:?=\s*(?:strings\.(?:Split\w*|Fields\w*)|[\w.]+\.FindStringSubmatch)\(")
_MEASURED = re.compile(r"\w+, _ :?= strconv\.ParseFloat\(\w+\[")
MANY_MEASURED = 3  # in one function, each with nought for what is no number
_RECORD = re.compile(r"(?:,\s*\w+)?\s*:?=\s*[\w.]+\.Read\(\)")  # of `encoding/csv`
_LEAVES_NEXT = re.compile(rb"\s*return[ \t]*(?://[^\n]*)?\n")
_MARSHALLED = re.compile(r"(?:,\s*\w+)?\s*:?=\s*json\.Marshal\(")
_TOLD_WHY = re.compile(rb"func\(\w*\s*error\)\s*\{")
_NEW_ENCODER = re.compile(r"\bNewEncoder\(&?(\w+)\)")
_ERROR_NEXT = re.compile(r"\s*return\b[^\n]*\b(?:Errorf|errors\.New)\([^\n]*StatusCode")
_CONNECTION = re.compile(
    r"(?:,\s*\w+)*(?:\s+(?:net\.Conn\b|\*(?:net|tls)\.\w*Conn\b)|\s*:?=\s*(?:[\w.]+\.)?(?:Dial\w*|Accept\w*|Hijack)\()"
)
_PLAIN = re.compile(r"\s*:?=\s*(?:make\()?(?:map\[string\]|\[\])(?:string|bool|int\d*)\b")
_MADE_OF = re.compile(r"\s*:=\s*&?([A-Za-z]\w*)\{")
_PLAIN_STRUCT = r"(?m)^\s*type\s+{name}\s+struct\s*\{{\n(?:\s*(?://[^\n]*|\w+\s+\*?(?:\[\])?(?:string|bool|u?int\d*)\b[^\n]*)?\n)*\s*\}}"


def is_harmless(call: Node, name: str, file: SourceFile) -> bool:
    """Whether what fails there harms nobody, so that it was thrown away on purpose: a client may be gone, and what the
    program has made itself can be written."""
    if name.endswith((".Exec", ".ExecContext")) and _NO_WRITE.search(file.text(call)):
        return True
    if name.endswith((".Encode", ".Write", ".WriteString")) and writes_to_client(call, file):
        return True
    if answers_client(call, name, file) or (name == "json.Unmarshal" and _is_own_json(call, file)):
        return True
    if name.endswith(".Encode") and _encodes_into_memory(call, file):
        return True
    return name in RARELY_FAIL or name.endswith(".Shutdown")


def writes_to_client(call: Node, file: SourceFile) -> bool:
    """Whether the answer to a request is written, by what it is written to."""
    return _TO_CLIENT.search(file.text(call)) is not None


def is_from_elsewhere(call: Node, file: SourceFile) -> bool:
    """Whether a number is read out of what somebody else has written, or has given an exported function."""
    return reads_what_was_sent(call, file) or reads_what_callers_gave(call, file)


def reads_what_callers_gave(call: Node, file: SourceFile) -> bool:
    """Whether an exported function reads a text that its callers give it and answers with the number, under a name that
    does not say that anything may come: `Limit(text)`, but not `ToInt(text)`. No number becomes nought there."""
    function = file.functions[file.function_of(call)]
    name = function.short_name
    given = first_argument(call, file)
    if not name[:1].isupper() or _CONVERTS.search(name):
        return False
    if given not in {each.name for each in file.dialect.parameters(function.node, file)}:
        return False
    return _GIVEN_BACK.match(text_after(call, file)) is not None


def reads_what_was_sent(call: Node, file: SourceFile) -> bool:
    """Whether a number is read out of what somebody else has written: a field of what the function has decoded, a form,
    the environment, a part of a line. No number becomes nought there."""
    given = first_argument(call, file)
    if _SENT.search(given):
        return True
    cut_off = _CUT_OFF.fullmatch(given)
    if cut_off is not None:
        return re.search(_KNOWN_AS % cut_off[1], text_before(call, file)) is None
    part = _PART.fullmatch(given)
    if part is not None:
        cut = _MATCHED if "ParseFloat" in file.callee(call) else _CUT  # a group of digits is a number
        before = text_before(call, file)
        is_record = file.mentions(b'"encoding/csv"') and any(followed(part[1], before, _RECORD, "_."))
        if not is_record and len(_MEASURED.findall(function_text(call, file))) >= MANY_MEASURED:
            return False  # what a tool has measured, or has not
        return is_record or any(followed(part[1], before, cut, "_."))
    root, dot, _ = given.partition(".")
    return (
        bool(dot)
        and root.isidentifier()
        and any(_DECODED.search(line) for line in _lines_with(f"&{root}", text_before(call, file)))
    )


def _lines_with(word: str, text: str) -> Iterator[str]:
    """The lines up to a word, where it stands whole."""
    return (text[text.rfind("\n", 0, each.start()) + 1 : each.start()] for each in followed(word, text, WORD_END, ""))


def written_answer(statement: Node, call: Node, name: str, file: SourceFile) -> dict[str, str]:
    """What a mark notes of an answer to a request that is encoded right to the client: `form`, and `last` where its
    function does nothing behind it, so that who is gone misses it and nobody else."""
    if not (name.endswith(".Encode") and writes_to_client(call, file)):
        return {}
    is_last = _LEAVES_NEXT.match(file.source, statement.end_byte) or not text_after(statement, file).strip("} \n")
    return {"form": "answer", "last": "1"} if is_last else {"form": "answer"}


def answers_client(call: Node, name: str, file: SourceFile) -> bool:
    """Whether a body is copied, or a text written, to a client, who may be gone, or from one connection to another."""
    if name == "io.Copy" and _is_tunnel(call, file):
        return True
    if name not in ("io.Copy", "io.WriteString") or _TO_CLIENT.search(file.text(file.arguments(call)[0][0])) is None:
        return False
    return name == "io.Copy" or file.mentions(b"http.ResponseWriter")


def _is_tunnel(call: Node, file: SourceFile) -> bool:
    """Whether both sides of a copy are connections: it ends with an error whenever one of them does."""
    text = function_text(call, file)
    sides = [file.text(each) for each in file.arguments(call)[0]]
    return all(each.isidentifier() and any(followed(each, text, _CONNECTION, "_.")) for each in sides)


def _is_own_json(call: Node, file: SourceFile) -> bool:
    """Whether what is read was written right before: a copy by way of JSON."""
    given = first_argument(call, file)
    return given.isidentifier() and next(followed(given, text_before(call, file), _MARSHALLED, "_."), None) is not None


def is_interrupt(call: Node, file: SourceFile) -> bool:
    """Whether the function around is told why all ends: `func(err error) { _ = server.Shutdown(ctx) }`."""
    function = file.enclosing_function(call)
    return (
        function is not None
        and function.type == "func_literal"
        and _TOLD_WHY.match(file.source, function.start_byte) is not None
    )


def _encodes_into_memory(call: Node, file: SourceFile) -> bool:
    """Whether an encoder writes into a buffer of the function, so that only the value can be at fault."""
    function = function_text(call, file)
    made = {found[1] for found in IN_MEMORY.finditer(function)}
    return any(found[1] in made for found in _NEW_ENCODER.finditer(function))


def is_text_of_an_error(call: Node, file: SourceFile) -> bool:
    """Whether an answer that is an error already is read for what it says."""
    before, after = text_before(call, file), text_after(call, file)
    return "StatusCode" in before[-NEAR:] or _ERROR_NEXT.match(after) is not None


def is_plain(call: Node, file: SourceFile) -> bool:
    """Whether what is marshalled is a list or a map of texts and numbers that the function has made, or a struct of
    such fields: one made right there, or the receiver of the method."""
    given = first_argument(call, file)
    is_name = re.fullmatch(r"\w+(?:\.\w+)*", given) is not None
    receiver, owner = receiver_of(call, file)
    made = next(followed(given, text_before(call, file), _MADE_OF, "_."), None) if is_name else None
    owner = made[1] if made is not None else owner if given == receiver else ""
    if owner:
        return re.search(_PLAIN_STRUCT.format(name=owner), file.source.decode("utf-8", "replace")) is not None
    return is_name and next(followed(given, text_before(call, file), _PLAIN, "_."), None) is not None
