"""Carrying a reflection out: claim it, read, think with nothing locked, write all its insights at once.

A worker that dies leaves the reflection open, and its claim runs out; a worker that is late finds its claim gone and
writes nothing. So each trigger has exactly one set of insights.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from memories.ingest.add import Models, site_models
from memories.ledger.commit import commit, evidence_of, unique
from memories.ledger.lock import namespace_transaction
from memories.ledger.plan import NewMemory, Particulars, Plan
from memories.models import Insight, InsightSource, MemoryItem, Namespace, Reflection
from memories.reflection.clusters import EpisodeClusterer
from memories.reflection.insights import InsightDraft, ReflectionGenerator
from memories.states import Bucket
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
    models: Models = field(default_factory=site_models)
    clusterer: EpisodeClusterer = field(default_factory=EpisodeClusterer)

    @property
    def namespace(self) -> Namespace:
        return self.reflection.namespace


def run_reflection(
    reflection: Reflection, *, models: Models | None = None, lease: timedelta = LEASE
) -> list[UUID] | None:
    """Return the ids of the insights that were stored, or None when another worker has the reflection or had it."""
    claim = _claimed(reflection, lease)
    if claim is None:
        return None
    thinking = Thinking(reflection, claim, models or site_models())
    drafts = _thought(thinking)
    vectors = (
        thinking.models.vectors.of_documents([draft.text for draft in drafts]) if drafts else None
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
        thinking.models.vectors.of_documents([episode.text for episode in episodes])
        if episodes
        else None
    )
    generator = ReflectionGenerator(thinking.models.model, thinking.namespace.language)
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
    with namespace_transaction(thinking.namespace) as namespace:
        held = Reflection.objects.select_for_update().get(pk=thinking.reflection.pk)
        if held.done_at is not None or held.claim != thinking.claim:
            logger.warning("reflection %s was taken over: nothing written", held.pk)
            return None
        episodes = [_standing(draft) for draft in drafts]
        memories = [
            NewMemory(
                draft.text,
                draft.made_by,
                Particulars(
                    source="reflection", bucket=Bucket.SEMANTIC, importance=draft.importance
                ),
                # Resting on all that its episodes rest on, an insight is reached when an observation is erased.
                observed=unique(seen for ids in evidence_of(set(known)).values() for seen in ids),
                payload={"kind": "insight"},
            )
            for draft, known in zip(drafts, episodes, strict=True)
        ]
        reason = f"reflection {held.number}"
        commit(namespace, Plan(memories=memories, vectors=vectors, reason=reason))
        for new, draft, known in zip(memories, drafts, episodes, strict=True):
            insight = Insight.objects.create(
                memory_id=new.id, reflection=held, rests_on=len(draft.episodes)
            )
            InsightSource.objects.bulk_create(
                InsightSource(insight=insight, episode_id=pk) for pk in known
            )
        held.done_at, held.claimed_until = timezone.now(), None
        held.save(update_fields=["done_at", "claimed_until"])
    return [new.id for new in memories]


def _standing(draft: InsightDraft) -> list[UUID]:
    """The episodes of an insight that were not erased meanwhile."""
    ids = [episode.pk for episode in draft.episodes]
    return list(MemoryItem.objects.filter(pk__in=ids).values_list("pk", flat=True))
