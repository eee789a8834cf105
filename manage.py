#!/usr/bin/env python
"""The command line of the service: `python manage.py <command>`."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, connection
from django.utils.log import configure_logging


def scan(arguments: list[str]) -> None:
    """`manage.py scan` without the apps of the service, which take longer to load than most changes to judge."""
    from analysis.management.commands.scan import Command

    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    Command().run_from_argv(arguments)


def why_the_database_does_not_open() -> str:
    """The first line of what its client library says, which holds no password; empty where it opens."""
    try:
        connection.ensure_connection()
    except OperationalError as error:
        return str(error).partition("\n")[0]
    return ""


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.stderr is None:  # closed: whoever wants no messages wants the work all the same
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - open until the end
    try:
        if sys.argv[1:2] == ["scan"]:
            scan(sys.argv)
        else:
            execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # its sentence says which variable is wrong; where it was read helps nobody
        sys.exit(f"Not started: {error}")
    except OperationalError:
        if "--traceback" in sys.argv or not (reason := why_the_database_does_not_open()):
            raise
        what_to_do = "Correct DATABASE_URL, start the server that it names, or create the database."
        sys.exit(f"The database does not open: {reason}. {what_to_do}")
