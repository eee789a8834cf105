"""Writes small codebases as facts: a path and its imports, without parsing anything."""

from datetime import date

from analysis.engine.codebase import Codebase
from analysis.engine.extract.manifests import manifest_facts
from analysis.engine.facts import FileFacts, Import, ImportFlag
from analysis.engine.graph import build_graph
from analysis.engine.history import History
from analysis.engine.languages import language_of
from analysis.engine.policy import Layer, Policy


def imported(written, *names, line=1, level=0, flags=0):
    return Import(target=written, line=line, names=names, level=level, flags=int(flags))


def type_only(written, *names, line=1):
    return imported(written, *names, line=line, flags=ImportFlag.TYPE_ONLY)


def deferred(written, *names, line=1):
    return imported(written, *names, line=line, flags=ImportFlag.DEFERRED)


def passed_on(written, *names, line=1):
    return imported(written, *names, line=line, flags=ImportFlag.REEXPORT)


def facts_of(path, content, **more):
    """Facts of one file. `content` is a manifest's text, or a list of imports or of what they import."""
    if isinstance(content, FileFacts):
        return content
    if isinstance(content, str):
        return manifest_facts(content.encode())
    imports = [imported(each, line=index) if isinstance(each, str) else each for index, each in enumerate(content, 1)]
    package = ""
    if path.endswith(".java"):
        package = ".".join(path.partition("java/")[2].split("/")[:-1])
    return FileFacts(language=language_of(path), imports=tuple(imports), package=package, **more)


def files_of(contents):
    return {path: facts_of(path, content) for path, content in contents.items()}


def graph_of(contents):
    return build_graph(files_of(contents))


def edges_of(contents):
    """Edges as `source -> target`, the form that the tables of these tests use."""
    return {f"{edge.source} -> {edge.target}" for edge in graph_of(contents).edges}


def policy_of(*layers, architecture="", **more):
    """A policy with layers given as `name=glob` from the outermost to the innermost."""
    rows = (layer.partition("=") for layer in layers)
    return Policy(architecture=architecture, layers=tuple(Layer(name, path) for name, _, path in rows), **more)


def codebase_of(contents, policy=None, history=None):
    return Codebase(
        files_of(contents),
        policy=policy or Policy(),
        history=history or History.empty(),
        today=date(2026, 11, 20),
    )
