"""How risky a file is: complex, often changed and full of findings (rules.md 8.4)."""

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

COMPLEXITY_CEILING = 200
CHURN_CEILING = 30
DENSITY_CEILING = 30
SHORTEST_FILE = 100  # lines; below, one finding would weigh too much
HOTSPOT_RISK = 60
HOTSPOT_CHURN = 3


@dataclass(frozen=True, slots=True)
class Hotspot:
    """A file with its risk, its summed cyclomatic complexity and its commits of 90 days."""

    file: str
    complexity: int
    churn_count: int
    violation_count: int
    risk_score: int

    @property
    def is_hotspot(self) -> bool:
        """Absolute, not relative to the repository."""
        return self.risk_score >= HOTSPOT_RISK and self.churn_count >= HOTSPOT_CHURN

    @property
    def order(self) -> tuple[int, int, str]:
        """Sorts the riskiest first; ties go to more violations, then to the path."""
        return -self.risk_score, -self.violation_count, self.file


@lru_cache(maxsize=65536)
def risk_score(complexity: int, churn: int, density: float) -> int:
    """Risk from 0 to 100.

    `complexity` is the summed cyclomatic complexity of the file, `churn` its commits in 90 days, `density` the summed
    weight of its findings per 1000 of its lines. The product of complexity and churn follows Tornhill: both must be
    high, and findings alone make no hotspot.
    """
    c = min(1.0, log(1 + complexity) / log(1 + COMPLEXITY_CEILING))
    ch = min(1.0, log(1 + churn) / log(1 + CHURN_CEILING))
    v = min(1.0, density / DENSITY_CEILING)
    return round(100 * (0.7 * sqrt(c * ch) + 0.3 * v * max(c, ch)))


def violation_density(weight_in_hundredths: int, lines: int) -> float:
    """Weighted findings per 1000 lines."""
    return weight_in_hundredths * 10 / max(lines, SHORTEST_FILE)
