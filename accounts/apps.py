from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        # Every app's emails.py tells accounts.letters how its letters are completed.
        autodiscover_modules("emails")
