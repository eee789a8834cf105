"""Calls to sign-in providers: time-outs for connect, read and the whole, no redirects, capped answers."""

import time
from typing import Any

import requests
import urllib3

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
        try:
            response._content = self._read(response)
        except urllib3.exceptions.HTTPError as error:
            raise requests.exceptions.ConnectionError("The answer broke off") from error
        if response.is_redirect:
            raise requests.exceptions.TooManyRedirects("The provider answered with a redirect")
        return response

    def _read(self, response: requests.Response) -> bytes:
        body = bytearray()
        while chunk := response.raw.read1(8192, decode_content=True):  # what has come, without waiting for more
            body += chunk
            if len(body) > LARGEST_ANSWER_BYTES:
                raise requests.exceptions.ContentDecodingError("The answer is too large")
            if time.monotonic() > self.deadline:
                raise requests.exceptions.ReadTimeout("The answer takes too long")
        return bytes(body)
