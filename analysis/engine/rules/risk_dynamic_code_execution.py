"""Text becomes code: `eval` and its relatives, or a shell that is given a built command."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import is_copied_library, runs_in_browsers
from analysis.engine.readers.built_text import BuiltText, is_constant, text_of_argument
from analysis.engine.readers.checked_text import is_plain_word
from analysis.engine.readers.reading import (
    assigned_values,
    declarations,
    followed,
    function_name,
    is_own_function,
    is_parameter,
    short,
    text_after,
    text_before,
)
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="risk-dynamic-code-execution",
    type="dynamic_code",
    category=Category.RUNTIME_RISK,
    title="Dynamic code execution",
    severity=Severity.CRITICAL,
    points=3,
    suggestion="Choose among functions of your own by name, or parse the text as data.",
    version=2,
)
GUIDE = Guide(
    why="Whoever has a say in the text has a say in what the machine does.",
    grades=(
        "Critical when the text is not a literal, a warning for code that no request is known to bring, else info. In "
        "a browser a warning: there it has the rights of its visitor. Info for what runs scripts, plug-ins or settings "
        "by its name or by what it reads."
    ),
    flagged=(
        {
            "shop/work.py": """
def price(order, formula):
    return eval(formula)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import ast


def price(order, formula):
    return ast.literal_eval(formula)
"""
        },
    ),
)

_PYTHON_CODE = frozenset({"eval", "exec", "builtins.eval", "builtins.exec"})
_PYTHON_SHELL = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_SUBPROCESS = frozenset(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen"))
_SCRIPT_CODE = frozenset({"eval", "Function", "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext"})
_SCRIPT_SHELL = frozenset({"child_process.exec", "child_process.execSync"})
_SCRIPT_SPAWNS = frozenset({"child_process.spawn", "child_process.spawnSync", "child_process.execFile"})
_PROMISED = frozenset({"execAsync", "execPromise", "execPromisified", "execP", "asyncExec", "pExec"})
_PROMISIFIED = re.compile(rb"\s*=\s*(?:util\.)?promisify\(\s*(?:\w+\.)?exec\s*\)")
_TIMERS = frozenset({"setTimeout", "setInterval"})
_STARTS_AS_TEXT = re.compile(r"[\"'`]")
# What those who build a program call: there the parts are names of its own versions and branches.
_TOOL = re.compile(r"[\"'`\s]*(?:git|gh|npm|pnpm|yarn|npx|docker|mkcert|go|tsc|pip|poetry|make)\s")
_SHELLS = re.compile(r"^[\"'`](/bin/|/usr/bin/)?(ba|z|da)?sh[\"'`]$")
_COMMAND_LINES = frozenset({"click", "typer", "argparse", "optparse", "docopt", "fire"})
_NO_SHELL = "Pass the program and its arguments as a list, without a shell."
_PARSE = {
    "python": "Parse the text with `ast.literal_eval`, or choose among functions of your own by name.",
    "java": "Choose among methods of your own by name, or run the script in an engine that may reach nothing else.",
}
LONGEST_HEAD = 600  # bytes in which a bundle says what loads it
_BUNDLE = re.compile(rb"webpackUniversalModuleDefinition|typeof exports\b[^;]*typeof module\b[^;]*\bdefine\b")
# The head of a library that was copied into the project: its name and version in the first comment.
_LIBRARY = re.compile(rb"\s*(?:/\*+!?|//+!?)[\s*!]*(?![^\n]*(?:[Ll]icense|[Cc]opyright))[^\n]{2,60}?\bv?\d+\.\d+\.\d+")
_READ = re.compile(r"(\w+)\.read\(\)")
_FIXED = r"(?:os\.path\.join\([^()\n]*?)?(?:[A-Z][A-Z0-9_]+|[\"'][^\"'\n]+[\"'])\s*[,)]"
_READS_FIXED = re.compile(rf"open\(\s*{_FIXED}[^\n]*\.read\(\)$")
_OPENED = re.compile(rf"\bwith\s+open\(\s*{_FIXED}[^\n]*?\bas\s+(\w+)\s*:")
_COMPILES = re.compile(r"compile\(.*[\"']exec[\"']", re.DOTALL)
_WRITES = r"\bwrite\w*\([^;\n]*\b{0}\b"
_OF_A_FILE = re.compile(r"^(?!.*(?i:request|upload)).*\.read(?:_text|_bytes)?\(\)$|^new (?:\w+\.)*FileReader\(")
_LOADS_MODULES = (".exec_module", ".load_module", ".get_code")  # of a loader for `importlib`
_OF_A_PAGE = re.compile(rb"\bdocument\.(?:create(?:Element|Event)|getElement|querySelector|addEventListener|write)")
_HIDDEN_REQUIRE = re.compile(r"[\"'`](?:require|import)[\"'`]")  # from a bundler, which would follow it
# From a compiler that would turn it around.
_HIDDEN_IMPORT = re.compile(r"[\"'`]\s*(?:return\s+)?import\([^()]*\);?\s*[\"'`]")
# The mode in which Python compiles what is typed at its prompt, and the classes for such a prompt.
_CONSOLE = re.compile(rb"compile\([^()\n]*,\s*[\"']single[\"']|\bInteractive(?:Console|Interpreter)\b")
_RUNS_SCRIPTS = re.compile(rb"(?i)(?:engine|script|shell|sandbox|context|interpreter|var)\b[^\n]{0,40}$")
_COMPILED = re.compile(rb"\bCompiledScript\b[^\n]{0,40}$")  # of `javax.script`: its text stands where it was compiled
_DRIVEN = re.compile(r"\.(?:evaluate\w*|addInitScript|\$\$?eval)$")
# What makes a path that nobody outside of the program chose.
_OWN_PATH = re.compile(
    r"(?:await\s+)?(?:(?:path|os|fs|fsp|tempfile|crypto)\.)*(?:join|resolve|mkdtemp(?:Sync)?|mkstemp|tmpdir|gettempdir"
    r"|randomUUID|uuid\w*|NamedTemporaryFile)\("
)
_WORD = re.compile(r"[A-Za-z_$][\w$.]*")
_OWN_WORDS = frozenset(
    "path.join join path.resolve resolve os.tmpdir tmpdir __dirname process.cwd os.path.join await".split()
)
_OWN_FOLDER = re.compile(r"\bget\w*(?:Root|Dir|Folder|Path|Home)\w*\(\)")
_TEXTS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
# What there is to run the code of others, who were let in as its authors.
_RUNNER = re.compile(
    r"(?:(?<![A-Za-z])s|(?<!Type)(?<!Java)S)cript(?:s|ing)?(?![a-z])|[sS]andbox|[rR]untime|[rR]unner"
    r"|[pP]lug-?[iI]ns?(?![a-z])|[iI]nterpreter|[rR]un_?[cC]ode"
)
_OF_A_REQUEST = re.compile(r"(?i)`[^`]*(?:req(?:uest)?\b|upload|body\b|query\b|params\b)")
_OF_THE_BUILD = re.compile(
    r"(?:^|/)(?:build|generate|gen|make|release|deploy|bundle|replace|prepare)[-_][\w.-]*\.[cm]?js$"
)
# Quoted for a shell, or from the environment of the process, which whoever starts it chose.
_QUOTED_OR_OWN = re.compile(
    r"(^|\.)(quote|shellescape|escapeshellarg)\(|shlex|[sS]hell_?[qQ]uote\("
    r"|^(?:os\.(?:Getenv|getenv|environ)\b|process\.env\b)"
)


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    positional, keywords = file.arguments(call)
    if not positional:
        return
    is_compiled = callee == "compile" and len(positional) > 2 and file.text(positional[2]).strip("'\"") == "exec"
    is_dropped = call.parent is not None and call.parent.type == "expression_statement"
    if is_compiled and is_dropped and "except SyntaxError" in text_after(call, file):
        return  # only to see whether it compiles
    if function_name(call, file).endswith(_LOADS_MODULES):
        return  # does what an import does
    if callee in _PYTHON_CODE or is_compiled:
        yield from _code(call, callee, positional[0], file)
    elif callee in _PYTHON_SHELL or (
        callee in _SUBPROCESS and "shell" in keywords and file.text(keywords["shell"]) == "True"
    ):
        yield from _shell(call, callee, positional[0], file, built_only=False)


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    positional, _ = file.arguments(call)
    if not positional:
        return
    if callee in _SCRIPT_CODE:
        yield from _code(call, callee, positional[-1] if callee == "Function" else positional[0], file)
    elif callee in _TIMERS and _STARTS_AS_TEXT.match(file.text(positional[0])):
        yield from _code(call, callee, positional[0], file)
    elif callee.rpartition(".")[2] in _PROMISED and _is_shell_of_promises(callee, file):
        yield from _shell(call, callee.rpartition(".")[2], positional[0], file, built_only=True, confidence="medium")
    elif callee in _SCRIPT_SHELL or (callee in _SCRIPT_SPAWNS and _with_shell(positional[1:], file)):
        yield from _shell(call, callee, positional[0], file, built_only=True)


def _is_shell_of_promises(callee: str, file: SourceFile) -> bool:
    """Whether a name stands for `promisify(exec)`, made in this file or imported from one of the project's own."""
    if callee.startswith((".", "@", "~")):
        return True
    return next(followed(callee.encode(), file.source, _PROMISIFIED, b"_.$"), None) is not None


def _with_shell(given: list[Node], file: SourceFile) -> bool:
    return any(each.type == "object" and re.search(r"\bshell:\s*true", file.text(each)) for each in given)


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    positional, _ = file.arguments(call)
    is_own = "." not in file.callee(call)  # a method of the class itself
    if (
        not is_own
        and 0 < len(positional) <= 2
        and file.mentions(b"javax.script.")
        and not _is_of_another_kind(call, file)
    ):
        yield from _code(call, "ScriptEngine.eval", positional[0], file)


def _is_of_another_kind(call: Node, file: SourceFile) -> bool:
    """Whether what evaluates is declared as something that runs no text, `TariffModel model` or a script that is
    compiled already and is given its variables, or is a method of the class itself."""
    receiver = call.child_by_field_name("object")
    if receiver is None:
        return True
    known = [*declarations(file.text(receiver), file)] if receiver.type == "identifier" else []
    return bool(known) and not any(_RUNS_SCRIPTS.search(each) and not _COMPILED.search(each) for each in known)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee not in ("os/exec.Command", "os/exec.CommandContext"):
        return
    positional = file.arguments(call)[0][callee.endswith("Context") :]
    if len(positional) == 3 and _SHELLS.match(file.text(positional[0])) and file.text(positional[1]) == '"-c"':
        yield from _shell(call, "sh -c", positional[2], file, built_only=True)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A script is run by those who could type the command themselves."""
    is_shell = mark.data.get("form") == "shell"
    if place.kind is FileKind.SCRIPT and "written" in mark.data:
        return None  # a generator tries what it makes
    if place.kind is FileKind.SCRIPT or (is_shell and _OF_THE_BUILD.search(place.path)):
        return None if is_shell else place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if not is_shell and mark.severity == "" and place.facts.language in SCRIPT and runs_in_browsers(place):
        if is_copied_library(place):
            return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
        return place.finding(mark, severity=Severity.WARNING, confidence=Confidence.MEDIUM)
    is_typed = place.facts.is_entry or "typed" in mark.data
    if is_shell and is_typed and place.facts.language == "python" and not place.in_request_path:
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)  # who calls it types the rest
    if is_shell and "tool" in mark.data and not (place.in_request_path or place.in_job_path):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if mark.data.get("form") == "file" and not place.in_request_path:
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if "passed" in mark.data and not place.in_request_path:
        return place.finding(mark, severity=Severity.WARNING, confidence=Confidence.LOW)  # its callers make the command
    if mark.severity == "" and mark.confidence == "" and not place.in_request_path:
        return _from_nowhere(mark, place, is_shell=is_shell)
    return place.finding(mark)


def _from_nowhere(mark: Mark, place: Place, *, is_shell: bool) -> Finding:
    """Text that no request is known to bring."""
    if is_shell or _OF_A_REQUEST.search(mark.message):
        return place.finding(mark, confidence=Confidence.MEDIUM)
    if _RUNNER.search(f"{place.path} {place.function.name}"):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    return place.finding(mark, severity=Severity.WARNING, confidence=Confidence.MEDIUM)


def _code(call: Node, callee: str, argument: Node, file: SourceFile) -> Iterator[Mark]:
    name = callee.rpartition(".")[2]
    if is_own_function(callee, file):
        return
    if _HIDDEN_REQUIRE.fullmatch(file.text(argument)) or _HIDDEN_IMPORT.fullmatch(file.text(argument)):
        return
    parts = _open_parts(text_of_argument(argument, file), file)
    if file.language == "python" and _reads_own_file(call, argument, file):
        message = f"`{name}` runs a file of the project that could be imported or read as data"
        yield file.mark(RULE.id, call, message, severity="info", confidence="low")
    elif not parts:
        confidence = "" if "string" in argument.type else "low"
        message = f"`{name}` runs a fixed text that could be plain code"
        yield file.mark(RULE.id, call, message, severity="info", confidence=confidence)
    elif not _is_compiled_here(argument, file):  # told where it is compiled
        yield _open_code(call, name, argument, _named(parts, file), file)


def _open_code(call: Node, name: str, argument: Node, said: str, file: SourceFile) -> Mark:
    """Code whose text is not fixed. Consoles, settings and driven pages run such code because that is what they are
    for."""
    if file.language == "python" and (_CONSOLE.search(file.source) or "__main__" in file.text(call)):
        message = f"`{name}` runs {said}, as a console does with what its user types"
        return file.mark(RULE.id, call, message, severity="info", confidence="low")
    if _OF_A_FILE.search(file.text(argument)):
        message = f"`{name}` runs the file that {said} stands for, as settings and plug-ins are run"
        return file.mark(RULE.id, call, message, confidence="low", data={"form": "file"})
    if file.language in SCRIPT and _runs_in_a_driven_page(call, file):
        message = f"`{name}` runs {said} in the page that is driven"
        return file.mark(RULE.id, call, message, severity="info", confidence="low")
    if _LIBRARY.match(file.source) or _BUNDLE.search(file.source, 0, LONGEST_HEAD):
        message = f"`{name}` of a copied library runs whatever {said} says"
        return file.mark(RULE.id, call, message, severity="info", confidence="low")
    is_page = file.language in SCRIPT and _OF_A_PAGE.search(file.source) and not file.mentions(b"require(")
    severity = "warning" if is_page else ""  # there it has the rights of its visitor
    message = f"`{name}` runs whatever {said} says"
    data = {"written": "1"} if _is_written(argument, file) else None
    return file.mark(RULE.id, call, message, severity=severity, suggestion=_PARSE.get(file.language, ""), data=data)


def _is_written(code: Node, file: SourceFile) -> bool:
    """Whether the file also writes the text into a file, as those do that make code."""
    if code.type != "identifier" or not file.mentions(b"write"):
        return False
    written = _WRITES.format(re.escape(file.text(code)))
    return re.search(written.encode(), file.source) is not None


def _is_compiled_here(argument: Node, file: SourceFile) -> bool:
    """Whether a local name holds what the function compiled itself, or it is compiled on the spot."""
    if _COMPILES.match(file.text(argument)):
        return True
    values = assigned_values(file.text(argument), argument, file) if argument.type == "identifier" else []
    return bool(values) and all(file.text(value).startswith("compile(") for value in values)


def _reads_own_file(call: Node, argument: Node, file: SourceFile) -> bool:
    """Whether the code stands in a file whose name stands in the program: `exec(open("shop/version.py").read())`."""
    text = file.text(argument)
    held = _READ.fullmatch(text)
    opened = _OPENED.findall(text_before(call, file)) if held is not None else []
    return _READS_FIXED.match(text) is not None or (held is not None and held[1] in opened)


def _shell(
    call: Node, callee: str, argument: Node, file: SourceFile, *, built_only: bool, confidence: str = ""
) -> Iterator[Mark]:
    if argument.type in ("list", "list_comprehension"):
        return
    text = text_of_argument(argument, file)
    parts = [
        part
        for part in _open_parts(text, file)
        if not _QUOTED_OR_OWN.search(file.text(part)) and not is_plain_word(file.text(part), call, file)
    ]
    if parts and (text.fixed.strip("\"'` ") or not built_only):
        data = {"form": "shell"} | ({"tool": "1"} if _TOOL.match(text.fixed) else {})
        if not _COMMAND_LINES.isdisjoint(full.partition(".")[0] for full in file.bindings.values()):
            data["typed"] = "1"
        if len(parts) == 1 and parts[0].id == argument.id and is_parameter(argument, call, file):
            data["passed"] = "1"
        message = f"`{callee}` gives {_named(parts, file)} to a shell as part of the command"
        if all(_is_own_path(part, file) for part in parts):
            yield file.mark(
                RULE.id, call, message, severity="info", confidence="medium", suggestion=_NO_SHELL, data=data
            )
            return
        yield file.mark(RULE.id, call, message, confidence=confidence, suggestion=_NO_SHELL, data=data)


def _runs_in_a_driven_page(call: Node, file: SourceFile) -> bool:
    """Whether the function around the call is given to a browser that is driven: `page.evaluate((text) => ...)`."""
    function = file.enclosing_function(call)
    around = function.parent.parent if function is not None and function.parent is not None else None
    return around is not None and around.type == "call_expression" and _DRIVEN.search(file.callee(around)) is not None


def _is_own_path(part: Node, file: SourceFile) -> bool:
    """Whether a local name only ever holds a path below a folder of the program's own: `join(tmpdir(), "a.pdf")`, or
    was imported."""
    if part.type == "identifier" and file.text(part) in file.bindings:
        return True
    values = assigned_values(file.text(part), part, file) if part.type == "identifier" else []
    return bool(values) and all(_makes_own_path(value, file) for value in values)


def _makes_own_path(value: Node, file: SourceFile) -> bool:
    text = file.text(value)
    if not _OWN_PATH.match(text):
        return False
    others = [word for word in _WORD.findall(_OWN_FOLDER.sub("", _TEXTS.sub("", text))) if word not in _OWN_WORDS]
    names = [word for word in others if not _OWN_PATH.match(f"{word}(")]
    given = (assigned_values(name, value, file) for name in names)
    return all(found and all(_OWN_PATH.match(file.text(each)) for each in found) for found in given)


def _open_parts(text: BuiltText, file: SourceFile) -> list[Node]:
    return [part for part in text.parts if not is_constant(part, file)]


def _named(parts: list[Node], file: SourceFile) -> str:
    return ", ".join(f"`{short(file.text(part), 40)}`" for part in parts[:3])


_PYTHON_NAMES = last_names((*_PYTHON_CODE, *_PYTHON_SHELL, *_SUBPROCESS, "compile"))
WATCHES = (
    Watch("call", look_at_python, PYTHON, names=_PYTHON_NAMES),
    Watch(
        "call",
        look_at_script,
        SCRIPT,
        names=_PROMISED | last_names((*_SCRIPT_CODE, *_SCRIPT_SHELL, *_SCRIPT_SPAWNS, *_TIMERS)),
    ),
    Watch("call", look_at_java, JAVA, names=frozenset({"eval"})),
    Watch("call", look_at_go, GO, names=frozenset({"Command", "CommandContext"})),
)
