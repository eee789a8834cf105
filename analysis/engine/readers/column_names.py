"""What a column of numbers counts, as far as its name tells (`risk-lost-update`)."""

import re

from analysis.engine.codebase import Place

TALLY = re.compile(
    r"(?i)error|attempt|retr(y|ies)|fail|collision|hits|views|clicks|visits|log_?in"
)  # a little less is no harm
COUNTER = re.compile(r"(?i)balance|stock|quantit|credit|count|inventor|points|amount_left|remaining|seats|usage")
SAID = re.compile(
    r"(?i)(?:^|_)(?:msg|message|text|log|notes?|description|body|content|name|title|comments?|explanation|reason|details?|output|traceback|summary|\w*_at|\w*date|\w*time|deadline|next_\w+|expir\w+)$"
)  # texts and times
_HOW_MANY = re.compile(r"(?i)count(?:er)?s?$|^(?:num|nr|total)_")


def is_counted_on(column: str, place: Place) -> bool:
    """Whether others count on the number: money and stock always, how many there are of something where requests, of
    which there are many at once, change it."""
    if COUNTER.search(column) is None:
        return False
    return place.in_request_path or _HOW_MANY.search(column) is None
