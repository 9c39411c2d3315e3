"""A proxy for connections on loopback that takes a server out of use as nginx or HAProxy do: new
connections go to the others, and those that are open end by themselves."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import Self

CHUNK = 65_536
CONNECT_SECONDS = 10.0


class DrainingProxy:
    def __init__(self, ports: Iterable[int]) -> None:
        self.ports = list(ports)
        self.open: Counter[int] = Counter()
        self._turn = count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        serving = asyncio.start_server(self._forward, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(serving, self._loop).result()
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def add(self, port: int) -> None:
        self.ports = [*self.ports, port]

    def drain(self, port: int, *, seconds: float = 60.0) -> None:
        """Send nothing more to `port`; return when its last connection has ended."""
        self.ports = [each for each in self.ports if each != port]
        deadline = time.monotonic() + seconds
        while self.open[port] and time.monotonic() < deadline:
            time.sleep(0.05)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports = self.ports
        port = ports[next(self._turn) % len(ports)]
        self.open[port] += 1
        try:
            server = await asyncio.wait_for(
                asyncio.open_connection("127.0.0.1", port), CONNECT_SECONDS
            )
            await asyncio.gather(copy(reader, server[1]), copy(server[0], writer))
        except (OSError, TimeoutError):
            writer.close()
        finally:
            self.open[port] -= 1


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    finally:
        writer.close()
