"""Names of amounts of money (`rel-float-money`), and of what only looks like one."""

import re

_AMOUNT = re.compile(
    r"(?i)(?:^|_|(?-i:(?<=[a-z0-9])(?=[A-Z]))|(?<=[a-z])(?=price|amount|balance|salary|wage|subtotal|refund|payout))"
    r"(?:price|amount|balance|salary|wage|fee|surcharge|(?:gross|net|base|overtime|holiday|sick|severance)_?pay|subtotal|grand_?total|total_?(?:price|amount|cost|paid|due)"
    r"|refund|payout|invoice_?total|tax_?amount|credit_?amount)s?"
    # Of what it is, and in which currency, may come behind.
    r"(?:(?:_|(?-i:(?=[A-Z])))(?:due|paid|owed|received|refunded|charged|payable|outstanding|captured|authori[sz]ed|net|gross|total"
    r"|usd|eur|gbp|chf|inr|jpy|cad|aud))?$"
    # A cost has to say of what: alone it may be one that an algorithm counts.
    r"|(?:\w_|(?-i:[a-z0-9](?=[A-Z])))costs?$"
)
# `total` is money on a bill; elsewhere it counts anything.
_OF_A_BILL = re.compile(r"(?:\w+_)?(?i:total|cost|tax)|[a-z]\w*(?:Total|Cost|Tax)")
_BILL = re.compile(
    r"(?i)order|invoice|payment|cart|bill|checkout|receipt|purchase|sale|quote|refund|basket|line_?item|product|expense"
    r"|booking|payslip|payroll|transaction|settlement|remittance|salar(?:y|ies)|wages?"
)
_NO_AMOUNT = re.compile(
    r"(?i)rate|ratio|percent|pct|factor|cents?$|minor|sats$|wei$|mean|avg|average|std|variance|score|change"
    r"|volatility|expected|projected|forecast|estimate|index|probab|target|serving"
    r"|roll_?over|usage_?amount|quota|entitle"  # of use, not of money
)
# So much of it, or a price for so much of it; what it costs is money all the same.
_PHYSICAL = re.compile(r"(?i)weight|energy|fuel|water|light|sound|dos(?:e|age)|nutri")
_PAID = re.compile(r"(?i)(?:cost|fee|salary|refund|payout)s?$")
# What an algorithm counts.
_COMPUTED = re.compile(
    r"(?i)(?:comput\w*|query|plan|path|edge|search|transition|start_?up|cpu|io|step|move|heuristic|switch|loss|train\w*"
    r"|eval\w*|insert\w*|delet\w*|substitut\w*|edit|swap|time|memory|mana|bcrypt|hash|gas|row|page|tuple|operator|slope\w*"
    r"|\w*safety|elevation|walk\w*|bike|bicycle|turn|traversal|for_?work)_?costs?$"
)
_BARE = re.compile(r"(?i)amounts?|balances?|fees?|costs?")
# Who or what has money: its balance is one of money, and what is left of holidays or points belongs to others.
_HOLDS_MONEY = re.compile(
    r"(?i)(?:account|wallet|purse|customer|client|debtor|creditor|merchant|vendor|supplier|tenant|loan|deposit|ledger)s?$"
)
_HELD = re.compile(r"(?i)(?:balance|fee)s?")
_FEE = re.compile(r"(?i)fees?")
_ASKED_OF = re.compile(r"(?i)\b(?:req|request|body|params|query|form|payload|ctx)\b")


def is_amount(name: str, owner: str = "") -> bool:
    """Whether a name means an amount of money, and no rate, count of minor units or measure; a `total` does when its
    owner is something that is paid."""
    if _NO_AMOUNT.search(name) or _COMPUTED.search(name) or (_PHYSICAL.search(name) and not _PAID.search(name)):
        return False
    return bool(owner and is_of_a_bill(name) and is_bill(owner)) or _AMOUNT.search(name) is not None


def is_of_a_bill(name: str) -> bool:
    """Whether a name means money on a bill, and may count anything elsewhere: `total`, `tax`."""
    return _OF_A_BILL.fullmatch(name) is not None and _NO_AMOUNT.search(name) is None


def is_bill(owner: str) -> bool:
    """Whether the name of a class or table is that of something that is paid."""
    return _BILL.search(owner) is not None


def is_bare(name: str) -> bool:
    """Whether a name alone does not say of what it is: `amount`, `cost`."""
    return _BARE.fullmatch(name) is not None


def is_held(name: str, owner: str) -> bool:
    """Whether a bare name means money by who has it: the `balance` of an `Account`."""
    return _HELD.fullmatch(name) is not None and _HOLDS_MONEY.search(owner) is not None


def is_fee(name: str) -> bool:
    """Whether a name alone means what somebody has to pay, in whatever codebase."""
    return _FEE.fullmatch(name) is not None


def is_asked_total(name: str, text: str) -> bool:
    """Whether a request is read for a sum: `req.body.total`, which people mean money by."""
    return is_of_a_bill(name) and _ASKED_OF.search(text) is not None
