"""No view of any app looks an object up in another way than through an access function.

What a view file may not do stands in `complaints`; every app with a views module is covered as soon as it exists. The
addresses are walked as well: a placeholder is an id, which only access functions may take, or a word listed here.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

APPS = sorted(path.parent for path in Path(settings.BASE_DIR).glob("*/apps.py"))
VIEWS = sorted(file for app in APPS for file in [*app.glob("views.py"), *app.glob("views/*.py")])

# Ways from a value to rows. `get` is missing: dictionaries have it too; without a manager it finds nothing. What
# belongs to an object that an access function gave out may be listed (`repository.runs.all()`), but not searched.
MANAGERS = {"objects", "_default_manager", "_base_manager"}
LOOK_UPS = {"filter", "exclude", "in_bulk", "raw", "aget", "get_or_create", "update_or_create"}
SHORTCUTS = {"get_object_or_404", "get_list_or_404", "get_model", "connection", "queryset", "get_queryset"}
# Models whose every row is for everybody, even without an account.
PUBLIC = {"Plan"}
# Placeholders of addresses that name no object of an organization.
WORDS = {
    "token",  # of an invitation: whoever holds it may use it
    "plan_id",  # plans are public
    "feature",
    "name",  # of a rule pack: public
    "owner",  # of a badge: public
    "repo",
    "pull_request_number",  # its number at the code host: pull_request_in takes it
}


def complaints(source: str) -> Iterator[str]:
    """What in a view module could be a look-up that passes access functions by."""
    tree = ast.parse(source)
    doors, access_modules = _doors(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in MANAGERS | LOOK_UPS | SHORTCUTS and not _is_public(node):
            yield f"line {node.lineno}: .{node.attr}"
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from (
                f"line {node.lineno}: import {name.name}" for name in node.names if _is_suspect(node, name.name)
            )
        if isinstance(node, ast.FunctionDef):
            yield from _ids_past_the_doors(node, doors, access_modules)


def _is_public(node: ast.Attribute) -> bool:
    return node.attr in MANAGERS and isinstance(node.value, ast.Name) and node.value.id in PUBLIC


def _doors(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Names of access functions, and of access modules, that a module imports."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    functions = {
        name.asname or name.name for node in imports if (node.module or "").endswith(".access") for name in node.names
    }
    modules = {name.asname or name.name for node in imports for name in node.names if name.name == "access"}
    return functions, modules


def _is_suspect(node: ast.ImportFrom | ast.Import, name: str) -> bool:
    origin = (node.module or "") if isinstance(node, ast.ImportFrom) else name
    return origin.startswith("django.db") or name in SHORTCUTS


def _ids_past_the_doors(function: ast.FunctionDef, doors: set[str], access_modules: set[str]) -> Iterator[str]:
    ids = {argument.arg for argument in function.args.args if argument.arg.endswith("_id")} - WORDS
    through = {
        id(argument)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and _is_door(call.func, doors, access_modules)
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in ids and id(node) not in through:
            yield f"line {node.lineno}: {node.id} goes elsewhere than to an access function"


def _is_door(called: ast.expr, doors: set[str], access_modules: set[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in doors
    return (
        isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in access_modules
    )


def placeholders(patterns: list) -> Iterator[tuple[str, str]]:
    """Every placeholder below /v1 with the address it stands in."""
    for entry in patterns:
        if isinstance(entry, URLResolver):
            yield from placeholders(entry.url_patterns)
        elif isinstance(entry, URLPattern):
            yield from ((name, str(entry.pattern)) for name in entry.pattern.converters)


@pytest.mark.parametrize("file", VIEWS, ids=lambda file: str(file.relative_to(settings.BASE_DIR)))
def test_a_view_looks_nothing_up_itself(file):
    assert list(complaints(file.read_text())) == []


def test_every_placeholder_is_an_id_or_a_known_word():
    below_v1 = [entry for entry in get_resolver().url_patterns if str(entry.pattern) == "v1/"]
    strange = {(name, path) for name, path in placeholders(below_v1) if not name.endswith("_id") and name not in WORDS}

    assert strange == set()


FROM_ACCESS = "from analysis.access import run_for\n"
VIEW = "def get(self, request, run_id, plan_id):\n    "


@pytest.mark.parametrize(
    "source",
    [
        VIEW + "return Run.objects.get(pk=request.data['id'])",
        VIEW + "return Run._default_manager.first()",
        VIEW + "return organization.memberships.filter(user=request.data['user']).first()",
        VIEW + "return apps.get_model('analysis', 'Run')",
        VIEW + "return services.cancel(run_id)",
        VIEW + "return services.cancel(id=run_id)",
        FROM_ACCESS + VIEW + "run_for(request.user, run_id)\n    services.cancel(run_id)",
        "from django.shortcuts import get_object_or_404",
        "from django.db import connection",
        "class View(ListAPIView):\n    queryset = Run._default_manager.all()",
    ],
)
def test_it_sees_a_look_up(source):
    assert list(complaints(source))


@pytest.mark.parametrize(
    "source",
    [
        FROM_ACCESS + VIEW + "return run_for(request.user, run_id)",
        "from analysis import access\n" + VIEW + "return access.run_for(request.user, run_id=run_id)",
        VIEW + "return selectors.plan(plan_id)",
        VIEW + "return Plan.objects.all()",
        VIEW + "return request.query_params.get('page')",
    ],
)
def test_it_lets_access_functions_pass(source):
    assert list(complaints(source)) == []
