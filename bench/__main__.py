"""All benchmarks in under twenty minutes, written to bench/results.md: `python -m bench [<git directory>]`.

Works from nothing: without a git directory this checkout's own history is measured. Each benchmark runs as a process of
its own and has a time limit; one that fails or runs out of time is noted, and the others run all the same. How to read
the results: docs/benchmarks.md. BENCH_DATABASE_URL names an empty PostgreSQL database, or one that
`bench.installation` filled, for the reads of the API; without it they are measured on SQLite.
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
RESULTS = CHECKOUT / "bench" / "results.md"
# All limits together are twenty minutes.
SECONDS = {
    "engine": 120,
    "scan": 90,
    "memory": 30,
    "connect": 90,
    "policy": 60,
    "backtest": 90,
    "pull_requests": 150,
    "api": 240,
    "webhooks": 240,
    "sessions": 45,
    "signin_timing": 45,
}
LONGEST_OUTPUT = 200  # lines of one benchmark


@dataclass(frozen=True)
class Outcome:
    """What one benchmark printed, and how it ended."""

    command: str
    seconds: float
    ending: str
    lines: list[str]


def main() -> int:
    """Run one benchmark after the other; the number of those that failed."""
    repository = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else _own_history()
    failed, parts = 0, [_heading(repository)]
    for name, arguments in _measurements(str(repository)).items():
        print(f"== bench.{name}", flush=True)
        outcome = _run(name, arguments)
        print(f"   {outcome.ending} after {outcome.seconds:.0f} s", flush=True)
        failed += outcome.ending != "ended well"
        parts.append(_section(name, outcome, repository))
        RESULTS.write_text("\n".join(parts))
    print(f"written to {RESULTS.relative_to(CHECKOUT)}")
    return failed


def _measurements(repository: str) -> dict[str, list[str]]:
    return {
        "engine": [repository, "--lizard"],
        "scan": [repository],
        "memory": [repository],
        "connect": [repository],
        "policy": [repository],
        "backtest": [repository, "--pulls", "20"],
        "pull_requests": [repository, "--pulls", "20"],
        "api": ["--requests", "100"],
        "webhooks": ["--organizations", "50", "--kills", "1"],
        "sessions": [],
        "signin_timing": [],
    }


def _own_history() -> Path:
    found = subprocess.check_output(["git", "rev-parse", "--path-format=absolute", "--git-common-dir"], cwd=CHECKOUT)
    return Path(found.decode().strip())


def _run(name: str, arguments: Sequence[str]) -> Outcome:
    command = [sys.executable, "-m", f"bench.{name}", *arguments]
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        # A group of its own: whatever it started ends with it when the time is over.
        process = subprocess.Popen(command, cwd=CHECKOUT, stdout=output, stderr=output, start_new_session=True)
        try:
            status = process.wait(SECONDS[name])
            ending = "ended well" if status == 0 else f"failed with status {status}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            process.wait(20)
            ending = f"ran out of its {SECONDS[name]} s"
        output.seek(0)
        lines = [line.rstrip() for line in output if not line.startswith("{")]  # log lines are JSON
    words = " ".join(["python", "-m", f"bench.{name}", *arguments])
    return Outcome(words, time.monotonic() - started, ending, lines[-LONGEST_OUTPUT:])


# Writing


def _heading(repository: Path) -> str:
    commit = _git("log", "-1", "--format=%h of %cs")
    measured = "this checkout's own history" if repository == _own_history() else repository.name
    return (
        "# Results\n\n"
        f"Measured on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC at commit {commit}; repository: {measured}.\n\n"
        f"Machine: {os.cpu_count()} cores ({_processor()}), {_memory()}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; load {os.getloadavg()[0]:.1f} at the start.\n\n"
        "How to read this: [docs/benchmarks.md](../docs/benchmarks.md).\n"
    )


def _section(name: str, outcome: Outcome, repository: Path) -> str:
    command = outcome.command.replace(str(repository), "<git directory>")
    text = "\n".join(outcome.lines).replace(str(repository), "<git directory>").replace(str(CHECKOUT), ".")
    return f"## {name}\n\n`{command}` {outcome.ending} after {outcome.seconds:.0f} s.\n\n```\n{text.strip()}\n```\n"


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=CHECKOUT).decode().strip()


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown")


def _memory() -> str:
    kilobytes = next(line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line)
    return f"{int(kilobytes) / 2**20:.0f} GB"


if __name__ == "__main__":
    sys.exit(main())
