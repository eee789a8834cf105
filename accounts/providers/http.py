"""Calls to sign-in providers: time-outs for connect, read and the whole, no redirects, capped answers."""

import time
from typing import Any

import requests

CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 2, 4, 8
LARGEST_ANSWER_BYTES = 1024 * 1024


class BoundedSession(requests.Session):
    """A session that cannot be led astray, kept waiting or flooded. Raises RequestException for each of these."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.deadline = time.monotonic() + WHOLE_SECONDS

    def request(self, *args: Any, **options: Any) -> requests.Response:
        options |= {"timeout": (CONNECT_SECONDS, READ_SECONDS), "allow_redirects": False, "stream": True}
        response = super().request(*args, **options)
        body = bytearray()
        for chunk in response.iter_content(8192):
            body += chunk
            if len(body) > LARGEST_ANSWER_BYTES:
                raise requests.exceptions.ContentDecodingError("The answer is too large")
            if time.monotonic() > self.deadline:
                raise requests.exceptions.ReadTimeout("The answer takes too long")
        response._content = bytes(body)
        if response.is_redirect:
            raise requests.exceptions.TooManyRedirects("The provider answered with a redirect")
        return response
