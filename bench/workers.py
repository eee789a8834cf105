"""One machine against several on the first scan of a large repository: the same report, and how much sooner.

    python -m bench.workers <git directory> [--machines 3]

Each machine is a process with a folder of its own and one parser, so that two cores can show a difference; all work
on one PostgreSQL database (BENCH_DATABASE_URL, empty) and tell each other by polling. Three scans of the same commit,
nothing known before: by one machine, by all, and by all while one that helps is killed with SIGKILL midway. The tree at
HEAD is committed anew, so a clone that lacks old blobs will do; the past is not filled (HISTORY_DAYS=1).
"""

import argparse
import os
import secrets
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import _service
from bench._service import wait_for
from tests.analysis.repositories import GitRepository

WAIT_SECONDS = 600


def main() -> int:
    options = _options()
    os.environ |= {"DATABASE_URL": os.environ["BENCH_DATABASE_URL"], "CLONE_ALLOWED_SCHEMES": "file"}
    os.environ |= {"SECRET_KEY": secrets.token_hex(32)}  # machines that work together have one
    os.environ |= {"HISTORY_DAYS": "1", "WORKER_CONCURRENCY": "1", "RUN_SLOTS": "8"}
    _service.start()
    with TemporaryDirectory(prefix="bench-workers-") as folder:
        source = _committed_anew(options.git_dir, Path(folder) / "source")
        timings = _measured(options.machines, source, Path(folder))
    reports = {bytes(report) for *_, report in timings}
    print(f"load of the machine   {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    whole, parsing = (timings[0][place] / timings[1][place] for place in (0, 1))
    print(f"speed-up of parsing   {parsing:.2f}, of the whole scan {whole:.2f}")
    print(f"reports               {'the same, byte for byte' if len(reports) == 1 else 'DIFFERENT'}")
    return 0 if len(reports) == 1 else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("git_dir", type=Path)
    parser.add_argument("--machines", type=int, default=3)
    return parser.parse_args()


def _committed_anew(git_dir: Path, folder: Path) -> GitRepository:
    source = GitRepository.create(folder)
    archive = subprocess.Popen(["git", f"--git-dir={git_dir}", "archive", "HEAD"], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    assert archive.wait() == 0, "the repository lacks files of HEAD"
    source.commit({}, on=datetime.now(UTC).date())
    return source


def _measured(count: int, source: GitRepository, folder: Path) -> list[tuple[float, float, bytes]]:
    from tests.analysis.workers import start_worker

    machines: list[subprocess.Popen[bytes]] = []
    try:
        machines.append(start_worker(folder / "machine-0", RUN_LEASE_SECONDS="30"))
        _settle(1)
        timings = [_scan("one machine", source)]
        for number in range(1, count):
            machines.append(start_worker(folder / f"machine-{number}", RUN_LEASE_SECONDS="30"))
        _settle(count)
        timings.append(_scan(f"{count} machines", source))
        victim = _killer(folder, machines)
        timings.append(_scan("one of them killed", source, victim))
        return timings
    finally:
        for machine in machines:
            machine.kill()
            machine.wait()


def _settle(count: int) -> None:
    from analysis.models import Workspace

    assert wait_for(lambda: Workspace.objects.count() == count, WAIT_SECONDS), "a machine did not start"


def _killer(folder: Path, machines: list[Any]) -> Any:
    """Kills one machine that helps, once, when called with the machine whose scan it is."""

    def kill(owner: str) -> None:
        for number, machine in enumerate(machines):
            if (folder / f"machine-{number}/var/workspace/id").read_text() != owner and machine.poll() is None:
                machine.kill()
                return

    return kill


def _scan(name: str, source: GitRepository, kill: Any = None) -> tuple[float, float, bytes]:
    """Seconds of the whole scan and of its parsing, and what it stored."""
    from analysis.models import BlobFacts, CloneCopy, Platform, Repository, Run, ScanShare
    from organizations.models import Organization
    from tests.analysis.stored import stored_results

    BlobFacts.objects.all().delete()
    repository = Repository.objects.create(
        organization=Organization.objects.first() or _organization(),
        full_name=f"bench/{name.replace(' ', '-')}",
        platform=Platform.GIT,
        clone_url=source.url,
    )
    run = Run.objects.create(
        organization=repository.organization, repository=repository, kind="first_scan", queued_at=repository.created_at
    )
    phases: dict[str, float] = {}
    taken: set[int] = set()
    ends = time.monotonic() + WAIT_SECONDS
    while not run.is_finished and time.monotonic() < ends:
        run.refresh_from_db()
        phases.setdefault(run.phase, time.monotonic())
        taken |= set(ScanShare.objects.exclude(lease=None).values_list("pk", flat=True))
        if kill and len(taken) >= 2:
            kill(str(CloneCopy.objects.get(repository=repository).workspace_id))
            kill = None
        time.sleep(0.02)
    assert run.status == "succeeded", run.error
    parsing = phases["reading history"] - phases["listing files"]
    whole = phases["finished"] - phases["cloning"]
    print(f"{name:21} parsing {parsing:6.1f} s  whole scan {whole:6.1f} s  shares seen taken {len(taken)}", flush=True)
    return whole, parsing, stored_results(repository)


def _organization() -> Any:
    from accounts.models import User
    from organizations.models import Organization

    owner = User.objects.create_user("bench@example.org", None, name="Bench")
    return Organization.objects.found(owner=owner, name="Bench", slug="bench", plan_id="team")


if __name__ == "__main__":
    sys.exit(main())
