"""What our loopback providers share: a threaded server with moods, a record of what was asked, and idempotency keys."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import orjson

Answer = tuple[int, Any] | tuple[int, Any, dict[str, str]]  # status, body, headers
FAILED: Answer = (500, {"error": {"type": "api_error", "message": "down"}})


@dataclass(frozen=True)
class Asked:
    """One request as it came in. `replayed` says that its key was seen before and nothing was done."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    key: str
    headers: dict[str, str] = field(repr=False)
    replayed: bool = False


class Loopback(ThreadingHTTPServer):
    """A provider. Subclasses route. Moods: well, fails (500), hangs, refuses (400), lies (HTML with status 200)."""

    daemon_threads = True
    key_header = "Idempotency-Key"
    keeps_failures = False  # whether a key that was answered with 500 is answered so from then on

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mood = "well"
        self.nonsense: dict[
            str, Any
        ] = {}  # what it answers with 200, whatever is true: body by pattern of method and path
        self.asked: list[Asked] = []
        self.answers: dict[str, Answer] = {}
        self.guard = threading.Lock()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def changes(self) -> list[Asked]:
        """The requests that changed something: each key once."""
        return [asked for asked in self.asked if asked.method != "GET" and asked.key and not asked.replayed]

    def route(self, asked: Asked) -> Answer:
        raise NotImplementedError

    def parse(self, raw: bytes) -> Any:
        return orjson.loads(raw) if raw else None

    def respond(self, method: str, target: str, headers: dict[str, str], raw: bytes) -> Answer:
        split = urlsplit(target)
        key = headers.get(self.key_header, "")
        replayed = bool(key) and key in self.answers
        query = dict(parse_qsl(split.query))
        asked = Asked(method, split.path, query, self.parse(raw), key, headers, replayed)
        with self.guard:
            self.asked.append(asked)
            for pattern, said in self.nonsense.items():
                if re.fullmatch(pattern, f"{method} {split.path}"):
                    return 200, said
            if replayed:
                return self.answers[key]
            if self.mood in ("well", "fails"):
                answer = self.route(asked) if self.mood == "well" else FAILED
                if key and answer[0] != 401 and (answer[0] != 500 or self.keeps_failures):
                    self.answers[key] = answer
                return answer
        if self.mood == "hangs":
            self.released.wait(30)
        return {
            "refuses": (400, {"error": {"type": "invalid_request_error", "message": "no"}}),
            "lies": (200, b"<html>"),
        }.get(self.mood, FAILED)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what the tests want."""


class _Handler(BaseHTTPRequestHandler):
    server: Loopback

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        answer = self.server.respond(self.command, self.path, dict(self.headers), self.rfile.read(length))
        status, body, *headers = answer
        raw = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in (headers[0] if headers else {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    do_POST = do_DELETE = do_PATCH = do_PUT = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


L = TypeVar("L", bound=Loopback)


@contextmanager
def serving(make: Callable[[], L]) -> Iterator[L]:
    """The server, listening until the block ends."""
    server = make()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
