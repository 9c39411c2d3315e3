"""Memories that say the same, or contradict one another: found by vectors, decided by words
(`likeness`)."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memories.ledger.commit import LedgerConflict, commit, namespace_transaction
from memories.ledger.plan import Plan
from memories.models import ClientVector, MemoryItem, Namespace, Succession
from memories.similarity.compare import Verdict, compare, difference
from memories.similarity.resolve import MemoryLink
from memories.states import Link
from memories.vectors import Vectors, nearest_memories
from retrieval.embedders import get_embedder

COMPARED, AT_ONCE = 5, 200


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


def compare_with_nearest(memory: MemoryItem, *, k: int = COMPARED) -> list[ComparedMemory]:
    """The memories in use nearest to `memory`, with how each compares."""
    vector = _vectors([memory.pk]).get(memory.pk)
    if vector is None:
        return []
    nearest = [
        near
        for near in nearest_memories(memory.namespace, vector[np.newaxis], k=k + 1)
        if near.id != memory.pk
    ][:k]
    items = MemoryItem.objects.defer("embedding", "search_vector").in_bulk(
        [near.id for near in nearest]
    )
    return [
        ComparedMemory(
            items[near.id],
            1 - near.distance,
            compare(memory.text, near.text, similarity=1 - near.distance),
            difference(memory.text, near.text),
        )
        for near in nearest
    ]


def find_pairs(namespace: Namespace, *, limit: int = 2000) -> Iterator[MemoryPair]:
    """Yield pairs among the `most` newest memories that are the same or contradict."""
    ids = list(
        MemoryItem.objects.of(namespace)
        .active()
        .latest_first()
        .values_list("pk", flat=True)[:limit]
    )
    seen_pairs: set[frozenset[UUID]] = set()
    for start in range(0, len(ids), AT_ONCE):
        for pair in pairs_among(namespace, ids[start : start + AT_ONCE]):
            if (both := frozenset((pair.older, pair.newer))) not in seen_pairs:
                seen_pairs.add(both)
                yield pair


def merge_duplicates(
    namespace: Namespace, *, by: str = "rules", most: int = 2000
) -> list[MemoryPair]:
    """Supersede the older of each pair that says the same. Each merge can be undone by restoring
    the older."""
    merged_pairs: list[MemoryPair] = []
    for pair in list(find_pairs(namespace, limit=most)):
        if pair.verdict not in (Verdict.EXACT, Verdict.NEAR):
            continue
        reason = f"says the same ({pair.verdict})"
        plan = Plan(
            links=[MemoryLink(pair.older, pair.newer, Link.MERGED, reason)],
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
        formerly = Succession.objects.filter(older__in=ids, kind=Link.FORMERLY)
        known_links = set(formerly.values_list("older_id", "newer_id"))
        links = [
            MemoryLink(pair.older, pair.newer, Link.FORMERLY)
            for pair in contradictions
            if {pair.older, pair.newer} <= active and (pair.older, pair.newer) not in known_links
        ]
        if links:
            commit(namespace, Plan(links=links))
    return len(links)


def pairs_among(namespace: Namespace, ids: list[UUID]) -> Iterator[MemoryPair]:
    vectors = _vectors(ids)
    ids_with_vector = [pk for pk in ids if pk in vectors]
    if not ids_with_vector:
        return
    rows = MemoryItem.objects.filter(pk__in=ids_with_vector).values_list(
        "pk", "text", "timestamp_ms"
    )
    texts = {pk: text for pk, text, _stamp in rows}
    for near in nearest_memories(
        namespace, np.stack([vectors[pk] for pk in ids_with_vector]), k=COMPARED + 1
    ):
        mine = ids_with_vector[near.position]
        verdict = (
            compare(texts[mine], near.text, similarity=1 - near.distance)
            if near.id != mine
            else Verdict.DIFFERENT
        )
        if verdict is not Verdict.DIFFERENT:
            older, newer = _by_age(mine, near.id)
            yield MemoryPair(older, newer, verdict, 1 - near.distance)


def _by_age(one: UUID, other: UUID) -> tuple[UUID, UUID]:
    stamps = dict(MemoryItem.objects.filter(pk__in=[one, other]).values_list("pk", "timestamp_ms"))
    older, newer = sorted((one, other), key=lambda pk: (stamps[pk], pk))
    return older, newer


def _vectors(ids: list[UUID]) -> dict[UUID, Vectors]:
    own = ClientVector.objects.filter(memory__in=ids).values_list("memory_id", "vector")
    found = {pk: np.asarray(vector, dtype=np.float32) for pk, vector in own}
    rest = MemoryItem.objects.filter(
        pk__in=[pk for pk in ids if pk not in found], embedding__isnull=False
    )
    of_model = rest.filter(embedding_model=get_embedder("memory").name).values_list(
        "pk", "embedding"
    )
    return found | {pk: _as_array(vector) for pk, vector in of_model}


def _as_array(vector: object) -> Vectors:
    to_list = getattr(vector, "to_list", None)
    return np.asarray(to_list() if to_list else vector, dtype=np.float32)
