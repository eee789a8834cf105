"""A changed policy on stored facts, beside the scan that found them: `python -m bench.policy [<git directory>]`.

Scans into a throw-away database, then changes the policy through the API. `cold` is the first change that a process
sees: facts are read and the import graph is built. `warm` are the changes after it. Times are CPU seconds, ratios are
to the whole scan of this run, without its past.
"""

import os
import statistics
import sys
from functools import partial
from pathlib import Path
from typing import Any

from bench import _service

CHANGES = 6


def main() -> None:
    """Print seconds and ratios."""
    git_dir = Path(sys.argv[1] if len(sys.argv) > 1 else ".git").resolve()
    _service.start()
    from django.conf import settings
    from django.test import Client

    settings.CLONE_ALLOWED_SCHEMES = ["https", "file"]
    settings.HISTORY_DAYS = 1
    repository, token = _connected(git_dir.as_uri())
    scan = _seconds(_scan)
    repository.refresh_from_db()
    report = repository.current_report
    client = Client(headers={"Authorization": f"Bearer {token}", "Host": "127.0.0.1"})
    cold, *warm = [_seconds(partial(_change, client, repository, number)) for number in range(CHANGES)]
    middle = statistics.median(warm)
    print(
        f"{report.files_analyzed:,} files, {report.lines_of_code:,} lines of code, {report.total_violations:,} findings"
    )
    print(f"scan {scan:.2f} s   cold {cold:.2f} s ({cold / scan:.3f})   warm {middle:.2f} s ({middle / scan:.3f})")


def _connected(url: str) -> tuple[Any, str]:
    from accounts.models import SignInProvider, User
    from accounts.services.sessions import open_session
    from analysis.models import Platform
    from analysis.services.repositories import connect_repository
    from organizations.services.organizations import create_organization

    user = User.objects.create_user("bench@example.org", "Bench-1234", name="Bench")
    organization = create_organization(owner=user, name="Acme", slug="acme")
    type(organization).objects.filter(pk=organization.pk).update(plan="pro")
    organization.refresh_from_db()
    repository = connect_repository(
        organization=organization, full_name="acme/measured", platform=Platform.GIT, clone_url=url
    )
    return repository, open_session(user=user, provider=SignInProvider.EMAIL).access


def _scan() -> None:
    from django.utils import timezone

    from analysis.services.execution import execute_next

    execute_next(now=timezone.now())


def _change(client: Any, repository: Any, number: int) -> None:
    """Sizes, an exception and a gate, other ones each time, so that findings change."""
    body = {
        "data_volumes": {"orders": "XL" if number % 2 else "S"},
        "gates": {"block_merge": [{"metric": "new_critical", "operator": ">", "value": number}]},
        "exceptions": [
            {"rule": rule, "file": "**", "expires": "2099-01-01", "reason": "A measurement"}
            for rule in ("maint-long-function", "rel-broad-except")[: 1 + number % 2]
        ],
    }
    answer = client.put(f"/v1/api/repos/{repository.pk}/policy", body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    newest = client.get(f"/v1/api/repos/{repository.pk}/runs").json()["data"][0]
    assert newest["status"] == "succeeded", newest


def _seconds(work: Any) -> float:
    started = _cpu()
    work()
    return _cpu() - started


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
