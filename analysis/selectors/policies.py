"""Reads of a repository's policy and of its architecture graph."""

import gzip
import hashlib
from typing import Any

import orjson

from analysis.engine.graph.view import layer_colors
from analysis.engine.policy_file import to_mapping
from analysis.models import Repository, ScanReport, StoredPolicy
from analysis.services.policies import own_policy_as_last_read, present_policy

NO_STATS = ("totalNodes", "totalEdges", "violationEdges", "circularEdges", "modules")


def policy_read(repository: Repository) -> dict[str, Any]:
    """The policy that judges the repository now, in the writable shape, and where it comes from. At most two queries.

    Of one that was not set through the API nobody knows when it was changed and by whom.
    """
    stored = StoredPolicy.objects.filter(repository=repository).first()
    if stored is None:
        own = own_policy_as_last_read(repository)
        origin: dict[str, Any] = {"source": own.source, "packs": [], "updated_at": None, "updated_by_id": None}
        return {**to_mapping(own.policy), **origin}
    origin = {name: getattr(stored, name) for name in ("packs", "updated_at", "updated_by_id")}
    return {**stored.body, "source": "api", **origin}


def graph_version(repository: Repository) -> str:
    """Changes whenever the graph may have changed. No query once the repository has been scanned."""
    if repository.current_report_id:
        return str(repository.current_report_id)
    return hashlib.sha256(compressed_graph(repository)).hexdigest()[:32]


def compressed_graph(repository: Repository) -> bytes:
    """The architecture graph of the last scan as gzip over JSON, as it was stored; without nodes before the first."""
    if repository.current_report_id:
        stored = ScanReport.objects.values_list("graph", flat=True).get(pk=repository.current_report_id)
        return bytes(stored)
    return gzip.compress(orjson.dumps(_empty_graph(repository)), mtime=0)


def _empty_graph(repository: Repository) -> dict[str, Any]:
    layers = layer_colors(present_policy(repository))
    stats = {**dict.fromkeys(NO_STATS, 0), "layers": len(layers)}
    return {"nodes": [], "edges": [], "modules": [], "layers": layers, "cycles": [], "stats": stats}
