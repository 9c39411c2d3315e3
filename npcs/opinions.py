"""A party's standing with factions, and what NPCs think of each other: both folded from one ledger
when they are read (docs/dispositions.md). For game masters."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from episodes.models import Episode
from episodes.sql import statement
from knowledge.graph.models import GraphNode, NodeKind
from npcs.change_states import check_ruling, state_of
from npcs.dispositions import (
    check_delta,
    first_line,
    has_soft_ends,
    latest_in_world_time,
    lock_episode_of,
    require_reason,
)
from npcs.large_changes import is_large
from npcs.models import NPC, OpinionChange
from npcs.score import ScoreChange, fold, label_of
from retrieval.errors import Invalid, NotFound
from retrieval.text import KnownName, NameIndex, fold_name
from worlds.lookup import as_uuid
from worlds.models import Campaign, Party, World

Kind = OpinionChange.Kind
LARGEST = 200
OPINIONS = Path(__file__).parent / "sql" / "opinions.sql"
VERDICTS = {
    "approve": Kind.APPROVAL,
    "reject": Kind.REJECTION,
    "reverse": Kind.REVERSAL,
    "restore": Kind.RESTORATION,
    "reopen": Kind.REOPENING,
}
"""The entry that each ruling writes, by the word of the API and the pages."""


@dataclass(frozen=True)
class Opinion:
    """What a faction thinks of a party, or one NPC of another, now. `entries` are all changes,
    latest first; those that do not count are among them, with their state."""

    holder: GraphNode | NPC
    toward: Party | NPC
    score: float
    label: str
    entries: Sequence["ShownEntry"]

    @property
    def pending(self) -> int:
        return sum(shown.state == "pending" for shown in self.entries)


@dataclass(frozen=True)
class ShownEntry:
    entry: Any
    state: str


def standings_of(
    world: World, *, party: Party | None = None, faction: GraphNode | None = None
) -> list[Opinion]:
    """Return the standing of each party with each faction of which there are changes, or of those
    given, the best first. One with nothing but replaced changes is left out."""
    rows = OpinionChange.objects.filter(world=world, faction__believed_until=None)
    rows = rows.filter(**{"party": party} if party else {"party__isnull": False})
    rows = rows.filter(**{"faction": faction} if faction else {})
    rows = rows.select_related("faction", "party").changes().with_ruling().annotate_episode()
    return fold_opinions(world, rows.in_order())


@dataclass(frozen=True)
class OpinionsOfNPC:
    """What an NPC thinks of others, and the standings of the parties with the factions that it is
    part of; each the best first."""

    of_others: list[Opinion]
    of_factions: list[Opinion]


def opinions_around(npc: NPC, campaign: Campaign | None = None) -> OpinionsOfNPC:
    """Read both in one statement, and whom they are about in three. With a campaign, what others
    changed is left out."""
    values = {"npc": npc.pk, "campaign": campaign.pk if campaign else None}
    rows: Any = OpinionChange.objects.raw(statement(OPINIONS), values)
    entries = list(rows.prefetch_related("faction", "party", "other"))
    own = [entry for entry in entries if entry.npc_id]
    for entry in own:
        entry.npc = npc
    theirs = [entry for entry in entries if entry.faction_id]
    return OpinionsOfNPC(fold_opinions(npc.world, own), fold_opinions(npc.world, theirs))


def opinions_of(npc: NPC, campaign: Campaign | None = None) -> list[Opinion]:
    """Return what the NPC thinks of others, the best first. With a campaign, what others changed is
    left out."""
    return opinions_around(npc, campaign).of_others


def fold_opinions(world: World, entries: Iterable[Any]) -> list[Opinion]:
    """Fold the entries by whose opinion they are of whom, the best first. They are in their
    order."""
    by_pair: dict[tuple[UUID, UUID], list[Any]] = defaultdict(list)
    for entry in entries:
        pair = entry.faction_id or entry.npc_id, entry.party_id or entry.other_id
        by_pair[pair].append(entry)
    soft_ends = bool(by_pair) and has_soft_ends(world.pk)
    opinions = [fold_opinion(entries, soft_ends=soft_ends) for entries in by_pair.values()]
    opinions = [each for each in opinions if each.entries]
    return sorted(opinions, key=lambda each: (-each.score, each.holder.name, each.toward.name))


def fold_opinion(entries: Sequence[Any], *, soft_ends: bool) -> Opinion:
    """Fold the entries of one pair, in their order. Factions forget nothing."""
    shown = [ShownEntry(entry, state_of(entry)) for entry in entries if entry.is_current]
    changes = [
        ScoreChange(each.entry.delta, in_full=each.entry.kind == Kind.CORRECTION)
        for each in shown
        if each.state == "counts"
    ]
    score = fold(changes, soft_ends=soft_ends).score
    first = entries[0]
    return Opinion(
        holder=first.holder,
        toward=first.toward,
        score=score,
        label=label_of(score),
        entries=shown[::-1],
    )


def correct_standing(
    faction: GraphNode,
    party: Party,
    *,
    by: int,
    reason: str,
    made_by: str,
    hold_if_large: bool = False,
) -> OpinionChange:
    """Write a game master's own change of the party's standing with the faction. It counts at once;
    with `hold_if_large`, a large one waits for approval."""
    check_delta(by, LARGEST)
    if faction.world_id != party.world_id or faction.kind != NodeKind.FACTION:
        raise Invalid(_("A party has a standing with a faction of its own world."))
    entry: OpinionChange = OpinionChange.objects.create(
        world_id=party.world_id,
        kind=Kind.CORRECTION,
        faction=faction,
        party=party,
        delta=by,
        reason=require_reason(reason),
        held=hold_if_large and is_large(by),
        made_by=made_by,
        **latest_in_world_time(party),
    )
    return entry


def correct_opinion(
    npc: NPC, other: NPC, *, by: int, reason: str, made_by: str, hold_if_large: bool = False
) -> OpinionChange:
    """Write a game master's own change of what one NPC thinks of another. It counts at once; with
    `hold_if_large`, a large one waits for approval."""
    check_delta(by, LARGEST)
    if npc.world_id != other.world_id or npc == other:
        raise Invalid(_("An opinion is of another NPC of the same world."))
    entry: OpinionChange = OpinionChange.objects.create(
        world_id=npc.world_id,
        kind=Kind.CORRECTION,
        npc=npc,
        other=other,
        delta=by,
        reason=require_reason(reason),
        held=hold_if_large and is_large(by),
        made_by=made_by,
    )
    return entry


def build_opinion(npc: NPC, other: NPC, episode: Episode, *, by: int, reason: str) -> OpinionChange:
    """Return the unsaved entry of what `episode` changed in what `npc` thinks of `other`."""
    return OpinionChange(
        world_id=npc.world_id,
        kind=Kind.EPISODE,
        npc=npc,
        other=other,
        delta=by,
        reason=reason or first_line(episode),
        episode=episode,
        episode_version=episode.version,
        in_world_at=episode.in_world_at,
        in_world_label=episode.in_world_label,
        happened_at=episode.happened_at,
    )


@transaction.atomic
def rule_on_opinion(
    entry: OpinionChange, verdict: str, *, reason: str, made_by: str
) -> OpinionChange:
    """Write a ruling about a change; raises `NotInForce` when its state does not allow that. An
    approval needs no reason."""
    episode = lock_episode_of(entry)
    # Under the lock of the row: another game master may have ruled meanwhile.
    OpinionChange.objects.select_for_update().get(pk=entry.pk)
    current = OpinionChange.objects.changes().with_ruling().filter(pk=entry.pk).first()
    if current is None:
        raise Invalid(_("Rulings are about changes, not about other rulings."))
    if verdict not in VERDICTS:
        raise Invalid(
            _("There is no ruling %(verdict)r.") % {"verdict": verdict[:80]},
            candidates=list(VERDICTS),
        )
    kind = VERDICTS[verdict]
    check_ruling(current, kind.value)
    if kind == Kind.APPROVAL:
        reason = reason or _("Approved.")
    names = ("world_id", "faction_id", "party_id", "npc_id", "other_id")
    pair = {name: getattr(entry, name) for name in names}
    ruling: OpinionChange = OpinionChange.objects.create(
        **pair, kind=kind, about=entry, reason=require_reason(reason), made_by=made_by
    )
    if episode:
        episode.ruling_changed()
    return ruling


def find_faction(world: World, reference: str) -> GraphNode:
    """Return the faction with this id, slug or whole name. Raises `NotFound`."""
    factions = GraphNode.objects.believed_now().in_world(world).filter(kind=NodeKind.FACTION)
    key = as_uuid(reference)
    found = list(factions.filter(**{"pk": key} if key else {"slug": reference})[:1])
    if not found and not key:
        name = fold_name(reference)
        same = [each for each in factions if name in map(fold_name, (each.name, *each.aliases))]
        if len(same) > 1:
            ids = sorted(each.slug for each in same)
            detail = _("Several factions are called %(name)r: give an id.")
            raise NotFound(detail % {"name": reference}, candidates=ids)
        found = same
    if not found:
        names = NameIndex(KnownName(each.pk, each.name, each.aliases) for each in factions)
        detail = _("There is no faction %(name)r in this world.") % {"name": reference}
        raise NotFound(detail, candidates=names.suggest(reference))
    node: GraphNode = found[0]
    return node
