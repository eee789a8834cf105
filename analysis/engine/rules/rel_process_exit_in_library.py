"""Code that others import ends the whole process."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Function, FunctionFlag, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.handlers import said_of_function
from analysis.engine.readers.reading import function_text, is_parameter, text_before, within
from analysis.engine.rules.base import ALL, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-process-exit-in-library",
    type="process_exit",
    category=Category.RELIABILITY,
    title="Process ended from library code",
    severity=Severity.WARNING,
    points=1,
    suggestion="Raise/return an error and let the entry point decide.",
    in_scripts=False,
)
GUIDE = Guide(
    why="Whoever imports this cannot clean up, cannot retry and cannot test it: the whole process is gone.",
    flagged=(
        {
            "shop/rates.py": """
import sys


def rate(region):
    if not region:
        sys.exit(1)
    return 1
"""
        },
    ),
    fine=(
        {
            "shop/rates.py": """
def rate(region):
    if not region:
        raise ValueError("a region is needed")
    return 1
"""
        },
    ),
)

_EXITS = {
    "python": frozenset({"sys.exit", "os._exit", "os.abort", "exit", "quit"}),
    "java": frozenset(
        {"System.exit", "java.lang.System.exit", "Runtime.getRuntime().halt", "Runtime.getRuntime().exit"}
    ),
    "go": frozenset({"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Fatalw"}),
}
# Loggers of Go whose `Fatal` ends the process like that of its own.
_LOGS_AND_EXITS = re.compile(
    r"(?:github\.com/(?:sirupsen/logrus|golang/glog|rs/zerolog/log)|k8s\.io/klog(?:/v2)?)\.(?:Fatal|Exit)\w*"
)
_OF_SHELL = frozenset({"exit", "quit"})  # Python has them for who types, and not for code
_SCRIPT_EXITS = frozenset({"process.exit", "process.abort"})
_ENTRY_PATH = re.compile(
    r"(^|/)(?<!com/)(?<!org/)(?<!net/)(examples?|samples?|seeds?|ci|release|contrib|benchmarks?|cli|cmd|commands?|console)/|(^|/)[\w-]*-cli/|(^|/)cli-[\w-]+/|(^|/)command-?line/"
    r"|(^|/)(cli|cmd|main|__main__|console|cmdline|command|manage|setup|worker\w*|index|server|type-check)\.\w+$|(^|/)seed[\w-]*\.\w+$"
    r"|(^|/)(integration|e2e|acceptance|testing)[-_]?(tests?)?/|(^|/)management/|[-_.](cli|main|worker)\.\w+$|(^|/)(generate|build|bundle|gen_|gen\.)[\w-]*\.([cm]?js|go)$|(^|/)test(ing|util\w*)?\.go$"
    r"|(Main|Cli|CLI|Command|Tool|Shell|Benchmark)\.java$"
)
_ENTRY_NAME = re.compile(
    r"(^|\.)(main\w*|\w*[cC](?:ommand|md)_?[lL]ine\w*|\w*[bB]ootstrap(?:per)?|usage\w*|\w*[Ss]ignal\w*|TestMain|print_?[Hh]elp"
    r"|\w*[eE]xit\w*|on_?[fF]atal\w*|\w*Or(?:Die|Exit|Fatal|Panic)\w*|\w+_or_(?:die|exit)|\w*Test[A-Z]\w*|[Ss]erviceMain)(\.|$)|(^|\.)(on|once)\("
)
# To end the process is what they are for, and another process starts it again.
_ENDS_IT = re.compile(
    r"(?i)(?:^|[._])(?:re_?boot|re_?start|terminat|kill|suicide|crash|supervis|daemon|uncaught|run_?cron)|watch_?dog"
)
# They say in their name that they end the process; who calls them may not have read it.
_SAYS_IT = re.compile(
    r"(?:^|\.)(?:halt\w*|quit\w*|Quit\w*|fail\w*|Fail\w*|[mM]ust(?:[A-Z]\w*)?|die|[fF]atal\w*)(?:\.|$)"
)
# So do these: they are hooks of the end, unless a request asks for it.
_SHUTS_DOWN = re.compile(r"(?:^|\.)\w*[Ss]hut_?[dD]own\w*(?:\.|$)")
_LOGS = re.compile(r"(?i)log|report|print")  # whose `fatal` ends the process, as everybody knows
# What is done once, at the start, as far as the name tells.
_STARTS = re.compile(r"(?i)^(?:migrat|run_?migrat|start|init|boot|set_?up|configur|new(?![a-z]))")
# What reads the settings of the environment, mostly at the start: nothing can go on without them.
_READS_SETTINGS = re.compile(r"(?i)\b(?:os\.(?:lookupenv|getenv|environ)|process\.env|system\.getenv|get_?env\w*\()")
_OF_SETTINGS = re.compile(
    r"(?i)(?:^|/)(?:\w*config(?:uration)?|settings|env(?:_?vars?|ironment)?|dot_?env)(?:/[\w-]+)?\.\w+$"
)
_CALLS_FOR_SETTINGS = re.compile(r"(?i)(?:^|\.)(?:lookupenv|get_?env\w*)$")
_ASKS_WHETHER_TO = re.compile(
    r"\bif\b[^\n{]*(?:[sS]hould|[mM]ust)\w*(?i:exit|quit|abort|terminate|die)\w*\([^{}]*[{:][^{}]*\Z"
)
# Who no longer leads has to end at once, so that two never do.
_NO_LEADER = re.compile(rb"\bOnStoppedLeading:\s*func\(\)\s*\{[^{}]*\Z")
_SAYS_IT_ENDS = re.compile(r"(?i)\b(?:quits|exits|terminates|aborts|ends the process|(?:quit|exit) (?:if|when|with))\b")
_RESTARTS = re.compile(rb"(?i)[\"'`][^\"'`\n]*re-?start[^\"'`\n]*[\"'`]")  # a message that says so, or asks for it
_SAYS_WHY = re.compile(
    rb"(?i)(?:#|//|\*)[^\n]*\b(?:exit|kill|terminat|abort|restart|crash|quit|shut|ex_|sysexit)\w*\b[^\n]*\n"
    rb"(?:\s*(?:#|//|\*)[^\n]*\n)*\s*\Z"
)
_READS_FLAGS = re.compile(r"\bflag\.Parse\(\)|argparse|sys\.argv|process\.argv|\bparser\.parse_args\(")
_SIGNAL = re.compile(
    r"signal\.Notify|process\.(on|once)\(\s*['\"]|addShutdownHook|signal\.signal\(|worker_threads|parentPort"
)

_OF_COMMANDS = re.compile(rb"^[ \t]*(?:from invoke import|import (?:click|typer)\b)", re.MULTILINE)
_ASKS_IN_TERMINAL = re.compile(
    rb"[\"'](?:@clack/prompts|commander|inquirer|@inquirer/prompts|prompts|yargs|ora|cac|@oclif/core|enquirer)[\"']"
)
_LIBRARY_OF_COMMANDS = re.compile(
    rb'"github\.com/(?:spf13/cobra|urfave/cli(?:/v\d)?|alecthomas/kong|jessevdk/go-flags)"'
)
_CLASS_OF_COMMAND = re.compile(rb"\bclass\s+\w+[^{;]*\bextends\s+\w*(?:Command|CmdLineTool|CommandLine\w*)\b")
_SIGNALLED = re.compile(rb"\bprocess\.(?:on|once)\(\s*[\"']SIG\w+[\"']\s*,\s*(?:\w+\.)*(\w+)\s*[,)]")
_ON_SIGNAL = re.compile(rb"\bsignal\.Notify\(")
_TAKES_CODE = re.compile(r"(?:^|[._])(?:exit|Exit|_exit|halt|quit)$")
_FAILS_WITH = re.compile(
    r"-?[1-9]|[fFrRbB]*[\"'`]|[\w.]*(?:FAIL|ERR|fail|err)\w*|[\w.]*EX_(?!OK)"
)  # no status that was computed
_SERVER = re.compile(r"(?:^|/)(?:server|index|app|main)\.[cm]?[jt]sx?$")
_STEPS = frozenset({"main", "init"})  # of a program of Go
NEAR = 300  # bytes before a call, in the function around its own


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee not in _EXITS.get(file.language, _SCRIPT_EXITS) and not _LOGS_AND_EXITS.fullmatch(callee):
        return
    if "." not in callee and (any(each.name == callee for each in file.functions) or _is_variable(callee, call, file)):
        return
    name = file.functions[file.function_of(call)].name
    is_top = file.scope_of(call).function.index == 0
    if is_top and file.language not in (*PYTHON, *SCRIPT):
        return
    if _is_said(call, name, file) or _is_asked_for(call, name, file) or _is_of_a_tool(file):
        return
    if _is_replaced(callee, call, file):
        return
    is_end = _SHUTS_DOWN.search(name) is not None
    form = _form(name, file, is_top=is_top, is_end=is_end)
    if not (_is_failure(callee, call, file) or file.is_in(call, "handler")):
        is_given_on = not _ends_well(call, file)
        if is_given_on and (file.language in SCRIPT or not is_parameter(file.arguments(call)[0][0], call, file)):
            return  # it gives on the status that something else had
        is_of_shell = callee in _OF_SHELL and not is_top
        form = "end" if is_end else "named" if is_given_on else "shell" if is_of_shell else "asked"
    does = "imports this" if is_top else "calls it"
    message = f"`{callee.rpartition('/')[2]}` in `{name}` ends the process of whoever {does}"
    data = {"form": form} if form else {}
    if _gives_a_value(call, file):
        data["gives"] = "1"
    if _READS_SETTINGS.search(function_text(call, file)):
        data["settings"] = "1"
    # What takes a panic stands at the end of all, mostly.
    is_last = file.language == "go" and "recover()" in text_before(call, file)
    yield file.mark(RULE.id, call, message, confidence="low" if is_last else "", data=data)


def _form(name: str, file: SourceFile, *, is_top: bool, is_end: bool) -> str:
    """What the place of the call says of it."""
    if is_top or is_end:
        return "top" if is_top else "end"
    return "named" if _SAYS_IT.search(name) else "init" if _is_initializer(name, file) else ""


def _is_initializer(name: str, file: SourceFile) -> bool:
    """Whether Go runs the function when the package is imported."""
    return file.language == "go" and name == "init"


def _is_said(call: Node, name: str, file: SourceFile) -> bool:
    """Whether the function, or a line above the call, says that the process ends here."""
    if "atal" in name and (file.language == "go" or _LOGS.search(name.rpartition(".")[0])):
        return True
    if not _is_initializer(name, file) and re.search(r"(?:^|\.)init(?:\.|$)", name):
        return True
    if _ENTRY_NAME.search(name) or _SAYS_IT_ENDS.search(said_of_function(call, file)):
        return True
    near = file.source[max(0, call.start_byte - NEAR) : call.start_byte]
    if _SAYS_WHY.search(near) or _RESTARTS.search(near) or _NO_LEADER.search(near):
        return True
    before = text_before(call, file)[-NEAR:]
    if _ASKS_WHETHER_TO.search(before):
        return True
    return re.search(r"[fF]atal\w*\s*\)?\s*[{:](?:[^{};]|\{\s*\Z)*\Z", before) is not None


def _is_asked_for(call: Node, name: str, file: SourceFile) -> bool:
    """Whether a signal or a command line asked the process to end."""
    before = text_before(call, file)
    if _SIGNAL.search(before) or _ON_SIGNAL.search(file.source, max(0, call.start_byte - NEAR), call.start_byte):
        return True
    if _READS_FLAGS.search(before) or "execute_from_command_line(" in function_text(call, file):
        return True
    if file.mentions(b"signal"):
        handled = rf"\bsignal\.signal\([^)\n]*\b{name.rpartition('.')[2]}\b"
        if re.search(handled, file.source.decode("utf-8", "replace")):
            return True
    return file.mentions(b"SIG") and _is_started_by_signal(name, file)


def _is_of_a_tool(file: SourceFile) -> bool:
    """Whether a file holds commands for a terminal, by the library that it uses for them."""
    if file.language == "python":
        return _is_of_commands(file)
    if file.language in SCRIPT:
        return _ASKS_IN_TERMINAL.search(file.source) is not None
    library = _LIBRARY_OF_COMMANDS if file.language == "go" else _CLASS_OF_COMMAND
    return library.search(file.source) is not None


def _is_replaced(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether another process goes on in place of this one, or this one is a fork that has done its work."""
    if file.language == "go" and b"syscall.Exec(" in file.source and "syscall.Exec(" in function_text(call, file):
        return True
    return callee in ("os._exit", "sys.exit") and "os.fork(" in text_before(call, file)


def _ends_well(call: Node, file: SourceFile) -> bool:
    """Whether the process is told to have done its work: `process.exit(0)`."""
    code = next(iter(file.arguments(call)[0]), None)
    return code is None or file.text(code) == "0"


def _is_failure(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether the process ends with a failure: by its name, or by what is given to it."""
    if not _TAKES_CODE.search(callee):
        return True
    code = next(iter(file.arguments(call)[0]), None)
    return code is not None and _FAILS_WITH.match(file.text(code)) is not None


def _gives_a_value(call: Node, file: SourceFile) -> bool:
    """Whether the function around gives something back, so that it could give an error, or raise one to who waits."""
    function = file.enclosing_function(call)
    if function is None:
        return False
    if file.language == "go":
        return function.child_by_field_name("result") is not None
    if file.language == "java":
        kind = function.child_by_field_name("type")
        return kind is not None and file.text(kind) != "void"
    return any(each.type == "return_statement" and each.named_child_count for each in within(function))


def _is_variable(name: str, call: Node, file: SourceFile) -> bool:
    """Whether the function gives the name a value of its own: `exit = handler.__exit__`."""
    return re.search(rf"\b{name}\s*=(?!=)", function_text(call, file)) is not None


def _is_of_commands(file: SourceFile) -> bool:
    """Whether a file of Python holds commands: for a tool that runs them, or a `main` that reads arguments."""
    if _OF_COMMANDS.search(file.source):
        return True
    return b"ArgumentParser(" in file.source and any(each.name.startswith("main") for each in file.functions)


def _is_started_by_signal(name: str, file: SourceFile) -> bool:
    """Whether the function, or one around it, is what a signal starts: `process.once("SIGTERM", close)`."""
    started = {found[1].decode() for found in _SIGNALLED.finditer(file.source)}
    return not started.isdisjoint(name.split("."))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Entry files may end their process. On the request path it takes all other requests with it."""
    if place.facts.is_entry or place.facts.package == "main" or _ENTRY_PATH.search(place.path):
        return None
    if place.facts.language == "go" and _helps_tests(place.path, codebase):
        return None
    if _ENDS_IT.search(place.function.name):
        return None
    if place.facts.language in SCRIPT and not place.in_request_path and not _is_library(place.path, codebase):
        return None
    form = mark.data.get("form")
    if form == "init":
        return place.finding(mark, confidence=Confidence.MEDIUM)
    if form is not None:
        return place.finding(mark, confidence=Confidence.LOW) if _is_library_all_the_same(form, place) else None
    returns_error = bool(place.function.flags & FunctionFlag.RETURNS_ERROR)
    gives = returns_error or "gives" in mark.data
    if mark.confidence:
        return place.finding(mark)
    is_start = _is_start(place)
    reads_settings = (
        not returns_error
        and not place.in_handler
        and ("settings" in mark.data or _OF_SETTINGS.search(place.path) is not None or _is_given_settings(place))
    )
    if place.in_request_path and not (is_start or reads_settings):
        return place.finding(mark, severity=Severity.CRITICAL, confidence=None if gives else Confidence.MEDIUM)
    if not gives and not place.in_request_path and is_start:
        return None
    # Who gives an error could have given this one; that others go on after it is told by its result.
    if returns_error:
        return place.finding(mark)
    if place.facts.language == "go" and _is_step_of_main(place):
        return None
    if reads_settings:  # nobody has work in hand yet that could be lost
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    return place.finding(mark, confidence=Confidence.MEDIUM if gives and not is_start else Confidence.LOW)


def _is_start(place: Place) -> bool:
    """Whether a function is run once, at the start: by its name, or that of all in its file that call it."""
    name = place.function.short_name
    if _STARTS.search(name):
        return True
    callers = [each.short_name for each in _callers_in_file(place)]
    return name[:1].islower() and bool(callers) and all(map(_STARTS.search, callers))


def _is_given_settings(place: Place) -> bool:
    """Whether all in its file that call a function of its own read settings of the environment for it."""
    callers = _callers_in_file(place)
    is_own = not place.function.flags & FunctionFlag.EXPORTED
    return is_own and bool(callers) and all(any(map(_CALLS_FOR_SETTINGS.search, each.calls)) for each in callers)


def _callers_in_file(place: Place) -> list[Function]:
    name = place.function.short_name
    return [each for each in place.facts.functions if any(call.rpartition(".")[2] == name for call in each.calls)]


def _is_step_of_main(place: Place) -> bool:
    """Whether only the `main` and `init` of programs call a function of Go: it is their code, put elsewhere."""
    codebase, here = place.codebase, place.callee
    name = place.function.short_name
    importers = {edge.source for edge in codebase.graph.importers_of(place.path)} & codebase.files.keys()
    package = {path for path in codebase.files if path.rpartition("/")[0] == place.path.rpartition("/")[0]}
    callers = [
        (path, function)
        for path in sorted(importers | package)
        if codebase.kind(path) is not FileKind.TEST
        for function in codebase.files[path].functions
        if function is not place.function
        for call in function.calls
        if call.rpartition(".")[2] == name and here in codebase.calls.resolve(path, function, call)
    ]
    return bool(callers) and all(
        codebase.files[path].package == "main" and function.name in _STEPS for path, function in callers
    )


def _is_library_all_the_same(form: str, place: Place) -> bool:
    """Whether code that ends the process when it is imported, when it was asked to, or as its name says, takes others
    with it: who imports it, or whose requests the file answers."""
    if form == "asked":
        return any(entry.kind == "request" for entry in place.facts.entries)
    if form == "end":
        return place.in_request_path
    if form == "named":
        return True
    importers = {edge.source for edge in place.codebase.graph.importers_of(place.path)}
    return any(place.codebase.kind(each) is FileKind.SOURCE for each in importers)


def _helps_tests(path: str, codebase: Codebase) -> bool:
    """Whether only tests import the file: nothing else can run it in Go; elsewhere it may be loaded by name."""
    importers = {edge.source for edge in codebase.graph.importers_of(path)}
    return bool(importers) and all(codebase.kind(each) is FileKind.TEST for each in importers)


def _is_library(path: str, codebase: Codebase) -> bool:
    """Whether other code can import the file, and not only files that nobody imports."""
    importers = {edge.source for edge in codebase.graph.importers_of(path)}
    if not importers:
        return bool(codebase.files[path].exports)
    return any(_SERVER.search(each) or (each in codebase.files and codebase.files[each].exports) for each in importers)


WATCHES = (
    Watch(
        "call", look, ALL, names=frozenset("exit _exit abort quit halt Exit Exitf Fatal Fatalf Fatalln Fatalw".split())
    ),
)
