"""The conversation log of an agent: what was said, found by words, by meaning and by date."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from memories.models import Message, Namespace
from memories.storable import flaw
from retrieval.errors import Invalid
from retrieval.search import Mode, SearchRequest
from retrieval.search import search as search_passages

HIDDEN = ("embedding", "search_vector")


@dataclass(frozen=True)
class MessageHits:
    """Messages with their scores (0 when listed by date), and the legs that could not take part."""

    messages: Sequence[Message]
    scores: Sequence[float]
    degraded: Sequence[str] = ()


def log_message(
    namespace: Namespace,
    text: str,
    *,
    role: str = "user",
    speaker: str = "",
    conversation: str = "",
    said_at: datetime | None = None,
    source: str = "",
) -> Message:
    """Write one message down."""
    if wrong := flaw(text):
        raise Invalid(f"The message {wrong}.")
    if not text.strip():
        raise Invalid("An empty message is not kept.")
    when = {"said_at": said_at} if said_at else {}
    message = Message(
        namespace=namespace,
        text=text.strip(),
        role=role,
        speaker=speaker,
        conversation=conversation,
        source=source,
        language=namespace.language,
        **when,
    )
    message.context = " ".join(
        part for part in (speaker or role, f"({message.said_at:%d %B %Y})") if part
    )
    message.save()
    return message


def search_messages(
    namespace: Namespace,
    query: str = "",
    *,
    mode: Mode | str | None = None,
    after: datetime | None = None,
    before: datetime | None = None,
    conversation: str = "",
    limit: int = 10,
) -> MessageHits:
    """Return messages that fit `query`, or without one the latest; within the dates and the conversation if given."""
    rows = _within(namespace, after=after, before=before, conversation=conversation)
    if not query.strip():
        latest = list(rows.order_by("-said_at", "-pk").defer(*HIDDEN)[:limit])
        return MessageHits(latest, [0.0] * len(latest))
    found = search_passages(
        rows,
        SearchRequest(
            query=query, scopes=[namespace.pk], limit=limit, mode=mode, language=namespace.language
        ),
    )
    messages = rows.defer(*HIDDEN).in_bulk([hit.id for hit in found.hits])
    hits = [hit for hit in found.hits if hit.id in messages]
    return MessageHits(
        [messages[hit.id] for hit in hits], [hit.score for hit in hits], found.degraded
    )


def _within(namespace: Namespace, **limits: Any) -> QuerySet[Message]:
    rows = Message.objects.filter(namespace=namespace)
    if limits["after"]:
        rows = rows.filter(said_at__gte=limits["after"])
    if limits["before"]:
        rows = rows.filter(said_at__lt=limits["before"])
    return rows.filter(conversation=limits["conversation"]) if limits["conversation"] else rows
