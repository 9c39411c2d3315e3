"""Memories that say the same or contradict one another: found by vectors, compared by words."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memories.identity import would_lose_labels
from memories.ledger.commit import LedgerConflict, commit, namespace_transaction
from memories.ledger.plan import Plan
from memories.models import MemoryItem, Namespace, Succession
from memories.similarity.compare import Verdict, compare, difference
from memories.similarity.resolve import IN_OTHER_WORDS, SAYS_THE_SAME, MemoryLink
from memories.states import LinkKind
from memories.vectors import nearest_memories, site_embedder_of, vectors_by_id

COMPARED, AT_ONCE = 5, 200
COMPARED_FIELDS = ("text", "speaker", "subject", "metadata", "timestamp_ms")


@dataclass(frozen=True)
class ComparedMemory:
    memory: MemoryItem
    similarity: float
    verdict: Verdict
    differs_in: str


@dataclass(frozen=True)
class MemoryPair:
    """Two memories in use, the older first."""

    older: UUID
    newer: UUID
    verdict: Verdict
    similarity: float
    loses_labels: bool = False
    """Whether the older has a label that the newer lacks."""


def compare_with_nearest(memory: MemoryItem, *, k: int = COMPARED) -> list[ComparedMemory]:
    """The memories in use nearest to `memory`, with how each compares."""
    vectors = vectors_by_id(memory.namespace, [memory.pk])
    if not vectors:
        return []
    # One more than asked for: the nearest memory is `memory` itself, if it is in use.
    (nearest,) = nearest_memories(memory.namespace, np.stack([vectors[memory.pk]]), k=k + 1)
    others = [near for near in nearest if near.id != memory.pk][:k]
    items = MemoryItem.objects.without_index_columns().in_bulk([near.id for near in others])
    return [
        ComparedMemory(
            items[near.id],
            near.score,
            compare(
                memory.text,
                near.text,
                similarity=near.score,
                identities=(memory.identity, near.identity),
                embedder=site_embedder_of(memory.namespace),
            ),
            difference(memory.text, near.text),
        )
        for near in others
        # One that was erased meanwhile is left out.
        if near.id in items
    ]


def find_pairs(namespace: Namespace, *, limit: int = 2000) -> Iterator[MemoryPair]:
    """Yield pairs of a memory among the `limit` newest and one near it that say the same or
    contradict each other."""
    newest = MemoryItem.objects.of(namespace).active().latest_first()
    ids = list(newest.values_list("pk", flat=True)[:limit])
    yielded_ids: set[frozenset[UUID]] = set()
    for start in range(0, len(ids), AT_ONCE):
        vectors = vectors_by_id(namespace, ids[start : start + AT_ONCE])
        if not vectors:
            continue
        nearest = nearest_memories(namespace, np.stack(list(vectors.values())), k=COMPARED + 1)
        near_ids = {near.id for memories in nearest for near in memories}
        rows = MemoryItem.objects.filter(pk__in=near_ids | set(vectors))
        by_id = {row.pk: row for row in rows.only(*COMPARED_FIELDS)}
        for pk, memories in zip(vectors, nearest, strict=True):
            for near in memories:
                both = frozenset((pk, near.id))
                # A row that was erased meanwhile is in no pair.
                if len(both) == 1 or both in yielded_ids or not both <= by_id.keys():
                    continue
                verdict = compare(
                    by_id[pk].text,
                    near.text,
                    similarity=near.score,
                    identities=(by_id[pk].identity, near.identity),
                    embedder=site_embedder_of(namespace),
                )
                if verdict is not Verdict.DIFFERENT:
                    yielded_ids.add(both)
                    older, newer = sorted(both, key=lambda one: (by_id[one].timestamp_ms, one))
                    loses = would_lose_labels(by_id[older].metadata, by_id[newer].metadata)
                    yield MemoryPair(older, newer, verdict, near.score, loses)


def merge_duplicates(
    namespace: Namespace, *, by: str = "rules", most: int = 2000
) -> list[MemoryPair]:
    """Supersede the older of each pair that says the same, unless it has labels that the newer
    lacks. Each merge can be undone by restoring the older."""
    merged_pairs: list[MemoryPair] = []
    for pair in list(find_pairs(namespace, limit=most)):
        if not pair.verdict.is_same or pair.loses_labels:
            continue
        reason = f"{SAYS_THE_SAME} ({pair.verdict})"
        if pair.verdict is Verdict.REWORDED:
            reason = IN_OTHER_WORDS
        plan = Plan(
            links=[MemoryLink(pair.older, pair.newer, LinkKind.MERGED, reason)],
            by=by,
            replace_reason="says the same as a newer memory",
        )
        # A conflict is normal here: an earlier merge of this run took one of the two out of use.
        with suppress(LedgerConflict):
            commit(namespace, plan)
            merged_pairs.append(pair)
    return merged_pairs


def link_contradictions(namespace: Namespace, *, most: int = 2000) -> int:
    """Link pairs that contradict as "formerly"; both stay in use. Return how many links are new."""
    contradictions = [
        pair for pair in find_pairs(namespace, limit=most) if pair.verdict is Verdict.CONTRADICTS
    ]
    with namespace_transaction(namespace):
        ids = {pk for pair in contradictions for pk in (pair.older, pair.newer)}
        active = set(MemoryItem.objects.filter(pk__in=ids).active().values_list("pk", flat=True))
        formerly = Succession.objects.filter(older__in=ids, kind=LinkKind.FORMERLY)
        known_links = set(formerly.values_list("older_id", "newer_id"))
        links = [
            MemoryLink(pair.older, pair.newer, LinkKind.FORMERLY)
            for pair in contradictions
            # A restored memory follows one that was written later.
            if {pair.older, pair.newer} <= active
            and not known_links & {(pair.older, pair.newer), (pair.newer, pair.older)}
        ]
        if links:
            commit(namespace, Plan(links=links))
    return len(links)
