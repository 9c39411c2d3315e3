"""The write pipeline: gate → bucket → importance → ledger. Every event gets an outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.conf import settings
from django.db import connection

from memories.buckets.classifiers import (
    MIN_IMPORTANCE,
    Classifier,
    HybridClassifier,
    LLMClassifier,
    classify_event,
    importance_of,
)
from memories.buckets.events import (
    Classification,
    DropReason,
    MemoryEvent,
    Outcome,
    Result,
    check_importance,
)
from memories.buckets.memory_stores import PipelineStore, event_store, namespace_of
from memories.ingest.add import add_batch
from memories.ingest.rule_add import BatchOutcome
from memories.ledger.plan import Particulars
from memories.models import Namespace
from memories.vectors import SiteSource, VectorSource
from retrieval.llm import Purpose, TimeBudget, get_llm
from retrieval.text import storage_flaw

MIN_CHARACTERS, MAX_CHARACTERS = 10, 20_000

# The row lock of one statement makes this a token bucket for all processes. A database clock that
# was set back adds no tokens (GREATEST).
TAKE_TOKENS = """
INSERT INTO memories_eventallowance AS held (namespace_id, tokens, passed, filled_at)
VALUES (%(namespace)s, %(burst)s - LEAST(%(wanted)s, %(burst)s::int),
        LEAST(%(wanted)s, %(burst)s::int), clock_timestamp())
ON CONFLICT (namespace_id) DO UPDATE SET (tokens, passed, filled_at) = (
    SELECT available - LEAST(%(wanted)s, floor(available)),
           LEAST(%(wanted)s, floor(available)::int), now
    FROM (SELECT now, LEAST(%(burst)s, held.tokens + %(rate)s
                 * GREATEST(0, extract(epoch FROM now - held.filled_at))) AS available
          FROM clock_timestamp() AS now) AS refill)
RETURNING passed
"""


class Gate(Protocol):
    """Admits some of `wanted` events now and returns how many."""

    def admit(self, count: int) -> int: ...


class OpenGate:
    """Admits every event."""

    def admit(self, count: int) -> int:
        return count


@dataclass(frozen=True)
class SharedTokenBucket:
    """A namespace's token bucket in the database: `burst` events at once, refilled at
    `per_second`."""

    namespace: Namespace
    per_second: float = field(default_factory=lambda: settings.MEMORY_EVENTS_PER_SECOND)
    burst: float = field(default_factory=lambda: settings.MEMORY_EVENTS_BURST)

    def admit(self, count: int) -> int:
        values: dict[str, Any] = {"namespace": self.namespace.pk, "wanted": count}
        with connection.cursor() as cursor:
            cursor.execute(TAKE_TOKENS, values | {"rate": self.per_second, "burst": self.burst})
            return int(cursor.fetchone()[0])


def site_classifier(namespace: Namespace) -> Classifier:
    """Rules, and where they are not sure the language model of the settings, for at most
    `MEMORY_MODEL_SECONDS` from now on."""
    model = get_llm(Purpose.MEMORY, str(namespace.world_id))
    deadline = TimeBudget(settings.MEMORY_MODEL_SECONDS)
    return HybridClassifier(model=LLMClassifier(model, deadline) if model else None)


@dataclass(frozen=True)
class ClassifiedEvent:
    event: MemoryEvent
    classification: Classification
    importance: float

    def particulars(self) -> Particulars:
        event = self.event
        return Particulars(
            source=event.source,
            subject=event.subject,
            speaker=event.speaker,
            event_at=event.event_at,
            bucket=self.classification.bucket,
            importance=self.importance,
            metadata=dict(event.metadata),
            scope=event.scope,
            tags=event.tags,
            key=event.key,
            names=event.names,
            resolved=event.resolved,
            supersedes=event.supersedes,
            expires_at=event.expires_at,
        )


@dataclass
class WritePipeline:
    """Writes events to the buckets of `store`: a namespace or a `Memory`, whose `search` finds the
    same memories, or another store. Without a `classifier` that of the site sorts them, and a
    namespace limits how many events come in a second."""

    store: PipelineStore
    classifier: Classifier | None = None
    gate: Gate | None = None
    vectors: VectorSource = field(default_factory=SiteSource)
    min_importance: float = MIN_IMPORTANCE

    @property
    def namespace(self) -> Namespace | None:
        return namespace_of(self.store)

    def process(self, event: MemoryEvent) -> Outcome:
        return self.process_all([event])[0]

    def process_all(self, events: Sequence[MemoryEvent]) -> list[Outcome]:
        """Return one outcome per event, in their order: the same as event by event. All are written
        together. Raise `Invalid` for an importance outside 0–1; then nothing is written."""
        # Checked before the gate, which spends tokens.
        for event in events:
            if event.importance is not None:
                check_importance(event.importance)
        outcomes = self._reject_events(events)
        to_write: dict[int, ClassifiedEvent] = {}
        classifier = self.classifier or self._default_classifier()
        for position, event in enumerate(events):
            if position in outcomes:
                continue
            classification = classify_event(event, classifier)
            importance = importance_of(event, classification)
            if importance < self.min_importance:
                because = f"Importance {importance:.2f} is below {self.min_importance:.2f}."
                outcomes[position] = drop_event(event, DropReason.UNIMPORTANT, because)
            else:
                to_write[position] = ClassifiedEvent(event, classification, importance)
        outcomes |= self._write_events(to_write)
        return [outcomes[position] for position in range(len(events))]

    def _default_classifier(self) -> Classifier:
        return site_classifier(self.namespace) if self.namespace else HybridClassifier()

    def _reject_events(self, events: Sequence[MemoryEvent]) -> dict[int, Outcome]:
        """Return the outcomes of the events that the gate drops, by position."""
        outcomes = {
            position: outcome
            for position, event in enumerate(events)
            if (outcome := _reject_content(event))
        }
        waiting = [position for position in range(len(events)) if position not in outcomes]
        # Events with unusable content cost no tokens.
        own_gate = SharedTokenBucket(self.namespace) if self.namespace else OpenGate()
        gate = self.gate or own_gate
        allowance = gate.admit(len(waiting)) if waiting else 0
        because = "Too many events for this namespace: send it later."
        return outcomes | {
            position: drop_event(events[position], DropReason.TOO_OFTEN, because)
            for position in waiting[allowance:]
        }

    def _write_events(self, items: dict[int, ClassifiedEvent]) -> dict[int, Outcome]:
        """Write all events in one transaction and return their outcomes by position."""
        texts = [item.event.content.strip() for item in items.values()]
        abouts = [item.particulars() for item in items.values()]
        memories: Sequence[BatchOutcome]
        if self.namespace:
            memories = add_batch(self.namespace, texts, abouts, vectors=self.vectors)
        else:
            memories = event_store(self.store).write_events(texts, abouts)
        same = "Says the same as this memory, which now has it as evidence."
        return {
            position: Outcome(
                item.event,
                Result.STORED if memory.is_new else Result.MERGED,
                memory_id=memory.memory,
                bucket=item.classification.bucket,
                importance=item.importance,
                classification=item.classification,
                because="" if memory.is_new else same,
                waiting=memory.waits,
            )
            for (position, item), memory in zip(items.items(), memories, strict=True)
        }


def _reject_content(event: MemoryEvent) -> Outcome | None:
    """Return the outcome of an event whose content cannot become a memory, else None."""
    if not isinstance(event.content, str) or storage_flaw(event.content):
        because = "The content is not a text that can be stored."
        return drop_event(event, DropReason.NOT_TEXT, because)
    length = len(event.content.strip())
    if length < MIN_CHARACTERS:
        because = f"{length} characters; a memory has at least {MIN_CHARACTERS}."
        return drop_event(event, DropReason.TOO_SHORT, because)
    if length > MAX_CHARACTERS:
        because = f"{length} characters; a memory has at most {MAX_CHARACTERS}."
        return drop_event(event, DropReason.TOO_LONG, because)
    return None


def drop_event(event: MemoryEvent, reason: DropReason, because: str) -> Outcome:
    return Outcome(event, Result.DROPPED, reason, because)
