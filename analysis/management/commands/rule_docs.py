"""`manage.py rule_docs`: write the pages about rules; with `--check`, tell whether they are what the rules say."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.rule_pages import rule_pages

FOLDER = Path("docs", "rules")


class Command(BaseCommand):
    help = "Write docs/rules from the modules of the rules"
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is out of date")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(settings.BASE_DIR) / FOLDER
        pages = rule_pages()
        present = {path.name: path.read_text() for path in folder.glob("*.md")}
        stale = sorted(name for name in pages.keys() | present.keys() if pages.get(name) != present.get(name))
        if options["check"]:
            if stale:
                raise CommandError(f"out of date: {', '.join(stale)}; run `python manage.py rule_docs`")
            return
        folder.mkdir(parents=True, exist_ok=True)
        for name in stale:
            if name in pages:
                (folder / name).write_text(pages[name])
            else:
                (folder / name).unlink()
        self.stdout.write(f"{len(pages)} pages in {FOLDER}, {len(stale)} changed")
