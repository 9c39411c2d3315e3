"""Write who lives in a world: the static half of profiles, with their secrets."""

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
    "name",
    "aliases",
    "role",
    "summary",
    "faction_visibility",
    "voice",
    "goals",
    "play_now",
    "language",
    "base",
    "half_life",
    "visibility",
)


def upsert_npc(world: World, entry: NPCIn) -> tuple[NPC, str]:
    """Create or change an NPC by its id; returns it with `created`, `changed` or `unchanged`. What
    the reveal log has opened stays open.
    """
    with transaction.atomic():
        npc = NPC.objects.select_for_update().filter(world=world, slug=entry.npc_id).first()
        known = npc or NPC(world=world, slug=entry.npc_id)
        before = None if npc is None else _state(known)
        _fill(known, world, entry)
        secrets_changed = _secrets_differ(known, entry) if npc else bool(entry.secrets)
        if before == _state(known) and not secrets_changed:
            return known, "unchanged"
        known.version += 0 if npc is None else 1
        known.save(force_insert=npc is None)
        _write_secrets(known, entry)
        upsert_facts(world, [GraphFact(node=_node(known))])
    if before and (before["base"], before["half_life"]) != (known.base, known.half_life):
        recompute_all_parties(known)
    return known, "created" if npc is None else "changed"


def _fill(npc: NPC, world: World, entry: NPCIn) -> None:
    linked = lore_by_name(
        world, [name for name in (entry.faction, entry.home, entry.biography) if name]
    )
    faction, home = linked.get(entry.faction), linked.get(entry.home)
    npc.faction_lore, npc.home_lore, npc.biography = faction, home, linked.get(entry.biography)
    npc.faction = faction.title if faction else entry.faction
    npc.home = home.title if home else entry.home
    for name in COPIED:
        setattr(npc, name, getattr(entry, name))
    npc.milestones = [each.model_dump() for each in entry.milestones]
    npc.known_to = sorted({*npc.known_to, *(str(parse_audience(text)) for text in entry.known_to)})
    if npc.known_to and npc.visibility == Visibility.GM:
        npc.visibility = Visibility.REVEALED


def _node(npc: NPC) -> NodeFact:
    """An NPC is a character of the relation graph, known to whoever knows the NPC."""
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


def parse_audience(text: str) -> Audience:
    audience = Audience.parse(text)
    if audience.kind not in ("party", "npc"):
        raise Invalid(f"known_to names party:<id> or npc:<id>, not {text!r}.")
    return audience


def _state(npc: NPC) -> dict[str, Any]:
    """The fields whose change makes a new version."""
    linked = (
        "faction",
        "faction_lore_id",
        "home",
        "home_lore_id",
        "biography_id",
        "milestones",
        "known_to",
    )
    return {name: getattr(npc, name) for name in (*COPIED, *linked)}


def _secrets_differ(npc: NPC, entry: NPCIn) -> bool:
    stored = list(npc.secrets.order_by("position").values_list("text", "known_to"))
    wanted = [(each.text, each.known_to) for each in entry.secrets]
    return len(stored) != len(wanted) or any(
        text != new or not set(to) <= set(known)
        for (text, known), (new, to) in zip(stored, wanted, strict=True)
    )


def _write_secrets(npc: NPC, entry: NPCIn) -> None:
    """By their number. A secret whose words changed is still the one that was revealed."""
    kept = {secret.position: secret for secret in npc.secrets.all()}
    for position, wanted in enumerate(entry.secrets, 1):
        secret = kept.pop(position, None) or Secret(
            world_id=npc.world_id, npc=npc, position=position
        )
        secret.text = wanted.text
        secret.known_to = sorted(
            {*secret.known_to, *(str(parse_audience(text)) for text in wanted.known_to)}
        )
        secret.visibility = Visibility.REVEALED if secret.known_to else Visibility.GM
        secret.save()
    for gone in kept.values():
        gone.delete()
