"""Whether a text of a script asks somebody outside the process: by an object that is known for it, or by a verb."""

import re

_SIGNS = re.compile(r"(?i)\w*signed_?\w*url\w*\(")
_CLIENT = re.compile(
    r"\b(fetch|axios|prisma|db|client|api|http|s3|redis|mailer|queue|repository|repo|service|trpc|knex"
    r"|sequelize|storage)\b[\w.?]*\("
    r"|\b(?:(?-i:[A-Z])\w*|this)\.(create|update\w*|delete\w*|destroy|find\w*|insert\w*)\(",  # of a model
    re.IGNORECASE,
)
# By a verb alone: others, as `store.update(each)`, may stay in the process.
_IO = re.compile(
    rf"{_CLIENT.pattern}|(?:\bawait\s+|=>\s*)[\w.]*(?:send|upload|download|post|publish|fetch)\w*\(", re.IGNORECASE
)


def names_client(text: str) -> bool:
    """Whether an object is called that is known to ask somebody."""
    return _CLIENT.search(text) is not None


def how_it_asks(text: str) -> str:
    """How a text asks somebody: `known` by the object, `named` by a verb alone; empty when nothing says so."""
    if names_client(text):
        return "known"
    return "named" if _IO.search(_SIGNS.sub("", text)) else ""


def signs_address(text: str) -> bool:
    """Whether an address is signed, which is calculated without asking anybody."""
    return _SIGNS.search(text) is not None
