"""A handler does synchronous I/O, and all other requests wait with it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import REQUEST, Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Function, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.reading import followed, function_name, function_text, is_made_once
from analysis.engine.rules.base import SCRIPT, Watch

RULE = Rule(
    id="perf-sync-io-in-request",
    version=2,
    type="sync_io_request",
    category=Category.PERFORMANCE,
    title="Synchronous I/O in a request",
    severity=Severity.WARNING,
    points=2,
    suggestion="Use the promise variant (`fs.promises.readFile`); the sync call stops every other request.",
    languages=SCRIPT,
)
GUIDE = Guide(
    why="One thread serves all requests: while it reads a file, nobody is served.",
    grades=(
        "Certain in the handler itself, likely in what it calls; info elsewhere in a server, for one look whether a "
        "file exists, and for a file that comes with the program."
    ),
    flagged=(
        {
            "shop/app.ts": """
import express from "express";
import fs from "fs";

const app = express();
app.get("/terms", (req, res) => {
  res.send(fs.readFileSync("terms.html"));
});
"""
        },
    ),
    fine=(
        {
            "shop/app.ts": """
import express from "express";
import fs from "fs";

const app = express();
const TERMS = fs.readFileSync("terms.html");
app.get("/terms", (req, res) => {
  res.send(TERMS);
});
"""
        },
    ),
)

_CALLS = re.compile(
    r"(?:(?:fs|fs-extra|graceful-fs)\.\w+|child_process\.(?:exec|spawn|execFile)|zlib\.\w+"
    r"|crypto\.(?:pbkdf2|scrypt|hkdf|generateKey(?:Pair)?|generatePrime))Sync"
)
_START_UP = re.compile(
    r"(^|\.)(load|read)?_?(config|settings|env)\w*$|(^|\.)(main|boot\w*|init\w*|start\w*|setup\w*|build\w*|generate\w*|seed\w*)$",
    re.IGNORECASE,
)
_INSTALLS = re.compile(r"(^|/)(?:setup|install(?:er|ation)?|onboarding)(?:/|\.[cm]?[jt]s$)")
_ROUTES = re.compile(
    r"\.(?:(?:get|post|put|patch|delete|all|use)\s*(?:<[^()]*>)?\(\s*[\"'`]/|register\(|addHook\(|route\()"
)
_LOADERS = re.compile(r"(^|\.)constructor(\.|$)|(^|\.)load[A-Z]\w*$")  # once, at the start or at first use
_SERVERS = re.compile(r"(?:express|koa|@koa/router|fastify|hono|next/server)$|@hapi/|@nestjs/")
_TOOLING = re.compile(
    r"(^|/)vite/|(^|/)bundle[\w-]*\.[cm]?js$|(^|/)(\.?[\w.-]*config\.[cm]?[jt]s|build|cli|seed\w*|codegen|plugins?|docker|generators?)(/|\.|$)|[-_]cli/|(^|/)vite\."
)


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if not _CALLS.fullmatch(callee) or file.function_of(call) == 0:
        return
    name = function_name(call, file)
    if not _START_UP.search(name) and not is_made_once(call, file) and not _registers(call, file):
        data = {"starts": "yes"} if any(map(_START_UP.search, name.split("."))) else {}
        if callee.endswith(".existsSync") or _reads_own_file(call, callee, file):
            data["short"] = "yes"
        yield file.mark(RULE.id, call, f"`{callee}` in `{name}` stops the event loop until it is done", data=data)


def _registers(call: Node, file: SourceFile) -> bool:
    """Whether the innermost function is given a server or router and puts routes into it: it runs once, before the
    first request does."""
    function = file.enclosing_function(call)
    given = file.dialect.parameters(function, file)[:1] if function is not None else ()
    text = function_text(call, file) if given else ""
    return any(next(followed(each.name, text, _ROUTES, "_.$"), None) is not None for each in given if each.name)


def _reads_own_file(call: Node, callee: str, file: SourceFile) -> bool:
    """Whether it reads a file whose name stands in the program: one that came with it."""
    path = next(iter(file.arguments(call)[0]), None)
    return callee.endswith(".readFileSync") and path is not None and path.type == "string"


def look_at_request(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`request.open("GET", url, false)`: the third argument makes it synchronous."""
    given = file.arguments(call)[0]
    if file.mentions(b"XMLHttpRequest") and len(given) >= 3 and given[2].type == "false":
        name = function_name(call, file)
        yield file.mark(RULE.id, call, f"A synchronous `XMLHttpRequest` in `{name}` stops everything until it is done")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Off the request path it is worth knowing in server code, and nothing in tools. What is short, or runs while the
    program is installed, stops few others."""
    is_small = "short" in mark.data or _INSTALLS.search(place.path) is not None
    small = {"severity": Severity.INFO, "confidence": Confidence.LOW} if is_small else {}
    if place.in_handler:
        return place.finding(mark, **small)
    if "starts" in mark.data:
        return None  # a call-back of what runs as the server starts
    if place.in_request_path and not _TOOLING.search(place.path):
        is_kept = _LOADERS.search(place.function.name) is not None  # mostly, so that the first request only waits
        return place.finding(mark, **{"confidence": Confidence.LOW if is_kept else Confidence.MEDIUM, **small})
    if "XMLHttpRequest" in mark.message:
        return place.finding(mark, severity=Severity.INFO)
    if place.kind is FileKind.SCRIPT or place.facts.is_entry or _TOOLING.search(place.path):
        return None
    if (
        _LOADERS.search(place.function.name)
        or _is_of_container(place.function)
        or not _serves(place.facts)
        or "existsSync" in mark.message
    ):
        return None
    return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)


def _is_of_container(function: Function) -> bool:
    """Whether a function of no class is given the configuration of Nest: it makes an object once, as the program
    starts."""
    is_given = any(each.annotation.startswith("ConfigService") for each in function.parameters)
    return is_given and not function.owner


def _serves(facts: FileFacts) -> bool:
    """Whether a file belongs to a server: it answers requests, or takes part in a framework that does. A program of
    the desktop serves one user."""
    if any(each.target == "electron" for each in facts.imports):
        return False
    return any(entry.kind == REQUEST for entry in facts.entries) or any(
        _SERVERS.match(each.target) for each in facts.imports
    )


WATCHES = (
    Watch("call", look, SCRIPT, endings=("Sync",)),
    Watch("call", look_at_request, SCRIPT, names=frozenset({"open"})),
)
