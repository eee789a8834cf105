"""`manage.py scan PATH`: the engine with no server, no account and no database."""

import gc
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from analysis.engine.gates import Verdict
from analysis.git.errors import GitError
from analysis.local_change import judge_change, judge_state
from analysis.local_scan import Scan, open_repository, scan_commit, scan_folder
from analysis.services.git_limits import git_limits
from analysis.shapes import scan_shape
from analysis.terminal import WIDTH, print_report, print_verdict


class Command(BaseCommand):
    help = "Scan a git repository, a folder or a clone address and print what was found"
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="a git repository (its last commit is scanned), a folder, or a clone address")
        parser.add_argument("--revision", default="HEAD", help="the branch, tag or commit to scan (default: HEAD)")
        parser.add_argument(
            "--date",
            type=date.fromisoformat,
            help="judge as of this day (YYYY-MM-DD): churn, exceptions (default: today)",
        )
        parser.add_argument("--base", help="show what the revision adds since its merge base with this one")
        parser.add_argument("--gate", action="store_true", help="exit with status 1 when the policy blocks")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of the report")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        try:
            scanned, verdict = self._judged(options)
        except GitError as refusal:
            raise CommandError(str(refusal)) from refusal
        finally:
            gc.enable()
        if options["json"]:
            shape = scan_shape(scanned, verdict, change_only=bool(options["base"]))
            sys.stdout.buffer.write(orjson.dumps(shape, option=orjson.OPT_INDENT_2) + b"\n")
        else:
            console = Console(width=min(Console().width, WIDTH) if sys.stdout.isatty() else WIDTH, highlight=False)
            if not options["base"]:
                print_report(scanned, console, name=_name_of(options["path"]), seconds=time.monotonic() - started)
            if verdict:
                print_verdict(verdict, console)
        if options["gate"] and verdict and verdict.result == "fail":
            sys.exit(1)

    def _judged(self, options: dict[str, Any]) -> tuple[Scan, Verdict | None]:
        today = options["date"] or timezone.now().date()
        with _progress() as progress, open_repository(options["path"], git_limits()) as git_dir:
            task = progress.add_task("reading", total=None)

            def show(phase: str, done: int, total: int) -> None:
                progress.update(task, description=phase, completed=done, total=total)

            how: dict[str, Any] = {"today": today, "workers": settings.WORKER_CONCURRENCY, "on_progress": show}
            if git_dir is None:
                if options["base"]:
                    raise CommandError("--base needs a git repository; this is a folder without one.")
                scanned = scan_folder(Path(options["path"]), **how)
            elif options["base"]:
                change = judge_change(git_dir, base=options["base"], head=options["revision"], **how)
                return change.head, change.verdict
            else:
                scanned = scan_commit(git_dir, options["revision"], **how)
        return scanned, judge_state(scanned) if options["gate"] else None


def _name_of(address: str) -> str:
    return Path(address).resolve().name if Path(address).exists() else address


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
