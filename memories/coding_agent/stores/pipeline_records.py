"""How the write and read pipelines use a store of records: an event becomes a record of the kind
`memory`, and the records found become memories that the pipeline scores.

A store has no ledger: what has the same words in the same scope is the same memory, a record with
the same key or one that the event names is removed when the new one is added, and nothing is
marked as outdated.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memories.coding_agent.stores.records import EVERY_RECORD, MemoryRecord, has_values
from memories.found_memory import FoundMemory
from memories.ingest.rule_add import BatchOutcome
from memories.ledger.plan import Particulars
from memories.search.filters import COLUMNS, MemoryFilter
from memories.similarity.comparable_text import fingerprint
from memories.states import Bucket
from retrieval.errors import NotFound
from retrieval.search import Leg

if TYPE_CHECKING:
    from memories.coding_agent.stores.protocol import MemoryStore

KIND = "memory"
INSIGHT = "insight"


def add_events(
    store: "MemoryStore", texts: Sequence[str], abouts: Sequence[Particulars]
) -> list[BatchOutcome]:
    """Add a record for each text that is not known; return what holds each. Raise `NotFound` for a
    record to supersede that is not there; then nothing is written."""
    with store.atomically():
        records = store.find(kind=KIND, limit=EVERY_RECORD)
        known = {record.id: record for record in records if is_in_use(record)}
        if missing := {pk for about in abouts for pk in about.supersedes} - known.keys():
            raise NotFound(f"{min(missing)} is no memory in use, so nothing can supersede it.")
        return [_add_event(store, known, *each) for each in zip(texts, abouts, strict=True)]


def _add_event(
    store: "MemoryStore", known: dict[UUID, MemoryRecord], text: str, about: Particulars
) -> BatchOutcome:
    """Add the event to the store and to `known`, from which what it replaces is taken."""
    for record in known.values():
        if _is_same(record, text, about):
            return BatchOutcome(record.id, is_new=False)
    added = store.add(
        MemoryRecord(
            text,
            bucket=about.bucket or Bucket.FACT,
            importance=0.5 if about.importance is None else about.importance,
            payload=_payload(about),
        )
    )
    for record in list(known.values()):
        if record.id in about.supersedes or _has_key_of(record, about):
            store.remove(record.id)
            del known[record.id]
    known[added.id] = added
    return BatchOutcome(added.id, is_new=True)


def _payload(about: Particulars) -> dict[str, Any]:
    moments = {"event_at": about.event_at, "expires_at": about.expires_at}
    return {
        "kind": KIND,
        "metadata": about.labels,
        **{name: getattr(about, name) for name in COLUMNS},
        **{name: moment.isoformat() for name, moment in moments.items() if moment},
    }


def _is_same(record: MemoryRecord, text: str, about: Particulars) -> bool:
    return (
        fingerprint(record.text) == fingerprint(text)
        and record.payload["subject"] == about.subject
        and record.payload["speaker"] == about.speaker
        and _label(record, "scope") == about.scope
        and _label(record, "key") == about.key
    )


def _has_key_of(record: MemoryRecord, about: Particulars) -> bool:
    has_key = bool(about.key) and _label(record, "key") == about.key
    return has_key and _label(record, "scope") == about.scope


def _label(record: MemoryRecord, name: str) -> str:
    return str(record.payload["metadata"].get(name, ""))


def find_memories(
    store: "MemoryStore", query: str, *, limit: int, where: MemoryFilter | None = None
) -> list[FoundMemory]:
    """Return the records of the kind `memory` that are most similar to the question, and fit
    `where`."""
    hits = store.search(query, kind=KIND, limit=limit if where is None else EVERY_RECORD)
    fitting = [
        hit for hit in hits if is_in_use(hit.record) and (where is None or fits(hit.record, where))
    ]
    return [_found_memory(hit.record, hit.similarity) for hit in fitting[:limit]]


def episodes_in(store: "MemoryStore") -> list[MemoryRecord]:
    records = store.find(bucket=Bucket.EPISODIC, kind=KIND, limit=EVERY_RECORD)
    return sorted(filter(is_in_use, records), key=lambda record: record.created_at)


def insights_in(store: "MemoryStore") -> list[tuple[UUID, frozenset[UUID]]]:
    records = store.find(kind=KIND, where={"is": INSIGHT}, limit=EVERY_RECORD)
    return [(each.id, frozenset(map(UUID, each.payload["episodes"]))) for each in records]


def add_insight(
    store: "MemoryStore", text: str, importance: float, episodes: Sequence[UUID]
) -> UUID:
    """Add a memory of the bucket SEMANTIC, which a read pipeline finds like any other."""
    about = Particulars(source="reflection")
    payload = _payload(about) | {"is": INSIGHT, "episodes": list(map(str, episodes))}
    return store.add(MemoryRecord(text, Bucket.SEMANTIC, importance, payload)).id


def is_in_use(record: MemoryRecord) -> bool:
    until = _moment(record.payload, "expires_at")
    return until is None or until > datetime.now(UTC)


def fits(record: MemoryRecord, where: MemoryFilter) -> bool:
    """Whether the record passes the filter, as `MemoryFilter.apply` says it of a memory."""
    payload = record.payload
    metadata: Mapping[str, Any] = payload["metadata"]
    moment = _moment(payload, "event_at") or record.created_at
    labels = {name: value for name, value in where.labels.items() if name != "tags"}
    return (
        (not where.buckets or record.bucket in where.buckets)
        and all(getattr(where, name) in ("", payload[name]) for name in COLUMNS)
        and set(where.tags) <= set(metadata.get("tags", ()))
        and has_values(metadata, labels)
        and where.resolved in (None, bool(metadata.get("resolved")))
        and (where.after is None or moment >= where.after)
        and (where.before is None or moment < where.before)
    )


def _found_memory(record: MemoryRecord, similarity: float) -> FoundMemory:
    return FoundMemory(
        id=record.id,
        text=record.text,
        score=similarity,
        match="vector",
        legs={"vector": Leg(rank=1, score=similarity)},
        bucket=record.bucket,
        importance=record.importance,
        timestamp_ms=int(record.created_at.timestamp() * 1000),
        event_at=_moment(record.payload, "event_at"),
        metadata=record.payload["metadata"],
        **{name: record.payload[name] for name in COLUMNS},
    )


def _moment(payload: Mapping[str, Any], name: str) -> datetime | None:
    return datetime.fromisoformat(payload[name]) if payload.get(name) else None
