"""Create and update NPCs: the static half of profiles, with their secrets."""

from collections.abc import Collection
from typing import Any, Literal

from django.db import transaction
from django.db.models import F
from rapidfuzz.fuzz import ratio

from episodes.lookup import lore_by_name
from knowledge.graph.models import NodeKind, SourceKind
from knowledge.graph.schemas import GraphFact, NodeFact
from knowledge.graph.upsert import lock_graph, upsert_facts
from knowledge.markup_check import check_markers
from knowledge.models import Lore
from npcs.dispositions import recompute_all_parties
from npcs.models import NPC, Secret
from npcs.schemas import NPCIn
from retrieval.errors import Invalid
from worlds.audiences import Audience, Visibility
from worlds.models import World
from worlds.reveals import visibility_in_force
from worlds.versions import require_version

Outcome = Literal["created", "changed", "unchanged"]
COPIED = (
    *("name", "aliases", "role", "summary", "faction_visibility", "voice", "goals", "play_now"),
    *("language", "base", "half_life", "visibility"),
)
"""Fields that are the same in `NPCIn` and in the row."""
REWORDED = 60
"""From this similarity (0–100) on, a text is a new wording of a secret."""
REFERENCES = ("faction", "home", "biography")
"""Fields of `NPCIn` that name a lore entry."""
LINKED = ("faction", "faction_lore_id", "home", "home_lore_id", "biography_id")


def upsert_npc(
    world: World, entry: NPCIn, *, expected_version: int | None = None
) -> tuple[NPC, str]:
    """Create an NPC, or change the one with its id by the fields that are set; returns it with
    `created`, `changed` or `unchanged`. Raises `StaleVersion` when another version than the
    expected one is stored.

    Audiences that the reveal log has added to `known_to` stay.
    """
    with transaction.atomic():
        lock_graph(world)
        old = NPC.objects.select_for_update().filter(world=world, slug=entry.npc_id).first()
        require_version(old, expected_version)
        npc = old or NPC(slug=entry.npc_id)
        npc.world = world
        scores = score_settings(npc)
        sent = entry.model_fields_set if old else set(NPCIn.model_fields)
        copy_fields(entry, npc, sent=sent)
        has_secrets = "secrets" in sent
        has_new_secrets = bool(old) and has_secrets and have_secrets_changed(npc, entry)
        outcome = store_npc(npc, has_new_secrets=has_new_secrets)
        if outcome != "unchanged" and has_secrets:
            write_secrets(npc, entry)
    # Outside the transaction, because it locks one party after the other.
    if old and scores != score_settings(npc):
        recompute_all_parties(npc)
    return npc, outcome


def store_npc(
    npc: NPC,
    *,
    has_new_secrets: bool = False,
    reason: str = "",
    expected_version: int | None = None,
) -> Outcome:
    """Write a new or edited NPC and its entity of the relation graph, in the caller's transaction.

    The row gets a version and a history row only if a field, or a secret (`has_new_secrets`), has
    changed. The caller calls `recompute_all_parties` when `score_settings` have changed."""
    # Before the row, as every writer of both does: two that wait for each other would fail.
    lock_graph(npc.world)
    stored = NPC.objects.select_for_update().filter(pk=npc.pk).first()
    require_version(stored, expected_version)
    if stored and not has_new_secrets and versioned_fields(stored) == versioned_fields(npc):
        return "unchanged"
    require_merged(npc, stored)
    if stored:
        npc.version = stored.version + 1
    npc._change_reason = reason[:100] or None  # type: ignore[attr-defined]  # for the history
    # `force_insert`: a row that another writer made meanwhile is an error, not overwritten.
    npc.save(force_insert=stored is None)
    upsert_facts(npc.world, [GraphFact(node=graph_node_of(npc))])
    return "changed" if stored else "created"


def restore_npc(npc: NPC, record: NPC, *, reason: str) -> Outcome:
    """Give `npc` the fields of `record`, an old version of it. Secrets and the reveal log stay as
    they are."""
    with transaction.atomic():
        scores = score_settings(npc)
        for name in (*COPIED, "faction", "home", "milestones"):
            setattr(npc, name, getattr(record, name))
        for name in ("faction_lore", "home_lore", "biography"):
            lore_id = getattr(record, f"{name}_id")
            setattr(npc, name, Lore.objects.filter(world=npc.world_id, pk=lore_id).first())
        npc.visibility = visibility_in_force(npc, own=record.visibility)
        outcome = store_npc(npc, reason=reason)
    if scores != score_settings(npc):
        recompute_all_parties(npc)
    return outcome


def score_settings(npc: NPC) -> tuple[int, float | None]:
    """The fields from which every disposition of the NPC is computed."""
    return npc.base, npc.half_life


def copy_fields(entry: NPCIn, npc: NPC, *, sent: Collection[str]) -> None:
    """Copy the fields `sent`. Does not save."""
    references = {name: getattr(entry, name) for name in REFERENCES if name in sent}
    lore = lore_by_name(npc.world, [name for name in references.values() if name])
    for name, written in references.items():
        row = lore.get(written)
        if name == "biography":
            npc.biography = row
        else:
            setattr(npc, f"{name}_lore", row)
            setattr(npc, name, row.title if row else written)
    for name in COPIED:
        if name in sent:
            setattr(npc, name, getattr(entry, name))
    if "milestones" in sent:
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


def require_merged(npc: NPC, stored: NPC | None) -> None:
    """Raise `Invalid` for an edited text in which a merge was not finished."""
    for name in ("summary", "voice", "goals", "play_now"):
        value = getattr(npc, name)
        if stored and getattr(stored, name) == value:
            continue
        for text in [value] if isinstance(value, str) else value:
            if problems := check_markers(text):
                raise Invalid(
                    f"{name}: {problems[0]}", errors=[{"loc": [name], "msg": str(problems[0])}]
                )


def have_secrets_changed(npc: NPC, entry: NPCIn) -> bool:
    old = list(npc.secrets.order_by("position").values_list("text", "known_to"))
    new = [(each.text, each.known_to) for each in entry.secrets]
    # Audiences are only ever added, because those of the reveal log are in the rows as well.
    return len(old) != len(new) or any(
        text != new_text or not set(audiences) <= set(known_to)
        for (text, known_to), (new_text, audiences) in zip(old, new, strict=True)
    )


def write_secrets(npc: NPC, entry: NPCIn) -> None:
    """Write the secrets in their order. A secret keeps its row, and so the audiences that know it,
    when its text is the same or was reworded."""
    old = list(npc.secrets.order_by("position"))
    # Out of the way, because no two secrets may have one number, not even for a moment.
    npc.secrets.update(position=F("position") + len(old) + len(entry.secrets))
    rows = _match_secrets(old, [each.text for each in entry.secrets])
    npc.secrets.exclude(pk__in=[row.pk for row in rows if row]).delete()
    for position, (new, row) in enumerate(zip(entry.secrets, rows, strict=True), 1):
        secret = row or Secret(world_id=npc.world_id, npc=npc)
        secret.position, secret.text = position, new.text
        secret.known_to = add_audiences(secret.known_to, new.known_to)
        secret.visibility = Visibility.REVEALED if secret.known_to else Visibility.GM
        secret.save()


def _match_secrets(old: list[Secret], texts: list[str]) -> list[Secret | None]:
    """Return the row of each text: the one with this text, else the most similar of those left.

    Never the one of the same number: it may be another secret that moved up when one before it was
    dropped, and its audience would learn what it must not know.
    """
    rows: list[Secret | None] = []
    left = list(old)
    for text in texts:
        same = next((row for row in left if row.text == text), None)
        rows.append(same)
        if same:
            left.remove(same)
    for number, text in enumerate(texts):
        similar = max(left, key=lambda row: ratio(row.text, text), default=None)
        if rows[number] is None and similar and ratio(similar.text, text) >= REWORDED:
            rows[number] = similar
            left.remove(similar)
    return rows
