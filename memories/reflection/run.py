"""A reflection: claim it, read the episodes, generate insights without a lock, write them at once.

A worker that dies leaves the reflection open until its claim expires; a worker that is late finds
its claim replaced and writes nothing. So each trigger yields exactly one set of insights.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.ingest.add import site_models
from memories.ingest.model_add import Models
from memories.ledger.commit import commit, lock_namespaces, namespace_transaction
from memories.ledger.plan import NewMemory, Particulars, Plan
from memories.ledger.rows import evidence_of
from memories.ledger.unsupported_insights import find_unsupported, flag_unsupported
from memories.models import Insight, InsightSource, MemoryItem, Reflection
from memories.reflection.insights import InsightDraft, ReflectionGenerator
from memories.reflection.themes import find_themes
from memories.similarity.resolve import MemoryLink
from memories.states import Bucket, LinkKind
from memories.vectors import Vectors
from retrieval.llm import Purpose
from retrieval.models import uuid7

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)


def run_reflection(
    reflection: Reflection, *, models: Models | None = None, lease: timedelta = LEASE
) -> list[UUID] | None:
    """Return the ids of the stored insights, or None when another worker has the reflection or has
    finished it."""
    claim, models = uuid7(), models or site_models(reflection.namespace, Purpose.REFLECTION)
    # One UPDATE decides between workers.
    rows = unclaimed_reflections().filter(pk=reflection.pk)
    if not rows.update(claim=claim, claimed_until=timezone.now() + lease, tries=F("tries") + 1):
        return None
    drafts = _generate_insights(reflection, models)
    vectors = models.vectors.of_documents([draft.text for draft in drafts]) if drafts else None
    return _write_insights(reflection, claim, drafts, vectors)


def open_reflections() -> list[Reflection]:
    """Return the unfinished reflections that no worker has, oldest first."""
    return list(unclaimed_reflections().select_related("namespace").order_by("created_at", "pk"))


def unclaimed_reflections() -> "QuerySet[Reflection]":
    is_free = Q(claimed_until=None) | Q(claimed_until__lt=timezone.now())
    return Reflection.objects.filter(is_free, done_at=None)


def _generate_insights(reflection: Reflection, models: Models) -> list[InsightDraft]:
    """Return one insight per theme of the reflection."""
    generator = ReflectionGenerator(models.model)
    return [
        replace(generator.generate(theme.episodes), revised_ids=theme.revised_ids)
        for theme in find_themes(reflection, models)
    ]


def _write_insights(
    reflection: Reflection, claim: UUID, drafts: Sequence[InsightDraft], vectors: Vectors | None
) -> list[UUID] | None:
    with namespace_transaction(reflection.namespace) as namespace:
        current = Reflection.objects.select_for_update().get(pk=reflection.pk)
        if current.done_at is not None or current.claim != claim:
            logger.warning("reflection %s was taken over: nothing written", current.pk)
            return None
        # Some of the episodes may have been erased while the model was at work.
        pks = {episode.pk for draft in drafts for episode in draft.episodes}
        existing = set(MemoryItem.objects.filter(pk__in=pks).values_list("pk", flat=True))
        sources = [[one.pk for one in draft.episodes if one.pk in existing] for draft in drafts]
        memories = [
            NewMemory(
                draft.text,
                draft.made_by,
                Particulars("reflection", bucket=Bucket.SEMANTIC, importance=draft.importance),
                # With all observations of its episodes as evidence, the insight is found when one
                # of them is erased.
                observation_ids=list(
                    dict.fromkeys(pk for pks in evidence_of(set(episodes)).values() for pk in pks)
                ),
                payload={"kind": "insight"},
            )
            for draft, episodes in zip(drafts, sources, strict=True)
        ]
        reason = f"reflection {current.number}"
        links = _revisions(drafts, [memory.id for memory in memories])
        commit(namespace, Plan(memories=memories, links=links, vectors=vectors, reason=reason))
        for memory, draft, episodes in zip(memories, drafts, sources, strict=True):
            insight = Insight.objects.create(
                memory_id=memory.id, reflection=current, rests_on=len(draft.episodes)
            )
            InsightSource.objects.bulk_create(
                InsightSource(insight=insight, episode_id=pk) for pk in episodes
            )
        # Others may have been retracted or corrected meanwhile.
        flag_unsupported(Insight.objects.filter(reflection=current))
        current.done_at, current.claimed_until = timezone.now(), None
        current.save(update_fields=["done_at", "claimed_until"])
    return [memory.id for memory in memories]


def flag_in_all_namespaces() -> int:
    """Flag the insights that lack an episode although no change of state told of it, such as those
    that waited for approval meanwhile; return their number."""
    rows = find_unsupported(Insight.objects.all())
    count = 0
    for namespace in sorted(set(rows.values_list("memory__namespace", flat=True))):
        with transaction.atomic():
            # Under the lock of its writers, which change the state of insights in any order.
            lock_namespaces([namespace])
            count += flag_unsupported(Insight.objects.filter(memory__namespace=namespace))
    return count


def _revisions(drafts: Sequence[InsightDraft], new_ids: Sequence[UUID]) -> list[MemoryLink]:
    """Link each new insight to those it revises, of which some may have left use meanwhile."""
    pks = {pk for draft in drafts for pk in draft.revised_ids}
    active = set(MemoryItem.objects.active().filter(pk__in=pks).values_list("pk", flat=True))
    return [
        MemoryLink(pk, new_id, LinkKind.SUPERSEDES, "revised by a later reflection")
        for draft, new_id in zip(drafts, new_ids, strict=True)
        for pk in draft.revised_ids
        if pk in active
    ]
