"""Reads package manifests. The path is unknown here, so the kind of manifest is told by its content.

`FileFacts.manifest` is a JSON object with a `kind` (package, tsconfig, gomod, gowork, pyproject, setup, requirements,
maven, gradle, pnpm, spring) and the parts that import resolution, stack detection and rules need. A broken file gives
an empty one.
"""

import configparser
import json
import re
import tomllib
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from analysis.engine.facts import FileFacts
from analysis.engine.policy_yaml import read_yaml

MAX_BYTES = 1_000_000
Manifest = dict[str, Any]

# Unclosed strings and comments match too, so that hostile input is walked once.
_JSON_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*[}\]])')
_REQUIREMENT_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]\n]{0,200}\])?\s*(?:$|[=<>!~;@#(,]|\s)")
_GRADLE_DEPENDENCY = re.compile(r"""["']([A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+)(?::[^"'\n]{0,100})?["']""")
_SAFE_SNAKEYAML = re.compile(r"snakeyaml(?:[.-]version>|</artifactId>\s*<version>|['\"]?\s*[:=]\s*['\"]?)\s*[2-9]\.")
_GRADLE_PLUGIN = re.compile(r"""\bid[ (]+["']([A-Za-z0-9_.-]+)["']""")
_GRADLE_START = re.compile(
    r"^(plugins|dependencies|buildscript|apply|allprojects|subprojects|repositories)\b", re.MULTILINE
)
_OF_SPRING = re.compile(r"^(?:spring|server|management)(?:\.[\w.-]+\s*=|:\s*$)", re.MULTILINE)
_UPLOAD_LIMIT = re.compile(r"\bmax-?(?:file|request)-?size\s*[=:]\s*[\"']?(\S+)", re.IGNORECASE)
_SECTION = re.compile(r"^\[\[?[\w.:\-\"' ]+\]\]?[ \t]*(#.*)?\r?$", re.MULTILINE)
_GO_LINE = re.compile(r"^(module|go|use|require|replace|exclude|retract|toolchain|tool|godebug)\b\s*(.*)$")
_SCRIPT_KEYS = ("name", "main", "module", "types", "typings", "exports", "imports")
_DEPENDENCY_KEYS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_VERSION = re.compile(r"[\^~>=v ]*(\d{1,3})\b")
_DEFAULT_CATALOG = "default"  # as pnpm calls the one without a name
_TSCONFIG_KEYS = frozenset({"compilerOptions", "extends", "references", "include", "files", "exclude"})


def manifest_facts(blob: bytes) -> FileFacts:
    """Facts of one manifest; never raises, whatever the bytes are."""
    text = blob[:MAX_BYTES].decode("utf-8-sig", errors="replace") if len(blob) <= MAX_BYTES else ""
    manifest = _read(text)
    lines = blob.count(b"\n") + (not blob.endswith(b"\n") if blob else 0)
    return FileFacts(
        language="manifest",
        lines=lines,
        manifest=json.dumps(manifest, sort_keys=True, separators=(",", ":")) if manifest else "",
    )


def _read(text: str) -> Manifest:
    for reader in _readers(text):
        try:
            manifest = reader(text)
        except (ValueError, RecursionError, configparser.Error, ElementTree.ParseError):
            continue
        if manifest:
            return manifest
    return {}


def _readers(text: str) -> tuple[Callable[[str], Manifest], ...]:
    start = text.lstrip()
    if start.startswith("{") or (start.startswith(("//", "/*")) and "{" in start and "\nplugins" not in start):
        return (_read_json, _read_gradle)
    if start.startswith("<"):
        return (_read_maven,)
    if _OF_SPRING.search(text):
        return (_read_spring,)
    if _SECTION.search(text):
        return (_read_toml, _read_setup)
    if re.search(r"^packages\s*:", text, re.MULTILINE):
        return (_read_pnpm,)
    if re.search(r"^(module|use|go)\b[ \t]*[^=:\s]", text, re.MULTILINE):
        return (_read_go,)
    if _GRADLE_START.search(text):
        return (_read_gradle, _read_requirements)
    return (_read_requirements,)


def _read_spring(text: str) -> Manifest:
    """Settings of Spring Boot: whether they limit how large an upload may be."""
    limit = _UPLOAD_LIMIT.search(text)
    return {"kind": "spring", "limits_uploads": limit is not None and not limit[1].startswith("-")}


def _read_json(text: str) -> Manifest:
    document = _tolerant_json(text)
    if not isinstance(document, dict):
        return {}
    if not _TSCONFIG_KEYS.isdisjoint(document) and not any(key in document for key in _DEPENDENCY_KEYS):
        return _tsconfig(document)
    return _package(document)


def _tolerant_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        plain = _JSON_COMMENT_OR_STRING.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
        return json.loads(_STRING_OR_TRAILING_COMMA.sub(lambda match: match[1] or "", plain))


def _tsconfig(document: dict[str, Any]) -> Manifest:
    options = _object(document.get("compilerOptions"))
    extends = document.get("extends")
    references = [item.get("path") for item in _list(document.get("references")) if isinstance(item, dict)]
    return {
        "kind": "tsconfig",
        "extends": _strings([extends] if isinstance(extends, str) else extends),
        "references": _strings(references),
        "baseUrl": options.get("baseUrl") if isinstance(options.get("baseUrl"), str) else None,
        "paths": {key: _strings(value) for key, value in _object(options.get("paths")).items()},
    }


def _package(document: dict[str, Any]) -> Manifest:
    workspaces = document.get("workspaces")
    if isinstance(workspaces, dict):
        workspaces = workspaces.get("packages")
    dependencies: set[str] = set()
    for key in _DEPENDENCY_KEYS:
        dependencies.update(_object(document.get(key)))
    kept = {key: document[key] for key in _SCRIPT_KEYS if isinstance(document.get(key), str | dict | list)}
    runtime = "bun" if "bun" in str(document.get("packageManager", "")) else ""
    return {
        "kind": "package",
        **kept,
        "workspaces": _strings(workspaces),
        "dependencies": sorted(dependencies),
        "runtime": runtime,
        **_major_of_express(document),
    }


def _major_of_express(document: dict[str, Any]) -> Manifest:
    """From version 5 on Express handles the rejections of its handlers. `catalog:` and `catalog:web` leave the version
    to a catalog of the workspace."""
    given = str(_object(document.get("dependencies")).get("express", ""))
    if given.startswith("catalog:"):
        return {"catalogs": {"express": given.removeprefix("catalog:") or _DEFAULT_CATALOG}}
    found = _VERSION.match(given)
    return {"versions": {"express": int(found[1])}} if found is not None else {}


def _read_toml(text: str) -> Manifest:
    document = tomllib.loads(text)
    project, tool = _object(document.get("project")), _object(document.get("tool"))
    poetry = _object(tool.get("poetry"))
    requirements = [*_strings(project.get("dependencies"))]
    for groups in (project.get("optional-dependencies"), document.get("dependency-groups")):
        for group in _object(groups).values():
            requirements += _strings(group)
    names = {_requirement_name(line) for line in requirements} | set(_object(poetry.get("dependencies")))
    for group in _object(poetry.get("group")).values():
        names |= set(_object(_object(group).get("dependencies")))
    return {
        "kind": "pyproject",
        "name": project.get("name") or poetry.get("name") or "",
        "dependencies": sorted(name for name in names if name and name.lower() != "python"),
        "roots": _toml_roots(tool),
    }


def _toml_roots(tool: dict[str, Any]) -> list[str]:
    setuptools = _object(tool.get("setuptools"))
    packages = _object(setuptools.get("packages"))
    roots = _strings(_object(packages.get("find")).get("where"))
    roots += _strings(list(_object(setuptools.get("package-dir")).values()))
    for package in _list(_object(tool.get("poetry")).get("packages")):
        roots += _strings([_object(package).get("from")])
    roots += _strings(_object(_object(tool.get("pytest")).get("ini_options")).get("pythonpath"))
    return sorted(set(roots))


def _read_setup(text: str) -> Manifest:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    requires = parser.get("options", "install_requires", fallback="")
    where = parser.get("options.packages.find", "where", fallback="")
    return {
        "kind": "setup",
        "name": parser.get("metadata", "name", fallback=""),
        "dependencies": _requirement_names(requires),
        "roots": [where.strip()] if where.strip() else [],
    }


def _read_requirements(text: str) -> Manifest:
    return {"kind": "requirements", "dependencies": _requirement_names(text)}


def _requirement_names(text: str) -> list[str]:
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "-")))
    return sorted({name for name in map(_requirement_name, lines) if name})


def _requirement_name(line: str) -> str:
    match = _REQUIREMENT_NAME.match(line)
    return match[1] if match else ""


def _read_go(text: str) -> Manifest:
    manifest: Manifest = {"kind": "gowork", "module": "", "use": [], "require": [], "replace": [], "go": ""}
    block = ""
    for raw in text.splitlines():
        line = raw.split("//", 1)[0].strip()
        if line == ")":
            block = ""
        elif block:
            _keep_go_line(manifest, block, line)
        elif match := _GO_LINE.match(line):
            if match[2].strip() == "(":
                block = match[1]
            else:
                _keep_go_line(manifest, match[1], match[2])
    if manifest["module"]:
        manifest["kind"] = "gomod"
    return manifest if manifest["module"] or manifest["use"] or manifest["go"] else {}


def _keep_go_line(manifest: Manifest, verb: str, rest: str) -> None:
    words = [word.strip('"`') for word in rest.split()]
    if not words:
        return
    if verb in ("module", "go"):
        manifest[verb] = words[0]
    elif verb in ("use", "require"):
        manifest[verb].append(words[0])
    elif verb == "replace" and "=>" in words[1:-1]:
        manifest["replace"].append([words[0], words[words.index("=>") + 1]])


def _read_maven(text: str) -> Manifest:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return {}
    root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused above
    if not root.tag.endswith("project"):
        return {}
    names = set()
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        if tag in ("dependency", "plugin", "parent"):
            parts = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in element}
            names.add(f"{parts.get('groupId', '')}:{parts.get('artifactId', '')}")
    return {"kind": "maven", "dependencies": sorted(names)} | _marks_of_versions(text)


def _read_gradle(text: str) -> Manifest:
    names = set(_GRADLE_DEPENDENCY.findall(text)) | set(_GRADLE_PLUGIN.findall(text))
    return {"kind": "gradle", "dependencies": sorted(names)} | _marks_of_versions(text)


def _marks_of_versions(text: str) -> Manifest:
    """What the version of a library means for those who use it: SnakeYAML builds plain data alone since 2.0."""
    return {"snakeyaml": "safe"} if _SAFE_SNAKEYAML.search(text) else {}


def _read_pnpm(text: str) -> Manifest:
    # As strict as with a policy: a few hundred bytes of merged anchors would cost a plain loader a gigabyte.
    document = _object(read_yaml(text.encode()))
    catalogs = {_DEFAULT_CATALOG: document.get("catalog")} | _object(document.get("catalogs"))
    versions = {str(name): _major_of_express({"dependencies": catalog}) for name, catalog in catalogs.items()}
    given = {name: each["versions"] for name, each in versions.items() if "versions" in each}
    workspaces = _strings(document.get("packages"))
    return {"kind": "pnpm", "workspaces": workspaces} | ({"versions": given} if given else {})


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]
