"""One ASGI process: MCP at /mcp, everything else is Django, a whole request in one thread."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, aclosing
from contextvars import copy_context
from importlib import import_module
from time import monotonic
from typing import Any, cast

import django
from anyio import CancelScope, create_task_group, to_thread
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import close_old_connections
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402 - needs the apps that the line above loads

from memory_site.mcp import MAX_BODY, McpEndpoint, Receive, Scope, Send  # noqa: E402
from worlds import audit  # noqa: E402

BODY_SECONDS, BODY_BYTES_PER_SECOND = 20.0, 20_000
"""How long a body may take: so long, and a second more for each so many bytes that have come. Else
a few hundred clients that send a byte now and then would hold every connection."""


class BodyTooLarge(Exception):
    """The body has more than so many bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class BodyTooSlow(Exception):
    """The body did not come in the time that it had."""


def limit_body(receive: Receive, scope: Scope, *, most: int) -> Receive:
    """Return `receive` which raises `BodyTooLarge`: at once if the body's announced length is more
    than `most` bytes, else when more of it has come; and `BodyTooSlow`. After the end of the body
    the client may wait as long as it likes."""
    announced = dict(scope["headers"]).get(b"content-length", b"0")
    count, is_read = 0, False
    started = monotonic()

    async def receive_limited() -> Any:
        nonlocal count, is_read
        if announced.isdigit() and int(announced) > most:
            raise BodyTooLarge(most)
        if is_read:
            return await receive()
        deadline = started + BODY_SECONDS + count / BODY_BYTES_PER_SECOND
        try:
            message = await asyncio.wait_for(receive(), deadline - monotonic())
        except TimeoutError:
            raise BodyTooSlow from None
        count += len(message.get("body", b""))
        is_read = not message.get("more_body", False)
        if count > most:
            raise BodyTooLarge(most)
        return message

    return receive_limited


async def refuse_body(send: Send, fault: BodyTooLarge | BodyTooSlow) -> None:
    status, text = 408, "The body came too slowly: send the request again."
    if isinstance(fault, BodyTooLarge):
        megabytes = fault.most // 1_000_000
        status, text = 413, f"The request may have at most {megabytes} MB: send less at once."
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def send_stream(parts: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
    """Send `parts` as they come, until they end or the client is gone. Meanwhile no thread and no
    connection to the database is held."""

    async def stop_when_client_is_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        tasks.cancel_scope.cancel()

    async with create_task_group() as tasks, aclosing(parts):  # type: ignore[type-var]
        tasks.start_soon(stop_when_client_is_gone)
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        tasks.cancel_scope.cancel()


async def read_blocks(response: FileResponse) -> AsyncIterator[bytes]:
    """Yield the file of `response` block by block, each read in a thread; then close it."""
    blocks = iter(cast(Iterator[bytes], response.streaming_content))
    try:
        while block := await to_thread.run_sync(next, blocks, b""):
            yield block
    finally:
        with CancelScope(shield=True):  # the client may be gone
            await to_thread.run_sync(response.close)


class OneThreadHandler(ASGIHandler):
    """Django under ASGI, a whole request in one thread.

    Django's own handler sends each middleware and each signal to a thread and back, which costs
    more than all the Python of a search (docs/decisions/0033). All our views are synchronous, so
    one thread reads, answers and closes a request. A stream of events goes on in the event loop,
    and so does a file, of which one block at a time is in memory.
    `ASGIHandler` has no documented way to do that: this class overrides its `__call__` and uses its
    methods without a leading underscore. A client that disconnects does not stop its request, as
    with every synchronous view.
    """

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        # Not `super().__init__()`, which would load the middleware for asynchronous calls.
        self.load_middleware(is_async=False)
        self.threads = threads

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        most = settings.UPLOAD_MAX_MB * 1_000_000
        try:
            # The body is written to disk while it is read.
            body = await self.read_body(limit_body(receive, scope, most=most))
        except RequestAborted:
            return
        except (BodyTooLarge, BodyTooSlow) as fault:
            await refuse_body(send, fault)
            return
        run = copy_context().run
        loop = asyncio.get_running_loop()
        response, parts = await loop.run_in_executor(self.threads, run, self.answer, scope, body)
        await self.send_start(response, send)
        if parts is None:
            is_file = isinstance(response, FileResponse)
            stream = read_blocks(response) if is_file else response.streaming_content
            await send_stream(stream, receive, send)
            return
        for part in parts[:-1]:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": parts[-1] if parts else b""})

    async def send_start(self, response: HttpResponseBase, send: Send) -> None:
        headers = [
            (name.lower().encode("ascii"), value.encode("latin-1"))
            for name, value in response.items()
        ]
        for cookie in response.cookies.values():
            headers.append((b"set-cookie", cookie.output(header="").strip().encode("ascii")))
        start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
        await send(start)

    def answer(self, scope: Scope, body: Any) -> tuple[Any, list[bytes] | None]:
        """Return the response, closed, and its body; or the open response and None for a file and
        for what is read asynchronously. Runs in a thread of the pool."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            has_body = scope["method"] != "HEAD"
            if has_body and isinstance(response, FileResponse):
                response.block_size = self.chunk_size
                # Closing the response does this, but a file is closed when the client has it.
                close_old_connections()
                return response, None
            try:
                if not has_body:
                    return response, []
                if response.streaming and response.is_async:
                    return response, None
                content = response.streaming_content if response.streaming else [response.content]
                return response, [bytes(part) for part in content if part]
            finally:
                # Sends request_finished: the connection is back in the pool before the body is
                # sent.
                response.close()
        finally:
            body.close()


class Application:
    """Routes /mcp to the MCP server, which runs from the start of the process to its end, and the
    rest to Django."""

    def __init__(self) -> None:
        threads = ThreadPoolExecutor(settings.WEB_THREADS, thread_name_prefix="web")
        self.django = OneThreadHandler(threads)
        self.mcp: McpEndpoint | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.run_lifespan(receive, send)
        elif self.mcp and scope["type"] == "http" and scope["path"].rstrip("/") == "/mcp":
            await self.answer_mcp(self.mcp, scope, receive, send)
        else:
            await self.django(scope, receive, send)

    async def answer_mcp(
        self, mcp: McpEndpoint, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Authenticate, read the body within its time, then let the MCP server answer. The body is
        kept in memory: of somebody without a key none is read."""
        admitted = await mcp.authenticate(scope, send)
        if admitted is None:
            return
        limited, messages = limit_body(receive, scope, most=MAX_BODY), list[Any]()
        try:
            while not messages or messages[-1].get("more_body"):
                messages.append(await limited())
        except (BodyTooLarge, BodyTooSlow) as fault:
            await refuse_body(send, fault)
            return

        async def receive_again() -> Any:
            return messages.pop(0) if messages else await receive()

        await mcp.answer(admitted, receive_again, send)

    async def run_lifespan(self, receive: Receive, send: Send) -> None:
        """Follow the ASGI lifespan protocol: start, wait for shutdown, stop."""
        async with AsyncExitStack() as stack:
            await receive()
            endpoint = McpEndpoint()
            await stack.enter_async_context(endpoint.manager.run())
            self.mcp = endpoint
            # Otherwise the first request loads the views.
            import_module(settings.ROOT_URLCONF)
            # What the start allocated lives as long as the process: exempt it from collection.
            gc.freeze()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self.mcp = None
            await to_thread.run_sync(audit.flush)
        await send({"type": "lifespan.shutdown.complete"})


application: Any = Application()
