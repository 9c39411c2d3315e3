"""Carrying a reflection out: claim it, read, think with nothing locked, write all its insights at once.

A worker that dies leaves the reflection open, and its claim runs out; a worker that is late finds its claim gone and
writes nothing. So each trigger has exactly one set of insights.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from memories import core
from memories.ingest.add import Models, site_models
from memories.ledger.single import next_timestamps
from memories.ledger.vectors import store_vectors
from memories.models import Evidence, Insight, InsightSource, MemoryItem, Namespace, Reflection
from memories.models.namespaces import Review
from memories.reflection.clusters import EpisodeClusterer
from memories.reflection.insights import InsightDraft, ReflectionGenerator
from memories.states import Bucket, State
from memories.vectors import Vectors
from retrieval.models import uuid7

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)
MOST_EPISODES = 500


@dataclass(frozen=True)
class Thinking:
    """A claimed reflection with what it thinks with."""

    reflection: Reflection
    claim: UUID
    minds: Models = field(default_factory=site_models)
    clusterer: EpisodeClusterer = field(default_factory=EpisodeClusterer)

    @property
    def namespace(self) -> Namespace:
        return self.reflection.namespace


def run_reflection(
    reflection: Reflection, *, minds: Models | None = None, lease: timedelta = LEASE
) -> list[UUID] | None:
    """Return the ids of the insights that were stored, or None when another worker has the reflection or had it."""
    claim = _claimed(reflection, lease)
    if claim is None:
        return None
    thinking = Thinking(reflection, claim, minds or site_models())
    drafts = _thought(thinking)
    vectors = (
        thinking.minds.vectors.of_documents([draft.text for draft in drafts]) if drafts else None
    )
    return _written(thinking, drafts, vectors)


def open_reflections() -> list[Reflection]:
    """Those that no worker holds."""
    free = Q(claimed_until=None) | Q(claimed_until__lt=timezone.now())
    return list(
        Reflection.objects.filter(free, done_at=None)
        .select_related("namespace")
        .order_by("created_at")
    )


def _claimed(reflection: Reflection, lease: timedelta) -> UUID | None:
    """One UPDATE decides between workers."""
    now, claim = timezone.now(), uuid7()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    rows = Reflection.objects.filter(free, pk=reflection.pk, done_at=None)
    return (
        claim if rows.update(claim=claim, claimed_until=now + lease, tries=F("tries") + 1) else None
    )


def _thought(thinking: Thinking) -> list[InsightDraft]:
    episodes = _episodes(thinking.reflection)
    vectors = (
        thinking.minds.vectors.of_documents([episode.text for episode in episodes])
        if episodes
        else None
    )
    generator = ReflectionGenerator(thinking.minds.model, thinking.namespace.language)
    return [
        generator.generate(cluster.episodes)
        for cluster in thinking.clusterer.cluster(episodes, vectors)
    ]


def _episodes(reflection: Reflection) -> list[MemoryItem]:
    rows = MemoryItem.objects.of(reflection.namespace).active().filter(bucket=Bucket.EPISODIC)
    covered = rows.filter(
        timestamp_ms__gt=reflection.after_ms, timestamp_ms__lte=reflection.until_ms
    )
    return list(covered.latest_first().defer("embedding", "search_vector")[:MOST_EPISODES])


def _written(
    thinking: Thinking, drafts: Sequence[InsightDraft], vectors: Vectors | None
) -> list[UUID] | None:
    with transaction.atomic():
        namespace = core.locked(thinking.namespace)
        held = Reflection.objects.select_for_update().get(pk=thinking.reflection.pk)
        if held.done_at is not None or held.claim != thinking.claim:
            logger.warning("reflection %s was taken over: nothing written", held.pk)
            return None
        items = _items(namespace, drafts)
        if items:
            store_vectors(namespace, items, vectors, reason=f"reflection {held.number}")
        for item, draft in zip(items, drafts, strict=True):
            _link(held, item, draft)
        held.done_at, held.claimed_until = timezone.now(), None
        held.save(update_fields=["done_at", "claimed_until"])
        _note_write(namespace, items)
    return [item.pk for item in items]


def _items(namespace: Namespace, drafts: Sequence[InsightDraft]) -> list[MemoryItem]:
    state = State.PENDING if namespace.review == Review.ALL else State.ACTIVE
    stamps = next_timestamps(namespace, len(drafts))
    return [
        MemoryItem(
            namespace=namespace,
            text=draft.text,
            bucket=Bucket.SEMANTIC,
            importance=draft.importance,
            state=state,
            made_by=draft.made_by,
            language=namespace.language,
            timestamp_ms=stamp,
            source="reflection",
            payload={"kind": "insight"},
        )
        for draft, stamp in zip(drafts, stamps, strict=True)
    ]


def _link(reflection: Reflection, item: MemoryItem, draft: InsightDraft) -> None:
    """To every episode, and to all that those rest on: so that erasing an observation reaches the insight too."""
    ids = [episode.pk for episode in draft.episodes]
    standing = list(MemoryItem.objects.filter(pk__in=ids).values_list("pk", flat=True))
    insight = Insight.objects.create(memory=item, reflection=reflection, rests_on=len(ids))
    InsightSource.objects.bulk_create(
        InsightSource(insight=insight, episode_id=pk) for pk in standing
    )
    seen = (
        Evidence.objects.filter(memory__in=standing)
        .values_list("observation_id", flat=True)
        .distinct()
    )
    Evidence.objects.bulk_create(Evidence(memory=item, observation_id=pk) for pk in seen)


def _note_write(namespace: Namespace, items: Sequence[MemoryItem]) -> None:
    namespace.revision += 1
    namespace.words_uncounted += len(items)
    if items:
        namespace.last_timestamp_ms = items[-1].timestamp_ms
    namespace.save(update_fields=["revision", "last_timestamp_ms", "words_uncounted"])
