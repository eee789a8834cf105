"""What a table says of the amounts in it (`rel-float-money`)."""

import re

from analysis.engine.facts import Model
from analysis.engine.readers.money_names import is_amount, is_bare, is_bill, is_held

# Beside amounts of money stands a currency, a bank's number, or what may be owed.
_OF_MONEY = re.compile(r"(?i)currency|(?:^|_)iban(?:_|$)|credit_?limit|overdraft")


def says_money(name: str, model: Model) -> bool:
    """Whether the name of a column says that its amount is one of money, or its table does."""
    return not is_bare(name) or _is_row_of_money(model) or is_held(name, model.name)


def speaks_of_money(model: Model) -> bool:
    """Whether a table shows that its codebase keeps money: a bill, a currency, or an amount that says of what."""
    return _is_row_of_money(model) or any(is_amount(each.name) and not is_bare(each.name) for each in model.columns)


def _is_row_of_money(model: Model) -> bool:
    return is_bill(model.name) or any(_OF_MONEY.search(each.name) for each in model.columns)
