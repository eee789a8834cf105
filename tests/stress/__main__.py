"""Every row of docs/reliability-tests.md at tier S, one after the other, and the report of it: `make stress`.

    python -m tests.stress [--minutes 120] [--share 1.0] [--rows "A1 B1"] [--seed 7] [--report docs/stress-report.md]

On PostgreSQL and Redis of its own, and the rows of EMBEDDED_TOO on SQLite without Redis as well. A row that is not done
when the time is over is cut, and the report says so. `--share 0.1` reaches for a tenth of each figure. Rows that a run
leaves out keep the line that an earlier run gave them: each line names its own commit, share, seed and time.
"""

import argparse
import contextlib
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from tests.stress.servers import own_servers
from tests.stress.table import CHECKOUT, Row, rows

EMBEDDED_TOO = {"A1", "B1", "B2", "C1", "C5", "C8", "D5"}
SERVERS, EMBEDDED = "PostgreSQL, Redis", "SQLite"
HEAD = ("row", "engines", "result", "tests", "seconds", "figures reached", "share", "seed", "commit", "ended, load")


@dataclass
class Outcome:
    """What came of a row on one pair of engines, in this run or, as a line of the report, in an earlier one."""

    row: Row
    engine: str
    earlier: str = ""
    result: str = "not run"
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    figures: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    ended: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--rows", default="", help="only these, with spaces between them")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", type=Path, default=CHECKOUT / "docs" / "stress-report.md")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the servers are stopped on the way out
    ends = time.monotonic() + options.minutes * 60
    earlier = _earlier(options.report)
    outcomes = [Outcome(row, engine, earlier.get((row.name, engine), "")) for row in rows() for engine in _engines(row)]
    chosen = [one for one in outcomes if not options.rows or one.row.name in options.rows.split()]
    with own_servers() as (postgres, redis), tempfile.TemporaryDirectory(prefix="stress-") as folder:
        for outcome in chosen:
            if time.monotonic() > ends:
                break
            servers = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url} if outcome.engine == SERVERS else {}
            _run(outcome, options, {"VAR_DIR": folder, **servers}, ends)
            print(f"{outcome.row.name:4} {outcome.engine:18} {outcome.result} {outcome.seconds:.0f} s", flush=True)
            options.report.write_text(_report(outcomes, options))
    return sum(outcome.result != "passed" for outcome in chosen)


def _engines(row: Row) -> list[str]:
    return [SERVERS, EMBEDDED] if row.name in EMBEDDED_TOO else [SERVERS]


def _run(outcome: Outcome, options: argparse.Namespace, env: dict[str, str], ends: float) -> None:
    report = Path(env["VAR_DIR"]) / "junit.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--scale", "S", "--share", str(options.share)]
    command += ["--seed", str(options.seed), "-n", str(options.processes)]
    command += ["-p", "no:cacheprovider", f"--junit-xml={report}", *outcome.row.tests]
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    started = time.monotonic()
    running = subprocess.Popen(command, cwd=CHECKOUT, env={**inherited, **env}, start_new_session=True)
    try:
        running.wait(timeout=max(1.0, ends - started))
    except subprocess.TimeoutExpired:
        outcome.result = "cut: the time was over"
    finally:
        with contextlib.suppress(ProcessLookupError):  # also when this is stopped: nothing of a row outlives it
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    outcome.seconds = time.monotonic() - started
    outcome.ended = f"{datetime.now(UTC):%Y-%m-%d %H:%M}, {os.getloadavg()[2]:.1f}"
    if report.exists():
        _read(outcome, report)


def _read(outcome: Outcome, report: Path) -> None:
    figures: dict[str, set[int]] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        kind = "failed" if bad else "skipped" if case.find("skipped") is not None else "passed"
        outcome.counts[kind] += 1
        if bad:
            outcome.failed.append(f"{case.get('classname')}::{case.get('name')}")
        for item in case.iter("property"):
            name, value = item.get("name", ""), item.get("value", "")
            if name != "seed":
                figures.setdefault(name, set()).add(int(value))
    outcome.figures = [f"{value:,} {name}" for name, values in figures.items() for value in sorted(values)]
    outcome.result = "FAILED" if outcome.counts["failed"] else "passed" if outcome.counts["passed"] else "nothing ran"


def _earlier(report: Path) -> dict[tuple[str, str], str]:
    """The lines of the report as it stands, by row and engines."""
    lines = report.read_text().splitlines() if report.exists() else []
    whole = [line for line in lines if line.startswith("| ") and line.count(" | ") >= len(HEAD) - 1]
    return {(line.split(" | ")[0].removeprefix("| "), line.split(" | ")[1]): line for line in whole}


def _report(outcomes: list[Outcome], options: argparse.Namespace) -> str:
    lines = [
        "# Report of `make stress`",
        "",
        f"Written by `python -m tests.stress` on {os.cpu_count()} cores, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}. Rows and tests: [reliability-tests.md](reliability-tests.md);",
        "share 1 means the whole figures of tier S. Beside the time at which a row ended stands the machine's load of",
        "the fifteen minutes before.",
        "",
        f"| {' | '.join(HEAD)} |",
        "|---" * len(HEAD) + "|",
    ]
    run = [f"{options.share:g}", str(options.seed), _commit()]
    for one in outcomes:
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(one.counts.items()))
        seen = "; ".join([*one.figures, *(f"failed: `{name}`" for name in one.failed)])
        cells = [one.row.name, one.engine, one.result, counts, f"{one.seconds:.0f}", seen, *run, one.ended]
        not_run = [one.row.name, one.engine, one.result, *[""] * (len(HEAD) - 3)]
        line = f"| {' | '.join(cells if one.ended else not_run)} |"
        lines.append(line if one.ended else one.earlier or line)
    return "\n".join([*lines, ""])


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
