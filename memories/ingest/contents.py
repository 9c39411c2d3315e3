"""Contents to remember, as they came in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memories.identity import Identity
from memories.ledger.plan import NewMemory, NewObservation, Particulars, Plan
from memories.states import Maker


@dataclass(frozen=True)
class IncomingContents:
    """Texts to remember, each with its particulars and the id of the observation it came from.

    `observations` are the new ones, which are stored together with the memories.
    """

    texts: Sequence[str]
    abouts: Sequence[Particulars]
    observation_ids: Sequence[UUID]
    observations: Sequence[NewObservation] = ()

    def at(self, positions: Sequence[int]) -> "IncomingContents":
        """Return the contents at `positions`, with all observations."""
        return replace(
            self,
            texts=[self.texts[at] for at in positions],
            abouts=[self.abouts[at] for at in positions],
            observation_ids=[self.observation_ids[at] for at in positions],
        )

    @property
    def indexed_texts(self) -> list[str]:
        return indexed_texts(self.texts, self.abouts)

    @property
    def identities(self) -> list[Identity]:
        return [about.identity for about in self.abouts]

    @property
    def labels(self) -> list[dict[str, object]]:
        return [about.labels for about in self.abouts]


def indexed_texts(texts: Sequence[str], abouts: Sequence[Particulars]) -> list[str]:
    """Return the texts to embed: each under its heading of speaker and date, if any."""
    pairs = zip(texts, abouts, strict=True)
    return [f"{about.heading}\n{text}" if about.heading else text for text, about in pairs]


def plan_unmerged(contents: IncomingContents, made_by: Maker = Maker.CONTENTS) -> Plan:
    """Plan a new memory of each content; nothing is confirmed or replaced."""
    rows = zip(contents.texts, contents.abouts, contents.observation_ids, strict=True)
    memories = [NewMemory(text, made_by, about, [pk]) for text, about, pk in rows]
    return Plan(contents.observations, memories)
