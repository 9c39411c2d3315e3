"""What the pages about NPCs and parties show, read in a fixed number of statements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from episodes.models import Episode, Thread
from knowledge.graph.labels import relation_label
from knowledge.graph.models import GraphNode
from knowledge.graph.postgres_store import neighbors
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeOut, NodeOut
from npcs.chart import Curve, curve
from npcs.dispositions import fold_ledger
from npcs.models import NPC, Disposition, DispositionChange
from npcs.profiles import (
    apparent_disposition,
    initial_disposition,
    present_disposition,
    present_influence,
    present_reveals,
)
from npcs.schemas import Apparent, DispositionOut, Influence, KnownSubject
from worlds.audiences import Audience
from worlds.models import Party, Reveal

MOST_APPEARANCES = 12
MOST_EPISODES = 8
MOST_CHANGES = 200
MOST_PICTURES = 4
MOST_UNTOUCHED = 6

Row = tuple[NPC, list[DispositionOut | Apparent]]


def disposition_table(
    npcs: Sequence[NPC], parties: Sequence[Party], audience: Audience
) -> list[Row]:
    """Each NPC with what it thinks of each party, in the order of `parties`; for players, what the
    party can tell.
    """
    if not audience.is_gm:
        return [
            (npc, [apparent_disposition(npc, party, audience) for party in parties]) for npc in npcs
        ]
    rows = Disposition.objects.filter(npc__in=npcs, party__in=parties).select_related(
        "npc", "party", "last_change"
    )
    told = {(row.npc_id, row.party_id): present_disposition(row) for row in rows}
    return [
        (
            npc,
            [told.get((npc.pk, party.pk)) or initial_disposition(npc, party) for party in parties],
        )
        for npc in npcs
    ]


def dispositions_to_show(
    npc: NPC, told: Mapping[str, DispositionOut], parties: Sequence[Party]
) -> list[DispositionOut]:
    """What `npc` thinks of the parties that it has dealt with; when it has with none, of the first
    few.
    """
    met = [each for each in told.values() if each.changes or each.pending]
    return met or [initial_disposition(npc, party) for party in parties[:MOST_UNTOUCHED]]


def party_to_show(npc: NPC, parties: Sequence[Party]) -> Party | None:
    """The party that last changed the NPC's mind, else the first."""
    latest = (
        Disposition.objects.filter(npc=npc, party__in=parties).order_by("-last_change_id").first()
    )
    chosen = latest.party_id if latest else None
    return next((party for party in parties if party.pk == chosen), parties[0] if parties else None)


@dataclass(frozen=True)
class DispositionHistory:
    """How a disposition came to be: the curve, and each change with the score after it, latest
    first.
    """

    now: DispositionOut
    curve: Curve
    changes: list[tuple[Influence, float]]


def disposition_history(npc: NPC, party: Party) -> DispositionHistory:
    entries: list[Any] = list(
        DispositionChange.objects.of(npc, party)
        .changes()
        .with_ruling()
        .filter(is_current=True)
        .select_related("party")
        .annotate_episode()
        .in_order()[:MOST_CHANGES]
    )
    told = [present_influence(entry) for entry in entries]
    counted = [
        entry for entry, change in zip(entries, told, strict=True) if change.state == "counts"
    ]
    after = {point.entry: point.score for point in fold_ledger(npc, counted).points}
    scores, score = [], float(npc.base)
    for change in told:
        score = after.get(change.change, score)
        scores.append((change.change, score, change.state == "counts"))
    row = (
        Disposition.objects.filter(npc=npc, party=party)
        .select_related("npc", "party", "last_change")
        .first()
    )
    now = present_disposition(row) if row else initial_disposition(npc, party)
    changes = [(change, point[1]) for change, point in zip(told, scores, strict=True)]
    return DispositionHistory(now, curve(scores, base=npc.base), changes[::-1])


def secrets_of(npc: NPC, party: Party | None) -> list[tuple[Any, bool]]:
    """The NPC's secrets, each with whether the party has learned it."""
    known = (
        set(npc.secrets.visible_to(Audience("party", party.slug)).values_list("pk", flat=True))
        if party
        else set()
    )
    return [(secret, secret.pk in known) for secret in npc.secrets.all()]


def appearances_of(npc: NPC) -> Any:
    """The episodes that the NPC was in, latest first."""
    rows = Episode.objects.filter(appearances__npc=npc).not_retracted().with_source()
    return rows.latest_first()[:MOST_APPEARANCES]


@dataclass(frozen=True)
class RelationLine:
    """An edge as words about the NPC: `words` says how, `other` is who or what; `to` is false when
    it points here.
    """

    words: str
    other: NodeOut
    since: float | None
    until: float | None
    to: bool


def relations_of(npc: NPC, audience: Audience) -> list[RelationLine]:
    node = GraphNode.objects.filter(world=npc.world_id, slug=npc.slug).visible_to(audience).first()
    if node is None:
        return []
    found = neighbors(View(npc.world, audience), node.pk)
    by_id = {each.id: each for each in found.nodes}
    own = (edge for edge in found.edges if node.pk in (edge.src, edge.dst))
    return sorted(
        (
            _relation(
                edge, by_id[edge.dst if edge.src == node.pk else edge.src], edge.src == node.pk
            )
            for edge in own
        ),
        key=lambda each: (each.words, each.other.name),
    )


def _relation(edge: EdgeOut, other: NodeOut, to: bool) -> RelationLine:
    return RelationLine(
        relation_label(edge.relation, edge.label), other, edge.since, edge.until, to
    )


def pictures_of(npc: NPC, audience: Audience) -> Any:
    """The art cards that show the NPC (`art` stands above this app and names them `npc.art`)."""
    return npc.art.visible_to(audience).with_source()[:MOST_PICTURES]


def opinions_of_party(
    party: Party, audience: Audience
) -> list[tuple[NPC, DispositionOut | Apparent]]:
    """Who has an opinion of the party, the most devoted first; for players, who showed one in
    episodes they know.
    """
    visible = NPC.objects.filter(world=party.world_id).visible_to(audience)
    if audience.is_gm:
        rows = Disposition.objects.filter(party=party, npc__in=visible).select_related(
            "npc", "party", "last_change"
        )
        return [(row.npc, present_disposition(row)) for row in rows.order_by("-score", "npc__name")]
    known = Episode.objects.of_party(party).visible_to(audience)
    shown = DispositionChange.objects.filter(party=party, episode__in=known).in_force()
    npcs = visible.filter(pk__in=shown.values("npc")).order_by("name")
    return [(npc, apparent_disposition(npc, party, audience)) for npc in npcs]


def reveals_to_party(party: Party) -> list[KnownSubject]:
    return present_reveals(
        Reveal.objects.filter(world=party.world_id, audience=f"party:{party.slug}")
    )


def open_threads(party: Party) -> Any:
    return Thread.objects.of_parties([party]).open()


def latest_episodes(party: Party, audience: Audience) -> Any:
    rows = Episode.objects.of_party(party).visible_to(audience).not_retracted().with_source()
    return rows.latest_first()[:MOST_EPISODES]
