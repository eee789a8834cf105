"""A loopback server that speaks the wallet provider's token and verification operations, and can misbehave."""

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

GENUINE = b'"genuine":true'


class Wallet(ThreadingHTTPServer):
    """Calls a delivery genuine when its bytes hold `"genuine":true` exactly so. `mood` says how it answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mood = "well"
        self.tokens_given = 0
        self.good_token = "token-0"
        self.questions: list[bytes] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def forget_tokens(self) -> None:
        """Tokens given so far are refused from now on."""
        self.good_token = "none"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what the tests want."""


class _Handler(BaseHTTPRequestHandler):
    server: Wallet

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/oauth2/token" and self.server.mood == "keeps tokens":
            self._answer(200, {"access_token": None})
        elif self.path == "/v1/oauth2/token":
            self.server.tokens_given += 1
            self.server.good_token = f"token-{self.server.tokens_given}"
            self._answer(200, {"access_token": self.server.good_token, "expires_in": 32400})
        elif self.headers["Authorization"] != f"Bearer {self.server.good_token}":
            self._answer(401, {"error": "invalid_token"})
        else:
            self.server.questions.append(body)
            getattr(self, f"_{self.server.mood}")(body)

    def _well(self, body: bytes) -> None:
        self._answer(200, {"verification_status": "SUCCESS" if GENUINE in body else "FAILURE"})

    def _hangs(self, body: bytes) -> None:
        self.server.released.wait(20)

    def _trickles(self, body: bytes) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n")
        for byte in b'{"verification_status": "SUCCESS"                          }':
            self.wfile.write(bytes([byte]))
            time.sleep(0.3)

    def _resets(self, body: bytes) -> None:
        # Closing with a linger of zero sends a reset instead of an end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _garbles(self, body: bytes) -> None:
        self._raw(200, b"\xff<html>not json")

    def _floods(self, body: bytes) -> None:
        self._raw(200, b" " * 200_000 + b'{"verification_status": "SUCCESS"}')

    def _fails(self, body: bytes) -> None:
        self._answer(500, {"error": "internal"})

    def _redirects(self, body: bytes) -> None:
        self.send_response(302)
        self.send_header("Location", "/v1/oauth2/token")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _shrugs(self, body: bytes) -> None:
        self._answer(200, ["SUCCESS"])

    def _answer(self, status: int, payload: Any) -> None:
        self._raw(status, orjson.dumps(payload))

    def _raw(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def running_wallet() -> Iterator[Wallet]:
    server = Wallet()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
