"""Finds the public entries of folders: the file through which the rest of the project should come in."""

from collections.abc import Iterable

from analysis.engine.facts import FileFacts, ImportFlag
from analysis.engine.graph.resolution import Files

_INDEX_STEM = "index"
_ENTRY_NAMES = ("__init__.py", _INDEX_STEM, "package-info.java")
_API = "/api"
_INTERNAL = "/internal/"
_SCRIPT = ("javascript", "typescript", "tsx")
_FEWEST_PASSED_ON = 2


def public_entries(files: Files, nodes: Iterable[str]) -> dict[str, str]:
    """Folder to its entry: an `index` that passes names on, or offers some itself beside a folder that calls itself
    internal, an `__init__.py` with `__all__` or re-exports. A package of Java also has one in the package `api` below
    it."""
    entries: dict[str, str] = {}
    nodes = list(nodes)
    guarding = {path.partition(_INTERNAL)[0] for path in nodes if _INTERNAL in path}
    for path in nodes:
        folder, _, name = path.rpartition("/")
        if folder.endswith(_API) and name.endswith(".java"):
            entries.setdefault(folder.removesuffix(_API), path)
        if not folder or not name.startswith(_ENTRY_NAMES):
            continue
        facts = files[path]
        if name == "__init__.py" and _is_python_entry(facts, folder):
            entries[folder] = path
        elif name.partition(".")[0] == _INDEX_STEM and facts.language in _SCRIPT:
            if _is_script_entry(facts) or (folder in guarding and facts.exports):
                entries.setdefault(folder, path)
        elif name == "package-info.java":
            entries[folder] = path
    return entries


def _is_script_entry(facts: FileFacts) -> bool:
    return any(statement.flags & ImportFlag.REEXPORT for statement in facts.imports)


def _is_python_entry(facts: FileFacts, folder: str) -> bool:
    """Passes on names of two or more of its own modules, or imports nothing but names of one, under their own names;
    and does nothing else."""
    inside = f".{folder.rpartition('/')[2]}."
    own = [
        statement
        for statement in facts.imports
        if statement.names
        and ((statement.level == 1 and statement.target) or (statement.level == 0 and inside in f".{statement.target}"))
    ]
    if facts.classes or len(facts.functions) > 1:
        return False
    is_all = len(own) == len(facts.imports) and not any(statement.aliases for statement in own)
    return len(own) >= (1 if is_all else _FEWEST_PASSED_ON)
