"""What a scan was judged from, stored and read back: the tree, the recent past, the repository's own policy.

The clone lies on the machine of a worker; these rows let any process judge the same state by another policy.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

import orjson

from analysis.engine.facts import FileFacts
from analysis.engine.graph import ImportGraph
from analysis.engine.graph.stored import pack, unpack
from analysis.engine.history import History
from analysis.engine.metrics.churn import Step
from analysis.engine.metrics.coupling import COUPLING_DAYS
from analysis.engine.policy_file import parse_policy, to_mapping
from analysis.engine.version import facts_version
from analysis.models import Repository, ScanInputs
from analysis.services.facts import stored_facts
from analysis.source_tree import FactsKey, PolicyInForce, SourceTree
from config.compiled import CompiledQuery, Key

CLOCK_SLACK = timedelta(days=7)  # a commit may be dated after the day of the scan

_SCANNED = CompiledQuery(
    lambda: ScanInputs.objects.filter(repository=Key("repository")).values_list("commit_sha", "tree")
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """A judged state: which blob stands at which path, what happened lately, and what the repository itself says.

    `notes` are those of reading the tree; they hold whatever the policy is.
    """

    commit_sha: str
    tree: Mapping[str, FactsKey]
    history: History
    graph: ImportGraph
    own: PolicyInForce
    notes: tuple[str, ...] = ()


def inputs_of(
    *,
    commit_sha: str,
    tree: SourceTree,
    history: History,
    graph: ImportGraph,
    own: PolicyInForce,
    notes: tuple[str, ...],
    today: date,
) -> Inputs:
    """What to remember of a scan; of the history only what can still lie in the window of coupling."""
    oldest = (today - timedelta(days=COUPLING_DAYS) - CLOCK_SLACK).toordinal()
    recent = tuple(step for step in history.steps if step.day >= oldest)
    keys = {path: (item.blob, item.reading) for path, item in tree.blobs.items()}
    return Inputs(commit_sha, keys, History(recent), graph, own, notes)


def store_inputs(repository: Repository, inputs: Inputs) -> None:
    """Replace the inputs of the scan before, in the transaction that stores the results."""
    tree = [[path, blob, reading] for path, (blob, reading) in inputs.tree.items()]
    steps = [[step.day, step.author, step.touched, step.moves, step.merge, step.files] for step in inputs.history.steps]
    ScanInputs.objects.update_or_create(
        repository=repository,
        defaults={
            "commit_sha": inputs.commit_sha,
            "facts_version": facts_version(),
            "policy": to_mapping(inputs.own.policy),
            "policy_source": inputs.own.source,
            "notes": [[*inputs.notes], [*inputs.own.notes]],
            "tree": zlib.compress(orjson.dumps(tree), 1),
            "history": zlib.compress(orjson.dumps(steps), 1),
            "graph": pack(inputs.graph),
        },
    )


def stored_version(repository: Repository) -> datetime | None:
    """Changes with each scan; None before the first one and after an update of the engine. One small query."""
    rows = ScanInputs.objects.filter(repository=repository, facts_version=facts_version())
    return rows.values_list("updated_at", flat=True).first()


def scanned_blob(repository: Repository, path: str) -> tuple[str, str] | None:
    """The commit of the last scan and the hash of the blob that stood at this path in it; None for no such file."""
    commit, tree = _SCANNED.first(repository=repository.pk) or ("", None)
    return next(((commit, blob) for each, blob, _ in _tree_of(tree) if each == path), None) if tree else None


def keys_of_tree(inputs_id: UUID) -> set[FactsKey]:
    """Which facts the last scan of a repository was judged from; none when the row is gone."""
    row = ScanInputs.objects.filter(pk=inputs_id).only("tree").first()
    return {(blob, reading) for _, blob, reading in _tree_of(row.tree)} if row else set()


def load_inputs(repository_id: UUID) -> Inputs:
    """What the last scan was judged from. ScanInputs.DoesNotExist before the first one."""
    row = ScanInputs.objects.get(repository_id=repository_id)
    of_tree, of_policy = row.notes
    return Inputs(
        commit_sha=row.commit_sha,
        tree={path: (blob, reading) for path, blob, reading in _tree_of(row.tree)},
        history=History(tuple(_step(values) for values in orjson.loads(zlib.decompress(row.history)))),
        graph=unpack(row.graph),
        own=PolicyInForce(parse_policy(row.policy), row.policy_source, tuple(of_policy)),
        notes=tuple(of_tree),
    )


def read_files(inputs: Inputs) -> dict[str, FileFacts] | None:
    """Path to stored facts, for `evaluate`; None when the store has lost some of them."""
    facts = dict(stored_facts(set(inputs.tree.values())))
    if any(key not in facts for key in inputs.tree.values()):
        return None
    return {path: facts[key] for path, key in inputs.tree.items()}


def _tree_of(tree: bytes | memoryview) -> list[tuple[str, str, str]]:
    return orjson.loads(zlib.decompress(tree))


def _step(values: list) -> Step:
    day, author, touched, moves, merge, files = values
    return Step(day, author, tuple(touched), tuple((old, new) for old, new in moves), merge, files)
