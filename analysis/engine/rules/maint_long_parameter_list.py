"""A function takes more than five parameters."""

import re
from collections.abc import Iterator
from math import ceil

from analysis.engine.facts import FileFacts, Function, FunctionFlag, Parameter
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.rules.base import SCRIPT

INFO, WARNING = 5, 7
FRAMEWORK_LIMIT = 10  # signatures that a framework fills in
_RECEIVERS = frozenset({"self", "cls"})
_CONSTRUCTOR, _ABSTRACT, _TEST = (
    int(flag) for flag in (FunctionFlag.CONSTRUCTOR, FunctionFlag.ABSTRACT, FunctionFlag.TEST)
)
_SIGNATURES_ONLY = frozenset({"typescript", "tsx"})  # a declaration without body is an overload there
_MODULE_LOADERS = frozenset({"define", "require", "requirejs"})  # which give a function its modules, one by one
_CALLED_BACK = frozenset({"after_return", "on_failure", "on_retry"})  # by Celery
_OVERRIDES = frozenset({"override"})
# Last names of decorators and annotations: of the function, or of the class whose constructor it is.
_BOUND = frozenset(
    {
        "get", "post", "put", "patch", "delete", "head", "options", "route", "websocket", "api_route", "api_view",
        "command", "group", "option", "argument", "fixture", "parametrize", "autowired", "inject", "bean", "query",
        "getmapping", "postmapping", "putmapping", "patchmapping", "deletemapping", "requestmapping", "mutation",
    }
)  # fmt: skip
_INJECTED = frozenset(
    {
        "injectable", "controller", "restcontroller", "service", "component", "repository", "configuration",
        "directive", "pipe", "resolver", "singleton", "applicationscoped", "requestscoped", "named",
    }
)  # fmt: skip
_SENDERS = frozenset({"sender", "app_config"})  # `app_config` of those that follow migrations
_RESOLVER = re.compile(r"(resolve|subscribe)_\w+$|(perform_mutation|mutate|mutate_and_get_payload)$")

RULE = Rule(
    id="maint-long-parameter-list",
    type="long_parameter_list",
    category=Category.MAINTAINABILITY,
    title="Function takes too many parameters",
    severity=Severity.WARNING,
    points=1,
    suggestion="Group the parameters that travel together in an object.",
)
GUIDE = Guide(
    why="Callers mix up the order, and parameters that travel together are a thing without a name.",
    grades=(
        "Info above 5, warning above 7. Constructors that are given their parts, and handlers whose framework asks for "
        "it, may have more."
    ),
    flagged=(
        {
            "shop/work.py": """
def ship(order, street, city, country, weight, carrier, insured, gift):
    return order
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def ship(order, address, parcel):
    return order
"""
        },
    ),
)


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    for index, function in enumerate(facts.functions):
        if len(function.parameters) <= INFO or not index or _is_exempt(function, facts):
            continue
        count = declared(function)
        bound = _is_bound(function, facts)
        if count <= (FRAMEWORK_LIMIT if bound else INFO):
            continue
        yield Finding(
            rule_id=RULE.id,
            file=path,
            line=function.line,
            function=function.name,
            message=f"`{function.name}` takes {count} parameters (limit {FRAMEWORK_LIMIT if bound else INFO})",
            severity=Severity.WARNING if count > WARNING else Severity.INFO,
        )


def declared(function: Function) -> int:
    """Parameters that a caller has to know; Python's keyword-only ones with a default count half."""
    weights = (_weight(index, parameter) for index, parameter in enumerate(function.parameters))
    return ceil(sum(weights))


def _weight(index: int, parameter: Parameter) -> float:
    if index == 0 and (parameter.name in _RECEIVERS or parameter.annotation.endswith("context.Context")):
        return 0
    return 0.5 if parameter.keyword_only and parameter.has_default else 1


def _is_exempt(function: Function, facts: FileFacts) -> bool:
    if function.flags & _TEST or (function.flags & _ABSTRACT and facts.language in _SIGNATURES_ONLY):
        return True
    if function.owner and function.short_name in _CALLED_BACK:
        return True
    if _is_given_modules(function, facts):
        return True
    if _calls_what_it_overrides(function):
        return True
    return any(_last_name(decorator) in _OVERRIDES for decorator in function.decorators)


def _is_given_modules(function: Function, facts: FileFacts) -> bool:
    """Whether a function is the one that a file of AMD hands to its loader: `define(["jquery"], function ($) {})`."""
    if facts.language not in SCRIPT or function.parent != 0:
        return False
    is_nameless = function.name == "anonymous" or function.name.removesuffix("()") in _MODULE_LOADERS
    return is_nameless and not _MODULE_LOADERS.isdisjoint(facts.functions[0].calls)


def _calls_what_it_overrides(function: Function) -> bool:
    """Whether a method passes on to the one of the class above, whose parameters it has to take. Constructors choose
    theirs."""
    name = function.short_name
    if not function.owner or function.flags & _CONSTRUCTOR:
        return False
    return f"super().{name}" in function.calls or f"super.{name}" in function.calls


def _is_bound(function: Function, facts: FileFacts) -> bool:
    if any(_last_name(decorator) in _BOUND for decorator in function.decorators):
        return True
    if _is_resolver(function) or _hears_a_signal(function):
        return True
    if not function.flags & _CONSTRUCTOR:
        return False
    return any(
        _last_name(decorator) in _INJECTED or facts.language == "typescript"  # a framework makes what it decorates
        for entry in facts.classes
        if entry.name == function.owner
        for decorator in entry.decorators
    )


def _is_resolver(function: Function) -> bool:
    """Methods that graphene calls with the parent, the `info` of the request and the arguments of the field."""
    if not function.owner or not _RESOLVER.match(function.short_name):
        return False
    return "info" in [parameter.name for parameter in function.parameters[1:3]]


def _hears_a_signal(function: Function) -> bool:
    """What Django sends with a signal by name, and whatever else it will send one day: `(sender, ..., **kwargs)`."""
    names = [parameter.name for parameter in function.parameters]
    return names[0] in _SENDERS and names[-1].startswith("**")


def _last_name(decorator: str) -> str:
    """`app.get("/x")` is a `get`."""
    return decorator.partition("(")[0].rpartition(".")[2].lower()
