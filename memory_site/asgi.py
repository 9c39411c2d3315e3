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

from memory_site.mcp import McpDoor, Receive, Scope, Send  # noqa: E402
from memory_site.one_thread_asgi import OneThreadHandler, ProgramsHandler  # noqa: E402
from memory_site.tool_door import ToolDoor  # noqa: E402
from worlds import audit  # noqa: E402

threads = ThreadPoolExecutor(settings.WEB_THREADS, thread_name_prefix="web")
site, for_programs, tools = OneThreadHandler(threads), ProgramsHandler(threads), ToolDoor(threads)
PROGRAMS, DOCS = "/api/v1/", "/api/v1/docs"


class Doors:
    """Send /mcp to the MCP door, which runs from the start of the process to its end, and the rest to Django."""

    def __init__(self) -> None:
        self.mcp: McpDoor | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.live(receive, send)
        elif self.mcp and scope["type"] == "http" and scope["path"].rstrip("/") == "/mcp":
            await self.mcp(scope, receive, send)
        else:
            await self.http(scope)(scope, receive, send)

    def http(self, scope: Scope) -> Any:
        """The application that answers this request."""
        if tools.takes(scope):
            return tools
        by_program = scope["path"].startswith(PROGRAMS) and not scope["path"].startswith(DOCS)
        return for_programs if by_program else site

    async def live(self, receive: Receive, send: Send) -> None:
        """Follow the ASGI lifespan: start, wait for the end, stop."""
        async with AsyncExitStack() as stack:
            await receive()
            door = McpDoor()
            await stack.enter_async_context(door.manager.run())
            self.mcp = door
            gc.freeze()  # what the start made stays for ever: no collection needs to walk through it again
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self.mcp = None
            await to_thread.run_sync(audit.flush)
        await send({"type": "lifespan.shutdown.complete"})


application: Any = Doors()
