"""What NPCs think of parties, for the drawing of the relation graph."""

from collections.abc import Collection
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from django.db.models import Exists, OuterRef, Q

from knowledge.graph.models import NodeKind
from knowledge.graph.protocol import View
from npcs.dispositions import days_reached, decayed_score
from npcs.models import NPC, Disposition
from npcs.page_queries import first_with_changes
from npcs.profiles import apparent_dispositions, changes_known_to
from npcs.score import label_of
from worlds.audiences import Audience
from worlds.models import Party, World

MOST_DRAWN = 60


@dataclass(frozen=True)
class PartyOpinion:
    """What an NPC thinks of a party; `npc` is its slug, `label` a word of `npcs.score.Label`."""

    npc: str
    name: str
    party: Party
    label: str


def opinions_to_draw(
    world: World,
    audience: Audience,
    slugs: Collection[str],
    parties: Collection[Party],
    *,
    without_entity: bool = False,
) -> list[PartyOpinion]:
    """Return what the NPCs with these slugs think of `parties`, without those who have not met
    them; and, where that is asked for, what the NPCs think that the graph does not know. Of very
    many, game masters get the strongest, players the first by name, as their party can judge
    them."""
    rows: Any = NPC.objects.in_world(world).visible_to(audience)
    chosen: Any = Q(slug__in=slugs)
    if without_entity:
        entities = View(world, audience).entities().filter(kind=NodeKind.CHARACTER)
        chosen |= ~Exists(entities.filter(slug=OuterRef("slug")))
    npcs = rows.filter(chosen)
    if audience.is_gm:
        return _stored_opinions(npcs, parties)
    return [each for party in parties for each in _apparent_opinions(npcs, party, audience)][
        :MOST_DRAWN
    ]


def _apparent_opinions(npcs: Any, party: Party, audience: Audience) -> list[PartyOpinion]:
    changes = changes_known_to(party, audience)
    listed = first_with_changes(npcs, changes, most=MOST_DRAWN)
    ids = [npc.pk for npc in listed]
    return [
        PartyOpinion(npc.slug, npc.name, party, each.label)
        for npc, each in zip(listed, apparent_dispositions(ids, party, audience), strict=True)
    ]


def _stored_opinions(npcs: Any, parties: Collection[Party]) -> list[PartyOpinion]:
    days, by_slug = days_reached(parties), {party.slug: party for party in parties}
    today = {slug: days[party.pk] for slug, party in by_slug.items()}
    rows = Disposition.objects.filter(party__in=parties, npc__in=npcs, changes__gt=0)
    columns = ["npc__slug", "npc__name", "party__slug", "score", "in_world_at"]
    columns += ["npc__base", "npc__half_life"]
    # There may be thousands, of which the strongest are drawn.
    scored = []
    for slug, name, party, score, at, base, own in rows.values_list(*columns):
        now = decayed_score(score, at=at, today=today[party], base=base, half_life=own)
        scored.append((-abs(now), slug, party, now, name))
    return [
        PartyOpinion(slug, name, by_slug[party], label_of(now))
        for _strength, slug, party, now, name in nsmallest(MOST_DRAWN, scored)
    ]
