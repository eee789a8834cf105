"""Divides the project into modules, the parts that its authors would name (rules.md 1.10).

Python and scripts: the top-level folders of each source root, which is the folder of a project's manifest, followed
down as long as nearly all its code stands in one folder. Java: the packages directly below the packages' common
prefix. Go: packages, named from their `go.mod`. Names are seen from the source root; where several roots are in one
repository, the root's own name comes first.
"""

from collections import Counter
from collections.abc import Callable

from analysis.engine.graph.model import Module
from analysis.engine.graph.paths import folder_of, is_inside, joined
from analysis.engine.graph.resolution import Files, is_product

_MOSTLY = 0.8  # share of the files that a folder must hold to be followed
_PLAIN_FOLDERS = frozenset({"src", "lib", "source", "app"})

RootOf = Callable[[str], str]


def folder_modules(paths: list[str], root_of: RootOf) -> dict[str, Module]:
    """Modules of Python files or scripts; `root_of` gives the folder of a file's project."""
    members: dict[str, list[str]] = {}
    for path in paths:
        members.setdefault(root_of(path), []).append(path)
    several = len(members) > 1
    modules = {}
    same: dict[Module, Module] = {}  # one object for each module makes comparisons cheap
    for root, group in members.items():
        source = _followed(root, [path for path in group if is_product(path)] or group)
        for path in group:
            module = _folder_module(path, source if is_inside(path, source) else root, root if several else "")
            modules[path] = same.setdefault(module, module)
    return modules


def _followed(folder: str, paths: list[str]) -> str:
    """Down from `folder` while one folder below holds nearly all the code and the rest is not divided further."""
    while paths:
        below = Counter(_top_folder(path, folder) for path in paths)
        name, count = max(below.items(), key=lambda item: (item[1], item[0]))
        inner = [path for path in paths if _top_folder(path, folder) == name]
        alone = all(other in ("", name) for other in below)
        if not name or not (alone or (count >= _MOSTLY * len(paths) and _is_divided(inner, joined(folder, name)))):
            return folder
        folder, paths = joined(folder, name), inner
    return folder


def _is_divided(paths: list[str], folder: str) -> bool:
    """Whether a folder holds several folders with code, or is one that only says that code follows."""
    if folder.rpartition("/")[2] in _PLAIN_FOLDERS:
        return True
    return len({_top_folder(path, folder) for path in paths} - {""}) > 1


def _top_folder(path: str, folder: str) -> str:
    inside = path[len(folder) + 1 :] if folder else path
    return inside.partition("/")[0] if "/" in inside else ""


def _folder_module(path: str, source: str, root: str) -> Module:
    top = _top_folder(path, source)
    folder = joined(source, top)
    name = top or source.rpartition("/")[2] or "."
    if root and folder != root:
        label = root.rpartition("/")[2]
        name = f"{label}/{name}" if top else label
    return Module(name=name, path=folder)


def java_modules(files: Files, paths: list[str]) -> dict[str, Module]:
    """Modules of Java files by their packages."""
    packages = Counter(files[path].package for path in paths if is_product(path))
    prefix = _common_package(packages or Counter(files[path].package for path in paths))
    homes = {path: (files[path].package, folder_of(path)) for path in paths}
    names: dict[str, str] = {}
    folders: dict[str, Counter[str]] = {}
    for (package, folder), count in Counter(homes.values()).items():
        inside = package[len(prefix) + 1 :] if prefix and f"{package}.".startswith(f"{prefix}.") else package
        if package == prefix:
            inside = prefix.rpartition(".")[2]
        names[package] = inside.partition(".")[0] or "."
        depth = inside.count(".") if package != prefix else 0
        folders.setdefault(names[package], Counter())["/".join(folder.split("/")[: -depth or None])] += count
    # A package may be spread over several source folders; the module's path is where most of its files are.
    path_of = {name: max(counts.items(), key=lambda item: (item[1], item[0]))[0] for name, counts in folders.items()}
    modules = {name: Module(name=name, path=path) for name, path in path_of.items()}
    return {path: modules[names[package]] for path, (package, _) in homes.items()}


def _common_package(packages: Counter[str]) -> str:
    """The prefix of nearly all packages; a few strangers do not shorten it."""
    prefix = ""
    while step := _next_step(packages, prefix):
        prefix = f"{prefix}.{step}" if prefix else step
    # The last step must leave something to tell modules apart.
    return prefix if any(package.startswith(prefix + ".") for package in packages) else prefix.rpartition(".")[0]


def _next_step(packages: Counter[str], prefix: str) -> str:
    """The name below the prefix that nearly all packages share, or nothing where the prefix is a module of its own
    beside others."""
    below: Counter[str] = Counter()
    for package, count in packages.items():
        if not prefix or package.startswith(prefix + "."):
            below[package[len(prefix) + 1 if prefix else 0 :].partition(".")[0]] += count
    if not below or (prefix and packages[prefix] and len(below) > 1):
        return ""
    name, count = max(below.items(), key=lambda item: (item[1], item[0]))
    return name if count >= _MOSTLY * packages.total() else ""


def go_modules(paths: list[str], root_of: RootOf) -> dict[str, Module]:
    """Modules of Go files; `root_of` gives the folder of a file's `go.mod`."""
    roots = {path: root_of(path) for path in paths}
    several = len(set(roots.values())) > 1
    modules = {}
    for path, root in roots.items():
        folder = folder_of(path)
        inside = folder[len(root) + 1 :] if root else folder
        name = inside or root.rpartition("/")[2] or "."
        if several and root and inside:
            name = f"{root.rpartition('/')[2]}/{name}"
        modules[path] = Module(name=name, path=folder)
    return modules
