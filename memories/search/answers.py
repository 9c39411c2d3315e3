"""The order of the memories found by how far each answers the question, as a model of pairs reads
it (`memories.similarity.pairs`): *a room with a view of the harbour* is about the question where
only the rent answers it."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp

from memories.found_memory import FoundMemory
from memories.similarity.pairs import has_pair_model, logit, read_together
from retrieval.embedders import LocalEmbedder, get_embedder

READ = 8
"""So many of the first are read."""
WEIGHT = 0.1
"""Of the log odds that a memory answers, beside those of its relevance. More of it puts what sounds
like an answer before what is about the question (decision 0188)."""


def order_by_answers(query: str, memories: Sequence[FoundMemory]) -> list[FoundMemory]:
    """Return `memories`, the first `READ` of them with the relevance that follows from how far they
    answer, and in its order. Turns of a conversation stay as they are, and all do without the
    embedder whose relevance the weight was chosen for."""
    first = memories[:READ]
    if len(memories) < 2 or any(each.is_turn or each.relevance is None for each in first):
        return list(memories)
    if get_embedder("memory").name != LocalEmbedder.name or not has_pair_model():
        return list(memories)
    weighed = [replace(each, relevance=weighed_relevance(query, each)) for each in first]
    weighed.sort(key=lambda each: -(each.relevance or 0.0))
    return [*weighed, *memories[READ:]]


def weighed_relevance(query: str, memory: FoundMemory) -> float:
    answers = read_together(query, memory.text).answers
    return 1 / (1 + exp(-(logit(memory.relevance or 0.0) + WEIGHT * logit(answers))))
