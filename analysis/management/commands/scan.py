"""`manage.py scan PATH`: the engine with no server, no account and no database."""

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

from analysis.git.errors import GitError
from analysis.local_scan import Scan, open_repository, scan_commit, scan_folder
from analysis.services.git_limits import git_limits
from analysis.shapes import scan_shape
from analysis.terminal import WIDTH, print_report


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
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of the report")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        try:
            scanned = self._scan(options["path"], options["revision"], options["date"] or timezone.now().date())
        except GitError as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            sys.stdout.buffer.write(orjson.dumps(scan_shape(scanned), option=orjson.OPT_INDENT_2) + b"\n")
            return
        console = Console(width=min(Console().width, WIDTH) if sys.stdout.isatty() else WIDTH, highlight=False)
        print_report(scanned, console, name=_name_of(options["path"]), seconds=time.monotonic() - started)

    def _scan(self, address: str, revision: str, today: date) -> Scan:
        with _progress() as progress, open_repository(address, git_limits()) as git_dir:
            task = progress.add_task("reading", total=None)

            def show(phase: str, done: int, total: int) -> None:
                progress.update(task, description=phase, completed=done, total=total)

            if git_dir is None:
                return scan_folder(Path(address), today=today, workers=settings.WORKER_CONCURRENCY, on_progress=show)
            return scan_commit(git_dir, revision, today=today, workers=settings.WORKER_CONCURRENCY, on_progress=show)


def _name_of(address: str) -> str:
    return Path(address).resolve().name if Path(address).exists() else address


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
