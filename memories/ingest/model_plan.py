"""The plan that a language model's answer makes: which memories it writes, on what each rests, and
which ones it replaces. Pure computations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from memories.ingest.contents import IncomingContents
from memories.ledger.plan import NewMemory, Plan
from memories.similarity import coverage
from memories.similarity.resolve import MemoryLink
from memories.states import LinkKind, Maker
from memories.vectors import Vectors


def plan_from_answer(
    texts: Sequence[str],
    contents: IncomingContents,
    related_texts: Mapping[UUID, str],
    *,
    replacing: Callable[[str, Sequence[str]], Sequence[int]] = coverage.replacing,
) -> Plan:
    """Plan memories of the answered `texts`, each with the contents and related memories that it
    rests on. A related memory is replaced by those that `replacing` names, by position; by none of
    them it stays in use."""
    memories = [new_memory(text, contents) for text in texts]
    links = [
        MemoryLink(pk, memories[position].id, LinkKind.SUPERSEDES)
        for pk, related in related_texts.items()
        for position in replacing(related, texts)
    ]
    return Plan(contents.observations, memories, links)


def new_memory(text: str, contents: IncomingContents) -> NewMemory:
    # A text that shares nothing with any content may rest on all: a deletion must find it.
    positions = coverage.evidence_of(text, contents.texts) or range(len(contents.texts))
    observation_ids = dict.fromkeys(contents.observation_ids[at] for at in positions)
    return NewMemory(text, Maker.MODEL, contents.abouts[positions[0]], list(observation_ids))


def replaced_by_all(_old: str, memories: Sequence[str]) -> Sequence[int]:
    """For a rebuild, which derives all memories of its observations again."""
    return range(len(memories))


def join_plans(of_model: Plan, of_rules: Plan, *, model_vectors: Vectors | None) -> Plan:
    """Return one plan of both; the observations are those of the first."""
    vectors = None
    if model_vectors is not None and of_rules.vectors is not None:
        vectors = np.concatenate([model_vectors, of_rules.vectors])
    return replace(
        of_rules,
        observations=of_model.observations,
        memories=[*of_model.memories, *of_rules.memories],
        links=[*of_model.links, *of_rules.links],
        vectors=vectors,
    )
