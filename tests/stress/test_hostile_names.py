"""Hostile names stay text (C14): the badge is XML, a letter has one subject line, a log line is one line of JSON."""

import io
import json
import logging
import random
from html.parser import HTMLParser
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
import structlog
from django.template.loader import render_to_string

from config.logging import configure_structlog
from tests import logs

PIECES = [
    "</title><script>alert(1)</script>", "]]>", "<!--", "&amp;", "&", "<", ">", '"', "'", "\r\nBcc: evil@example.org",
    "\n", "\r", "\x85", "\u2028", "\u202e", "\x1b[31m", "{{ 7*7 }}", "{% load x %}", "$(id)", "`id`", "%s %d %(x)s",
    "javascript:alert(1)", "file:///etc/passwd", "Zoë", "東京", "😀", "a" * 300, " ", "\t", "\\", "\\u0000",
    "=cmd|' /C calc'!A0",
]  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = {SVG + name for name in ("svg", "title", "clipPath", "rect", "g", "text")}


def hostile(dice: random.Random) -> str:
    return "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 5)))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def tags_of(html: str) -> list[str]:
    parser = _Tags()
    parser.feed(html)
    return parser.found


@pytest.fixture
def stream():
    """What the service would write to standard error."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.formatter())
    logger = logging.getLogger("hostile")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    configure_structlog()
    yield written
    logger.removeHandler(handler)


@pytest.mark.django_db
def test_hostile_names_stay_text(figure, dice, stream, client):
    context = {
        "app_url": "https://debt.example.org",
        "recipient": "a@example.org",
        "plan": "Pro",
        "amount": "29.00 USD",
    }
    plain = tags_of(render_to_string("letters/payment_failed.html", {**context, "organization": "Acme"}))
    number = figure(c=1_000, s=50_000, of="names")
    for turn in range(number):
        name = hostile(dice)
        if turn % 20 == 0:
            part = quote("x" + name.replace("/", ""), safe="")  # a slash would be another address
            badge = client.get(f"/v1/badge/{part}/{part}")
            assert {element.tag for element in ElementTree.fromstring(badge.content).iter()} == PICTURE
        letter = render_to_string("letters/payment_failed.html", {**context, "organization": name})
        assert tags_of(letter) == plain
        structlog.get_logger("hostile").info("connected", repository=name)
        logging.getLogger("hostile").info("connected %s", name)

    lines = stream.getvalue().split("\n")[:-1]
    assert len(lines) == 2 * number
    assert {json.loads(line)["level"] for line in lines} == {"info"}
