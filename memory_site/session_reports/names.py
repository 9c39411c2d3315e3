"""Which people and places of the world a report names: exactly, by an alias, inflected, by a part
of the name, or spelled in another script."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from knowledge.graph.models import GraphNode, NodeKind
from knowledge.mentions.kinds import NamedThing as NamedRow
from knowledge.mentions.names import read_names, rows_by_thing
from knowledge.models import Lore
from memory_site.session_reports.sentences import Sentence, windows_of
from npcs.models import NPC
from retrieval.text import KnownName, NameIndex, NameMention, other_spellings
from worlds.models import Campaign, World

MOST_SMALL = 0.6
"""Share of sentences that begin small, above which a text is written without capitals."""
FIRST_LETTER = re.compile(r"\b[^\W\d_]")
Sort = Literal["person", "place", "other"]


@dataclass(frozen=True, eq=False)
class NamedSubject:
    """What the world has under some names: the rows of an NPC, of a place, of something else."""

    sort: Sort
    rows: Sequence[NamedRow]

    def row(self, kind: str) -> NamedRow | None:
        return next((row for row in self.rows if row.kind == kind), None)

    @property
    def first(self) -> NamedRow:
        """The row by which it is called: the NPC, else the entry, else the entity."""
        return self.row("npc") or self.row("lore") or self.rows[0]

    @property
    def ref(self) -> str:
        return self.first.slug

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def names(self) -> list[str]:
        """All its names without the first."""
        every = [name for row in self.rows for name in (row.name, *row.aliases, *row.also)]
        return [name for name in dict.fromkeys(every) if name != self.name]


@dataclass(frozen=True)
class ReportMention:
    """A name in a sentence; more than one thing: the name fits them all. `is_inflected`: it does
    not stand as the world writes it."""

    text: str
    sentence: Sentence
    start: int
    end: int
    things: tuple[NamedSubject, ...]
    is_inflected: bool = False

    @property
    def is_of_person(self) -> bool:
        """Whether it may mean a person."""
        return any(thing.sort == "person" for thing in self.things)

    @property
    def before(self) -> str:
        return self.sentence.text[: self.start - self.sentence.start]

    @property
    def after(self) -> str:
        return self.sentence.text[self.end - self.sentence.start :]


@dataclass
class ReportMentions:
    """The mentions of a report, in order."""

    mentions: list[ReportMention] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_sentence: dict[int, list[ReportMention]] = defaultdict(list)
        for each in self.mentions:
            self.by_sentence[each.sentence.start].append(each)

    def of_sort(self, sort: Sort) -> list[list[ReportMention]]:
        """Return the mentions that may mean a thing of this sort, those of equal meaning together,
        what is named most first."""
        groups: dict[frozenset[int], list[ReportMention]] = defaultdict(list)
        for each in self.mentions:
            if fitting := [thing for thing in each.things if thing.sort == sort]:
                groups[frozenset(map(id, fitting))].append(each)
        return sorted(groups.values(), key=len, reverse=True)

    def things(self) -> list[NamedSubject]:
        """Every thing that the report names, or may name."""
        counts = Counter(thing for each in self.mentions for thing in each.things)
        return [thing for thing, _count in counts.most_common()]

    def people_in(self, sentence: Sentence) -> list[tuple[NamedSubject, ...]]:
        """Return the people that the sentence names, each once; several of one name together."""
        found = (
            tuple(thing for thing in each.things if thing.sort == "person")
            for each in self.by_sentence.get(sentence.start, ())
        )
        return list(dict.fromkeys(people for people in found if people))


def read_things(world: World, text: str, *, campaign: Campaign | None) -> list[NamedSubject]:
    """Return the things that `text` may name: a fixed number of queries."""
    own = campaign.pk if campaign else None
    # All people, because a name in another script shares no key with the text.
    things = [*read_names(world, [], text=text).things, *people_of(world)]
    rows = [row for row in {row.id: row for row in things}.values() if row.campaign in (None, own)]
    ids = {row.id for row in rows}
    kinds = dict(Lore.objects.filter(pk__in=ids).values_list("pk", "kind"))
    nodes = GraphNode.objects.filter(pk__in=ids, kind__in=[NodeKind.LOCATION, NodeKind.CHARACTER])
    every = kinds | dict(nodes.values_list("pk", "kind"))
    return [
        NamedSubject(_sort_of(part, every), part)
        for group in rows_by_thing(rows, campaign=own)
        for part in _parts_of(group, kinds)
    ]


def people_of(world: World) -> Iterator[NamedRow]:
    columns = ("pk", "slug", "name", "aliases", "biography")
    for pk, slug, name, aliases, biography in NPC.objects.in_world(world).values_list(*columns):
        yield NamedRow(pk, "npc", slug, name, aliases, biography or pk)


def _parts_of(group: Sequence[NamedRow], kinds: dict[UUID, str]) -> Iterator[list[NamedRow]]:
    """An NPC may be described on the page of a place or a faction, which is a thing of its own."""
    people = [row for row in group if row.kind == "npc"]
    pages = [row for row in group if kinds.get(row.id, "biography") != Lore.Kind.BIOGRAPHY]
    if not (people and pages):
        yield list(group)
        return
    for npc in people:
        yield [row for row in group if row is npc or is_entity_of(row, npc)]
    yield [
        row
        for row in group
        if row.kind != "npc" and not any(is_entity_of(row, npc) for npc in people)
    ]


def is_entity_of(row: NamedRow, npc: NamedRow) -> bool:
    return row.kind == "entity" and row.slug == npc.slug


SORTS: dict[str, Sort] = {
    Lore.Kind.PLACE: "place",
    NodeKind.LOCATION: "place",
    Lore.Kind.BIOGRAPHY: "person",
    NodeKind.CHARACTER: "person",
}


def _sort_of(rows: Sequence[NamedRow], kinds: dict[UUID, str]) -> Sort:
    if any(row.kind == "npc" for row in rows):
        return "person"
    sorts = {SORTS.get(kinds.get(row.id, ""), "other") for row in rows}
    return "place" if "place" in sorts else "person" if "person" in sorts else "other"


class ThingIndex:
    """Finds the things in sentences; one for a whole report."""

    def __init__(self, things: Sequence[NamedSubject]) -> None:
        self.things = things
        names = [[thing.name, *thing.names, *_spellings(thing)] for thing in things]
        self.index = NameIndex(
            KnownName(number, first, others) for number, (first, *others) in enumerate(names)
        )
        self._words = {
            thing: {word for name in each for word in name.casefold().split()}
            for thing, each in zip(things, names, strict=True)
        }

    def mentions(self, text: str, sentences: Sequence[Sentence]) -> ReportMentions:
        """Return the mentions in all sentences of `text`, window by window."""
        return ReportMentions(
            [
                mention
                for window in windows_of(sentences)
                for mention in self._mentions_in(text, window)
            ]
        )

    def _mentions_in(self, text: str, window: Sequence[Sentence]) -> Iterator[ReportMention]:
        begin = window[0].start
        starts = [sentence.start for sentence in window]
        part = text[begin : window[-1].end]
        has_capitals = writes_capitals(window)
        read = part if has_capitals else FIRST_LETTER.sub(_capital, part)
        mentions = self.index.mentions(read, typos=False)
        begun = {each.start for each in mentions}
        for found in mentions:
            if has_capitals and is_part_of_longer(found, part, begun):
                continue
            start, end = found.start + begin, found.end + begin
            sentence = window[bisect_right(starts, start) - 1]
            named = self._things_of(found)
            known = {word for thing in named for word in self._words[thing]}
            is_inflected = not known.issuperset(text[start:end].casefold().split())
            yield ReportMention(text[start:end], sentence, start, end, named, is_inflected)

    def _things_of(self, mention: NameMention) -> tuple[NamedSubject, ...]:
        things = [self.things[int(str(match.key))] for match in mention.matches]
        # A part of a name means a person rather than what is called after them.
        people = [thing for thing in things if thing.sort == "person"]
        is_part = all(match.how == "part" for match in mention.matches)
        return tuple(people if is_part and people else things)

    def similar(self, name: str) -> list[NamedSubject]:
        """Return the people and places of which `name` may be a misspelling, the nearest first."""
        found = [match for match in self.index.find(name) if match.how == "fuzzy"]
        things = [self.things[int(str(match.key))] for match in found]
        return [thing for thing in things if thing.sort != "other"]


def is_part_of_longer(found: NameMention, text: str, begun: Collection[int]) -> bool:
    """Whether a part of a name is followed by a capitalized word that begins no other name: "Salt
    Exchange" is not the Salt Gate, and "Mira Kerr" is not Mira Voss."""
    if any(match.how != "part" for match in found.matches):
        return False
    follows = text[found.end : found.end + 2]
    return follows[:1] == " " and follows[1:].isupper() and found.end + 1 not in begun


def writes_capitals(sentences: Sequence[Sentence]) -> bool:
    """Whether sentences begin with capitals. In hasty notes without them a name has none either."""
    first = [letter for each in sentences for letter in each.text[:1] if letter.isalpha()]
    small = sum(letter.islower() for letter in first)
    return small <= MOST_SMALL * len(first)


def _capital(match: re.Match[str]) -> str:
    upper = match.group().upper()
    return upper if len(upper) == 1 else match.group()


def _spellings(thing: NamedSubject) -> list[str]:
    """How the name may be written in the scripts in which the world has no name for it."""
    return other_spellings(thing.name, thing.names) if thing.sort != "other" else []
