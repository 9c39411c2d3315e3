"""The scripted server itself: threads, keep-alive, one queue of answers per route."""

import json
import sys
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.loopback.answers import Answer, Body, Scripted, hashed, smallest, status


@dataclass(frozen=True)
class Received:
    body: Body
    headers: dict[str, str]


@dataclass
class Route:
    """One path of the server: what it answers, and what it was asked."""

    default: Scripted
    received: list[Received] = field(default_factory=list)
    _queue: deque[Scripted] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def then(self, *answers: Scripted) -> "Route":
        """Give each of `answers` once, in order."""
        self._queue.extend(answers)
        return self

    def always(self, answer: Scripted) -> "Route":
        """Give `answer` whenever the queue is empty."""
        self.default = answer
        return self

    @property
    def requests(self) -> list[Body]:
        return [received.body for received in self.received]

    @property
    def last(self) -> Body:
        return self.received[-1].body

    @property
    def left(self) -> int:
        """How many queued answers nobody asked for."""
        return len(self._queue)

    def answer(self, received: Received) -> Answer:
        with self._lock:
            self.received.append(received)
            scripted = self._queue.popleft() if self._queue else self.default
        return scripted(received.body) if callable(scripted) else scripted


class QuietServer(ThreadingHTTPServer):
    """Says nothing of a client that is gone: tests kill them."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Loopback:
    """A scripted OpenAI-compatible server on a free port of 127.0.0.1; see the package's
    docstring.
    """

    def __init__(self) -> None:
        self.embeddings = Route(default=hashed)
        self.chat = Route(default=smallest)
        self._closing = threading.Event()
        handler = type("BoundHandler", (_Handler,), {"loopback": self})
        self._http = QuietServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL to configure, ending in `/v1`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def route(self, path: str) -> Route | None:
        return {"/v1/embeddings": self.embeddings, "/v1/chat/completions": self.chat}.get(path)

    def sleep(self, seconds: float) -> None:
        self._closing.wait(seconds)

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    loopback: ClassVar[Loopback]

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        route = self.loopback.route(self.path)
        answer = (
            route.answer(Received(json.loads(raw), dict(self.headers))) if route else status(404)
        )
        self.loopback.sleep(answer.wait)
        self._send(answer)

    def do_GET(self) -> None:
        models = json.dumps(
            {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        ).encode()
        self._send(Answer(body=models) if self.path == "/v1/models" else status(404))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        with suppress(ConnectionError):  # whoever asked may have given up meanwhile
            self.end_headers()
            self.wfile.write(answer.body[: len(answer.body) // 2] if answer.cut else answer.body)
        self.close_connection = self.close_connection or answer.cut

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `requests`, not a log."""
