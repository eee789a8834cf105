"""Files that are looked for and then made or removed, as `risk-check-then-act` sees them."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.checked_rows import LEAVES, NEAR, decoded
from analysis.engine.readers.reading import assigned_values, function_text, given_values, short, text_after

HANDLED = re.compile(
    r"\bexcept\s+\(?(?:OSError|IOError|Exception)\b|FileExistsError|FileNotFoundError|EEXIST|ENOENT|FileAlreadyExists|NoSuchFileException|\bLock\("
)
PYTHON_CHECK = re.compile(
    rb"if\s+(?P<not>not\s+)?(?:os\.path\.(?:exists|isfile|isdir|lexists)\((?P<path>[^()\n]+(?:\([^()\n]*\))?)\)"
    rb"|(?:\w+\.)*Path\((?P<made>[^()\n]+)\)\.(?:exists|is_file|is_dir)\(\)"
    rb"|(?P<object>[\w.]+)\.(?:exists|is_file|is_dir)\(\))\s*:"
)
GO_CHECK = re.compile(
    rb"if\s+(?:_,\s*err\s*:?=\s*os\.Stat\((?P<path>[^()\n]+)\);\s*)?(?P<not>os\.IsNotExist\(err\)"
    rb"|errors\.Is\(err, (?:os|fs)\.ErrNotExist\)|err != nil|err == nil)"
)
SCRIPT_CHECK = re.compile(
    rb"if\s*\(\s*(?P<not>!)?\s*(?:\w+\.)?(?:existsSync|pathExistsSync)\((?P<path>[^()\n]+(?:\([^()\n]*\))?)\)\s*\)"
)
JAVA_CHECK = re.compile(rb"if\s*\(\s*(?P<not>!)?\s*Files\.(?P<negated>not)?[eE]xists\((?P<path>[^(),\n]+)\)\s*\)")
_TEMPORARY = re.compile(r"(?i)te?mp(?:orary|file|dir|name)?(?![a-z])|mkst?e?mp|mkdtemp")
_WRITTEN_OUT = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`$]*`")


class FileAct(NamedTuple):
    """Where a path that was looked for is made or removed."""

    path: str
    line: int
    act: str
    makes: bool


def python_act(branch: Node, file: SourceFile) -> FileAct | None:
    """`if not os.path.exists(path): os.makedirs(path)`, `if path.exists(): path.unlink()`."""
    found = PYTHON_CHECK.match(file.source, branch.start_byte)
    if found is None:
        return None
    path = decoded(found["path"] or found["object"] or found["made"])
    word = rf"(?:str\(\s*)?{re.escape(path)}"
    made = (
        rf"os\.(?:mkdir|makedirs)\(\s*{word}\s*(?:,(?!\s*exist_ok)[^,()]+)?\)|(?<![\w.]){word}\.mkdir\((?![^)]*exist_ok)"
        rf"|(?<![\w.])open\(\s*{word}\s*,\s*(?:mode=)?[\"'][wa]|(?<![\w.]){word}\.(?:open\([\"'][wa]|write_(?:text|bytes)\()"
        rf"|(?<![\w.]){word}\.touch\((?![^)]*exist_ok)|shutil\.(?:copy\w*|move)\([^,()]+,\s*{word}\s*\)"
    )
    gone = (
        rf"os\.(?:remove|unlink|rmdir)\(\s*{word}\s*\)|(?<![\w.]){word}\.(?:unlink\(\s*\)|rmdir\(\s*\))"
        rf"|shutil\.rmtree\(\s*{word}\s*\)"
    )
    other = branch.child_by_field_name("alternative")
    if other is not None and re.search(gone, file.text(other)):
        return None  # it asks of which kind it is
    return _act(branch, file, path, made, gone, absent=bool(found["not"]))


def go_act(branch: Node, file: SourceFile) -> FileAct | None:
    """`if _, err := os.Stat(path); os.IsNotExist(err) { os.Mkdir(path) }`, also with the `Stat` on the line before."""
    found = GO_CHECK.match(file.source, branch.start_byte)
    if found is None:
        return None
    path = found["path"]
    if path is None:
        before = file.source[max(0, branch.start_byte - 120) : branch.start_byte].rstrip().rpartition(b"\n")[2]
        told = re.match(rb"\s*([a-z]\w*),", before)
        after = file.source[branch.start_byte : branch.start_byte + NEAR]
        if told is not None and re.search(rb"\b" + told[1] + rb"\.(?:ModTime|Size|Mode)\(", after):
            return None  # it is asked for more than whether it is there
        asked = re.search(rb"os\.Stat\(([^()\n]+)\)\s*$", before)
        path = asked[1] if asked is not None else None
    if path is None:
        return None
    word = re.escape(decoded(path))
    made = rf"os\.(?:Mkdir|Create|WriteFile)\(\s*{word}\s*[,)]"
    gone = rf"os\.Remove\(\s*{word}\s*\)"
    is_there = found["not"] == b"err == nil"
    return _act(branch, file, decoded(path), made, gone, absent=not is_there)


def script_act(branch: Node, file: SourceFile) -> FileAct | None:
    """`if (!fs.existsSync(dir)) fs.mkdirSync(dir)`."""
    found = SCRIPT_CHECK.match(file.source, branch.start_byte)
    if found is None:
        return None
    word = re.escape(decoded(found["path"]))
    made = rf"\b(?:mkdir|writeFile|createWriteStream)(?:Sync)?\(\s*{word}\s*(?:\)|,(?!\s*\{{[^}}]*recursive:\s*true))"
    gone = rf"\b(?:unlink|rm|rmdir|remove)(?:Sync)?\(\s*{word}\s*(?:\)|,(?!\s*\{{[^}}]*force:\s*true))"
    return _act(branch, file, decoded(found["path"]), made, gone, absent=bool(found["not"]))


def java_act(branch: Node, file: SourceFile) -> FileAct | None:
    """`if (!Files.exists(path)) Files.createFile(path)`."""
    found = JAVA_CHECK.match(file.source, branch.start_byte)
    if found is None:
        return None
    word = re.escape(decoded(found["path"]))
    made, gone = rf"Files\.create(?:File|Directory)\(\s*{word}\s*[,)]", rf"Files\.delete\(\s*{word}\s*\)"
    is_absent = bool(found["not"]) != bool(found["negated"])
    return _act(branch, file, decoded(found["path"]), made, gone, absent=is_absent)


def _act(branch: Node, file: SourceFile, path: str, made: str, gone: str, *, absent: bool) -> FileAct | None:
    """The act in the branch, or behind it when the branch leaves. A path that is written out is the program's own."""
    body = branch.child_by_field_name("consequence")
    if body is None or _WRITTEN_OUT.fullmatch(path) is not None or HANDLED.search(function_text(branch, file)):
        return None
    text, first = file.text(body), file.line(body)
    makes = absent
    act = re.search(made if makes else gone, text)
    if act is None and LEAVES.search(text):
        text, first = text_after(branch, file)[:NEAR], file.lines.of(branch.end_byte)
        makes = not absent
        act = re.search(made if makes else gone, text)
    if act is None or (not makes and _is_temporary(path, branch, file)):
        return None
    return FileAct(short(path), first + text[: act.start()].count("\n"), short(act[0].rstrip(",")), makes)


def _is_temporary(path: str, branch: Node, file: SourceFile) -> bool:
    """Whether the function made the file for itself, so that nobody else removes it."""
    name = path.partition(".")[0]
    values = assigned_values(name, branch, file) or (given_values(name, file) if name.isidentifier() else [])
    return any(_TEMPORARY.search(text) for text in (path, *(file.text(each)[:NEAR] for each in values)))
