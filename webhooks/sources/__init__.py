"""The four senders of events, by name."""

from webhooks.models import SourceName
from webhooks.sources.base import Source
from webhooks.sources.cardpay import CARDPAY
from webhooks.sources.codehost1 import CODEHOST1
from webhooks.sources.codehost2 import CODEHOST2
from webhooks.sources.walletpay import WALLETPAY

SOURCES: dict[SourceName, Source] = {source.name: source for source in (CARDPAY, WALLETPAY, CODEHOST1, CODEHOST2)}
