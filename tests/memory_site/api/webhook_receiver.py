"""A target of webhooks on the loopback interface, which answers as it is told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    def __init__(self) -> None:
        self.messages: list[tuple[dict[str, str], bytes]] = []
        self.status, self.headers = 204, dict[str, str]()
        self.before_answer: Callable[[], None] = lambda: None
        self.url = ""

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _headers, body in self.messages]

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _body in self.messages]

    @property
    def refs(self) -> list[str]:
        return [body["data"]["ref"] for body in self.bodies]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.messages.append((headers, body))
            receiver.before_answer()
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            if receiver.status != 204:
                self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def drip(seconds: float) -> Callable[[], None]:
    return lambda: time.sleep(seconds)
