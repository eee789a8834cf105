"""`manage.py sync_prices`: make or find the products and prices at a provider and fill the price table."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from billing.models import PaymentProvider
from billing.services.price_sync import sync_prices
from config.errors import Refusal


class Command(BaseCommand):
    help = "Make or find a price for each plan and billing cycle at a payment provider, and write the price table."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("provider", choices=PaymentProvider.values)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prices = sync_prices(provider=PaymentProvider(options["provider"]))
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        for price in prices:
            self.stdout.write(f"{price.plan_id}_{price.cycle} {price.amount} {price.external_id}")
