"""Facts of the relation graph that episodes state by who was there, and where: on which day people
met for the first time, and were at a place for the first time (docs/decisions/0150).

Each is known to who may know its episode and can tell from its open text who was there."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from episodes.models import Episode, Mention
from episodes.schemas import EpisodeIn, IngestReport
from knowledge.graph.fact_store import follow_audience, retract_facts
from knowledge.graph.models import (
    FREE_RELATION,
    SCENE,
    GraphEdge,
    GraphNode,
    NodeKind,
    SourceKind,
    audiences_of_both,
)
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import lock_graph, upsert_facts
from knowledge.link_models import Link
from npcs.models import NPC, Appearance
from retrieval.errors import Invalid
from worlds.audiences import Visibility, is_known_to_party
from worlds.models import Party, World

PART_OF = "PART_OF"
"""Of a person and a faction: the person belongs to it."""
MET, WAS_AT = "first met", "was first seen at"
MOST_PRESENT = 12
"""Of more people at a scene, who met whom is not written: that is a crowd."""
BECAUSE = "its episode no longer says so, or an earlier one does"
Claim = tuple[UUID, UUID, str]
Audiences = tuple[str, list[str]]


@dataclass(frozen=True)
class SceneFact:
    """What one episode states; `audience` is its visibility and who knows it besides."""

    claim: Claim
    day: float
    episode: Episode
    audience: Audiences
    note: str

    def as_fact(self) -> GraphFact:
        (src, dst, label), (visibility, known_to) = self.claim, self.audience
        edge = EdgeFact(
            src=src,
            dst=dst,
            relation=FREE_RELATION,
            label=label,
            since=self.day,
            # What has an end takes no part in the present.
            until=self.day + 1,
            visibility=Visibility(visibility),
            known_to=known_to,
            source_kind=SourceKind.EPISODE,
            source_ref=source_ref(self.episode),
            source_note=self.note,
        )
        return GraphFact(edge=edge)


def source_ref(episode: Episode) -> str:
    return f"{episode.external_id}{SCENE}"


def claim_of(fact: GraphEdge) -> Claim:
    return fact.src_id, fact.dst_id, fact.label


def is_known_wherever(audience: Audiences, other: Audiences) -> bool:
    """Whether whoever belongs to `other` belongs to `audience`."""
    return audiences_of_both(audience, other) == other


class SceneFacts:
    """An effect of episodes (`settings.EPISODE_EFFECTS`) and one of their followers. Runs after
    `Appearances`, `LoreMentions` and `EpisodeLinkRows`, whose rows it reads."""

    def plan(self, _party: Party, _summary: EpisodeIn) -> None:
        return None

    def write(self, episode: Episode, _plan: None, _report: IngestReport) -> None:
        follow_scene(episode)

    def withdraw(self, episode: Episode) -> None:
        """Withdraw the facts of a retracted episode; `write` replaces those of a new version."""
        if episode.retracted_at:
            follow_scene(episode)

    def follow_audience(self, episode: Episode) -> None:
        follow_scene(episode)

    def follow_ruling(self, episode: Episode) -> None:
        """Nothing to do: who was there does not depend on what they think of it."""

    def follow_deletion(self, episode: Episode) -> None:
        facts = GraphEdge.objects.filter(world=episode.world_id, source_kind=SourceKind.EPISODE)
        facts.filter(source_ref=source_ref(episode)).delete()


def follow_scene(episode: Episode) -> None:
    """Write what `episode` states and no other one states earlier to the same people. What it
    stated before and states no longer is written from the other episodes that state it."""
    world, stated = episode.world, read_scenes([episode])
    facts = GraphEdge.objects.filter(world=world, source_kind=SourceKind.EPISODE)
    own = list(facts.filter(source_ref=source_ref(episode)))
    # A person has retracted or corrected them.
    settled = {claim_of(fact) for fact in own if fact.believed_until and not fact.edited_because}
    settled |= {claim_of(fact) for fact in own if fact.edited_by}
    believed = [fact for fact in own if fact.believed_until is None and not fact.edited_by]
    obsolete, lost = _compare(believed, stated)
    known = {claim_of(fact) for fact in believed if fact not in obsolete}
    fresh = [each for each in stated if each.claim not in settled | known]
    if lost:
        lock_graph(world)
        follow_audiences(believed, stated)
        fresh += read_scenes(_episodes_that_state(episode, lost), only=lost)
    write_scene_facts(world, fresh, obsolete)


def _compare(
    believed: Sequence[GraphEdge], stated: Sequence[SceneFact]
) -> tuple[list[GraphEdge], set[Claim]]:
    """Return the rows that are stated no longer, and the claims that some people may not know any
    more from this episode."""
    now = {(each.claim, each.day): each for each in stated}
    obsolete, lost = [], set[Claim]()
    for fact in believed:
        same = now.get((claim_of(fact), fact.since or 0.0))
        if same is None:
            obsolete.append(fact)
        if same is None or same.audience != (fact.visibility, fact.known_to):
            lost.add(claim_of(fact))
    return obsolete, lost


def follow_audiences(believed: Iterable[GraphEdge], stated: Iterable[SceneFact]) -> None:
    """Give rows the audience of what the episode states now."""
    now = {(each.claim, each.day): each for each in stated}
    for fact in believed:
        if same := now.get((claim_of(fact), fact.since or 0.0)):
            follow_audience(fact, *same.audience)


def write_scene_facts(
    world: World, facts: Sequence[SceneFact], obsolete: Sequence[GraphEdge] = ()
) -> int:
    """Retract what is `obsolete` and write those of `facts` that nothing states as early to the
    same people; return how many. Call within a transaction. The lock of the graph is taken only
    when there is something to write."""
    gone = list(obsolete)
    stored = _present_rows(world, {each.claim for each in facts}, besides=gone)
    new: dict[Claim, list[SceneFact]] = defaultdict(list)
    for each in sorted(facts, key=lambda fact: (fact.day, str(fact.episode.pk))):
        known = [
            (other.since or 0.0, (other.visibility, other.known_to)) for other in stored[each.claim]
        ]
        known += [(other.day, other.audience) for other in new[each.claim]]
        if not any(day <= each.day and is_known_wherever(who, each.audience) for day, who in known):
            new[each.claim].append(each)
    written = [each for group in new.values() for each in group]
    for each in written:
        gone += [
            fact
            for fact in stored[each.claim]
            if each.day <= (fact.since or 0.0)
            and is_known_wherever(each.audience, (fact.visibility, fact.known_to))
        ]
    if gone or written:
        lock_graph(world)
    if gone:
        retract_facts(gone, because=BECAUSE)
        ids = [fact.pk for fact in gone]
        GraphEdge.objects.filter(pk__in=ids).update(edited_because=BECAUSE)
    return _write(world, written)


def _write(world: World, facts: Sequence[SceneFact]) -> int:
    """A relation that the world does not allow between people, or to places, is left out: the
    episode is recorded all the same."""
    if not facts:
        return 0
    try:
        with transaction.atomic():
            return len(upsert_facts(world, [each.as_fact() for each in facts]).edges)
    except Invalid:
        return 0


def _present_rows(
    world: World, claims: Collection[Claim], *, besides: Collection[GraphEdge]
) -> dict[Claim, list[GraphEdge]]:
    """What the graph says of these claims, without what a person has changed."""
    found: dict[Claim, list[GraphEdge]] = defaultdict(list)
    if claims:
        rows = GraphEdge.objects.believed_now().filter(
            world=world,
            source_kind=SourceKind.EPISODE,
            source_ref__endswith=SCENE,
            relation=FREE_RELATION,
            src__in={src for src, _dst, _label in claims},
            dst__in={dst for _src, dst, _label in claims},
        )
        for fact in rows.exclude(pk__in=[fact.pk for fact in besides]):
            found[claim_of(fact)].append(fact)
    return found


def _episodes_that_state(episode: Episode, claims: Collection[Claim]) -> list[Episode]:
    """The other episodes at which somebody of `claims` was."""
    people = {src for src, _dst, _label in claims}
    slugs = GraphNode.objects.filter(pk__in=people).values("slug")
    there = Appearance.objects.filter(
        episode=OuterRef("pk"), npc__slug__in=slugs, npc__world=episode.world_id
    )
    rows = Episode.objects.in_world(episode.world).not_retracted()
    rows = rows.exclude(pk=episode.pk).exclude(in_world_at=None).filter(Exists(there))
    return list(rows.select_related("party", "world"))


def read_scenes(
    episodes: Sequence[Episode], *, only: Collection[Claim] | None = None
) -> list[SceneFact]:
    """Return what episodes of one world state, or of that `only` these claims. Without a day, and
    retracted, an episode states nothing. Six statements for any number of episodes."""
    dated = [each for each in episodes if each.in_world_at is not None and not each.retracted_at]
    if not dated:
        return []
    scenes = Scenes.load(dated)
    found = (fact for episode in dated for fact in scenes.facts(episode))
    return [fact for fact in found if only is None or fact.claim in only]


@dataclass(frozen=True)
class Scenes:
    """Who was at some episodes, where, and whom their open texts name."""

    people: dict[UUID, list[NPC]]
    places: dict[UUID, list[UUID]]
    named: dict[UUID, set[UUID]]
    characters: dict[str, GraphNode]
    locations: dict[UUID, GraphNode]
    ties: "Ties"

    @classmethod
    def load(cls, episodes: Sequence[Episode]) -> "Scenes":
        ids = [episode.pk for episode in episodes]
        people: dict[UUID, list[NPC]] = defaultdict(list)
        rows: Any = Appearance.objects.filter(episode__in=ids, npc__deleted_at=None)
        for row in rows.select_related("npc").order_by("npc__name", "pk"):
            people[row.episode_id].append(row.npc)
        places: dict[UUID, list[UUID]] = defaultdict(list)
        for mention in Mention.objects.filter(episode__in=ids, role=Mention.Role.PLACE):
            places[mention.episode_id].append(mention.lore_id)
        named: dict[UUID, set[UUID]] = defaultdict(set)
        links = Link.objects.filter(source_kind="episode", secret=False, source_id__in=ids)
        for source, targets in links.values_list("source_id", "targets"):
            named[source].update(targets)
        nodes = GraphNode.objects.believed_now().filter(world=episodes[0].world_id)
        slugs = {npc.slug for present in people.values() for npc in present}
        characters = {
            node.slug: node for node in nodes.filter(slug__in=slugs, kind=NodeKind.CHARACTER)
        }
        lore = {pk for found in places.values() for pk in found}
        return cls(
            people,
            places,
            named,
            characters,
            {
                node.lore_id: node
                for node in nodes.filter(lore__in=lore, kind=NodeKind.LOCATION)
                if node.lore_id
            },
            Ties.load([node.pk for node in characters.values()]),
        )

    def facts(self, episode: Episode) -> Iterator[SceneFact]:
        present = [npc for npc in self.people[episode.pk] if npc.slug in self.characters]
        places = [self.locations[pk] for pk in self.places[episode.pk] if pk in self.locations]
        for npc in present:
            src = self.characters[npc.slug].pk
            for place in places:
                yield self._fact(episode, (src, place.pk, WAS_AT), {npc.pk})
        for first, second in combinations(present if len(present) <= MOST_PRESENT else (), 2):
            ends = sorted(self.characters[npc.slug].pk for npc in (first, second))
            fact = self._fact(episode, (ends[0], ends[1], MET), {first.pk, second.pk})
            if not self.ties.join(fact):
                yield fact

    def _fact(self, episode: Episode, claim: Claim, people: set[UUID]) -> SceneFact:
        assert episode.in_world_at is not None
        names = ", ".join(npc.name for npc in self.people[episode.pk])
        note = f"{episode.place}: {names}" if episode.place else names
        # Who else was there is not a player's to know.
        is_open = people <= self.named[episode.pk]
        audience = audience_of(episode) if is_open else (str(Visibility.GM), [])
        return SceneFact(claim, episode.in_world_at, episode, audience, note[:4000])


@dataclass(frozen=True)
class Ties:
    """The facts that join people: those about two of them, and their memberships of factions. Who
    is joined has met before, though no episode says when."""

    between: dict[frozenset[UUID], list[GraphEdge]]
    memberships: dict[UUID, list[GraphEdge]]

    @classmethod
    def load(cls, people: Collection[UUID]) -> "Ties":
        between: dict[frozenset[UUID], list[GraphEdge]] = defaultdict(list)
        memberships: dict[UUID, list[GraphEdge]] = defaultdict(list)
        facts = GraphEdge.objects.believed_now().exclude(source_ref__endswith=SCENE)
        joins = Q(dst__in=people) | Q(relation=PART_OF)
        for fact in facts.filter(joins, src__in=people) if len(people) > 1 else ():
            if fact.relation_id == PART_OF:
                memberships[fact.src_id].append(fact)
            else:
                between[frozenset((fact.src_id, fact.dst_id))].append(fact)
        return cls(between, memberships)

    def join(self, met: SceneFact) -> bool:
        """Whether everybody who may know of the meeting knows a fact by which the two are joined
        before it: what is hidden from somebody must not show by what they do not find."""
        src, dst, _label = met.claim
        direct = self.between.get(frozenset((src, dst)), [])
        own, other = (
            {fact.dst_id for fact in self.memberships.get(pk, []) if is_older(fact, met)}
            for pk in (src, dst)
        )
        return bool(own & other) or any(is_older(fact, met) for fact in direct)


def is_older(fact: GraphEdge, met: SceneFact) -> bool:
    """Whether the fact began before the day of the meeting, for all who may know of that. What the
    episode itself states began with it."""
    if fact.source_kind == SourceKind.EPISODE and fact.source_ref == met.episode.external_id:
        return False
    began_before = fact.since is None or fact.since < met.day
    return began_before and is_known_wherever((fact.visibility, fact.known_to), met.audience)


def audience_of(episode: Episode) -> Audiences:
    """Who may know the episode, as a row that belongs to no party says it."""
    names = set(episode.known_to) if episode.visibility == Visibility.REVEALED else set()
    if episode.visibility == Visibility.REVEALED and is_known_to_party(episode.known_to):
        names.add(f"party:{episode.party.slug}")
    return str(episode.visibility), sorted(names)
