"""The client, whatever carries its requests. The sync one is generated from this module."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import httpx2
from pydantic import BaseModel

from memory37_client.async_transport import AsyncHttpTransport, AsyncTransport
from memory37_client.errors import MODEL_CAN_CORRECT, Memory37Error
from memory37_client.events import MAX_SILENCE_SECONDS, STREAM, Event, stream_request
from memory37_client.exchange import Query, given_arguments, model_arguments
from memory37_client.generated.async_tools import AsyncTools
from memory37_client.retries import MAX_TRIES, RETRY_STATUS, backoff_seconds

Answer = TypeVar("Answer", bound=BaseModel)


class AsyncClient(AsyncTools):
    """The tools as methods with typed answers, and every other operation by `request`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def call(
        self, name: str, arguments: Mapping[str, Any] | str | None = None
    ) -> dict[str, Any]:
        """Carry out a tool call as a language model gave it (`arguments` may be its string of
        JSON)."""
        return await self._transport.call(name, model_arguments(arguments))

    async def answer_tool_call(
        self, name: str, arguments: Mapping[str, Any] | str | None = None, *, as_: str | None = None
    ) -> str:
        """Carry out a language model's tool call; return the JSON to hand back to the model.

        The answer is in its small form, for the audience `as_`. What is wrong with a call is an
        answer too, so that the model can correct it. Raises `Memory37Error` for what it cannot: no
        server, a wrong key, a limit of calls.
        """
        try:
            sent = model_arguments(arguments) | ({"as": as_} if as_ else {})
        except (TypeError, ValueError):
            sent = {}  # no JSON object: the server names the arguments that it needs
        call = {"name": name, "arguments": sent}
        try:
            answer = await self._transport.request("POST", "/tools/call", call)
            return json.dumps(answer["result"], ensure_ascii=False)
        except Memory37Error as problem:
            if problem.status not in MODEL_CAN_CORRECT:
                raise
            return json.dumps(problem.for_model(), ensure_ascii=False)

    async def openai_tools(
        self, profile: str | None = None, *, form: str = "responses"
    ) -> list[dict[str, Any]]:
        """Return the function schemas to offer a model; `form` is `responses` or `chat`."""
        query = {"form": form, "profile": profile}
        answer = await self._transport.request("GET", "/tools/openai.json", query=query)
        return list(answer["tools"])

    async def request(
        self, method: str, path: str, body: Any = None, *, query: Query = None
    ) -> Any:
        """Carry out any operation of the API: `("PUT", "/world/lore", {…})`. A write is safe to
        repeat: it has an idempotency key."""
        return await self._transport.request(method, path, body, query=query)

    async def rows(self, path: str, **filters: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield the rows of a list (`/world/lore`, `/world/npcs`, …), page after page."""
        cursor: str | None = None
        while True:
            page = await self.request("GET", path, query={**filters, "cursor": cursor})
            for row in next(value for value in page.values() if isinstance(value, list)):
                yield row
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    async def events(
        self, since: str | None = None, *, kinds: Sequence[str] = ()
    ) -> AsyncIterator[Event]:
        """Yield the changes of the world as they are committed, without end.

        `since`: id of the last event you have, `latest`, or None for all that are kept. Lost
        connections are made again and go on after the last event. Raises `Memory37Error` when the
        key ends (401) or the log does not reach back (410). Only over HTTP.
        """
        if not isinstance(self._transport, AsyncHttpTransport):
            raise TypeError("events() needs a client over HTTP")
        last_id: str | None = None
        failures = 0
        while True:
            options = stream_request(since, kinds, last_id)
            try:
                async for message in self._open_stream(self._transport.http, options):
                    last_id, failures = message.id or last_id, 0
                    if message.event == "message" and message.data:
                        yield Event.model_validate_json(message.data)
            except httpx2.TransportError as error:
                failures += 1
                if failures >= MAX_TRIES:
                    raise Memory37Error.unreachable(error) from error
            except Memory37Error as problem:
                failures += 1
                if problem.status not in RETRY_STATUS or failures >= MAX_TRIES:
                    raise
            await asyncio.sleep(backoff_seconds(max(failures, 1)))

    async def _open_stream(
        self, http: httpx2.AsyncClient, options: dict[str, Any]
    ) -> AsyncIterator[httpx2.ServerSentEvent]:
        silence = httpx2.Timeout(http.timeout.connect, read=MAX_SILENCE_SECONDS)
        async with http.stream("GET", STREAM, timeout=silence, **options) as response:
            if response.status_code >= 400:
                await response.aread()
                raise Memory37Error.of_response(response)
            async for message in httpx2.EventSource(response):
                yield message

    async def _ask(self, model: type[Answer], tool: str, /, **arguments: Any) -> Answer:
        return model.model_validate(await self._transport.call(tool, given_arguments(arguments)))
