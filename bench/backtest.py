"""What a back-test of a policy costs: the first call, one with other gates, one with other exceptions.

    python -m bench.backtest <git directory> [--pulls 50]

The repository is scanned once (SQLite), as a worker would; then the last merged pull requests are judged in this
process as the web server does, without its limit of ten seconds. Wall and CPU seconds.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

from bench import _service

GATES = {"block_merge": [{"metric": "new_critical", "operator": ">", "value": 0}]}
OTHER_GATES = {"block_merge": [{"metric": "debt_delta_score", "operator": ">", "value": 20}]}
EXCEPTION = {"rule": "maint-large-file", "file": "none/**", "expires": "2099-01-01", "reason": "Another walk"}


def main() -> None:
    options = _options()
    os.environ |= {"CLONE_ALLOWED_SCHEMES": "file", "HISTORY_DAYS": "1"}
    _service.start()
    repository = _scanned(options.git_dir)
    print(
        f"{repository.current_report.lines_of_code:,} lines of code, {repository.current_report.files_analyzed:,} files"
    )
    for name, part in (
        ("the first call", {"gates": GATES}),
        ("other gates", {"gates": OTHER_GATES}),
        ("other exceptions", {"gates": GATES, "exceptions": [EXCEPTION]}),
    ):
        _measure(name, repository, part, options.pulls)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("git_dir", type=Path)
    parser.add_argument("--pulls", type=int, default=50)
    return parser.parse_args()


def _scanned(git_dir: Path) -> Any:
    from django.utils import timezone

    from accounts.models import User
    from analysis.models import Platform
    from analysis.services.execution import execute_next
    from analysis.services.repositories import connect_repository
    from organizations.models import Organization

    owner = User.objects.create(email="bench@example.org", name="Bench")
    organization = Organization.objects.found(owner=owner, name="Bench", slug="bench", plan_id="team")
    repository = connect_repository(
        organization=organization, full_name="bench/repository", platform=Platform.GIT, clone_url=git_dir.as_uri()
    )
    execute_next(now=timezone.now())
    repository.refresh_from_db()
    if repository.current_report is None:
        raise SystemExit(f"The scan failed: {repository.runs.get().error}")
    return repository


def _measure(name: str, repository: Any, part: dict[str, Any], pulls: int) -> None:
    from django.utils import timezone

    from analysis.services.backtests import backtest_policy

    wall, cpu = time.monotonic(), time.process_time()
    told = backtest_policy(repository=repository, body=part, limit=pulls, today=timezone.now().date(), seconds=3600)
    print(
        f"{name:18} {time.monotonic() - wall:6.2f} s wall {time.process_time() - cpu:6.2f} s CPU: "
        f"{told['evaluated']} judged, {told['failed']} would have failed"
    )


if __name__ == "__main__":
    main()
