"""The web server: uvicorn, with a time for the head of a request, a time for each statement in the
database, and a limit of connections.

`python -m memory_site.web_server --host 127.0.0.1 --port 8000`
"""

import asyncio
import os
from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memory_site.env import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

HEAD_SECONDS = 20.0
"""Until the head of a request must have come: after the connection was made, or after its first
byte on one that is kept open. A client that sends a byte now and then would hold a connection."""
KEEP_ALIVE_SECONDS = 75
STATEMENT_SECONDS = 60
"""Of a statement in the database, unless the environment says another."""
STOP_SECONDS = 1
FULL = "The site has as many connections as it takes: try again in a moment."


async def refuse_request(_scope: Any, _receive: Any, send: Any) -> None:
    """The application that answers beyond `WEB_CONNECTIONS`. uvicorn's own, which it calls beyond
    `limit_concurrency`, does not say when to try again."""
    # Needs Django's settings, which are loaded with the site.
    from memory_site.errors import Unavailable, problem_answer

    status, headers, body = problem_answer(Unavailable(FULL, headers={"Retry-After": "2"}), "")
    headers |= {"Content-Length": str(len(body)), "Connection": "close"}
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


class LimitedConnections(HttpToolsProtocol):
    """uvicorn's protocol, which ends a connection whose next head takes too long (bodies have a
    time of their own, `memory_site.asgi`), and refuses requests beyond `WEB_CONNECTIONS`."""

    head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self.head_timer is None:
            self.start_timer()

    def on_headers_complete(self) -> None:
        self.stop_timer()
        is_full = len(self.connections) > settings.WEB_CONNECTIONS
        self.app = refuse_request if is_full else self.config.loaded_app
        super().on_headers_complete()

    def start_timer(self) -> None:
        self.head_timer = asyncio.get_running_loop().call_later(HEAD_SECONDS, self.give_up)

    def stop_timer(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    def give_up(self) -> None:
        self.head_timer = None
        self.transport.close()


def server_options() -> dict[str, Any]:
    """Return how the site is served."""
    return {
        "http": LimitedConnections,
        "access_log": False,
        "forwarded_allow_ips": settings.FORWARDED_ALLOW_IPS,
        "log_level": "warning",
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": STOP_SECONDS,
    }


def limit_statements() -> None:
    """Give statements of this process a time, unless the environment says another. Call before the
    settings are read: a request waits for its answer, a task or a migration does not."""
    os.environ["STATEMENT_SECONDS"] = env.str("STATEMENT_SECONDS", default=str(STATEMENT_SECONDS))


def main() -> None:
    limit_statements()
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    address = {"host": options.host, "port": options.port}
    uvicorn.run("memory_site.asgi:application", **address, **server_options())


if __name__ == "__main__":
    main()
