"""The same commit gives the same report (D7): cold, warm, from the command and from the server."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command

from analysis.models import Repository, RunStatus, ScanReport
from analysis.services.repositories import connect_repository
from analysis.services.runs import claim_next_run, end_run, request_run
from analysis.services.scanning import scan
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository
from tests.engine.extract.test_robustness import SAMPLES

ENDINGS = {
    "python": "py",
    "typescript": "ts",
    "javascript": "js",
    "tsx": "tsx",
    "java": "java",
    "go": "go",
    "sql": "sql",
}
TIMES = 2


def made_up(folder: Path, dice: random.Random) -> GitRepository:
    """A repository in several languages with a few weeks of history."""
    repository = GitRepository.create(folder)
    repository.commit(SHOP, on=TODAY - timedelta(days=60))
    for age in sorted(dice.sample(range(1, 50), 5), reverse=True):
        files: dict[str, str | bytes | None] = {}
        for language in dice.sample(sorted(ENDINGS), 3):
            name = f"{dice.choice(['web', 'core', 'jobs'])}/part_{dice.randrange(4)}.{ENDINGS[language]}"
            files[name] = "\n".join([SAMPLES[language]] * dice.randint(1, 6))
        repository.commit(files, on=TODAY - timedelta(days=age), by=dice.choice(["Ada", "Bob"]))
    return repository


@pytest.mark.django_db
def test_the_same_commit_gives_the_same_report(
    organization: Any, tmp_path: Path, capfdbinary: Any, figure: Any, dice: random.Random
) -> None:
    for number in range(figure(c=2, s=20, of="repositories")):
        source = made_up(tmp_path / f"source-{number}", dice)

        told = [_command(source, capfdbinary) for _ in range(TIMES)]
        stored = _server(organization, source, number)

        assert told[1:] == told[:-1], f"repository {number}"
        assert stored[1:] == stored[:-1], f"repository {number}"
        assert _findings(orjson.loads(told[0])["violations"]) == stored[0]["findings"], f"repository {number}"
        assert stored[0]["findings"]


def _command(source: GitRepository, captured: Any) -> bytes:
    captured.readouterr()
    call_command("scan", str(source.folder), "--json")
    printed: bytes = captured.readouterr().out
    return printed


def _server(organization: Any, source: GitRepository, number: int) -> list[dict[str, Any]]:
    """What is stored after a cold scan, after warm ones, and after a scan of a second clone."""
    reports = []
    for name in (f"acme/first-{number}", f"acme/second-{number}"):
        repository = connect_repository(organization=organization, full_name=name, platform="git", clone_url=source.url)
        for _ in range(TIMES):
            reports.append(_scanned(repository))
            # As if other code had judged it: a scan of what is known already would only confirm it.
            repository.reports.update(judged_from="")
            request_run(repository=repository)
        repository.runs.filter(status=RunStatus.QUEUED).delete()
    return reports


def _scanned(repository: Repository) -> dict[str, Any]:
    run = claim_next_run(now=repository.runs.latest("queued_at").queued_at + timedelta(seconds=1))
    assert run is not None
    scan(run)
    assert end_run(run, RunStatus.SUCCEEDED)
    (report,) = ScanReport.objects.filter(run=run).values()
    for name in ("id", "run_id", "repository_id", "created_at", "updated_at", "top_violations"):
        report.pop(name, None)
    open_ones = repository.violations.filter(status="open").values("rule_id", "file", "line", "severity", "message")
    return {**report, "graph": bytes(report["graph"]), "findings": sorted(tuple(row.values()) for row in open_ones)}


def _findings(violations: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((v["ruleId"], v["file"], v["line"], v["severity"], v["message"]) for v in violations)
