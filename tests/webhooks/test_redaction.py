"""What staff may read of an event's body."""

import orjson
import pytest

from webhooks.redaction import readable


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", ""),
        (b"\xff not JSON", "(10 bytes that are not JSON)"),
        (b'"' + b"x" * 256 * 1024 + b'"', "(262146 bytes: too much to show)"),
        (b'{"id": "evt_1"}', '{\n  "id": "evt_1"\n}'),
        (b'{"a": [{"Access_Token": "t", "n": 1}]}', '"Access_Token": "(hidden)",\n      "n": 1'),
    ],
)
def test_a_body_is_shown_as_far_as_it_may_be(body, shown):
    assert shown in readable(body)
    assert bool(readable(body)) == bool(shown)


def test_256_kib_are_shown_and_a_byte_more_is_not():
    body = b'"' + b"x" * (256 * 1024 - 2) + b'"'

    assert readable(body).startswith('"xxx')
    assert "too much" in readable(body + b" ")


def test_a_long_text_is_cut():
    whole, cut = (readable(orjson.dumps("x" * length)) for length in (19_998, 19_999))

    assert whole == '"' + "x" * 19_998 + '"'
    assert cut == '"' + "x" * 19_999 + "\n…"


def test_nothing_deeper_than_40_levels_is_shown():
    shown = readable(b"[" * 41 + b'"deep"' + b"]" * 41)

    assert "deep" not in shown
    assert "…" in shown
    assert "deep" in readable(b"[" * 39 + b'"deep"' + b"]" * 39)
