"""`manage.py link_installation ID SLUG`: say whose an installation is whose installer nobody knows here."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.models import Installation
from analysis.services.installations import link_installation
from organizations.models import Organization


class Command(BaseCommand):
    help = "Link an installation of the App to an organization and connect the repositories that it holds"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("installation", nargs="?", help="the host's id of the installation; without it, list them")
        parser.add_argument("organization", nargs="?", help="the organization's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["installation"]:
            self._list()
            return
        installation = Installation.objects.filter(external_id=options["installation"], is_deleted=False).first()
        organization = Organization.objects.filter(slug=options["organization"]).first()
        if installation is None or organization is None:
            raise CommandError(f"There is no such {'organization' if installation else 'installation'}")
        link_installation(installation=installation, organization=organization)
        count = organization.repositories.filter(installation_id=installation.external_id).count()
        self.stdout.write(f"{installation} belongs to {organization.slug} now; {count} repositories are connected.")

    def _list(self) -> None:
        for installation in Installation.objects.filter(is_deleted=False, organization=None).order_by("created_at"):
            self.stdout.write(f"{installation.external_id}  {installation.account}  waits for its organization")
