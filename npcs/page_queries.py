"""Queries of the pages about NPCs and parties, each a fixed number of statements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import OuterRef, Subquery

from episodes.models import Episode, Thread
from episodes.sql import statement
from npcs.chart import Curve, curve
from npcs.dispositions import days_reached, decayed_score, fold_ledger, has_soft_ends
from npcs.models import NPC, Disposition, DispositionChange
from npcs.profiles import (
    apparent_dispositions,
    changes_known_to,
    initial_disposition,
    present_disposition,
    present_influence,
    present_reveals,
)
from npcs.schemas import Apparent, DispositionOut, Influence, KnownSubject
from worlds.audiences import Audience, audience_of_party
from worlds.models import Party, Reveal

HISTORY = Path(__file__).parent / "sql" / "history.sql"
MOST_EPISODES = 8
MOST_CHANGES = 200
MOST_OPINIONS = 60
MOST_PICTURES = 4
MOST_UNMET_PARTIES = 6

AnyDisposition = DispositionOut | Apparent


def disposition_table(
    npcs: Sequence[NPC], parties: Sequence[Party], audience: Audience
) -> list[tuple[NPC, list[AnyDisposition]]]:
    """Return each NPC with its disposition towards each of `parties`, in their order.

    Players get the disposition as their party can judge it.
    """
    if not audience.is_gm:
        ids = [npc.pk for npc in npcs]
        columns = [apparent_dispositions(ids, party, audience) for party in parties]
        return [(npc, [column[row] for column in columns]) for row, npc in enumerate(npcs)]
    rows = Disposition.objects.filter(npc__in=npcs, party__in=parties)
    today = days_reached(parties)
    npc_of = {npc.pk: npc for npc in npcs}
    party_of = {party.pk: party for party in parties}
    by_pair = {}
    for row in rows.select_related("last_change"):
        row.npc, row.party = npc_of[row.npc_id], party_of[row.party_id]
        shown = present_disposition(row, today=today[row.party_id])
        by_pair[row.npc_id, row.party_id] = shown
    return [
        (
            npc,
            [
                by_pair.get((npc.pk, party.pk)) or initial_disposition(npc, party)
                for party in parties
            ],
        )
        for npc in npcs
    ]


def with_source(rows: Any) -> Any:
    """Read with the dispositions in `rows` what `present_disposition` shows of them."""
    return rows.select_related("npc", "party", "last_change")


def dispositions_to_show(
    npc: NPC, by_party: Mapping[str, DispositionOut], parties: Sequence[Party]
) -> list[DispositionOut]:
    """Return the dispositions towards the parties that `npc` has met; without any, a few others."""
    with_history = [each for each in by_party.values() if each.changes or each.pending]
    return with_history or [
        initial_disposition(npc, party) for party in parties[:MOST_UNMET_PARTIES]
    ]


def party_to_show(npc: NPC, parties: Sequence[Party]) -> Party | None:
    """The party that last changed the NPC's disposition, else the first."""
    # Ids of ledger entries grow with time, so the highest is the latest.
    rows = Disposition.objects.filter(npc=npc, party__in=parties).order_by("-last_change_id")
    latest = rows.first()
    by_id = {party.pk: party for party in parties}
    return by_id[latest.party_id] if latest else next(iter(parties), None)


@dataclass(frozen=True)
class DispositionHistory:
    """A disposition, its curve, and its changes, latest first."""

    now: DispositionOut
    curve: Curve
    changes: list["ShownChange"]


@dataclass(frozen=True)
class ShownChange:
    """A change with the score after it, and why it was last ruled upon, by whom."""

    influence: Influence
    score: float
    ruling_reason: str
    ruling_by: str


def disposition_history(
    npc: NPC, party: Party, by_party: Mapping[str, DispositionOut]
) -> DispositionHistory:
    """Return how the disposition of `npc` toward `party` developed, with the latest changes.
    `by_party` are those of the NPC that are stored, by the slug of the party, as its profile has
    them."""
    values = {"npc": npc.pk, "party": party.pk}
    entries: list[Any] = list(DispositionChange.objects.raw(statement(HISTORY), values))
    for entry in entries:
        entry.party = party
    changes = [present_influence(entry) for entry in entries]
    # The curve is folded from the ledger, not from the stored score, which is the last point alone.
    effective = [
        entry for entry, change in zip(entries, changes, strict=True) if change.state == "counts"
    ]
    total = fold_ledger(npc, effective, soft_ends=has_soft_ends(npc.world_id))
    score_after = {point.entry: point.score for point in total.points}
    scores, score = [], float(npc.base)
    for change in changes:
        score = score_after.get(change.change, score)  # a change that does not count moves nothing
        scores.append(score)
    return DispositionHistory(
        now=by_party.get(party.slug) or initial_disposition(npc, party),
        curve=curve(
            [
                (change.change, score, change.state == "counts")
                for change, score in zip(changes, scores, strict=True)
            ][-MOST_CHANGES:],
            base=npc.base,
        ),
        changes=[
            ShownChange(change, score, entry.ruling_reason or "", entry.ruling_by or "")
            for entry, change, score in zip(entries, changes, scores, strict=True)
        ][: -MOST_CHANGES - 1 : -1],
    )


def secrets_of(npc: NPC, party: Party | None) -> list[tuple[Any, bool]]:
    """Return the NPC's secrets, each with whether the party has learned it."""
    visible_ids = set()
    if party:
        visible = npc.secrets.visible_to(audience_of_party(party))
        visible_ids = set(visible.values_list("pk", flat=True)) if npc.secrets.all() else set()
    return [(secret, secret.pk in visible_ids) for secret in npc.secrets.all()]


def pictures_of(npc: NPC, audience: Audience) -> Any:
    """Art cards that show the NPC. The relation `npc.art` comes from the app above."""
    return npc.art.visible_to(audience).with_source()[:MOST_PICTURES]


def opinions_of_party(
    party: Party, audience: Audience, *, most: int = MOST_OPINIONS
) -> list[tuple[NPC, AnyDisposition]]:
    """Return who has an opinion of the party, at most `most`, the most devoted first.

    Players see the NPCs who showed one in episodes that they know.
    """
    npcs = NPC.objects.filter(world=party.world_id).visible_to(audience)
    if audience.is_gm:
        return [*strongest_opinions(party, npcs, most=most)]
    listed = first_with_changes(npcs, changes_known_to(party, audience), most=most)
    ids = [npc.pk for npc in listed]
    return list(zip(listed, apparent_dispositions(ids, party, audience), strict=True))


def first_with_changes(npcs: Any, changes: Any, *, most: int) -> list[NPC]:
    """Return the first `most` of `npcs`, by name, who have one of `changes`."""
    # With its limit PostgreSQL asks the subquery for one NPC after another, and stops at the last
    # that is wanted. `Exists` it would turn into a join that reads all changes of the party.
    change = Subquery(changes.filter(npc=OuterRef("pk")).values("pk")[:1])
    return list(npcs.alias(change=change).exclude(change=None).order_by("name")[:most])


def strongest_opinions(party: Party, npcs: Any, *, most: int) -> list[tuple[NPC, DispositionOut]]:
    """What those of `npcs` who have met the party think of it, the most devoted first. Of very many
    those in the middle are left out, who say least."""
    today = days_reached([party])[party.pk]
    columns = ("pk", "npc__name", "score", "in_world_at", "npc__base", "npc__half_life")
    rows = Disposition.objects.filter(party=party, npc__in=npcs).values_list(*columns)
    # Sorted here, because a score of the past decays by the half-life of its NPC.
    order = sorted(
        (-round(decayed_score(score, at=at, today=today, base=base, half_life=own), 1), name, pk)
        for pk, name, score, at, base, own in rows
    )
    if len(order) > most:
        half = most // 2
        order = [*order[:half], *order[-half:]]
    listed = with_source(Disposition.objects).in_bulk([pk for _score, _name, pk in order])
    return [
        (row.npc, present_disposition(row, today=today))
        for _score, _name, pk in order
        if (row := listed.get(pk))
    ]


def reveals_to_party(party: Party, audience: Audience) -> list[KnownSubject]:
    """What the party was told, of what `audience` finds."""
    log = Reveal.objects.filter(world=party.world_id, audience=f"party:{party.slug}")
    return present_reveals(log, audience, campaign=party.campaign)


def open_threads(party: Party) -> Any:
    return Thread.objects.of_parties([party]).open()


def latest_episodes(party: Party, audience: Audience) -> Any:
    rows = Episode.objects.of_party(party).visible_to(audience).not_retracted().with_source()
    return rows.latest_first()[:MOST_EPISODES]
