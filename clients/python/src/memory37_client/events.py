"""The event log as a stream: Server-Sent Events."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import AwareDatetime

from memory37_client.base import OpenModel

STREAM = "events/stream"
MAX_SILENCE_SECONDS = 60.0
"""The server says something at least every 15 seconds: after this time the connection is lost."""


class Event(OpenModel):
    """A change of a row: what changed, not how. Read the row to see it.

    `id` is where to go on after an interruption; `kind` and `ref` name the row as the API does,
    `row` is the id of the row, `version` (game masters only) counts its changes.
    """

    id: str
    at: AwareDatetime
    kind: str
    action: str
    ref: str
    row: str = ""
    version: int | None = None


def stream_request(since: str | None, kinds: Sequence[str], last_id: str | None) -> dict[str, Any]:
    """Return the arguments of the request: after `last_id`, if there is one, else after `since`."""
    headers: Mapping[str, str] = {"Last-Event-ID": last_id} if last_id else {}
    params = [("kind", kind) for kind in kinds]
    if since and not last_id:
        params.append(("since", since))
    return {"headers": {"Accept": "text/event-stream", **headers}, "params": params}
