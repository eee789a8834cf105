from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "billing"

    def ready(self) -> None:
        """Deleted organizations end their subscriptions."""
        from billing.services import farewell
        from organizations import farewells

        farewells.register(farewell.KIND, note=farewell.note, settle=farewell.settle)
