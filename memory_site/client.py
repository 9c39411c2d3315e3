"""`Memory37Client`: the tools as async Python functions, over HTTP or in process, with the same
answers.

Over HTTP it needs httpx2 and pydantic and nothing of this site: an engine may take this one file.

    async with Memory37Client.from_env() as memory:
        answer = await memory.rules_lookup("grappled")
        print(answer.hits[0].title, answer.hits[0].text)
"""

import asyncio
import json
import os
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import httpx2
from pydantic import BaseModel, ConfigDict

MAX_TRIES = 3
MAX_WAIT_SECONDS = 10.0
RETRY_STATUS = {429, 502, 503, 504}


class Memory37Error(Exception):
    """A problem that the server reported, with the fields of RFC 9457; `status` is 0 when no
    server answered."""

    def __init__(self, problem: Mapping[str, Any], *, retry_after: float | None = None) -> None:
        self.status = int(problem.get("status", 0))
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: list[dict[str, Any]] = list(problem.get("errors", ()))
        self.candidates: list[str] = list(problem.get("candidates", ()))
        self.request_id = str(problem.get("instance", ""))
        self.retry_after = retry_after
        super().__init__(f"{self.status} {self.code}: {self.detail}")


class OpenModel(BaseModel):
    """Answers may get new fields, which are kept and readable."""

    model_config = ConfigDict(extra="allow")


class SearchHit(OpenModel):
    id: str
    kind: str = ""
    title: str = ""
    text: str = ""
    score: float = 0.0


class Hits(OpenModel):
    """`degraded` names what did not take part in the search."""

    hits: list[SearchHit] = []
    degraded: list[str] = []
    truncated: bool = False


class Answer(OpenModel):
    degraded: list[str] = []


Model = TypeVar("Model", bound=BaseModel)


class Transport(Protocol):
    """How calls reach the site. Both raise `Memory37Error`."""

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]: ...

    async def request(self, method: str, path: str, body: Any = None) -> Any: ...

    async def close(self) -> None: ...


class Memory37Client:
    """Read the world's knowledge as the key allows. Use it as an async context manager, or `await
    client.close()`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @classmethod
    def from_env(cls) -> Self:
        """Over HTTP to MEMORY37_URL with MEMORY37_API_KEY; in process (in a configured Django) when
        there is no URL."""
        key = os.environ.get("MEMORY37_API_KEY", "")
        url = os.environ.get("MEMORY37_URL", "")
        return cls.over_http(url, key) if url else cls.in_process(key)

    @classmethod
    def over_http(cls, url: str, key: str, *, timeout: float = 10.0) -> Self:
        return cls(HttpTransport(url, key, timeout=timeout))

    @classmethod
    def in_process(cls, key: str) -> Self:
        """Call the toolbox of this process. Only here is the rest of the site imported: it needs
        Django."""
        from memory_site.in_process import InProcessTransport

        return cls(InProcessTransport(key))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    # --- The six tools
    async def rules_lookup(
        self, term: str | None = None, *, rule_id: str | None = None, **more: Any
    ) -> Hits:
        return await self._ask(Hits, "rules_lookup", term=term, rule_id=rule_id, **more)

    async def lore_search(
        self,
        query: str,
        *,
        k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        expand: bool | None = None,
        **more: Any,
    ) -> Hits:
        return await self._ask(
            Hits, "lore_search", query=query, k=k, filters=filters, expand=expand, **more
        )

    async def session_fetch(self, party_id: str, *, k: int | None = None, **more: Any) -> Answer:
        return await self._ask(Answer, "session_fetch", party_id=party_id, k=k, **more)

    async def npc_profile(self, npc_id: str, *, party_id: str | None = None, **more: Any) -> Answer:
        return await self._ask(Answer, "npc_profile", npc_id=npc_id, party_id=party_id, **more)

    async def lore_assert(self, fact: Any, **more: Any) -> Answer:
        return await self._ask(Answer, "lore_assert", fact=fact, **more)

    async def art_suggest(self, scene_id: str, **more: Any) -> Answer:
        return await self._ask(Answer, "art_suggest", scene_id=scene_id, **more)

    # --- Anything else
    async def call(
        self, name: str, arguments: Mapping[str, Any] | str | None = None
    ) -> dict[str, Any]:
        """Carry out a tool call as a language model gave it (`arguments` may be its string of
        JSON)."""
        values = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        return await self._transport.call(name, dict(values or {}))

    async def openai_tools(
        self, profile: str | None = None, *, form: str = "responses"
    ) -> list[dict[str, Any]]:
        """Return the function schemas to offer a model."""
        query = f"form={form}&profile={profile}" if profile else f"form={form}"
        answer = await self._transport.request("GET", f"/tools/openai.json?{query}")
        return list(answer["tools"])

    async def write(self, method: str, path: str, body: Any) -> Any:
        """Send an engine write, as `("PUT", "/world/lore/mill", {…})`. It has an idempotency key:
        safe to repeat."""
        return await self._transport.request(method, path, body)

    async def _ask(self, model: type[Model], tool: str, /, **arguments: Any) -> Model:
        values = {name.rstrip("_"): value for name, value in arguments.items() if value is not None}
        return model.model_validate(await self._transport.call(tool, values))


class HttpTransport:
    """One connection pool. Retries after lost connections, time-outs, 429 and 502–504: tools and
    reads are safe to repeat, writes carry an idempotency key."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 10.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}", "User-Agent": "memory37-client"}
        base = url.rstrip("/").removesuffix("/api/v1") + "/api/v1"
        self._http = httpx2.AsyncClient(
            base_url=base, headers=headers, timeout=timeout, transport=transport
        )

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await self.request("POST", f"/tools/{name}", arguments)
        return dict(answer)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        is_write = method != "GET" and not path.startswith("/tools/")
        headers = {"Idempotency-Key": uuid.uuid4().hex} if is_write else {}
        send = partial(self._http.request, method, path.lstrip("/"), json=body, headers=headers)
        response = await send_with_retries(send)
        if response.status_code >= 400:
            raise error_of(response)
        return response.json() if response.content else None

    async def close(self) -> None:
        await self._http.aclose()


async def send_with_retries(send: Callable[[], Awaitable[httpx2.Response]]) -> httpx2.Response:
    """Return the last response; raises `Memory37Error` when the server cannot be reached."""
    for attempt in range(1, MAX_TRIES + 1):
        try:
            response = await send()
        except httpx2.TransportError as error:
            if attempt == MAX_TRIES:
                problem = f"The server cannot be reached ({type(error).__name__})"
                detail = f"{problem}: check MEMORY37_URL and that it runs."
                fields = {"code": "unreachable", "title": "Unreachable", "detail": detail}
                raise Memory37Error(fields) from error
            await asyncio.sleep(backoff_seconds(attempt))
            continue
        wait = float(response.headers.get("Retry-After", backoff_seconds(attempt)))
        is_transient = response.status_code in RETRY_STATUS and wait <= MAX_WAIT_SECONDS
        if not is_transient or attempt == MAX_TRIES:
            break
        await asyncio.sleep(wait)
    return response


def backoff_seconds(attempt: int) -> float:
    """Return a wait that doubles, with jitter so that many clients do not retry at once."""
    return float(0.2 * 2**attempt * random.uniform(0.5, 1))


def error_of(response: httpx2.Response) -> Memory37Error:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict) or "code" not in problem:
        problem = {"detail": response.text[:200]}
    after = response.headers.get("Retry-After")
    fields = {"status": response.status_code, **problem}
    return Memory37Error(fields, retry_after=float(after) if after else None)
