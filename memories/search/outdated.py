"""Which of the memories found for a question a newer one seems to have made outdated.

Nobody linked the two, and the words that they share do not tell. So the older one stays in the
answer, marked and after the newer one; nothing is hidden or written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from memories.found_memory import FoundMemory
from memories.models import Namespace
from memories.similarity.ended_states import ends_state
from memories.similarity.pairs import has_pair_model
from memories.similarity.updates import (
    ComparedTexts,
    UpdateModel,
    signs_of_updates,
    update_model,
)
from memories.vectors import Vectors, vectors_by_id
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown
from retrieval.text import split_sentences

MOST_SENTENCES = 2
"""Of a memory that may be outdated or outdate another: the model was fitted to statements, and of a
longer text a newer one outdates a part at most."""
OLDER, NEWER = 2, 6
"""Of the memories found, the first so many may be outdated, by one of the first so many."""


def mark_outdated(
    namespace: Namespace, query: str, memories: Sequence[FoundMemory]
) -> list[FoundMemory]:
    """Return `memories` in their order, the possibly outdated ones marked with the newest memory
    that seems to hold instead. Without vectors of the embedder that the model was fitted for, none
    is."""
    model = update_model()
    compared = list(memories[:NEWER])
    if not can_compare(namespace, model, compared):
        return list(memories)
    vectors = vectors_by_id(namespace, [memory.id for memory in compared])
    try:
        (asked,) = get_embedder("memory").embed_query([query])
    except EmbedderDown:
        return list(memories)
    newer = find_newer(query, asked, compared, vectors, model=model)
    return [
        replace(memory, possibly_outdated_by=newest(memory.id, newer))
        if memory.id in newer
        else memory
        for memory in memories
    ]


def can_compare(namespace: Namespace, model: UpdateModel, memories: Sequence[FoundMemory]) -> bool:
    return (
        len(memories) > 1
        and not namespace.has_own_vectors
        and get_embedder("memory").name == model.embedder
        and has_pair_model()
    )


def find_newer(
    query: str,
    asked: Vectors,
    memories: Sequence[FoundMemory],
    vectors: Mapping[UUID, Vectors],
    *,
    model: UpdateModel,
) -> dict[UUID, UUID]:
    """Return for each possibly outdated memory the one that most probably holds instead. `asked` is
    the vector of the question."""
    known = [memory for memory in memories if memory.id in vectors]
    pairs = [
        (older, newer)
        for older, memory in enumerate(known)
        for newer, other in enumerate(known)
        if memory in memories[:OLDER] and may_be_outdated(memory, by=other)
    ]
    if not pairs:
        return {}
    newer_ids: dict[UUID, UUID] = {}
    for older, newer in sorted(pairs, key=lambda pair: known[pair[1]].timestamp_ms, reverse=True):
        if ends_state(query, known[older].text, known[newer].text):
            newer_ids.setdefault(known[older].id, known[newer].id)
    rows = np.array([vectors[memory.id] for memory in known])
    texts = [memory.text for memory in known]
    compared = ComparedTexts(query, texts, rows @ asked, rows @ rows.T, pairs)
    signs = signs_of_updates(compared)
    if not signs:
        return newer_ids
    pairs, probabilities = [*signs], model.probabilities(signs.values())
    for at in (-probabilities).argsort():
        if probabilities[at] >= model.least:
            older, newer = pairs[at]
            newer_ids.setdefault(known[older].id, known[newer].id)
    return newer_ids


def may_be_outdated(older: FoundMemory, *, by: FoundMemory) -> bool:
    """Whether `by` is later and may be about the same. What a turn of a conversation says is left
    as it is: who said what is known by the turns around it. A summary is written later than what it
    quotes."""
    return (
        is_short(older.text)
        and is_short(by.text)
        and older.identity.may_contradict(by.identity)
        and not by.is_summary
        and not (older.is_turn or by.is_turn)
        and is_later(by, than=older)
    )


def is_short(text: str) -> bool:
    return sum(bool(each.strip()) for each in split_sentences(text)) <= MOST_SENTENCES


def is_later(memory: FoundMemory, *, than: FoundMemory) -> bool:
    """By the time in the world or the date that both have, else by the time of recording."""
    if memory.in_world_at is not None and than.in_world_at is not None:
        return memory.in_world_at > than.in_world_at
    if memory.event_at and than.event_at and memory.event_at != than.event_at:
        return memory.event_at > than.event_at
    return memory.timestamp_ms > than.timestamp_ms


def newest(memory: UUID, newer: Mapping[UUID, UUID]) -> UUID:
    """Return the last of the memories that follow one another."""
    last, followed = newer[memory], {memory}
    # Times in the world and times of recording may disagree, and make a circle.
    while last in newer and newer[last] not in followed:
        followed.add(last)
        last = newer[last]
    return last
