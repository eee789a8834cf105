"""What a team decided about its repository: stack, layers, gates, exemptions and the size of its tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from analysis.engine.model import Volume


@dataclass(frozen=True, slots=True)
class Stack:
    framework: str = ""
    orm: str = ""
    language: str = ""
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    path: str  # a glob


@dataclass(frozen=True, slots=True)
class Gate:
    metric: str
    operator: str
    value: float


@dataclass(frozen=True, slots=True)
class Exemption:
    """A policy exception: `rule` does not count in files matching `file` until `expires` (inclusive)."""

    rule: str
    file: str
    expires: date
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Layers are ordered from the outermost to the innermost."""

    stack: Stack = field(default_factory=Stack)
    architecture: str = ""
    layers: tuple[Layer, ...] = ()
    block_merge: tuple[Gate, ...] = ()
    warn: tuple[Gate, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    data_volumes: Mapping[str, Volume] = field(default_factory=dict)
