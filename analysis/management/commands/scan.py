"""`manage.py scan PATH`: the engine with no server, no account and no database."""

import argparse
import difflib
import gc
import io
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from analysis.engine.gates import Verdict
from analysis.engine.policy import Policy
from analysis.engine.policy_file import PolicyInvalid, load_policy
from analysis.engine.rulebook import explain
from analysis.engine.rules import all_rules
from analysis.exports.scans import sarif_of_scan
from analysis.git.errors import GitError
from analysis.git.local import work_tree_of
from analysis.local_change import judge_local_change, judge_state
from analysis.local_scan import Scan, open_repository, scan_commit, scan_folder
from analysis.services.git_limits import git_limits
from analysis.shapes import gate_shape, scan_shape, verdict_shape
from analysis.terminal import WIDTH, print_report, print_rule, print_rules, print_verdict

BLOCKED, FAILED = 1, 2
EXIT_STATUSES = (
    f"Exit status: 0 scanned, {BLOCKED} the policy blocks (--gate), {FAILED} nothing could be scanned or written."
)


class Command(BaseCommand):
    help = f"Scan a git repository, a folder or a clone address and print what was found. {EXIT_STATUSES}"
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path",
            nargs="?",
            default=".",
            help="a git repository or part of it (all of its last commit is scanned), a folder without git, or a clone "
            "address (default: this folder)",
        )
        parser.add_argument("--revision", default="HEAD", help="the branch, tag or commit to scan (default: HEAD)")
        parser.add_argument(
            "--date",
            type=_day,
            help="judge as of this day (YYYY-MM-DD): churn, exceptions (default: today)",
        )
        parser.add_argument("--policy", type=Path, help="judge by this policy file instead of the repository's own")
        parser.add_argument("--base", help="show what the revision adds since its merge base with this one")
        parser.add_argument("--gate", action="store_true", help=f"exit with status {BLOCKED} when the policy blocks")
        output = parser.add_mutually_exclusive_group()
        output.add_argument("--json", action="store_true", help="print one JSON object instead of the report")
        output.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for code hosts and editors")
        output.add_argument(
            "--explain", metavar="RULE", nargs="?", const="", help="tell of a rule, or list all of them; scans nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if sys.stdout is None:  # closed; the next file to be opened would get its number
            raise CommandError("The output cannot be written: standard output is closed.", returncode=FAILED)
        if options["explain"] is not None:
            with _printing():
                _explain(options["explain"])
            return
        started = time.monotonic()
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, _leave)
        gc.disable()  # millions of objects and hardly a circle
        try:
            scanned, verdict, gate = self._judged(options)
        except KeyboardInterrupt:
            raise CommandError("Stopped.", returncode=128 + signal.SIGINT) from None
        except GitError as refusal:
            raise CommandError(str(refusal), returncode=FAILED) from refusal
        finally:
            gc.enable()
            gc.collect()  # what judging knew lies in circles, and printing needs room
        with _printing():
            _print(scanned, verdict, gate, options, seconds=time.monotonic() - started)
        if options["gate"] and verdict and verdict.result == "fail":
            sys.exit(BLOCKED)

    def _judged(self, options: dict[str, Any]) -> tuple[Scan, Verdict | None, dict[str, Any] | None]:
        """The scan, and what the gates say of it, also as JSON."""
        today = options["date"] or timezone.now().date()
        policy = _policy_in(options["policy"]) if options["policy"] else None
        with _progress() as progress, open_repository(options["path"], git_limits()) as git_dir:
            task = progress.add_task("reading", total=None)

            def show(phase: str, done: int, total: int) -> None:
                progress.update(task, description=phase, completed=done, total=total)

            how: dict[str, Any] = {
                "today": today,
                "workers": settings.WORKER_CONCURRENCY,
                "on_progress": show,
                "policy": policy,
            }
            if git_dir is None:
                if options["base"]:
                    raise CommandError(
                        "--base needs a git repository; this is a folder without one.", returncode=FAILED
                    )
                scanned = scan_folder(Path(options["path"]), **how)
            elif options["base"]:
                scanned, change = judge_local_change(git_dir, base=options["base"], head=options["revision"], **how)
                gate = gate_shape(change.verdict) | verdict_shape(change, scanned.notes)
                return scanned, change.verdict, gate
            else:
                scanned = scan_commit(git_dir, options["revision"], **how)
        verdict = judge_state(scanned) if options["gate"] else None
        return scanned, verdict, gate_shape(verdict) if verdict else None


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; write it as YYYY-MM-DD") from None


@contextmanager
def _printing() -> Iterator[None]:
    """Whoever stops reading ends the command as it ends any other; output that cannot be written is no verdict."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that knows no `█` can show the rest
    try:
        yield
        sys.stdout.flush()
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to flush at the exit
        raise CommandError(f"The output cannot be written: {problem.strerror}.", returncode=FAILED) from problem
    finally:
        signal.signal(signal.SIGPIPE, before)  # who called may hold connections, and die of one that closes


def _leave(ending: int, _: FrameType | None) -> NoReturn:
    """End as if by itself: the temporary clone goes with it."""
    sys.exit(128 + ending)


def _policy_in(file: Path) -> Policy:
    try:
        return load_policy(file.read_bytes())
    except (OSError, PolicyInvalid) as problem:
        raise CommandError(f"The policy file cannot be used: {problem}", returncode=FAILED) from problem


def _print(
    scanned: Scan, verdict: Verdict | None, gate: dict[str, Any] | None, options: dict[str, Any], *, seconds: float
) -> None:
    of_change = bool(options["base"])
    if options["json"]:
        shape = scan_shape(scanned, gate, verdict.findings if verdict and of_change else None)
        sys.stdout.buffer.write(orjson.dumps(shape, option=orjson.OPT_INDENT_2) + b"\n")
    elif options["sarif"]:
        sys.stdout.buffer.writelines(sarif_of_scan(scanned, verdict if of_change else None))
    else:
        console = _console()
        if not of_change:
            print_report(scanned, console, name=_name_of(options["path"]), seconds=seconds)
        if verdict:
            print_verdict(verdict, console, of_change=of_change)


def _explain(rule_id: str) -> None:
    rules = [module.RULE for module in all_rules()]
    known = [rule.id for rule in rules]
    if not rule_id:
        print_rules(rules, _console())
    elif rule_id in known:
        print_rule(explain(rule_id), _console())
    else:
        near = difflib.get_close_matches(rule_id, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "--explain alone lists all rules."
        raise CommandError(f"There is no rule {rule_id}; {hint}", returncode=FAILED)


def _console() -> Console:
    return Console(width=min(Console().width, WIDTH) if sys.stdout.isatty() else WIDTH, highlight=False)


def _name_of(address: str) -> str:
    return work_tree_of(Path(address)).name if Path(address).exists() else address


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
