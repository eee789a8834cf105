"""A loopback HTTP server over `git http-backend`: real smart HTTP, with credentials, redirects or one byte a second."""

import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit


class GitHttpServer:
    """Serves the repositories below `root`.

    `authorization`: the value that the Authorization header must have. `redirect_to`: every answer is a redirect to
    this address plus the path. `seconds_per_byte`: the pause after each byte of an answer to a fetch. `refuses_with`:
    the words of a refusal that answers every fetch. `page`: every answer is this page of the web.
    `requests` lists what was asked, `authorizations` the credentials that came along.
    """

    def __init__(
        self,
        root: Path,
        *,
        authorization: str | None = None,
        redirect_to: str | None = None,
        seconds_per_byte: float = 0,
        refuses_with: str = "",
        page: bytes | None = None,
    ) -> None:
        self.root = root
        self.authorization = authorization
        self.redirect_to = redirect_to
        self.seconds_per_byte = seconds_per_byte
        self.refuses_with = refuses_with
        self.page = page
        self.requests: list[str] = []
        self.authorizations: list[str | None] = []
        self.stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "GitHttpServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(server: GitHttpServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            self.answer(b"")

        def do_POST(self) -> None:
            self.answer(self.body())

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(pieces)

        def answer(self, body: bytes) -> None:
            server.requests.append(f"{self.command} {self.path}")
            server.authorizations.append(self.headers.get("Authorization"))
            if server.redirect_to is not None:
                self.send_response(302)
                self.send_header("Location", server.redirect_to + self.path)
                self.end_headers()
            elif server.page is not None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(server.page)))
                self.end_headers()
                self.send(server.page)
            elif server.authorization not in (None, self.headers.get("Authorization")):
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.end_headers()
            elif server.refuses_with and b"command=fetch" in body:
                words = b"ERR " + server.refuses_with.encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-git-upload-pack-result")
                self.end_headers()
                self.send(b"%04x%s" % (len(words) + 4, words))
            else:
                self.backend(body)

        def backend(self, body: bytes) -> None:
            parts = urlsplit(self.path)
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(server.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_COUNT": "3" if "GIT_PACK_HOOK" in os.environ else "2",
                "GIT_CONFIG_KEY_2": "uploadpack.packObjectsHook",
                "GIT_CONFIG_VALUE_2": os.environ.get("GIT_PACK_HOOK", ""),
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
                "GIT_CONFIG_KEY_1": "uploadpack.allowFilter",
                "GIT_CONFIG_VALUE_1": "true",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REQUEST_METHOD": self.command,
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REMOTE_ADDR": "127.0.0.1",
            }
            done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = [line.split(": ", 1) for line in head.decode().splitlines()]
            status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
            self.send_response(status)
            for name, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.send(content)

        def send(self, content: bytes) -> None:
            try:
                if not (server.seconds_per_byte and self.command == "POST"):
                    self.wfile.write(content)
                    return
                for byte in content:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if server.stopping.wait(server.seconds_per_byte):
                        return
            except OSError:
                pass

    return Handler
