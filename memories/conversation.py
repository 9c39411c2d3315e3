"""The conversation log of an agent, searched by words, vectors, dates and conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from memories.ledger.turns import link_changed_turns
from memories.models import Message, Namespace
from memories.search import turns
from retrieval.errors import Invalid
from retrieval.search import Mode, SearchRequest
from retrieval.search import search as search_passages
from retrieval.text import storage_flaw

INDEX_FIELDS = ("embedding", "search_vector")


@dataclass(frozen=True)
class MessageHits:
    """Messages with their scores (0 when listed by date), and the search legs that failed."""

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
    """Store one message; raise `Invalid` for an empty text or one that a database cannot hold."""
    if flaw := storage_flaw(text):
        raise Invalid(f"The message {flaw}.")
    if not text.strip():
        raise Invalid("The message is empty.")
    message = Message(
        namespace=namespace,
        text=text.strip(),
        role=role,
        speaker=speaker,
        conversation=conversation,
        source=source,
        language=namespace.language,
        **({"said_at": said_at} if said_at else {}),
    )
    # Speaker and date are indexed with the text, so that a search can name them.
    message.context = f"{speaker or role} ({message.said_at:%d %B %Y})".strip()
    with transaction.atomic():
        message.save()
        link_changed_turns(Message, [message.pk])
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
    """Return the messages that match `query`, or the latest ones without a query.

    `after` (inclusive), `before` (exclusive) and `conversation` narrow the search.
    """
    rows = Message.objects.filter(namespace=namespace)
    if after:
        rows = rows.filter(said_at__gte=after)
    if before:
        rows = rows.filter(said_at__lt=before)
    if conversation:
        rows = rows.filter(conversation=conversation)
    if not query.strip():
        latest = list(rows.order_by("-said_at", "-pk").defer(*INDEX_FIELDS)[:limit])
        return MessageHits(latest, [0.0] * len(latest))
    request = SearchRequest(
        query=query,
        scopes=[namespace.pk],
        limit=limit,
        mode=mode,
        language=namespace.language,
        fields=(*turns.FIELDS, "role"),
        candidates=turns.CANDIDATES,
        weigh=turns.weigh_turns,
    )
    result = search_passages(rows, request)
    messages = rows.defer(*INDEX_FIELDS).in_bulk([hit.id for hit in result.hits])
    # A message can be deleted between the two statements.
    hits = [hit for hit in result.hits if hit.id in messages]
    scores = [hit.score for hit in hits]
    return MessageHits([messages[hit.id] for hit in hits], scores, result.degraded)
