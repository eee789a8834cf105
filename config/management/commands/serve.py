"""`manage.py serve`: the web server and the workers, until a signal or until one of them ends."""

import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from config.measuring import forget_measurements
from config.processes import run_all, web_command, worker_commands


class Command(BaseCommand):
    help = "Bring the database up to date and run the web server and the workers"

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        forget_measurements()
        self.stdout.write(f"Serving the API at {settings.BASE_URL} and its description at {settings.BASE_URL}/docs")
        sys.exit(run_all([web_command(), *worker_commands()]))
