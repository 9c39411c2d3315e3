"""The Python client without a network: tools are called in the toolbox, the rest goes through
Django's own handler."""

from functools import partial
from typing import Any

import httpx2
from django.core.asgi import get_asgi_application

from memory37_client import Memory37Error
from memory37_client.async_transport import AsyncHttpTransport
from memory37_client.exchange import Server
from memory_site import toolbox
from memory_site.errors import problem_body
from memory_site.logs import valid_or_new_id
from memory_site.threads import run_in_thread
from retrieval.errors import Problem
from worlds import keys
from worlds.callers import Caller


class InProcessTransport(AsyncHttpTransport):
    """Uses an API key like any other program, so the same audience and limits apply."""

    def __init__(self, key: str) -> None:
        # Django's own handler, not the server's: it works in the caller's thread, within the
        # caller's transaction.
        django: Any = get_asgi_application()
        super().__init__(Server("http://localhost", key), transport=httpx2.ASGITransport(django))
        self._key = key

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return await run_in_thread(partial(self._call, name, arguments))

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        request_id = valid_or_new_id(None)
        try:
            caller = Caller.with_key(keys.verify(self._key), request_id=request_id)
            return toolbox.call_tool(name, arguments, caller, via="python").as_json()
        except Problem as problem:
            after = problem.headers.get("Retry-After")
            body = problem_body(problem, request_id)
            raise Memory37Error(body, retry_after=float(after) if after else None) from problem
