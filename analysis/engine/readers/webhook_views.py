"""Classes of Python that take webhooks, by their routes, and those that only signed-in users post to."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed

WORD_OF_HOOKS = rb"(?:web_?hooks?|(?<=[_/\"'`])hooks?|callbacks?|\bipns?|notif(?:y|ications?))(?![A-Za-z])"
_PATH = rb"\s*r?[\"'][^\"'\n]*" + WORD_OF_HOOKS + rb"[^\"'\n]*[\"']"
# `path("hooks/pay", Pay.as_view())`, `add_url_rule("/hooks/pay", view_func=Pay.as_view("pay"))`,
# `add_resource(Pay, "/hooks/pay")`, and the functions of Django: `path("hooks/pay", views.pay)`.
_ROUTED = re.compile(
    rb"(?i)\b(?:(?:re_)?path|url|add_url_rule)\("
    + _PATH
    + rb"\s*,[^\n]*?(?<![\w.])(?:\w+\.)*(\w+)\.as_view\(|\b(?:re_)?path\("
    + _PATH
    + rb"\s*,\s*(?:csrf_exempt\(\s*)?(?:\w+\.)*(\w+)\s*[,)]|\badd_resource\(\s*(?:\w+\.)*(\w+)\s*,"
    + _PATH
)
_FOR_USERS = re.compile(
    rb"\b(?:LoginRequired|PermissionRequired)Mixin\b"
    rb"|permission_classes\s*=\s*[\[(][^\])]*(?:IsAuthenticated|IsAdmin|Permission)"
    rb"|\bdecorators\s*=\s*[\[(][^\])]*(?:login|auth)"
)


_ROUTER = re.compile(rb"@(\w+)\.(?:post|route)\(")
_PREFIXED = re.compile(
    rb"(?i)\s*=\s*[\w.]*(?:Router|Blueprint|Namespace)\((?:[^()]|\([^()]*\)){0,300}?\b(?:url_)?prefix\s*=" + _PATH
)


def is_prefixed(before: bytes, file: SourceFile) -> bool:
    """Whether the router that a handler belongs to, by the decorators before it, puts a path that speaks of webhooks in
    front of its routes: `APIRouter(prefix="/webhooks")`."""
    router = _ROUTER.search(before)
    return router is not None and next(followed(router[1], file.source, _PREFIXED, b"_."), None) is not None


def routed_views(source: bytes) -> list[str]:
    """The classes and functions that routes which speak of webhooks lead to."""
    return sorted({next(filter(None, named)).decode() for named in _ROUTED.findall(source)})


def is_for_users(method: Node, file: SourceFile) -> bool:
    """Whether the class around a method says above it that only who is signed in may call."""
    scope = file.scope_of(method)
    while scope.kind != "class" and scope.parent is not None:
        scope = scope.parent
    return scope.kind == "class" and _FOR_USERS.search(file.source, scope.start, method.start_byte) is not None
