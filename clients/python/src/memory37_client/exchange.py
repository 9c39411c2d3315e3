"""What a request consists of and what its answer means, for the async and the sync client."""

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from memory37_client.errors import Memory37Error

Query = Mapping[str, Any] | None


@dataclass(frozen=True)
class Server:
    """Where requests go: the address of a site, a key, and, for a key of the whole installation,
    the world that is meant."""

    url: str
    key: str
    world: str = ""
    timeout: float = 10.0

    def http_options(self) -> dict[str, Any]:
        """Return the arguments for httpx2's clients."""
        headers = {"Authorization": f"Bearer {self.key}", "User-Agent": "memory37-client"}
        if self.world:
            # A header is ASCII; the name of a world need not be.
            headers["X-World"] = quote(self.world)
        base = self.url.rstrip("/").removesuffix("/api/v1") + "/api/v1"
        return {"base_url": base, "headers": headers, "timeout": self.timeout}


def request_options(method: str, path: str, body: Any, query: Query) -> dict[str, Any]:
    """Return the arguments of one request; a write gets a key under which it happens once."""
    is_write = method.upper() != "GET" and not path.startswith("/tools/")
    headers = {"Idempotency-Key": uuid.uuid4().hex} if is_write else {}
    params = {name: value for name, value in (query or {}).items() if value is not None}
    return {"json": body, "headers": headers, "params": params}


def content_of(response: httpx2.Response | None, lost: httpx2.TransportError | None) -> Any:
    """Return the JSON of an answer (None without content); raises `Memory37Error`."""
    if response is None:
        assert lost is not None, "either an answer or an error"
        raise Memory37Error.unreachable(lost) from lost
    if response.status_code >= 400:
        raise Memory37Error.of_response(response)
    return response.json() if response.content else None


def server_from_env() -> Server:
    """Return what MEMORY37_URL, MEMORY37_API_KEY and MEMORY37_WORLD say."""
    return Server(
        os.environ.get("MEMORY37_URL", ""),
        os.environ.get("MEMORY37_API_KEY", ""),
        os.environ.get("MEMORY37_WORLD", ""),
    )


def given_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None, and the underscore of names that are Python keywords (`as_`)."""
    given = {name.rstrip("_"): value for name, value in arguments.items() if value is not None}
    return {name: dict(v) if isinstance(v, Mapping) else v for name, v in given.items()}


def model_arguments(arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """Return the arguments of a tool call as a language model gave them: an object or its JSON."""
    values = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    return dict(values or {})
