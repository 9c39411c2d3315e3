"""A reader of Server-Sent Events over a real connection."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2


class Reader:
    """Reads a stream in a thread; `events` are the parsed `data` of what has come."""

    def __init__(self, url: str, key: str, query: str = "", **headers: str) -> None:
        self.headers = {"Authorization": f"Bearer {key}", **headers}
        self.address = f"{url}/api/v1/events/stream?{query}"
        self.lines: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.came_at: list[float] = []
        self.last_id, self.end, self.status = "", "", 0
        self.answer: httpx2.Response | None = None
        self.opened, self.stopped = threading.Event(), False
        self.thread = threading.Thread(target=self.read, daemon=True)

    def read(self) -> None:
        try:
            with httpx2.stream(
                "GET", self.address, headers=self.headers, timeout=60
            ) as self.answer:
                self.status = self.answer.status_code
                if self.status != 200:
                    self.answer.read()
                    return
                for line in self.answer.iter_lines():
                    self.take(line)
                    if self.stopped:
                        return
        except httpx2.HTTPError:
            if not self.stopped:
                self.end = "connection lost"
        finally:
            self.opened.set()

    def take(self, line: str) -> None:
        self.lines.append(line)
        name, _colon, value = line.partition(": ")
        if name == "id":
            self.last_id = value
        elif name == "data":
            data = json.loads(value)
            if "reason" in data:
                self.end = data["reason"]
            else:
                self.came_at.append(time.monotonic())
                self.events.append(data)
        if not line:  # the first frame has come: the stream is open
            self.opened.set()

    def hang_up(self) -> None:
        """Cut the connection; `close` alone would wait for the thread that reads."""
        self.stopped = True
        if self.thread.is_alive() and self.answer is not None:
            stream = self.answer.extensions["network_stream"]
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            self.thread.join(10)

    @property
    def seen(self) -> list[tuple[str, str, str]]:
        return [(each["kind"], each["ref"], each["action"]) for each in self.events]


@contextmanager
def reading(url: str, key: str, query: str = "", **headers: str) -> Iterator[Reader]:
    reader = Reader(url, key, query, **headers)
    reader.thread.start()
    assert reader.opened.wait(20)
    try:
        yield reader
    finally:
        reader.hang_up()


def wait_for(condition: Callable[[], object], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False
