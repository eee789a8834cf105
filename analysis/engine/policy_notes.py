"""What a policy says that touches nothing of the repository: a table or a layer that was renamed, or mistyped."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.graph.layers import assign_layers
from analysis.engine.policy import Policy
from analysis.engine.volumes import unmatched

MOST_NAMED = 5


def unused_notes(policy: Policy, codebase: Codebase) -> Iterator[str]:
    """One sentence about the tables that nobody was found to have, and one about the layers without files."""
    tables = _unknown_tables(policy, codebase)
    if tables:
        yield f"data_volumes: no table or model was found for {_listed(tables)}; nothing is judged by that size"
    layers = _empty_layers(policy, codebase)
    if layers:
        yield f"layers: no file stands in {_listed(layers)}"


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


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"
