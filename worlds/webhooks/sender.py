"""Send one message to one address: bounded in time and size, to permitted addresses alone."""

import ipaddress
import socket
import ssl
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self
from urllib.parse import urlsplit

import httpcore2
from django.conf import settings

from worlds.webhooks.addresses import AddressRefused, is_permitted, refusal

CONNECT_SECONDS = 5.0
MOST_READ = 64 * 1024
"""Bytes that are read of an answer; of a longer one the connection is closed."""
ANSWER_CHARS = 500

# The resolver of the system has no timeout that we could set.
_resolvers = ThreadPoolExecutor(8, thread_name_prefix="webhook resolver")


@dataclass(frozen=True)
class Answer:
    """What came of an attempt. `status` 0: no answer; `error` then says why."""

    status: int
    milliseconds: int
    text: str = ""
    error: str = ""
    retry_after: int = 0

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Deadline:
    """The moment at which an attempt ends, whatever it waits for."""

    def __init__(self) -> None:
        self.at = 0.0

    def restart(self) -> None:
        self.at = monotonic() + settings.WEBHOOK_TIMEOUT

    def seconds_left(self, most: float | None = None) -> float:
        """Return the seconds left, at most `most`; raises `ReadTimeout` when there are none."""
        seconds = self.at - monotonic()
        if seconds <= 0:
            raise httpcore2.ReadTimeout("the time is used up")
        return seconds if most is None else min(seconds, most)


class BoundedStream(httpcore2.NetworkStream):
    """A connection whose every wait ends at the deadline: a target that sends a byte now and then
    wins no time."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self.stream, self.deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, self.deadline.seconds_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, self.deadline.seconds_left(timeout))

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        secured = self.stream.start_tls(
            ssl_context, server_hostname, self.deadline.seconds_left(timeout)
        )
        return BoundedStream(secured, self.deadline)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


class GuardedBackend(httpcore2.NetworkBackend):
    """Connects to the very address that was checked, by its number. Host header and the name that
    TLS verifies stay those of the URL."""

    def __init__(self, deadline: Deadline, *, plain: bool) -> None:
        self.deadline, self.plain = deadline, plain
        self.system = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        problem: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in self.permitted_addresses(host, port):
            try:
                stream = self.system.connect_tcp(
                    address,
                    port,
                    self.deadline.seconds_left(timeout),
                    local_address,
                    socket_options,
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
            else:
                return BoundedStream(stream, self.deadline)
        raise problem

    def permitted_addresses(self, host: str, port: int) -> list[str]:
        """Raises `AddressRefused` when no address of `host` is permitted."""
        work = _resolvers.submit(socket.getaddrinfo, host.strip("[]"), port, 0, socket.SOCK_STREAM)
        try:
            found = work.result(self.deadline.seconds_left(CONNECT_SECONDS))
        except FutureTimeout as error:
            raise httpcore2.ConnectTimeout(f"{host} could not be resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"{host} cannot be resolved") from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        permitted = [
            each
            for each in addresses
            if is_permitted(ipaddress.ip_address(each.partition("%")[0]), plain=self.plain)
        ]
        if addresses and not permitted:
            raise AddressRefused(refusal(", ".join(addresses)))
        return permitted


class Sender:
    """Posts messages to one URL, over one connection as long as the target keeps it. For one thread
    at a time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.deadline = Deadline()
        self.pool = self.new_pool()
        self.is_connected = False

    def new_pool(self) -> httpcore2.ConnectionPool:
        plain = urlsplit(self.url).scheme == "http"
        backend = GuardedBackend(self.deadline, plain=plain)
        return httpcore2.ConnectionPool(
            network_backend=backend, max_connections=1, keepalive_expiry=30
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.pool.close()

    def post(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send one message. Redirects are not followed: their answer counts as it is."""
        start = monotonic()
        self.deadline.restart()
        try:
            return self.exchange(headers, body, start)
        except AddressRefused as error:
            problem = str(error)
        except httpcore2.TimeoutException:
            problem = f"no answer within {settings.WEBHOOK_TIMEOUT:g} s"
        except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, ValueError) as error:
            problem = str(error) or type(error).__name__
        self.pool.close()
        self.pool, self.is_connected = self.new_pool(), False
        return Answer(0, since(start), error=problem[:ANSWER_CHARS])

    def exchange(self, headers: Mapping[str, str], body: bytes, start: float) -> Answer:
        try:
            return self.read_answer(headers, body, start)
        except (httpcore2.NetworkError, httpcore2.RemoteProtocolError):
            if not self.is_connected:
                raise
            # The target has closed the connection that was kept: this is no failure of its own.
            self.pool.close()
            self.pool, self.is_connected = self.new_pool(), False
            return self.read_answer(headers, body, start)

    def read_answer(self, headers: Mapping[str, str], body: bytes, start: float) -> Answer:
        limits = {"connect": CONNECT_SECONDS, "read": None, "write": None, "pool": 1.0}
        pairs = [(name, value) for name, value in headers.items()]
        with self.pool.stream(
            "POST", self.url, headers=pairs, content=body, extensions={"timeout": limits}
        ) as response:
            text = b""
            for part in response.iter_stream():
                text += part
                if len(text) > MOST_READ:
                    break
            self.is_connected = True
            return Answer(
                status=response.status,
                milliseconds=since(start),
                text=text[: 4 * ANSWER_CHARS].decode(errors="replace")[:ANSWER_CHARS],
                error=explain(response.status),
                retry_after=retry_after(response.headers),
            )


def since(start: float) -> int:
    return round((monotonic() - start) * 1000)


def explain(status: int) -> str:
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return f"answered {status}: redirects are not followed"
    return f"answered {status}"


def retry_after(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Return the seconds for which the target asks not to be called; dates are not read."""
    for name, value in headers:
        if name.lower() == b"retry-after" and value.strip().isdigit() and len(value) < 9:
            return int(value)
    return 0
