"""What one `add` is about to write: pure values, made by a model or by rules from contents and related memories."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from memories.ingest.reconstruction import Reconstruction
from memories.similarity.compare import Verdict, compare, difference, fingerprint, overlap
from memories.similarity.nearest import Near
from memories.states import Bucket, Link, Maker

SUPPORTS_FROM = 0.3
"""Share of common words from which a content counts as evidence of a memory a model wrote."""


@dataclass(frozen=True)
class Particulars:
    """What is known about contents beside their text."""

    source: str = ""
    subject: str = ""
    speaker: str = ""
    context: str = ""
    event_at: datetime | None = None
    in_world_at: float | None = None
    in_world_label: str = ""
    bucket: Bucket = Bucket.FACT
    importance: float = 0.5
    expires_at: datetime | None = None
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The context the text is indexed under: as given, else speaker and date."""
        date = f"({self.event_at:%d %B %Y})" if self.event_at else ""
        return self.context or " ".join(
            part for part in (self.speaker, date, self.in_world_label) if part
        )


@dataclass(frozen=True)
class Replaced:
    """An older memory that a new one takes the place of (or, with `FORMERLY`, speaks against)."""

    id: UUID
    kind: Link
    reason: str = ""


@dataclass(frozen=True)
class Planned:
    """A memory to be written; `evidence` are positions of the contents it rests on."""

    text: str
    made_by: Maker
    evidence: tuple[int, ...]
    replaces: tuple[Replaced, ...] = ()


@dataclass(frozen=True)
class Draft:
    """New memories, and memories that contents only confirm (by id, with the positions of those contents)."""

    planned: Sequence[Planned]
    confirmed: dict[UUID, tuple[int, ...]] = field(default_factory=dict)

    @property
    def touched(self) -> set[UUID]:
        return {old.id for new in self.planned for old in new.replaces} | set(self.confirmed)


def from_model(answer: Reconstruction, contents: list[str], related: dict[UUID, str]) -> Draft:
    """All related memories are replaced by all new ones; a failed reconstruction replaces nothing."""
    if not answer.succeeded:
        return as_they_came(contents)
    replaces = tuple(Replaced(id, Link.SUPERSEDES) for id in related)
    return Draft(
        [
            Planned(text, Maker.MODEL, _evidence(text, contents), replaces)
            for text in answer.memories
        ]
    )


def as_they_came(contents: list[str], made_by: Maker = Maker.CONTENTS) -> Draft:
    return Draft([Planned(text, made_by, (position,)) for position, text in enumerate(contents)])


def by_rules(contents: list[str], found: Sequence[Near]) -> Draft:
    """Without a model: the same again confirms, the nearly same takes its place, a contradiction is linked as formerly.

    Both sides of a contradiction stay in use: which one holds is not for rules to decide.
    """
    planned: list[Planned] = []
    confirmed: dict[UUID, tuple[int, ...]] = {}
    taken: set[UUID] = set()
    for position, text in _distinct(contents):
        alike = judged(
            text, [near for near in found if near.position == position and near.id not in taken]
        )
        if alike[Verdict.EXACT]:
            same = alike[Verdict.EXACT][0].id
            confirmed[same] = (*confirmed.get(same, ()), *_repeats(text, contents))
            continue
        merged = [Replaced(near.id, Link.MERGED, "says the same") for near in alike[Verdict.NEAR]]
        taken |= {old.id for old in merged}
        against = [formerly(text, near) for near in alike[Verdict.CONTRADICTS]]
        planned.append(Planned(text, Maker.RULES, _repeats(text, contents), (*merged, *against)))
    return Draft(planned, {pk: positions for pk, positions in confirmed.items() if pk not in taken})


def judged(text: str, candidates: Sequence[Near]) -> dict[Verdict, list[Near]]:
    """Sort the candidates by what they are to `text`, nearest first."""
    found: dict[Verdict, list[Near]] = {verdict: [] for verdict in Verdict}
    for near in candidates:
        found[compare(text, near.text, similarity=1 - near.distance)].append(near)
    return found


def formerly(text: str, near: Near) -> Replaced:
    """The link to a memory that `text` speaks against."""
    return Replaced(near.id, Link.FORMERLY, f"another {difference(text, near.text)}")


def _distinct(contents: list[str]) -> list[tuple[int, str]]:
    seen: dict[str, tuple[int, str]] = {}
    for position, text in enumerate(contents):
        seen.setdefault(fingerprint(text) or text, (position, text))
    return list(seen.values())


def _repeats(text: str, contents: list[str]) -> tuple[int, ...]:
    mark = fingerprint(text) or text
    return tuple(
        position for position, other in enumerate(contents) if (fingerprint(other) or other) == mark
    )


def _evidence(memory: str, contents: list[str]) -> tuple[int, ...]:
    supporting = tuple(
        n for n, content in enumerate(contents) if overlap(memory, content) >= SUPPORTS_FROM
    )
    return supporting or tuple(range(len(contents)))
