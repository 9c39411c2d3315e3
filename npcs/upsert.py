"""Create and update NPCs: the static half of profiles, with their secrets."""

from typing import Any

from django.db import transaction

from episodes.lookup import lore_by_name
from knowledge.graph.models import NodeKind, SourceKind
from knowledge.graph.schemas import GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from npcs.dispositions import recompute_all_parties
from npcs.models import NPC, Secret
from npcs.schemas import NPCIn
from retrieval.errors import Invalid
from worlds.audiences import Audience, Visibility
from worlds.models import World

COPIED = (
    *("name", "aliases", "role", "summary", "faction_visibility", "voice", "goals", "play_now"),
    *("language", "base", "half_life", "visibility"),
)
"""Fields that are the same in `NPCIn` and in the row."""
LINKED = ("faction", "faction_lore_id", "home", "home_lore_id", "biography_id")


def upsert_npc(world: World, entry: NPCIn) -> tuple[NPC, str]:
    """Create or update an NPC by its id; returns it with `created`, `changed` or `unchanged`.

    Audiences that the reveal log has added to `known_to` stay.
    """
    with transaction.atomic():
        old = NPC.objects.select_for_update().filter(world=world, slug=entry.npc_id).first()
        npc = old or NPC(slug=entry.npc_id)
        npc.world = world
        before = versioned_fields(npc) if old else None
        copy_fields(entry, npc)
        if before == versioned_fields(npc) and not have_secrets_changed(npc, entry):
            return npc, "unchanged"
        npc.version += 1 if old else 0
        # `force_insert`: a row that another writer made meanwhile is an error, not overwritten.
        npc.save(force_insert=old is None)
        write_secrets(npc, entry)
        upsert_facts(world, [GraphFact(node=graph_node_of(npc))])
    # Outside the transaction, because it locks one party after the other.
    if before and (before["base"], before["half_life"]) != (npc.base, npc.half_life):
        recompute_all_parties(npc)
    return npc, "changed" if old else "created"


def copy_fields(entry: NPCIn, npc: NPC) -> None:
    names = [name for name in (entry.faction, entry.home, entry.biography) if name]
    lore = lore_by_name(npc.world, names)
    faction, home = lore.get(entry.faction), lore.get(entry.home)
    npc.faction_lore, npc.home_lore, npc.biography = faction, home, lore.get(entry.biography)
    npc.faction = faction.title if faction else entry.faction
    npc.home = home.title if home else entry.home
    for name in COPIED:
        setattr(npc, name, getattr(entry, name))
    npc.milestones = [each.model_dump() for each in entry.milestones]
    npc.known_to = add_audiences(npc.known_to, entry.known_to)
    # Whoever names an audience for a hidden NPC means to reveal it.
    if npc.known_to and npc.visibility == Visibility.GM:
        npc.visibility = Visibility.REVEALED


def graph_node_of(npc: NPC) -> NodeFact:
    """An NPC is a character of the relation graph, visible to whoever may know the NPC."""
    return NodeFact(
        kind=NodeKind.CHARACTER,
        slug=npc.slug,
        name=npc.name,
        aliases=[alias for alias in npc.aliases if alias],
        lore_id=npc.biography_id,
        visibility=Visibility(npc.visibility),
        known_to=npc.known_to,
        source_kind=SourceKind.EDITOR,
        source_ref=f"npc:{npc.slug}",
    )


def add_audiences(known_to: list[str], texts: list[str]) -> list[str]:
    """Return both lists merged and sorted; raises Invalid for anything but a party or an NPC."""
    for text in texts:
        if Audience.parse(text).kind not in ("party", "npc"):
            raise Invalid(f"known_to names party:<id> or npc:<id>, not {text!r}.")
    return sorted({*known_to, *(str(Audience.parse(text)) for text in texts)})


def versioned_fields(npc: NPC) -> dict[str, Any]:
    """The fields whose change makes a new version."""
    return {name: getattr(npc, name) for name in (*COPIED, *LINKED, "milestones", "known_to")}


def have_secrets_changed(npc: NPC, entry: NPCIn) -> bool:
    old = list(npc.secrets.order_by("position").values_list("text", "known_to"))
    new = [(each.text, each.known_to) for each in entry.secrets]
    # Audiences are only ever added, because those of the reveal log are in the rows as well.
    return len(old) != len(new) or any(
        text != new_text or not set(audiences) <= set(known_to)
        for (text, known_to), (new_text, audiences) in zip(old, new, strict=True)
    )


def write_secrets(npc: NPC, entry: NPCIn) -> None:
    """Write secrets by their number, so that a secret with new words stays revealed to the same."""
    old = {secret.position: secret for secret in npc.secrets.all()}
    for position, new in enumerate(entry.secrets, 1):
        secret = old.pop(position, None)
        secret = secret or Secret(world_id=npc.world_id, npc=npc, position=position)
        secret.text = new.text
        secret.known_to = add_audiences(secret.known_to, new.known_to)
        secret.visibility = Visibility.REVEALED if secret.known_to else Visibility.GM
        secret.save()
    for secret in old.values():
        secret.delete()
