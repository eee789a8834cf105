"""Which AI operations a repository's organization can use now."""

from dataclasses import dataclass

from django.conf import settings

from analysis.models import Repository
from credits import costs
from credits.models import Operation
from credits.selectors import UNLIMITED, balance_of
from organizations.entitlements import Feature, allows


@dataclass(frozen=True, slots=True)
class Offer:
    """An operation and the credits that it takes at least. `is_usable`: it is set up, in the plan and paid for."""

    operation: str
    credits: int
    is_usable: bool


@dataclass(frozen=True, slots=True)
class AiOffer:
    """`is_set_up`: an operator configured a model. The balance is -1 when unlimited."""

    is_set_up: bool
    balance: int
    operations: list[Offer]


def ai_offer(repository: Repository) -> AiOffer:
    """What may be asked of the language model about this repository. One query."""
    balance = balance_of(repository.organization).balance
    is_set_up = bool(settings.AI_BASE_URL)
    in_plan = allows(repository.organization, Feature.AI_CROSS_FILE)

    def offer(operation: Operation, price: int, *, included: bool = True) -> Offer:
        is_covered = balance == UNLIMITED or balance >= price
        return Offer(operation, price, is_set_up and included and is_covered)

    operations = [
        offer(Operation.AI_SCAN_SUMMARY, costs.SCAN_SUMMARY),
        offer(Operation.AI_FIX_SUGGESTION, costs.FIX_SUGGESTION),
        offer(Operation.AI_CROSS_FILE, costs.CROSS_FILE_LEAST, included=in_plan),
    ]
    return AiOffer(is_set_up, balance, operations)
