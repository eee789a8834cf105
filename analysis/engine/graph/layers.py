"""Puts files into the layers of the policy and says which layer may use which."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from pathspec import PathSpec

from analysis.engine.policy import Layer, Policy

_INWARD = re.compile(r"hexagonal|clean|onion|ports", re.IGNORECASE)
_LAYERED = re.compile(r"^(strict[- _]?)?layer", re.IGNORECASE)
_ADAPTER = re.compile(
    r"adapter|infra|persist|gateway|controller|delivery|driver|presentation|interface|^(web|api|http|ui|cli|rest|db)$",
    re.IGNORECASE,
)
_OF_ADAPTERS = re.compile(r"(?:^|/)(?:adapters?|infra(?:structure)?)/", re.IGNORECASE)
_DOMAIN = re.compile(r"^(domain|core|entit(y|ies)|models?)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LayerPlace:
    """A layer of the policy. `height` counts from the outermost layer, 0, inwards."""

    name: str
    height: int
    path: str = ""

    @property
    def is_domain(self) -> bool:
        """Whether the layer is the heart of the application by its name."""
        return bool(_DOMAIN.match(self.name))

    @property
    def is_adapter(self) -> bool:
        """Whether the layer speaks with the outside by its name, or by the folder that it stands in."""
        return bool(_ADAPTER.search(self.name) or _OF_ADAPTERS.search(self.path))


def assign_layers(paths: Iterable[str], policy: Policy) -> Mapping[str, LayerPlace | None]:
    """The layer of each path. Of several globs that match, the one with the longest fixed part wins, then the first."""
    return _assigned(tuple(paths), policy.layers)


# Rules, graph and notes ask for the same files, and both sides of a change for their own.
@lru_cache(maxsize=4)
def _assigned(paths: tuple[str, ...], layers: tuple[Layer, ...]) -> Mapping[str, LayerPlace | None]:
    places: dict[str, LayerPlace | None] = dict.fromkeys(paths)
    order = sorted(enumerate(layers), key=lambda item: (-_fixed_part(item[1].path), item[0]))
    for height, layer in reversed(order):
        place = LayerPlace(name=layer.name, height=height, path=layer.path)
        spec = PathSpec.from_lines("gitignore", [layer.path], backend="re2")
        for path in spec.match_files(paths):
            places[path] = place
    return MappingProxyType(places)


def may_use(source: LayerPlace, target: LayerPlace, policy: Policy) -> bool:
    """Whether the policy's architecture lets a file of one layer import from another one."""
    if source.name == target.name:
        return True
    if target.height < source.height:
        return False
    if _INWARD.search(policy.architecture):
        return not (source.is_adapter and target.is_adapter)
    if _LAYERED.match(policy.architecture.strip()):
        return target.height == source.height + 1
    return True


def _fixed_part(glob: str) -> int:
    return sum(1 for character in glob if character not in "*?[]!/")
