"""The version of the engine: part of every facts key and of every report."""

import hashlib
from functools import cache

from analysis.engine.facts import EXTRACTOR_VERSION
from analysis.engine.rules import all_rules


@cache
def facts_version() -> str:
    """Changes with the extractor and with each rule that reads trees, so that old facts are never mixed with new."""
    watching = sorted(f"{module.RULE.id}:{module.RULE.version}" for module in all_rules() if hasattr(module, "WATCHES"))
    digest = hashlib.sha256("\n".join(watching).encode()).hexdigest()
    return f"{EXTRACTOR_VERSION}.{digest[:12]}"
