"""From the connection of a repository to its served results, over the API: `python -m bench.connect <git directory>...`

Each is connected to a service that was just started, on SQLite and the embedded broker. `served` goes from the request
that connects to the overview with the results, `cold` to the end of the first scan: its ninety days of history are read
after the results are served. `warm` is the median of three scans that were asked for when nothing had changed; `pushed`
is one after the default branch has moved on by its last twenty commits, which it lacked before. Memory is the anonymous
memory of all processes together, shared pages counted once: of the idle service, and the most there was in all scans.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench._memory import Memory, watching
from bench._service import git, remote_of, running, wait_for
from tests.providers.git_http import GitHttpServer

PORT = 8796
SETTLE_SECONDS = 3  # after its start, before the service counts as idle
PUSHED_COMMITS = 20
WARM_SCANS = 3
SCAN_SECONDS = 900
CATEGORIES = ("architecture", "runtime_risk", "performance", "reliability", "maintainability")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("git_dirs", type=Path, nargs="+")
    git_dirs = parser.parse_args().git_dirs
    seconds, megabytes, findings = (
        ("served", "cold", "warm", "pushed"),
        ("idle", "peak"),
        ("arch", "risk", "perf", "rel", "maint"),
    )
    print(f"{'':40}{'seconds':>32}{'MB':>12}{'':>8}{'findings':>35}")
    print(f"{'repository':30}{'lines':>10}{_columns(8, seconds)}{_columns(6, megabytes)}{'health':>8}", end="")
    print(f"{_columns(7, findings)}  top hotspot", flush=True)
    for git_dir in git_dirs:
        print(f"{_name(git_dir):30}{_measured(git_dir)}", flush=True)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    return 0


def _columns(width: int, cells: Iterable[str]) -> str:
    return "".join(f"{cell:>{width}}" for cell in cells)


def _name(git_dir: Path) -> str:
    """Of a bare repository the folder around it, of a checkout's `.git` too."""
    whole = git_dir.resolve()
    return whole.parent.name if whole.name in ("repo", ".git") else whole.name


def _measured(git_dir: Path) -> str:
    """The columns behind the repository's name, from a service of its own."""
    commits = git(git_dir, "log", "--first-parent", f"--max-count={PUSHED_COMMITS + 1}", "--format=%H", "HEAD").split()
    with tempfile.TemporaryDirectory(prefix="bench-connect-") as folder:
        remote = remote_of(git_dir, Path(folder), commits[-1])
        with GitHttpServer(remote.parent) as git_server:
            os.environ.update(_environment(folder))
            subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"], check=True)
            with running(Path(folder), PORT) as server:
                time.sleep(SETTLE_SECONDS)
                return _scanned(f"{git_server.url}/{remote.name}", remote, commits[0], Memory(server))


def _environment(folder: str) -> dict[str, str]:
    return {
        "VAR_DIR": folder,
        "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
        "REDIS_URL": "",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PORT": str(PORT),
        "LOG_LEVEL": "WARNING",
        "CLONE_ALLOWED_SCHEMES": "http",
        "CLONE_ALLOW_PRIVATE_ADDRESSES": "true",
        "RATELIMIT_ENABLE": "false",
    }


def _scanned(url: str, remote: Path, newest: str, memory: Memory) -> str:
    """Connect, scan again, push and scan."""
    idle = memory.now()
    api = Api()
    api.sign_up()
    with watching(memory):
        started = time.monotonic()
        repository = api.post("/api/repos", api.wanted(url))["id"]
        first = api.get(f"/api/repos/{repository}/runs")["data"][0]["id"]
        wait_for(lambda: api.get(f"/api/repos/{repository}/overview")["healthScore"] is not None, SCAN_SECONDS)
        served = time.monotonic() - started
        _wait_for_the_end(api, first)
        overview = api.get(f"/api/repos/{repository}/overview")
        cold = time.monotonic() - started
        warm = statistics.median(_scanned_again(api, repository) for _ in range(WARM_SCANS))
        git(remote, "update-ref", "refs/heads/main", newest)
        pushed = _scanned_again(api, repository)
    seconds = _columns(8, (f"{each:.2f}" for each in (served, cold, warm, pushed)))
    lines = api.get(f"/api/repos/{repository}/first-scan")["linesOfCode"]
    found = (f"{overview['categoryBreakdown'][each]:,}" for each in CATEGORIES)
    hotspot = next((each["file"] for each in overview["topHotspots"]), "-")
    return (
        f"{lines:>10,}{seconds}{idle:>6.0f}{memory.peak:>6.0f}"
        f"{overview['healthScore']:>8}{_columns(7, found)}  {hotspot}"
    )


def _scanned_again(api: "Api", repository: str) -> float:
    started = time.monotonic()
    _wait_for_the_end(api, api.post(f"/api/repos/{repository}/analyze", {})["runId"])
    return time.monotonic() - started


def _wait_for_the_end(api: "Api", run: str) -> None:
    def ended() -> bool:
        return api.get(f"/api/runs/{run}")["status"] in ("succeeded", "failed")

    assert wait_for(ended, SCAN_SECONDS), "the scan did not end"
    assert api.get(f"/api/runs/{run}")["status"] == "succeeded", api.get(f"/api/runs/{run}")


class Api:
    """A client as the front end is one: JSON over HTTP, a token that sign-up gave."""

    def __init__(self) -> None:
        self._headers = {"Content-Type": "application/json"}
        self._organization = ""

    def sign_up(self) -> None:
        asker = {"email": "bench@example.org", "password": "A long pass phrase 4711", "name": "Bench"}
        self._headers["Authorization"] = f"Bearer {self.post('/auth/signup', asker)['accessToken']}"
        self._organization = self.post("/orgs", {"name": "Bench"})["id"]

    def wanted(self, url: str) -> dict[str, str]:
        """The body that connects the repository at the address."""
        return {"orgId": self._organization, "fullName": "acme/shop", "platform": "codehost1", "cloneUrl": url}

    def get(self, path: str) -> Any:
        return self._ask(urllib.request.Request(f"http://127.0.0.1:{PORT}/v1{path}", headers=self._headers))

    def post(self, path: str, body: dict[str, str]) -> Any:
        url = f"http://127.0.0.1:{PORT}/v1{path}"
        return self._ask(urllib.request.Request(url, json.dumps(body).encode(), self._headers))

    def _ask(self, request: urllib.request.Request) -> Any:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


if __name__ == "__main__":
    sys.exit(main())
