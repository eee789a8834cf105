"""The rule modules. A rule is found because its module lies in this package and defines `RULE`."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import ModuleType

from analysis.engine.facts import Mark
from analysis.engine.model import Rule
from analysis.engine.rules.base import Watch


@lru_cache(maxsize=1)
def all_rules() -> tuple[ModuleType, ...]:
    """Every module of this package that defines a `RULE`, ordered by rule id. ValueError when two share an id."""
    modules = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        rule = getattr(module, "RULE", None)
        if not isinstance(rule, Rule):
            continue
        if rule.id in modules:
            raise ValueError(f"Two modules define the rule {rule.id}")
        modules[rule.id] = module
    return tuple(modules[rule_id] for rule_id in sorted(modules))


def rule_by_id(rule_id: str) -> Rule:
    """The rule of this id. KeyError for an unknown one."""
    return _rules()[rule_id]


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return {module.RULE.id: module.RULE for module in all_rules()}


@lru_cache(maxsize=32)
def watches_of(language: str, *, in_tests: bool = False) -> tuple[Watch, ...]:
    """What all rules together watch in files of this language; in tests only those that are heard there."""
    heard = (module for module in all_rules() if module.RULE.tests_too or not in_tests)
    return tuple(watch for module in heard for watch in getattr(module, "WATCHES", ()) if language in watch.languages)


@lru_cache(maxsize=1)
def looks_at_sql() -> tuple[Callable[[str], Iterable[Mark]], ...]:
    """What rules make of the text of a SQL file: `look_at_sql` of their modules."""
    return tuple(module.look_at_sql for module in all_rules() if hasattr(module, "look_at_sql"))
