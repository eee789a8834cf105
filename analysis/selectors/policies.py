"""Reads of a repository's policy and of its architecture graph."""

import gzip
import hashlib
from collections.abc import Mapping
from datetime import date
from typing import Any

import orjson

from analysis.engine.graph.view import layer_colors
from analysis.engine.policy_file import exemptions_of, to_mapping
from analysis.engine.suppression import expiry_notices
from analysis.models import Repository, ScanReport
from analysis.services.policies import own_policy_as_last_read, present_policy, stored_policy
from analysis.shapes import notice_shape

NO_STATS = ("totalNodes", "totalEdges", "violationEdges", "circularEdges", "modules")


def policy_read(repository: Repository, *, today: date) -> dict[str, Any]:
    """The policy that judges the repository now, in the writable shape, where it comes from, and which exceptions end.
    At most two queries.

    Of one that was not set through the API nobody knows when it was changed and by whom.
    """
    policy = _policy_and_origin(repository)
    return {**policy, "notices": _notices(policy, today)}


def policy_version(policy: Mapping[str, Any]) -> str:
    """What the policy of a read says, as a short text that differs when it says something else or comes from elsewhere.

    Who changed it and when is not in it: whoever wrote over the same policy again has changed nothing for others.
    """
    said = {name: value for name, value in policy.items() if name not in ("notices", "updated_at", "updated_by_id")}
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def present_policy_version(repository: Repository) -> str:
    """The version of what judges the repository now. At most two queries."""
    return policy_version(_policy_and_origin(repository))


def policy_notices(repository: Repository, *, today: date) -> list[dict[str, Any]]:
    """The exceptions of the present policy that have expired or will within a week. At most two queries."""
    return _notices(_policy_and_origin(repository), today)


def _notices(policy: Mapping[str, Any], today: date) -> list[dict[str, Any]]:
    return [notice_shape(notice) for notice in expiry_notices(exemptions_of(policy), today)]


def _policy_and_origin(repository: Repository) -> dict[str, Any]:
    stored = stored_policy(repository)
    if stored is None:
        own = own_policy_as_last_read(repository)
        origin: dict[str, Any] = {"source": own.source, "packs": [], "updated_at": None, "updated_by_id": None}
        return {**to_mapping(own.policy), **origin}
    origin = {name: getattr(stored, name) for name in ("packs", "updated_at", "updated_by_id")}
    return {**stored.body, "source": "api", **origin}


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
