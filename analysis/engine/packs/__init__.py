"""Rule packs: a policy for one kind of project and the rules that matter there. Data, one YAML file each, read once.

    title: Django with REST framework
    description: ...
    framework: django
    languages: [python]
    version: 1.0.0
    tags: [web, orm]
    rules: ["perf-*", risk-http-no-timeout]     # rule ids, or globs over them
    policy: {stack, architecture, layers, gates, data_volumes}

A rule that speaks of none of the pack's languages is left out of a glob, so that a pack grows with the catalogue.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from analysis.engine.model import Rule
from analysis.engine.policy import Gate, Policy, Stack
from analysis.engine.policy_file import STACK_FIELDS, parse_policy, to_mapping
from analysis.engine.policy_yaml import read_yaml
from analysis.engine.rules import all_rules


@dataclass(frozen=True, slots=True)
class Pack:
    """One rule pack. `name` is the name of its file; `rules` are ordered by id."""

    name: str
    title: str
    description: str
    framework: str
    languages: tuple[str, ...]
    version: str
    tags: tuple[str, ...]
    rules: tuple[Rule, ...]
    policy: Policy

    @property
    def rule_count(self) -> int:
        return len(self.rules)

    @property
    def policy_body(self) -> dict[str, Any]:
        """The policy in the writable shape."""
        return to_mapping(self.policy)


@lru_cache(maxsize=1)
def all_packs() -> Mapping[str, Pack]:
    """Every pack by its name, in the order of the names. ValueError for a pack that is not sound."""
    sources = sorted(files(__name__).joinpath("data").iterdir(), key=lambda source: source.name)
    packs = [read_pack(source.name.removesuffix(".yml"), source.read_bytes()) for source in sources]
    return {pack.name: pack for pack in packs}


def read_pack(name: str, source: bytes) -> Pack:
    """The pack that a YAML file describes."""
    body: dict[str, Any] = read_yaml(source)
    languages = tuple(body["languages"])
    return Pack(
        name=name,
        title=body["title"],
        description=" ".join(body["description"].split()),
        framework=body["framework"],
        languages=languages,
        version=body["version"],
        tags=tuple(body["tags"]),
        rules=_rules(name, body["rules"], languages),
        policy=parse_policy(body["policy"]),
    )


def search(text: str = "", framework: str = "") -> list[Pack]:
    """Packs in which every word of `text` begins a word, made for `framework` if one is named; case is ignored.
    A text without a word, such as `%`, finds nothing."""
    words = _words(text)
    if text.strip() and not words:
        return []
    wanted = framework.strip().lower()
    return [
        pack
        for pack in all_packs().values()
        if (not wanted or pack.framework.lower() == wanted) and _speaks_of(pack, words)
    ]


def applied(pack: Pack, policy: Policy) -> Policy:
    """`policy` with what the pack says put in: its stack, architecture and layers where it names them, each of its
    gates in place of the ones on the same metric. Exceptions stay, and so do sizes that are declared already."""
    said = {name: value for name in STACK_FIELDS if (value := getattr(pack.policy.stack, name))}
    present = {name: getattr(policy.stack, name) for name in STACK_FIELDS}
    return replace(
        policy,
        stack=Stack(**present | said),
        architecture=pack.policy.architecture or policy.architecture,
        layers=pack.policy.layers or policy.layers,
        block_merge=_with_gates(policy.block_merge, pack.policy.block_merge),
        warn=_with_gates(policy.warn, pack.policy.warn),
        data_volumes={**pack.policy.data_volumes, **policy.data_volumes},
    )


def _with_gates(present: Iterable[Gate], added: tuple[Gate, ...]) -> tuple[Gate, ...]:
    metrics = {gate.metric for gate in added}
    return (*(gate for gate in present if gate.metric not in metrics), *added)


def _rules(pack: str, patterns: Iterable[str], languages: tuple[str, ...]) -> tuple[Rule, ...]:
    found: dict[str, Rule] = {}
    for pattern in patterns:
        meant = [module.RULE for module in all_rules() if fnmatchcase(module.RULE.id, pattern)]
        spoken = [rule for rule in meant if not rule.languages or set(rule.languages) & set(languages)]
        if not spoken:
            raise ValueError(f"The pack {pack} names rules that do not exist for its languages: {pattern}")
        found |= {rule.id: rule for rule in spoken}
    return tuple(found[rule_id] for rule_id in sorted(found))


def _speaks_of(pack: Pack, words: Iterable[str]) -> bool:
    said = (pack.name, pack.title, pack.description, pack.framework, *pack.languages, *pack.tags)
    known = set(_words(" ".join(said)))
    return all(any(one.startswith(word) for one in known) for word in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
