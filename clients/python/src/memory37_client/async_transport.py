"""HTTP: one connection pool, retries, idempotency keys, problems as exceptions."""

import asyncio
from typing import Any, Protocol

import httpx2

from memory37_client.exchange import Query, Server, content_of, request_options
from memory37_client.retries import wait_before_retry


class AsyncTransport(Protocol):
    """How the requests of the async client reach the site. Raises `Memory37Error`."""

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]: ...

    async def request(
        self, method: str, path: str, body: Any = None, *, query: Query = None
    ) -> Any: ...

    async def close(self) -> None: ...


class AsyncHttpTransport:
    def __init__(
        self, server: Server, *, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self.http = httpx2.AsyncClient(**server.http_options(), transport=transport)

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return dict(await self.request("POST", f"/tools/{name}", arguments))

    async def request(
        self, method: str, path: str, body: Any = None, *, query: Query = None
    ) -> Any:
        options = request_options(method, path, body, query)
        attempt = 0
        while True:
            attempt += 1
            response, lost = None, None
            try:
                response = await self.http.request(method, path.lstrip("/"), **options)
            except httpx2.TransportError as error:
                lost = error
            wait = wait_before_retry(attempt, response)
            if wait is None:
                return content_of(response, lost)
            await asyncio.sleep(wait)

    async def close(self) -> None:
        await self.http.aclose()
