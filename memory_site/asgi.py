"""One ASGI process: MCP at /mcp, everything else is Django."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

import django
from anyio import to_thread

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402 - needs the apps that the line above loads

from memory_site.mcp import McpEndpoint, Receive, Scope, Send  # noqa: E402
from memory_site.one_thread_asgi import OneThreadHandler  # noqa: E402
from worlds import audit  # noqa: E402


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
            await self.mcp(scope, receive, send)
        else:
            await self.django(scope, receive, send)

    async def run_lifespan(self, receive: Receive, send: Send) -> None:
        """Follow the ASGI lifespan protocol: start, wait for shutdown, stop."""
        async with AsyncExitStack() as stack:
            await receive()
            endpoint = McpEndpoint()
            await stack.enter_async_context(endpoint.manager.run())
            self.mcp = endpoint
            # What the start allocated lives as long as the process: exempt it from collection.
            gc.freeze()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self.mcp = None
            await to_thread.run_sync(audit.flush)
        await send({"type": "lifespan.shutdown.complete"})


application: Any = Application()
