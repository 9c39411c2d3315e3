"""Django under ASGI, a whole request in one thread.

Django's own ASGI handler sends each middleware and each signal to a thread and back, which costs
more than all the Python of a search (docs/decisions/0033). All our views are synchronous, so one
thread reads, answers and closes a request. `ASGIHandler` has no documented way to do that: this
class overrides its `__call__` and uses its methods without a leading underscore.
"""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix


class OneThreadHandler(ASGIHandler):
    """An ASGI application. A client that disconnects does not stop its request, as with every
    synchronous view."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        # Not `super().__init__()`, which would load the middleware for asynchronous calls.
        self.load_middleware(is_async=False)
        self.threads = threads

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        run = copy_context().run
        loop = asyncio.get_running_loop()
        response, parts = await loop.run_in_executor(self.threads, run, self.answer, scope, body)
        await send(
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": _headers(response),
            }
        )
        for part in parts[:-1]:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": parts[-1] if parts else b""})

    def answer(self, scope: dict[str, Any], body: Any) -> tuple[HttpResponseBase, list[bytes]]:
        """Return the response, closed, and its body. Runs in a thread of the pool."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            if isinstance(response, FileResponse):
                response.block_size = self.chunk_size
            try:
                return response, _parts(response)
            finally:
                # Sends request_finished: the connection is back in the pool before the body is
                # sent.
                response.close()
        finally:
            body.close()


def _parts(response: Any) -> list[bytes]:
    given: Iterable[bytes] = (
        response.streaming_content if response.streaming else [response.content]
    )
    return [bytes(part) for part in given if part]


def _headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [
        (name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()
    ]
    cookies = (
        cookie.output(header="").strip().encode("ascii") for cookie in response.cookies.values()
    )
    return headers + [(b"set-cookie", cookie) for cookie in cookies]
