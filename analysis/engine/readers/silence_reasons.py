"""Why a handler that does nothing may be right: each reason is a function that is asked about one handler."""

import re
from collections.abc import Callable

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.answers import (
    is_answer,
    is_failure,
    is_there,
    only_asks_if_readable,
    only_asks_storage,
    only_closes,
    only_parses,
    only_tells,
    only_waits,
    reads_one_way,
    reflects,
    says_unreadable,
)
from analysis.engine.readers.handlers import is_explained, said_of_function
from analysis.engine.readers.reading import conditions_around, text_after
from analysis.engine.readers.silent_handlers import SENDS, SilentHandler

_CHECKS_TEXT = re.compile(r"[^\n]*\bJSON\.parse\([\s\S]*\breturn true;?\s*\Z")
# One kind of error that answers no: the function says so, or counts the others.
_SAYS_YES = re.compile(r"(?:.*\n)?\s*(?:return\s+[Tt]rue;?|\w+\s*\+=\s*1;?|\w+\+\+;?)\s*", re.DOTALL)
_CHECKS = re.compile(r"(?:await\s+)?[\w.]*?(?:assert|validate|check|ensure)[A-Z_]\w*\([^\n]*\);?")
_OPTIONAL_IMPORT = re.compile(
    r"\b(require|import|import_module|forName)\s*\(|\A(?:(?:from\s[^\n]+\s)?import\s[^\n]+\s*)+\Z"
)
_BEGINS_WITH_IMPORT = re.compile(r"(?:from\s[^\n]+\s)?import\s")  # and what is set up with it
_UNTIL = re.compile(r"while\b[^\n]*(?:deadline|monotonic\(|\btime\(\)|currentTimeMillis\(|Date\.now\()")
_SLEEPS = re.compile(r"\b(sleep|delay|backoff|setTimeout)\s*\(")
_PREDICATE = re.compile(
    r"(?:[a-z](?:Has|Is|Can)(?=[A-Z]))|(?:^|[._])(?:is|has|can|does|are|needs|allows?|matches|exists?|supports|valid\w*|try|should|maybe|safe(?:ly)?|check|test(?=\w*(?:[Cc]onnect|[Aa]uth|[Cc]redential)))(?:_|[A-Z]|$)|\.(?:some|every|filter)\(\)$"
    r"|(?:IfPossible|Or(?:Null|None|Undefined|Default|Empty)|_or_(?:none|null|default|empty)|_if_possible)$"
    r"|(?:[Hh]ealthy|[Aa]live|[Rr]eady|[Rr]eachable|[Aa]vailable|[Ee]xists?)$"
)
_GIVES_SOMETHING = re.compile(r"\breturn[ \t]+(?!(?:None|null|undefined)\b)[^\s;}]")
_SAFE = re.compile(r"(?:^|\.)(?:safe|maybe)(?:ly)?(?=_|[A-Z])")
# JavaScript cannot catch one kind of error only: a text that is no such thing answers with nothing.
_TRIES = re.compile(r"(?i)(?:^|[._])(?:try|safe|maybe|parse|decode|read|is|as|to|detect|guess)(?=_|[A-Z]|$)|parse|json")
_TAKES_OF_JSON = re.compile(r"JSON\.parse\([^()]*(?:\([^()]*\))?[^()]*\)[.\[]")
_MAKES_A_VALUE = re.compile(r"return new [\w.]+\([^\n]*\);?")  # of a text that may be no such thing
_DEVELOPS = re.compile(
    r"\b(?:(?:IS_|is)?_?(?:DEBUG|DEV|[dD]ebug|Dev)(?:_?(?:MODE|Mode))?)\b|[\"'](?:development|dev)[\"']"
)
_READING = re.compile(r"(?:^|[._])(?:parse|decode|verify)(?:_|[A-Z]|$)")
_ONLY_RAISES = re.compile(r"(?:raise|throw)\s+\w+;?")
_RAISES = re.compile(r"\b(?:raise|throw new)\s+(\w+)")
_IF_THERE = re.compile(r"if\s*\((?:[^(){}]|\(\))*\)\s*\{\s*([^{}]*?)\s*\}?\s*\Z")
_PROBES = re.compile(r"[\w.$]+;?")  # reading a member is all that is tried: may it be read?
_DOCUMENTED = re.compile(
    r"(?is)(?=.*\b(?:null|none|undefined|false|nothing)\b)(?=.*(?:\binvalid|\bfail|\berror|\bcannot\b|can't|\bthrow|corrupt|malformed"
    r"|unreadable|unsupported|not (?:a )?(?:valid|support)))"
)
_GIVEN_IF = re.compile(r"(?:if\b[^\n]*\n\s*)?(\w+)\s*=(?!=)[^;\n]*;?(?:\s*\})?")
_ASKS_ELSEWHERE = re.compile(
    r"\bawait\b|\b(?:open|fetch\w*|urlopen|input)\(|(?<!\bre)\.(?:get|post|put|read|load|fetch|query|execute|call|send|run|connect|find|save)\w*\("
)
_GIVEN_BACK = re.compile(r"return\s+(\w+)\s*;?")
NEAR = 100  # characters before and behind a `try`
_LETS_GO = re.compile(
    r"(?:await\s+)?(?:[\w.?!$()]+\.)?(?:unbind|off|unsubscribe|unregister|removeEventListener|removeListener|removeAllListeners)\([^\n]*\);?|//[^\n]*"
)
_STOPS = re.compile(r"(?:await\s+)?[\w.]+\.stop\w*\(\);?")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FAILS_OTHERWISE = re.compile(
    r"(?:^|[\s.])fail\([^\n]*\);?\s*\Z|\bassert False\b"
    r"|\bthrow new \w+\([^\n]*\b(?:[sS]hould|[eE]xpected|[nN]ever|[mM]ust)\b[^\n]*\);\s*\Z"
)
_FAILS_BEHIND = re.compile(r"\s*else:\s*(?:raise\b|assert False|(?:self|pytest)\.fail\()")
_FLAG_SET_BEFORE = re.compile(r"(\w+)\s*=\s*(?:false|False)\s*;?\s*(?:try\b\s*[:{]?\s*)?\Z")


def keeps_default(guarded: str, attempt: Node, file: SourceFile, *, is_broad: bool) -> bool:
    """Whether all that is tried is to give a variable its value, which has another one from the line before. Who takes
    every error may ask nobody else for the value: there more can fail than that there is none."""
    given = _GIVEN_IF.fullmatch(guarded)
    if given is None or (is_broad and _ASKS_ELSEWHERE.search(guarded)):
        return False
    start = attempt.start_byte
    before = file.source[max(0, start - NEAR) : start].decode("utf-8", "replace")
    return re.search(rf"\b{given[1]}\s*(?::[^=\n]+)?=(?!=)[^\n]*\n\s*\Z", before) is not None


def is_right(handler: SilentHandler) -> bool:
    """Whether one of the reasons holds."""
    return any(reason(handler) for reason in REASONS)


def _catches_an_answer(handler: SilentHandler) -> bool:
    return is_answer(handler.caught)


def _says_why(handler: SilentHandler) -> bool:
    return is_explained(handler.node, handler.caught, handler.file)


def _says_none(handler: SilentHandler) -> bool:
    """One kind of error that means: it is there already, that is none, it cannot be read."""
    if handler.is_broad:
        return False
    return is_there(handler.caught, handler.guarded) or says_unreadable(handler.caught, handler.guarded)


def _expects_it(handler: SilentHandler) -> bool:
    """A test that fails when nothing is raised or raises itself, and what is raised only to fill in its traceback."""
    if _FAILS_OTHERWISE.search(handler.guarded) or _ONLY_RAISES.fullmatch(handler.guarded):
        return True
    if _FAILS_BEHIND.match(text_after(handler.node, handler.file)) is not None:
        return True
    return any(re.search(rf"\b{found[1]}\b", handler.caught) for found in _RAISES.finditer(handler.guarded))


def _lets_go(handler: SilentHandler) -> bool:
    """All that is tried is to close something, or to take listeners away."""
    if only_closes(_IF_THERE.sub(r"\1", handler.guarded)):
        return True
    return bool(handler.guarded) and all(map(_is_letting_go, handler.guarded.split("\n")))


def _is_letting_go(line: str) -> bool:
    return _LETS_GO.fullmatch(line.strip()) is not None or only_closes(line.strip())


def _is_a_nicety(handler: SilentHandler) -> bool:
    """All that is tried is to tell of something, or to wait for what others look after."""
    return only_tells(handler.guarded) or (handler.does_nothing and only_waits(handler.guarded))


def _looks_for_a_member(handler: SilentHandler) -> bool:
    return handler.gives_up and reflects(handler.guarded)


def _tries_formats(handler: SilentHandler) -> bool:
    if handler.does_nothing and only_asks_if_readable(handler.guarded):
        return True
    return handler.does_nothing and reads_one_way(handler.guarded) and handler.file.in_loop(handler.node)


def _has_default(handler: SilentHandler) -> bool:
    if handler.is_broad and not handler.does_nothing:
        return False
    return keeps_default(handler.guarded, handler.attempt, handler.file, is_broad=handler.is_broad)


def _cleans_up(handler: SilentHandler) -> bool:
    """In a `finally` one kind of error is caught, or all that is tried is to stop something."""
    if not handler.file.is_in(handler.node, "finally"):
        return False
    return not handler.is_broad or all(
        _STOPS.fullmatch(line.strip()) or _is_letting_go(line) for line in handler.guarded.split("\n")
    )


def _asks_the_browser(handler: SilentHandler) -> bool:
    """A browser may forbid its storage, and the reading of a member."""
    if not handler.is_script:
        return False
    return only_asks_storage(handler.guarded) or bool(_PROBES.fullmatch(_COMMENT.sub("", handler.guarded).strip()))


def _counts(handler: SilentHandler) -> bool:
    """One kind of error that answers no: the function says yes behind it, or counts the others."""
    if is_failure(handler.caught) and SENDS.search(handler.guarded) is not None:
        return False  # what was to be sent is lost, and why it is
    return not handler.is_broad and not handler.writes and _SAYS_YES.fullmatch(handler.guarded) is not None


def _only_checks(handler: SilentHandler) -> bool:
    return handler.gives_up and _CHECKS.fullmatch(handler.guarded) is not None


def _only_reads(handler: SilentHandler) -> bool:
    """All that is tried is to read a text, which may be no such thing."""
    if only_parses(handler.guarded, handler.function):
        # Who also takes something of what was read hides that it is not there.
        is_silent = handler.is_script and handler.does_nothing and not _TRIES.search(handler.function)
        return not (is_silent and _TAKES_OF_JSON.search(handler.guarded))
    if handler.is_script and handler.does_nothing and _MAKES_A_VALUE.fullmatch(handler.guarded):
        return True
    if not (handler.gives_up and handler.is_script):
        return False
    is_reader = _READING.search(handler.function) or _CHECKS_TEXT.match(handler.guarded)
    return is_reader is not None or _is_answered_behind(handler)


def _is_for_development(handler: SilentHandler) -> bool:
    """It stands in a branch for those who develop, who may not have what is tried."""
    asked = map(handler.file.text, conditions_around(handler.attempt, handler.file))
    return any("!" not in each and _DEVELOPS.search(each) for each in asked)


def _is_answered_behind(handler: SilentHandler) -> bool:
    """Whether a text that cannot be read is answered as one that holds nothing: the same stands behind the `try`."""
    answer = handler.file.text(handler.held[0]).rstrip(";") if handler.held else ""
    end = handler.attempt.end_byte
    behind = handler.file.source[end : end + NEAR].decode("utf-8", "replace")
    return "JSON.parse(" in handler.guarded and behind.lstrip("} \n\t").startswith(answer)


def _sets_a_flag(handler: SilentHandler) -> bool:
    """All that is tried is to set a flag that says no until then."""
    start = handler.attempt.start_byte
    flag = _FLAG_SET_BEFORE.search(handler.file.source[max(0, start - NEAR) : start].decode("utf-8", "replace"))
    return flag is not None and re.fullmatch(rf"{flag[1]}\s*=[^\n]*", handler.guarded) is not None


def _is_one_of_several_tries(handler: SilentHandler) -> bool:
    """It stands in a loop that waits and tries again."""
    loop = handler.file.loop_of(handler.node)
    text = handler.file.text(loop.node) if loop is not None else ""
    return _SLEEPS.search(text) is not None or _UNTIL.match(text) is not None


def _is_documented(handler: SilentHandler) -> bool:
    """What is said of the function says what it gives when it fails."""
    return (
        handler.gives_up
        and not handler.writes
        and _DOCUMENTED.match(said_of_function(handler.node, handler.file)) is not None
    )


def _goes_another_way(handler: SilentHandler) -> bool:
    if not (handler.does_nothing and handler.has_another_way):
        return False
    return not handler.is_broad or _gives_default(handler)


def _gives_default(handler: SilentHandler) -> bool:
    """Whether all that comes after is to give back a parameter: the value that the caller wants then."""
    function = handler.file.enclosing_function(handler.node)
    given = _GIVEN_BACK.fullmatch(text_after(handler.attempt, handler.file).strip("} \n"))
    if given is None or function is None:
        return False
    return given[1] in {each.name for each in handler.file.dialect.parameters(function, handler.file)}


def _says_so_in_its_name(handler: SilentHandler) -> bool:
    """A function named for a question answers no, and one named safe gives nothing. It answers where something else is
    given when it worked: what gives nothing either way tells nobody that it has failed."""
    says_no = handler.gives_up or handler.says_no_behind
    if says_no and _PREDICATE.search(handler.function) and _answers(handler):
        return True
    return handler.does_nothing and _SAFE.search(handler.function) is not None and handler.gives_result


def _answers(handler: SilentHandler) -> bool:
    """Whether the function gives something in one of its ways: a value when it worked, or no when it has failed."""
    said = "".join(map(handler.file.text, handler.held)) + text_after(handler.attempt, handler.file)
    return handler.gives_result or _GIVES_SOMETHING.search(said) is not None


def _imports_what_may_be_missing(handler: SilentHandler) -> bool:
    is_of_module = handler.file.function_of(handler.node) == 0
    if is_of_module and "NameError" in handler.caught:
        return True  # what another version of the language has built in
    return _OPTIONAL_IMPORT.search(handler.guarded) is not None or (
        is_of_module and _BEGINS_WITH_IMPORT.match(handler.guarded) is not None
    )


def _goes_on_to_the_next(handler: SilentHandler) -> bool:
    """One kind of error in a loop over candidates, which gives back the first that is right."""
    is_for_one = not handler.is_broad and handler.does_nothing
    return is_for_one and handler.file.in_loop(handler.node) and handler.gives_result


REASONS: tuple[Callable[[SilentHandler], bool], ...] = (
    _catches_an_answer,
    _says_why,
    _says_none,
    _expects_it,
    _lets_go,
    _is_a_nicety,
    _looks_for_a_member,
    _tries_formats,
    _has_default,
    _cleans_up,
    _asks_the_browser,
    _counts,
    _only_checks,
    _only_reads,
    _is_for_development,
    _sets_a_flag,
    _is_one_of_several_tries,
    _is_documented,
    _goes_another_way,
    _says_so_in_its_name,
    _imports_what_may_be_missing,
    _goes_on_to_the_next,
)
