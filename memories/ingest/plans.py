"""Plans made of contents: unmerged, from a model's answer, from a resolution by rules. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memories.ingest.reconstruction import Reconstruction
from memories.ledger.plan import NewMemory, NewObservation, Particulars, Plan
from memories.similarity.compare import overlap
from memories.similarity.resolve import BatchResolution, IncomingBatch, MemoryLink
from memories.states import Link, Maker, State

SUPPORTS_FROM = 0.3
"""Share of common words from which a content counts as evidence of a memory a model wrote."""


@dataclass(frozen=True)
class IncomingContents:
    """Texts to remember; for each what is known about it and the observation it was taken from.

    `observations` are those that are to be stored with them; observations that exist already are
    not listed.
    """

    texts: Sequence[str]
    abouts: Sequence[Particulars]
    observed: Sequence[UUID]
    observations: Sequence[NewObservation] = ()


def indexed_texts(texts: Sequence[str], abouts: Sequence[Particulars]) -> list[str]:
    """What is embedded: each text under its speaker and date."""
    pairs = zip(texts, abouts, strict=True)
    return [f"{about.heading}\n{text}" if about.heading else text for text, about in pairs]


def plan_unmerged(contents: IncomingContents, made_by: Maker = Maker.CONTENTS) -> Plan:
    """A new memory of each content; nothing is confirmed or replaced."""
    rows = zip(contents.texts, contents.abouts, contents.observed, strict=True)
    memories = [NewMemory(text, made_by, about, [observed]) for text, about, observed in rows]
    return Plan(contents.observations, memories)


def plan_from_model(
    answer: Reconstruction, contents: IncomingContents, related_texts: Mapping[UUID, str]
) -> Plan:
    """All related memories are replaced by all new ones; a failed reconstruction replaces nothing.

    A new memory rests on the contents it has enough words in common with, or on all when there are
    none.
    """
    if not answer.succeeded:
        return plan_unmerged(contents)
    memories = []
    for text in answer.memories:
        supporting = [
            position
            for position, content in enumerate(contents.texts)
            if overlap(text, content) >= SUPPORTS_FROM
        ] or range(len(contents.texts))
        observed = list(dict.fromkeys(contents.observed[position] for position in supporting))
        memories.append(NewMemory(text, Maker.MODEL, contents.abouts[supporting[0]], observed))
    links = [MemoryLink(pk, new.id, Link.SUPERSEDES) for new in memories for pk in related_texts]
    return Plan(contents.observations, memories, links)


def plan_from_resolution(
    contents: IncomingContents, batch: IncomingBatch, resolution: BatchResolution, *, state: State
) -> Plan:
    """`state` is that in which new memories were expected to begin."""
    observations_of: dict[UUID, list[UUID]] = {}
    # In the order of arrival: a memory inherits only what confirmed another one before it
    # replaced that one.
    for position, (pk, seen) in enumerate(zip(batch.ids, contents.observed, strict=True)):
        if same := resolution.confirmed.get(position):
            observations_of.setdefault(same, []).append(seen)
        else:
            links = [link for link in resolution.links[position] if link.kind != Link.FORMERLY]
            inherited = [one for link in links for one in observations_of.get(link.older, ())]
            observations_of[pk] = list(dict.fromkeys([seen, *inherited]))
    positions = list(resolution.links)
    memories = [
        NewMemory(
            contents.texts[position],
            Maker.RULES,
            contents.abouts[position],
            observations_of.pop(batch.ids[position]),
            id=batch.ids[position],
        )
        for position in positions
    ]
    return Plan(
        contents.observations,
        memories,
        links=[link for links in resolution.links.values() for link in links],
        # What is left are stored memories.
        confirmed=observations_of,
        vectors=None if batch.documents is None else batch.documents[positions],
        assumed_state=state,
    )
