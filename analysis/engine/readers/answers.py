"""When a caught exception is an answer rather than a failure: there is none, it is no number."""

import re

# Exceptions that answer a question rather than report a failure.
_ANSWERS = re.compile(
    r"\b(StopIteration|StopAsyncIteration|KeyError|IndexError|AttributeError|ImportError|ModuleNotFoundError|FileNotFoundError"
    r"|FileExistsError|ProcessLookupError|CancelledError|Empty|Full|\w*DoesNotExist|\w*AlreadyExists\w*|\w*NotFound\w*"
    r"|JSONDecodeError|UnicodeDecodeError|ValidationError|JsonProcessingException|WatchError|KeyboardInterrupt|GeneratorExit|\w*LookupError|NoReverseMatch|NotImplementedError"
    r"|\w*(?:Closed|Consumed|Already|Duplicate|Unsupported|NotSupported|Unrecognized|NotRecognized)\w*|\w*Skip\w*|(?:Help|Usage)[A-Z]\w*|Http404|NoSuch\w+"
    r"|Invalid(?!Request|Operation|State)[A-Z]\w*|Unknown(?!Host|Error|Exception)[A-Z]\w*|BadLocationException"
    r"|NumberFormatException|InterruptedException)\b"
)
_CLASHES = re.compile(
    r"\b(?:IntegrityError|UniqueViolation\w*|UniqueConstraint\w*|DuplicateKey\w*|DataIntegrityViolation\w*)\b"
)
_PUTS_IN = re.compile(r"(?i)\binsert\w*\(|\.(?:create|add|insert\w*)\(|begin_nested\(")
# A text that is no number, no address and no member of an enum is an answer too.
_UNREADABLE = re.compile(r"\b(ValueError|TypeError|InvalidOperation|IllegalArgumentException|DateTimeParseException)\b")
_READS = re.compile(
    r"(?!new \w+\([^()\n]*\)\.)"
    r"[^\n]*\b(int|float|Decimal|UUID|fromisoformat|strptime|[\w.]*(?<![a-z])[A-Z]\w*|valueOf|parse\w*|fromString"
    r"|ip_(?:address|network|interface)|r?split|unpack|date|datetime|fromtimestamp|fromhex|b64decode)\([^\n]*"
    r"(\n\s*(return|continue|break)\b[^\n]*)?"
)
_TAKEN_OUT = re.compile(r"[\w.\[\]]+\.(?:remove|index)\([^\n]*\)")  # of a list that may not hold it
# What is named for these has failed; of other names nobody knows whether they only say no.
_FAILURE = re.compile(
    r"\b\w*(?:IO|OS|SQL|Sql|Data|Database|Operational|Persistence|Rollback|Connect\w*|Time_?[oO]ut|Requests?|HTTP|Http"
    r"|Socket|Network|Transport|Remote|Naming|Messaging|Mail|SMTP|SMTP\w+|DNS|Redis|Client|API|Api|RPC|Rpc|Service|Server"
    r"|Storage|Security|Permission|Access|Execution|System|Runtime|Gateway|Interface|Interruption)(?:Error|Exception)\b"
)
# To tell of something is a nicety.
_TELLS = re.compile(
    r"(?:return\s+|void\s+|await\s+)?(?:(?:window|this|self|globalThis|\w+Service)\??\.)*_?(?:posthog|analytics|telemetry|track(?:er|ing)?|mixpanel"
    r"|amplitude|gtag|plausible|umami|[sS]entry|statsd|metrics|console|(?i:log|logger))\b[^\n]*(?:\n[^\n;]*)*?\);?\s*"
)
# Clean-up, and what is a nicety: times and rights of a file.
_CLOSES = re.compile(
    r"^(?:await\s+)?[\w.?!\[\]()]*\.?(?:(?:close|cancel|release|unlock|shutdown|disconnect|unlink|rm|rmdir|rmtree|cleanup|terminate|kill|destroy|abort"
    r"|dispose|interrupt|join)(?:\w*\(\s*\)|(?:_?(?i:all|now|quietly|silently|sync|async|on\w*|with\w*|and\w*|it|self|self_?and\w*"
    r"|[a-z]*_?(?:connections?|streams?|sockets?|sessions?|clients?|channels?|resources?|files?|db|pool|timers?|tasks?|server|process\w*"
    r"|handle\w*|lock|window|thread\w*|worker\w*|browser|page|reader|writer|subscription\w*|watcher\w*|temp\w*|tmp\w*|dir\w*|folder\w*"
    r"|tree|group|container\w*|instance\w*|context)))?\(.*\))"
    r"|(?:utime|chmod|copystat|os\.remove|[dD]eleteIfExists)\w*\(.*\))[;\s]*$"
)
_WAITS = re.compile(r"(?:(?:this|self)\.\w+\s*=[^\n]*\n\s*)?await\s+(?:this\.)?[\w.]+;?")  # for what others look after
_ASKS = re.compile(
    r"(?:.*\n)*\s*return\s+(?:true|True|[^\n;]*(?:[!=]==?|[<>]=?|\bis\s+not)\s*[\w.\"']+)\s*;?", re.DOTALL
)
_REFLECTS = re.compile(r"\.get(?:Declared)?(?:Method|Field|Constructor)\(")
_READS_AS = re.compile(r"return\b[^;]*\.(?:parse|decode|read)\w*\([^;]*;?")
_ASKS_IF_READABLE = re.compile(
    r"(?:\w+\s+\w+\s*=\s*new\s+\w+\([^;]*\);\s*)?[\w.]+\.parse\w*\([^;]*\);\s*return\s+[\w.\"]+;?"
)
_CALLED = re.compile(r"[\w$.]*?([\w$]+)\s*\(")
_DECODES = re.compile(r"(?:parse|decode|deserialize)(?:_|[A-Z]|$)|(?:Parse|Decode|_parse|_decode)$")
# A browser may forbid its storage.
_STORED = re.compile(
    r"(?:(?:const|let|var)\s+)?(?:[\w.]+\s*=\s*|return\s+)?(?:\w+\(\s*)?(?:window\.)?(?:local|session)Storage\.\w+\([^\n]*\)[^\n]*"
)
_LINE_OF_A_CALL = re.compile(r"(?<=\()\s*\n\s*|,?\s*\n\s*(?=\))")  # written over several lines
_STORE = re.compile(r"\b(?:local|session)Storage\b")
_OF_STORE = frozenset({"getItem", "setItem", "removeItem", "clear", "parse"})
_CONVERTS = frozenset(
    """int float Decimal UUID parse parseInt parseLong parseDouble URL RegExp BigInt atob loads literal_eval decodeURI
    decodeURIComponent valueOf DateTimeFormat NumberFormat resolvedOptions fromString
    fromisoformat fromhex unhexlify b64decode strptime json""".split()
)
_HARMLESS = frozenset(
    """has if return catch switch for while String Number Boolean str len strip lower trim slice split substring replace
    startsWith endsWith startswith endswith toLowerCase includes indexOf stringify isArray map filter join keys
    entries""".split()
)


def is_answer(caught: str) -> bool:
    """Whether what a handler catches is named for an answer: `KeyError`, `UnsupportedFormat`."""
    return _ANSWERS.search(caught) is not None


def is_there(caught: str, guarded: str) -> bool:
    """Whether a row is put in that may be there already: `except IntegrityError` around an insert of its own."""
    return _CLASHES.search(caught) is not None and _PUTS_IN.search(guarded) is not None


def is_failure(caught: str) -> bool:
    """Whether what a handler catches is named for a failure of something outside: `SQLException`, `OSError`."""
    return _FAILURE.search(caught) is not None


def says_unreadable(caught: str, guarded: str) -> bool:
    """Whether the exception says that a text cannot be read as what is tried, or that a list does not hold it."""
    if not _UNREADABLE.search(caught):
        return False
    return _READS.fullmatch(guarded) is not None or _TAKEN_OUT.fullmatch(guarded) is not None


def only_tells(guarded: str) -> bool:
    """Whether all that is tried is to tell of something: to a log, to statistics."""
    return "\n\n" not in guarded and _TELLS.fullmatch(guarded) is not None


def only_closes(guarded: str) -> bool:
    """Whether all that is tried is to close or remove something, or to set times and rights of a file."""
    return _CLOSES.match(guarded) is not None


def only_waits(guarded: str) -> bool:
    """Whether all that is tried is to wait for a promise that somebody else has made, and looks after."""
    return _WAITS.fullmatch(guarded) is not None


def asks(guarded: str) -> bool:
    """Whether what is tried answers yes at its end: `return true`, `return status == 200`."""
    return _ASKS.fullmatch(guarded) is not None


def reflects(guarded: str) -> bool:
    """Whether a member is looked for by its name, which may not be there."""
    return _REFLECTS.search(guarded) is not None


def looks_for_a_part(guarded: str) -> bool:
    """Whether a class or a member is looked for by its name, and nothing is called by way of it."""
    return (reflects(guarded) or "Class.forName(" in guarded) and ".invoke(" not in guarded


def reads_one_way(guarded: str) -> bool:
    """Whether what is tried gives back a text as read in one way; in a loop the next one follows."""
    return _READS_AS.fullmatch(guarded) is not None


def only_asks_if_readable(guarded: str) -> bool:
    """Whether a text is read only to learn that it can be, and what it is then is given back: `format.parse(text);
    return DAY;`."""
    return _ASKS_IF_READABLE.fullmatch(guarded) is not None


def only_parses(guarded: str, name: str) -> bool:
    """Whether all that is tried is to read a text, as values of the language do it, maybe by calling itself again."""
    called = {found[1] for found in _CALLED.finditer(guarded)} - _HARMLESS - {name.rpartition(".")[2]}
    return bool(called) and all(each in _CONVERTS or _DECODES.search(each) for each in called)


def asks_storage(guarded: str) -> bool:
    """Whether what is tried reads or writes the storage of a browser, which may be forbidden."""
    return _STORE.search(guarded) is not None


def only_asks_storage(guarded: str) -> bool:
    """Whether all that is tried is to read or write the storage of a browser."""
    if _STORE.search(guarded) is None:
        return False
    called = {found[1] for found in _CALLED.finditer(guarded)} - _HARMLESS
    return called <= _OF_STORE or all(
        _STORED.fullmatch(line.strip()) for line in _LINE_OF_A_CALL.sub("", guarded).split("\n")
    )
