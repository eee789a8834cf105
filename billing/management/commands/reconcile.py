"""`manage.py reconcile`: compare all open subscriptions with their providers and mend the differences."""

from typing import Any

from django.core.management.base import BaseCommand

from billing.services.reconciliation import reconcile


class Command(BaseCommand):
    help = "Compare every subscription that is not over with its provider, repair drift and write it down."

    def handle(self, *args: Any, **options: Any) -> None:
        outcome = reconcile()
        self.stdout.write(f"{outcome.compared} compared, {outcome.repairs} repaired, {outcome.failed} not comparable")
