"""Odd bodies on every write (C12): each is refused with the error body, at once, and takes no memory to speak of."""

import resource
import time
from http import HTTPStatus
from typing import Any

import pytest

from tests import factories
from tests.api.test_authorization_matrix import OPERATIONS, PUBLIC, Operation, world

__all__ = ["world"]
LONGEST_SECONDS = 1.0  # a ceiling against hangs, not a speed test
MOST_MEMORY = 200 * 2**20
JSON = "application/json"
HUGE = b'{"name": "' + b"x" * (50 * 2**20) + b'"}'
BODIES: dict[str, tuple[bytes, str]] = {
    "50 MB": (HUGE, JSON),
    "100,000 deep": (b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON),
    "100,000 objects deep": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, JSON),
    "65 deep": (b'{"name": ' + b"[" * 65 + b"]" * 65 + b"}", JSON),
    "never closed": (b'{"name": ' + b"[" * 1000, JSON),
    "lone surrogate": (rb'{"name": "\ud800"}', JSON),
    "reversed surrogates": (rb'{"name": "\udc00\ud800"}', JSON),
    "raw surrogate": (b'{"name": "\xed\xa0\x80"}', JSON),
    "raw NUL": (b'{"name": "a\x00b"}', JSON),
    "latin-1": ('{"name": "Zoë"}'.encode("latin-1"), JSON),
    "utf-16": ('{"name": "Zoë"}'.encode("utf-16"), JSON),
    "utf-32": ('{"name": "Zoë"}'.encode("utf-32"), JSON),
    "another charset": (b'{"name": "\xff"}', f"{JSON}; charset=latin-1"),
    "NaN": (b'{"name": NaN}', JSON),
    "Infinity": (b'{"name": -Infinity}', JSON),
    "a huge exponent": (b'{"name": 1e999999}', JSON),
    "a list": (b"[1, 2]", JSON),
    "a string": (b'"name"', JSON),
    "null": (b"null", JSON),
    "a number": (b"9" * 5000, JSON),
    "trailing words": (b'{"name": "a"} {"name": "b"}', JSON),
    "comments": (b'{"name": "a" /* b */}', JSON),
    "single quotes": (b"{'name': 'a'}", JSON),
    "a form": (b"name=a&orgId=b", "application/x-www-form-urlencoded"),
    "xml": (b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "application/xml"),
    "yaml": (b"a: &a [1]\nb: *a", "application/yaml"),
    "a multipart form": (b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--", "multipart/form-data"),
}  # fmt: skip
BY_NOBODY = [
    Operation(*line.split(), member=0, admin=0, owner=0, body="")
    for line in PUBLIC.strip().splitlines()
    if line.startswith("POST /auth")
]
WRITES = [one for one in OPERATIONS if one.body] + BY_NOBODY


@pytest.mark.django_db
@pytest.mark.parametrize("operation", WRITES, ids=lambda one: f"{one.method} {one.path}")
def test_an_odd_body_is_refused_at_once(operation: Operation, world: Any, as_owner: Any) -> None:
    path = f"/v1{operation.path}"
    for name, value in world.own.items():
        path = path.replace("{" + name + "}", value)
    client = factories.client() if operation in BY_NOBODY else as_owner
    client.raise_request_exception = False
    before, wrong = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, {}

    for shape, (body, kind) in BODIES.items():
        started = time.thread_time()
        answer = client.generic(operation.method, path, body, kind)
        seconds = time.thread_time() - started
        if not (400 <= answer.status_code < 500 and is_the_error_body(answer)) or seconds > LONGEST_SECONDS:
            wrong[shape] = (answer.status_code, seconds, answer.content[:200])

    assert not wrong
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MOST_MEMORY


def is_the_error_body(answer: Any) -> bool:
    body = answer.json()
    phrase = HTTPStatus(answer.status_code).phrase
    return set(body) == {"statusCode", "message", "error"} and body["error"] == phrase
