"""The payment providers by name."""

from billing.models import PaymentProvider
from billing.providers.base import Provider, ProviderNotConfigured

__all__ = ["Provider", "ProviderNotConfigured", "provider_for"]


def provider_for(name: str) -> Provider:
    """The client of a provider; Unavailable when its settings are missing. Imports late: the card SDK weighs 31 MB."""
    if name == PaymentProvider.CARDPAY:
        from billing.providers.cardpay import Cardpay

        return Cardpay.configured()
    from billing.providers.walletpay import Walletpay

    return Walletpay.configured()
