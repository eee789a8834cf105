"""`manage.py connect_repository SLUG OWNER/NAME`: connect a repository to an organization from the shell."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.models import Platform
from analysis.services.repositories import connect_repository
from config.errors import Refusal
from organizations.models import Organization


class Command(BaseCommand):
    help = "Connect a repository to an organization and queue its first scan"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="the organization's slug")
        parser.add_argument("full_name", help="owner/name")
        parser.add_argument("--platform", choices=Platform.values, default=Platform.GIT.value)
        parser.add_argument("--clone-url", default="", help="needed for the platform git")
        parser.add_argument("--branch", default="", help="the default branch; the remote's own when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = Organization.objects.filter(slug=options["organization"]).first()
        if organization is None:
            raise CommandError(f"There is no organization with the slug {options['organization']}")
        try:
            repository = connect_repository(
                organization=organization,
                full_name=options["full_name"],
                platform=Platform(options["platform"]),
                clone_url=options["clone_url"],
                default_branch=options["branch"],
            )
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"Connected {repository.full_name} as {repository.pk}; its first scan is queued.")
