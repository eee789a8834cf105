"""What a policy says that touches nothing of the repository: a table, a layer, a rule or a file that was renamed, or
mistyped."""

from collections.abc import Container, Iterator
from functools import lru_cache

from analysis.engine.codebase import Codebase
from analysis.engine.globs import glob
from analysis.engine.graph.layers import assign_layers
from analysis.engine.policy import Policy
from analysis.engine.volumes import unmatched

MOST_NAMED = 5


def unused_notes(policy: Policy, codebase: Codebase, known_rules: Container[str]) -> Iterator[str]:
    """One sentence each about the tables that nobody was found to have, the layers without files, and the exceptions
    that name a rule or a file that is not there. Those that have expired are told of as such."""
    tables = _unknown_tables(policy, codebase)
    if tables:
        yield f"data_volumes: no table or model was found for {_listed(tables)}; nothing is judged by that size"
    layers = _empty_layers(policy, codebase)
    if layers:
        yield f"layers: no file stands in {_listed(layers)}"
    held = [entry for entry in policy.exemptions if entry.expires >= codebase.today]
    rules = list(dict.fromkeys(entry.rule for entry in held if entry.rule not in known_rules))
    if rules:
        yield f"exceptions: there is no rule {_listed(rules)}; nothing is excused by that name"
    empty = _empty_globs(tuple(dict.fromkeys(entry.file for entry in held)), tuple(codebase.files))
    if empty:
        yield f"exceptions: no file matches {_listed(empty)}; nothing is excused there"


def _unknown_tables(policy: Policy, codebase: Codebase) -> list[str]:
    if not policy.data_volumes:
        return []
    tables = {entry.table for entry in codebase.models.all} | {site.table for site in codebase.queries.sites}
    models = {entry.model.name for entry in codebase.models.all}
    if not models and not any(tables):
        return []  # none of the languages, or none of the ORMs, is read
    return unmatched(policy.data_volumes, tables=tables, models=models)


def _empty_layers(policy: Policy, codebase: Codebase) -> list[str]:
    if not policy.layers or not codebase.graph.nodes:
        return []
    filled = {place.name for place in assign_layers(codebase.graph.nodes, policy).values() if place is not None}
    return [layer.name for layer in policy.layers if layer.name not in filled]


@lru_cache(maxsize=4)  # every glob that is in vain looks at every file; both sides of a change ask
def _empty_globs(patterns: tuple[str, ...], paths: tuple[str, ...]) -> list[str]:
    return [pattern for pattern in patterns if not glob(pattern).matches_any(paths)] if paths else []


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"
