"""The version of the engine: part of every facts key and of every report."""

import hashlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType

from analysis.engine.facts import EXTRACTOR_VERSION
from analysis.engine.rules import all_rules


@cache
def facts_version() -> str:
    """Changes with the extractor and with each rule that reads trees, so that old facts are never mixed with new."""
    return _version_of([module for module in all_rules() if hasattr(module, "WATCHES")])


@cache
def engine_version() -> str:
    """Changes with the extractor and with every rule: what a verdict was found with."""
    return _version_of(all_rules())


def _version_of(rules: Sequence[ModuleType]) -> str:
    digest = hashlib.sha256("\n".join(sorted(f"{each.RULE.id}:{each.RULE.version}" for each in rules)).encode())
    return f"{EXTRACTOR_VERSION}.{digest.hexdigest()[:12]}"
