"""The payment providers by name."""

from django.conf import settings

from billing.models import PaymentProvider
from billing.providers.base import Provider, ProviderNotConfigured

__all__ = ["Provider", "ProviderNotConfigured", "available", "provider_for"]


def provider_for(name: str) -> Provider:
    """The client of a provider; Unavailable when its settings are missing. Imports late: the card SDK weighs 31 MB."""
    if name == PaymentProvider.CARDPAY:
        from billing.providers.cardpay import Cardpay

        return Cardpay.configured()
    from billing.providers.walletpay import Walletpay

    return Walletpay.configured()


def available() -> list[PaymentProvider]:
    """The providers that people can pay with here."""
    needed = {
        PaymentProvider.CARDPAY: ("CARDPAY_API_URL", "CARDPAY_SECRET_KEY"),
        PaymentProvider.WALLETPAY: ("WALLETPAY_API_URL", "WALLETPAY_CLIENT_ID", "WALLETPAY_CLIENT_SECRET"),
    }
    return [provider for provider, names in needed.items() if all(getattr(settings, name) for name in names)]
