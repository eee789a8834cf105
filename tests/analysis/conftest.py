"""A connected, really cloned and really scanned repository."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.models import Platform, Repository, Run, RunStatus
from analysis.services.repositories import connect_repository
from analysis.services.runs import claim_next_run, end_run
from analysis.services.scanning import scan
from tests.analysis.repositories import SHOP, GitRepository

TODAY = datetime.now(UTC).date()


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """Clones go to a folder of the test, and may come from folders on this machine."""
    settings.WORKSPACE_DIR = tmp_path / "workspace"
    settings.CLONE_ALLOWED_SCHEMES = ["https", "file"]
    settings.RUN_SLOTS = 8
    yield settings.WORKSPACE_DIR


@pytest.fixture
def shop(tmp_path: Path) -> GitRepository:
    """A small Django shop with forty days of history."""
    repository = GitRepository.create(tmp_path / "shop")
    repository.commit(
        {"README.md": "# Shop\n", "shop/models.py": SHOP["shop/models.py"]}, on=TODAY - timedelta(days=40)
    )
    repository.commit(SHOP, on=TODAY - timedelta(days=10), message="Add rates")
    repository.commit({"shop/orders.py": SHOP["shop/orders.py"] + "\n\nTOTAL = 1\n"}, on=TODAY - timedelta(days=3))
    return repository


@pytest.fixture
def connect(organization: Any) -> Any:
    """Connect a git repository to the organization; its first scan runs at once, in a child process."""

    def connect_it(source: GitRepository, full_name: str = "acme/shop") -> Repository:
        repository = connect_repository(
            organization=organization, full_name=full_name, platform=Platform.GIT, clone_url=source.url
        )
        repository.refresh_from_db()
        return repository

    return connect_it


@pytest.fixture
def scan_here() -> Any:
    """Carry out the queued run of a repository in this process and this transaction."""

    def scan_it(repository: Repository) -> Run:
        run = claim_next_run(now=datetime.now(UTC))
        assert run is not None
        assert run.repository_id == repository.pk
        scan(run)
        assert end_run(run, RunStatus.SUCCEEDED)
        repository.refresh_from_db()
        return run

    return scan_it


@pytest.fixture
def judged_shop(shop: GitRepository, connect: Any, scan_here: Any) -> Repository:
    """The shop with a query per element and an import against the layers, scanned."""
    shop.commit(
        {
            "shop/lookup.py": "from shop.models import Order\n\n\n"
            "def lookup(ids):\n    return [Order.objects.get(pk=each) for each in ids]\n",
            "shop/views.py": "from shop import orders\n\n\ndef page(request):\n    return orders.total([])\n",
            "shop/services.py": "from shop import views\n\n\ndef serve(request):\n    return views.page(request)\n",
        },
        on=TODAY,
    )
    repository = connect(shop)
    scan_here(repository)
    return repository
