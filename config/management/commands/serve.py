"""`manage.py serve`: the web server and the workers, until a signal or until one of them ends.

`--only web` (or events, or runs) becomes that part alone, for containers and for several machines. The database is then
left as it is: `manage.py migrate` runs once, before.
"""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from redis import Redis
from redis.exceptions import RedisError

from config.measuring import forget_measurements
from config.processes import COMMANDS, all_commands, become


class Command(BaseCommand):
    help = "Bring the database up to date and run the web server and the workers"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--only", choices=COMMANDS, help="become this part alone, without touching the database")

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_a_redis_that_evicts()
        if only := options["only"]:
            become([command() for command in COMMANDS[only]])
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        forget_measurements()
        self.stdout.write(f"Serving the dashboard at {settings.APP_URL} and the API at {settings.BASE_URL}")
        become(all_commands())


def _refuse_a_redis_that_evicts() -> None:
    """A server that throws out what it was given loses messages and rate limits without a word. One that is away, or
    does not say, is no reason not to start."""
    if not settings.REDIS_URL:
        return
    try:
        with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as server:
            policy = server.info("memory").get("maxmemory_policy", "noeviction")
    except (RedisError, OSError):
        return
    if policy != "noeviction":
        raise CommandError(
            f"REDIS_URL names a server that throws out what it holds when it is full (maxmemory-policy {policy}); "
            "set its maxmemory-policy to noeviction"
        )
