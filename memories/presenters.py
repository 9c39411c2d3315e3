"""Convert memories to the response models that the REST API and the agent's tools share."""

from typing import Any
from uuid import UUID

from memories.agent_schemas import ScoredMemoryOut
from memories.buckets.read_pipeline import MemoryQueryResult, ScoredMemory
from memories.found_memory import FoundMemory
from memories.models import MemoryItem
from memories.schemas import (
    BucketHit,
    ChangeOut,
    HistoryOut,
    LinkOut,
    MemoryHit,
    MemoryOut,
    ObservationOut,
    SearchOut,
)
from memories.search.history import links_of
from memories.search.recall import RecallResult


def present_hit(memory: FoundMemory) -> MemoryHit:
    """Return a search hit, its score rounded to six decimals."""
    return MemoryHit(
        id=str(memory.id),
        text=memory.text,
        bucket=memory.bucket,
        score=round(memory.score, 6),
        relevance=None if memory.relevance is None else round(memory.relevance, 2),
        match=memory.match,
        context=memory.context,
        recorded_ms=memory.timestamp_ms,
        event_at=memory.event_at,
        formerly=memory.formerly,
        now=id_text(memory.now),
        possibly_outdated_by=id_text(memory.possibly_outdated_by),
        sources=[source.text for source in memory.sources],
        summary_id=memory.summary_id,
        **present_knowing(memory),
        # An NPC's memory of an episode shows of its metadata how it is known, above.
        metadata={} if memory.episode else dict(memory.metadata),
    )


def id_text(pk: UUID | None) -> str | None:
    return str(pk) if pk else None


def present_knowing(memory: FoundMemory) -> dict[str, Any]:
    """Return when an NPC's memory happened, who told it, and how sure that one was."""
    return {
        "in_world_label": memory.in_world_label,
        "heard_from": str(memory.metadata.get("heard_from", "")),
        "sureness": memory.metadata.get("sureness"),
    }


def present_search(result: RecallResult) -> SearchOut:
    hits = [present_hit(memory) for memory in result.memories]
    return SearchOut(hits=hits, degraded=list(result.degraded))


def present_bucket_hit(hit: ScoredMemory) -> BucketHit:
    """Return the short form for a language model, its score rounded to four decimals."""
    memory = hit.memory
    return BucketHit(
        id=str(hit.id),
        text=memory.text,
        bucket=memory.bucket,
        score=round(hit.score, 4),
        formerly=memory.formerly,
        now=id_text(memory.now),
        possibly_outdated_by=id_text(memory.possibly_outdated_by),
        **present_knowing(memory),
    )


def present_scored(hit: ScoredMemory) -> ScoredMemoryOut:
    """Return the full form with the three axes of the score."""
    # A program gets the exact score; the rounded one is for language models.
    short = present_bucket_hit(hit).model_dump() | {"score": hit.score}
    return ScoredMemoryOut(
        **short, **vars(hit.axes), tokens=hit.tokens, metadata=dict(hit.memory.metadata)
    )


def present_query(result: MemoryQueryResult) -> dict[str, Any]:
    """Return the fields, besides the memories, that the REST answer and the tool answer share."""
    return {
        "intent": result.intent,
        "abstained": result.abstained,
        "because": result.because,
        "decided_by": result.decided_by,
        "explanation": result.explanation(),
        "degraded": list(result.degraded),
    }


def present_history(memory: MemoryItem) -> HistoryOut:
    """Return the memory with all state changes, successions and observations."""
    changes: list[Any] = list(memory.changes.order_by("at", "pk"))
    links = [
        LinkOut(
            kind=link.kind,
            older=link.older_id,
            newer=link.newer_id,
            in_effect=link.in_effect,
            reason=link.reason,
        )
        for link in links_of(memory)
    ]
    observations = memory.observations.order_by("recorded_at")
    return HistoryOut(
        memory=MemoryOut.model_validate(memory),
        changes=[ChangeOut.model_validate(change) for change in changes],
        links=links,
        observations=[ObservationOut.model_validate(row) for row in observations],
    )
