"""A loopback server that speaks the OpenAI-compatible chat protocol, as far as we use it, and can be bad at it.

Moods beyond those of every loopback provider: `mumbles` (JSON of another shape), `is silent` (no content), `floods` (an
endless answer), `drips` (a byte now and then, for ever), `redirects`, `waits` (answers well once `go_on` is set).
"""

import contextlib
import threading
from typing import Any

import orjson

from tests.providers.loopback import Answer, Asked, Loopback, _Handler


class Chat(Loopback):
    """Says `says`. What the prompts were stands in `prompts`; `in_call` is set while a call waits."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = _ChatHandler
        self.says: Any = "All is well."
        self.in_call = threading.Event()
        self.go_on = threading.Event()

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def prompts(self) -> list[str]:
        """The text of each call's messages."""
        return ["\n".join(message["content"] for message in asked.body["messages"]) for asked in self.asked]

    def respond(self, method: str, target: str, headers: dict[str, str], raw: bytes) -> Answer:
        if self.mood == "waits":
            self.mood = "well"
            self.in_call.set()
            self.go_on.wait(30)
        if self.mood not in ("mumbles", "is silent"):
            return super().respond(method, target, headers, raw)
        message = {"role": "assistant", "content": None}
        return 200, {"result": "ok"} if self.mood == "mumbles" else {"choices": [{"index": 0, "message": message}]}

    def route(self, asked: Asked) -> Answer:
        if (asked.method, asked.path) != ("POST", "/v1/chat/completions"):
            return 404, {"error": {"message": "no such path"}}
        content = self.says if isinstance(self.says, str) else orjson.dumps(self.says).decode()
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        return 200, {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}


class _ChatHandler(_Handler):
    server: Chat

    def do_POST(self) -> None:
        if self.server.mood == "redirects":
            self._head(307, Location=f"{self.server.url}/v1/chat/completions")
        elif self.server.mood in ("floods", "drips"):
            self._pour(*((b" " * 65536, 0) if self.server.mood == "floods" else (b" ", 0.02)))
        else:
            self.do_GET()

    def _pour(self, piece: bytes, pause: float) -> None:
        """Until the other side hangs up."""
        self._head(200, **{"Content-Length": "1000000000"})
        with contextlib.suppress(OSError):
            while not self.server.released.wait(pause):
                self.wfile.write(piece)

    def _head(self, status: int, **headers: str) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(status)
        for name, value in ({"Content-Length": "0"} | headers).items():
            self.send_header(name, value)
        self.end_headers()
