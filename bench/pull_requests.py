"""Replay the last merges of a repository as pull requests: from the delivered event to the status on the commit.

    python -m bench.pull_requests <git directory> [--pulls 100] [--plan team] [--flood 0] [--out verdicts.json]

Web server, workers, git over HTTP and a code host run on the loopback. The default branch stands where the oldest of
the pull requests began and is scanned there; then each is opened by a signed delivery, one after the other: the base
branch as it was before the merge, the head as its second parent (where a project squashes: the commit itself). A
repository with lost blobs will do. SQLite and the embedded broker, unless BENCH_DATABASE_URL (an empty database) and
BENCH_REDIS_URL say otherwise.

With `--flood` the repository of a second organization is told of so many pull requests a second meanwhile, in turn over
a thousand: whether the flood of one organization is fair to another.
"""

import argparse
import hashlib
import hmac
import http.client
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench._service import git, remote_of, running, wait_for
from tests.providers.codehosts import APP_ID, INSTALLATION, PRIVATE_KEY, CodeHost1
from tests.providers.git_http import GitHttpServer
from tests.providers.loopback import serving

PORT = 8794
SECRET = "the App's webhook secret"
FULL_NAME, REPOSITORY_ID = "acme/shop", 4711
FLOODING_NAME, FLOODING_ID, FLOODING_PULLS, FLOODING_CLIENTS = "flood/shop", 4712, 1000, 4
VERDICT_SECONDS, SCAN_SECONDS = 60, 900


@dataclass(frozen=True)
class Pull:
    """One merge as a pull request."""

    number: int
    base: str
    head: str
    title: str


@dataclass
class Timing:
    """Seconds from the delivery on; None when it took too long."""

    pull: Pull
    accepted: float
    judged: float | None
    posted: float | None
    result: str


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="bench-pulls-") as folder:
        pulls = _pulls(options.git_dir, options.pulls)
        remote = remote_of(options.git_dir, Path(folder), pulls[0].base)
        with GitHttpServer(remote.parent) as git_server, serving(CodeHost1) as host:
            os.environ.update(_environment(folder, host.url, git_server.url))
            subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"], check=True)
            import django

            django.setup()
            with running(Path(folder), PORT):
                print(f"first scan            {_connected(FULL_NAME, git_server.url, options.plan):.1f} s", flush=True)
                with _flooding(options.flood, pulls, remote, partial(_connected, FLOODING_NAME, git_server.url)):
                    timings = [_replayed(pull, remote, host) for pull in pulls]
        _report(timings)
        if options.out:
            Path(options.out).write_text(json.dumps(_verdicts(), indent=1))
            print(f"verdicts in {options.out}")
    return 0 if all(timing.posted is not None for timing in timings) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("git_dir", type=Path)
    parser.add_argument("--pulls", type=int, default=100)
    parser.add_argument("--plan", default="team")
    parser.add_argument("--flood", type=float, default=0.0, help="deliveries a second of another organization")
    parser.add_argument("--out", help="a file for the verdicts as they are stored")
    return parser.parse_args()


# The code host


def _pulls(git_dir: Path, count: int) -> list[Pull]:
    """The last first-parent commits of HEAD with a second parent; all of them where a project hardly merges."""
    lines = git(git_dir, "log", "--first-parent", "--format=%P%x09%s", "HEAD").splitlines()
    merges = [line for line in lines if line.count(" ", 0, line.index("\t"))]
    squashes = git(git_dir, "log", "--first-parent", "--format=%P %H%x09%s", f"--max-count={count}", "HEAD")
    chosen = merges[:count] if len(merges) >= count else squashes.splitlines()
    pulls = []
    for number, line in enumerate(reversed(chosen), start=1):
        hashes, _, title = line.partition("\t")
        base, head, *_ = hashes.split()
        pulls.append(Pull(number, base, head, title))
    return pulls


# The service


def _environment(folder: str, host_url: str, git_url: str) -> dict[str, str]:
    return {
        "VAR_DIR": folder,
        "DATABASE_URL": os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3"),
        "REDIS_URL": os.environ.get("BENCH_REDIS_URL", ""),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PORT": str(PORT),
        "LOG_LEVEL": "WARNING",
        "HISTORY_DAYS": "1",
        "CODEHOST1_URL": git_url,
        "CODEHOST1_API_URL": host_url,
        "CODEHOST1_APP_ID": APP_ID,
        "CODEHOST1_PRIVATE_KEY": PRIVATE_KEY,
        "CODEHOST1_WEBHOOK_SECRET": SECRET,
        "CLONE_ALLOWED_SCHEMES": "http",
        "CLONE_ALLOW_PRIVATE_ADDRESSES": "true",
    }


def _connected(full_name: str, git_url: str, plan: str) -> float:
    """Connect the repository for an organization of its own and wait for its first scan; seconds."""
    from accounts.models import User
    from analysis.models import Platform
    from analysis.services.repositories import connect_repository
    from organizations.models import Organization

    slug = full_name.partition("/")[0]
    owner = User.objects.create_user(f"{slug}@example.org", None, name="Bench")
    organization = Organization.objects.found(owner=owner, name=slug, slug=slug, plan_id=plan)
    started = time.monotonic()
    repository = connect_repository(
        organization=organization,
        full_name=full_name,
        platform=Platform.CODEHOST1,
        clone_url=f"{git_url}/shop.git",
        default_branch="main",
    )
    run = repository.first_run
    assert run
    assert wait_for(lambda: _fresh(run).is_finished, SCAN_SECONDS), "the first scan did not end"
    assert run.status == "succeeded", run.error
    return time.monotonic() - started


def _fresh(row: Any) -> Any:
    row.refresh_from_db()
    return row


# Replaying


def _replayed(pull: Pull, remote: Path, host: CodeHost1) -> Timing:
    git(remote, "update-ref", "refs/heads/main", pull.base)
    git(remote, "update-ref", f"refs/pull/{pull.number}/head", pull.head)
    started = time.monotonic()
    assert _post("POST", *_delivery(pull, f"bench-{pull.number}")) == 200
    accepted = time.monotonic() - started
    posted = wait_for(lambda: _is_posted(host, pull.head), VERDICT_SECONDS)
    took = time.monotonic() - started
    judged_at, queued_at, result = _judged(pull)
    judged = (judged_at - queued_at).total_seconds() if judged_at else None
    timing = Timing(pull, accepted, judged, took if posted else None, result)
    print(f"  #{pull.number:<4} {result:5} {took:6.2f} s  {pull.title[:80]}", flush=True)
    return timing


def _is_posted(host: CodeHost1, sha: str) -> bool:
    return sha in host.statuses and host.shown_on(sha) != "pending"


def _judged(pull: Pull) -> tuple[Any, Any, str]:
    from analysis.models import PullRequest, Run

    row = PullRequest.objects.filter(number=pull.number, repository__full_name=FULL_NAME).first()
    if row is None:
        return None, None, "none: the event still waits"
    run = Run.objects.filter(pull_request=row).latest("queued_at")
    result = row.gate_result if row.verdict.get("evaluated") else f"none: {run.error}"
    return run.finished_at, run.queued_at, result


def _delivery(
    pull: Pull, delivery_id: str, full_name: str = FULL_NAME, repository_id: int = REPOSITORY_ID
) -> tuple[bytes, dict[str, str]]:
    names = {"full_name": full_name, "default_branch": "main"}
    payload = {
        "action": "opened",
        "pull_request": {
            "number": pull.number,
            "state": "open",
            "title": pull.title,
            "user": {"login": "bench"},
            "head": {"sha": pull.head, "ref": f"branch-{pull.number}", "repo": {"full_name": "fork/shop"}},
            "base": {"sha": pull.base, "ref": "main"},
        },
        "repository": {"id": repository_id, "private": False, **names},
        "installation": {"id": int(INSTALLATION)},
    }
    body = json.dumps(payload).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return body, {
        "Content-Type": "application/json",
        "codehost1-event": "pull_request",
        "codehost1-delivery": delivery_id,
        "codehost1-signature-256": f"sha256={signature}",
    }


def _post(method: str, body: bytes, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    try:
        connection.request(method, "/v1/webhooks/codehost1", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


@contextmanager
def _flooding(rate: float, pulls: list[Pull], remote: Path, connected: Callable[[str], float]) -> Iterator[None]:
    """Tell of pull requests of another organization at the given rate, in turn over a thousand, until it is enough."""
    if not rate:
        yield
        return
    connected("team")
    # Commits of its own with the same content: the code host tells statuses apart by the commit.
    again = [replace(pull, head=_committed_again(remote, pull.head)) for pull in pulls]
    flood = [replace(again[number % len(again)], number=number + 1) for number in range(FLOODING_PULLS)]
    lines = "".join(f"create refs/pull/{pull.number}/head {pull.head}\n" for pull in flood)
    subprocess.run(["git", f"--git-dir={remote}", "update-ref", "--stdin"], input=lines, text=True, check=True)
    turns, stop, accepted = itertools.count(), threading.Event(), []
    started = time.monotonic()

    def deliver() -> None:
        while not stop.wait(max(0.0, started + (turn := next(turns)) / rate - time.monotonic())):
            delivery = _delivery(flood[turn % FLOODING_PULLS], f"flood-{turn}", FLOODING_NAME, FLOODING_ID)
            accepted.append(_post("POST", *delivery))

    threads = [threading.Thread(target=deliver) for _ in range(FLOODING_CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        taken, seconds = accepted.count(200), time.monotonic() - started
        print(f"flood                 {taken} of {len(accepted)} accepted, {taken / seconds:.0f} a second")


def _committed_again(remote: Path, head: str) -> str:
    author = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    return git(remote, *author, "commit-tree", "-p", head, "-m", "The same again", f"{head}^{{tree}}").strip()


# What came of it


def _report(timings: list[Timing]) -> None:
    print(f"pull requests         {len(timings)}, load of the machine {os.getloadavg()[0]:.1f}")
    _line("delivery accepted", [timing.accepted for timing in timings])
    _line("queued to judged", [timing.judged for timing in timings])
    _line("delivered to posted", [timing.posted for timing in timings])
    for result in sorted({timing.result for timing in timings}):
        print(f"{result:21} {sum(timing.result == result for timing in timings)}")


def _line(name: str, values: list[float | None]) -> None:
    known = sorted(value for value in values if value is not None)
    median, late = known[len(known) // 2], known[min(len(known) - 1, int(len(known) * 0.95))]
    print(f"{name:21} median {median:.3f} s  p95 {late:.3f} s  max {known[-1]:.3f} s  of {len(known)}")


def _verdicts() -> list[dict[str, Any]]:
    from analysis.models import PullRequest

    rows = PullRequest.objects.filter(repository__full_name=FULL_NAME).order_by("number")
    return [
        {
            "number": row.number,
            "title": row.title,
            "base": row.base_sha,
            "head": row.head_sha,
            "result": row.gate_result,
            "score": row.score,
            "blocking": row.blocking_count,
            "warnings": row.warning_count,
            "verdict": row.verdict,
        }
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main())
