"""How much a test does: tier C in every change, tier S before a release (docs/reliability-tests.md).

A test names both of its figures and runs the same code on either. `--share` reaches for a part of tier S on a machine
that is busy; never for less than tier C. Random tests draw from `dice`, whose seed `--seed` gives again.
"""

import random
from collections.abc import Callable

import pytest

LONGEST_STRESS_SECONDS = 3 * 3600


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("scale")
    group.addoption("--scale", choices=["C", "S"], default="C", help="the tier whose figures tests use")
    group.addoption("--share", type=float, default=1.0, help="the part of tier S to reach for")
    group.addoption("--seed", type=int, default=None, help="the seed of random tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "stress: too long for every change; runs at tier S only")
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(2**32)


def pytest_report_header(config: pytest.Config) -> str:
    return f"tier {config.option.scale}, seed {config.option.seed}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.scale == "S":
        for item in items:
            item.add_marker(pytest.mark.timeout(LONGEST_STRESS_SECONDS), append=False)
        return
    long = [item for item in items if item.get_closest_marker("stress")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in set(long)]


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[..., int]:
    """`figure(c=2000, s=100_000)`: the one that this run uses. It stands in the report."""

    def choose(*, c: int, s: int, of: str = "") -> int:
        options = request.config.option
        chosen = c if options.scale == "C" else max(c, round(s * options.share))
        request.node.user_properties.append((of or "figure", chosen))
        return chosen

    return choose


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run; a failure shows how to give it again."""
    chosen: int = request.config.option.seed
    request.node.add_report_section("setup", "seed", f"--seed {chosen}")
    request.node.user_properties.append(("seed", chosen))
    return chosen


@pytest.fixture
def dice(seed: int) -> random.Random:
    """Randomness that can be repeated."""
    return random.Random(seed)
