"""Create and update NPCs: the static half of profiles, with their secrets."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from rapidfuzz.fuzz import ratio
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from episodes.lookup import lore_by_name
from knowledge.entry_entities import make_way
from knowledge.entry_facts import complete_texts_about
from knowledge.graph.models import NodeKind, SourceKind
from knowledge.graph.schemas import GraphFact, NodeFact
from knowledge.graph.upsert import lock_graph, upsert_facts
from knowledge.markup_check import check_markers
from knowledge.models import Lore
from npcs.dispositions import recompute_all_parties
from npcs.family import with_slugs
from npcs.field_facts import NAMES, all_fields, write_field_facts
from npcs.field_links import FIELDS_WITH_ENTRY, link_fields
from npcs.links import follow_npcs, follow_secrets
from npcs.models import NPC, Secret
from npcs.schemas import NPCIn
from retrieval.errors import Invalid
from retrieval.text import name_keys
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
BATCH = 500
LISTS = ("family", "milestones", "known_to")
LINKED = ("faction", "faction_lore_id", "home", "home_lore_id", "biography_id")


def upsert_npc(
    world: World, entry: NPCIn, *, expected_version: int | None = None
) -> tuple[NPC, Outcome]:
    """Create an NPC, or change the one with its id by the fields that are set; returns it with
    `created`, `changed` or `unchanged`. Raises `StaleVersion` when another version than the
    expected one is stored.

    Audiences that the reveal log has added to `known_to` stay.
    """
    return upsert_npcs(world, [entry], expected_versions={entry.npc_id: expected_version})[0]


def upsert_npcs(
    world: World,
    entries: Sequence[NPCIn],
    *,
    expected_versions: Mapping[str, int | None] | None = None,
) -> list[tuple[NPC, Outcome]]:
    """Do it for many NPCs, all or none, with few queries; at most `MAX_BATCH`, each with an id of
    its own. `expected_versions` are those that the writer has read, by the NPC's id."""
    with transaction.atomic():
        lock_graph(world)
        slugs = [entry.npc_id for entry in entries]
        rows = NPC.objects.select_for_update().filter(world=world, slug__in=slugs)
        stored = {npc.slug: npc for npc in rows}
        for slug, version in (expected_versions or {}).items():
            require_version(stored.get(slug), version)
        npcs = [stored.get(slug) or NPC(slug=slug) for slug in slugs]
        scores = [score_settings(npc) for npc in npcs]
        lore = lore_by_name(world, [entry.biography for entry in entries if entry.biography])
        for npc, entry in zip(npcs, entries, strict=True):
            npc.world = world
            copy_fields(entry, npc, lore, sent=sent_fields(entry, is_new=npc.slug not in stored))
        for npc, family in zip(npcs, with_slugs(world, [npc.family for npc in npcs]), strict=True):
            npc.family = family
        old_secrets = secrets_of(stored.values())
        with_new_secrets = {
            npc.pk
            for npc, entry in zip(npcs, entries, strict=True)
            if npc.slug in stored
            and "secrets" in entry.model_fields_set
            and have_secrets_changed(old_secrets[npc.pk], entry)
        }
        outcomes = store_npcs(npcs, with_new_secrets=with_new_secrets)
        write_secrets(
            {
                npc: entry
                for npc, entry, outcome in zip(npcs, entries, outcomes, strict=True)
                if outcome == "created" or npc.pk in with_new_secrets
            },
            old_secrets,
        )
    # Outside the transaction, because it locks one party after the other.
    for npc, before in zip(npcs, scores, strict=True):
        if npc.slug in stored and before != score_settings(npc):
            recompute_all_parties(npc)
    return list(zip(npcs, outcomes, strict=True))


def store_npc(
    npc: NPC,
    *,
    has_new_secrets: bool = False,
    reason: str = "",
    expected_version: int | None = None,
) -> Outcome:
    """Write a new or edited NPC; see `store_npcs`. Raises `StaleVersion` when another version than
    the expected one is stored."""
    return store_npcs(
        [npc],
        with_new_secrets={npc.pk} if has_new_secrets else set(),
        reason=reason,
        expected_versions={npc.pk: expected_version},
    )[0]


def store_npcs(
    npcs: Sequence[NPC],
    *,
    with_new_secrets: Collection[UUID] = (),
    reason: str = "",
    expected_versions: Mapping[UUID, int | None] | None = None,
) -> list[Outcome]:
    """Write new or edited NPCs of one world and their entities of the relation graph, in the
    caller's transaction. A faction or a home without an entry gets the one that it names.

    A row gets a version and a history row only if a field, or a secret (`with_new_secrets`), has
    changed. The caller calls `recompute_all_parties` when `score_settings` have changed."""
    if not npcs:
        return []
    # Before the rows, as every writer of both does: two that wait for each other would fail.
    lock_graph(npcs[0].world)
    link_fields(npcs[0].world, npcs)
    rows = NPC.objects.select_for_update().filter(pk__in=[npc.pk for npc in npcs])
    stored_by_id = {row.pk: row for row in rows}
    outcomes: list[Outcome] = []
    changed: dict[NPC, set[str]] = {}
    for npc in npcs:
        npc.name_keys = name_keys(npc.name, *npc.aliases)  # bulk_update calls no pre_save
        stored = stored_by_id.get(npc.pk)
        require_version(stored, (expected_versions or {}).get(npc.pk))
        if stored is None:
            outcomes.append("created")
            require_sound_texts(npc, None)
        elif npc.pk not in with_new_secrets and versioned_fields(stored) == versioned_fields(npc):
            outcomes.append("unchanged")
        else:
            outcomes.append("changed")
            require_sound_texts(npc, stored)
            npc.version, npc.updated_at = stored.version + 1, timezone.now()
            changed[npc] = differing_fields(stored, npc)
    pairs = list(zip(npcs, outcomes, strict=True))
    new = [npc for npc, outcome in pairs if outcome == "created"]
    updates = [npc for npc, outcome in pairs if outcome == "changed"]
    write_rows(new, updates, changed, reason=reason)
    return outcomes


def write_rows(
    new: Sequence[NPC],
    updates: Sequence[NPC],
    changed: Mapping[NPC, Collection[str]],
    *,
    reason: str,
) -> None:
    """Write the rows, of `updates` the columns `changed`, their history, links and entities, and
    the facts that their fields state."""
    history: Any = {"batch_size": BATCH, "default_change_reason": reason[:100] or None}
    # An insert: a row that another writer made meanwhile is an error, not overwritten.
    bulk_create_with_history(new, NPC, **history)
    columns = sorted(set[str]().union(*changed.values()))
    bulk_update_with_history(updates, NPC, columns, **history)
    written = [*new, *updates]
    follow_npcs(written)
    if written:
        make_way(written[0].world, {npc.slug: npc.biography_id for npc in written})
        facts = [GraphFact(node=graph_node_of(npc)) for npc in written]
        upsert_facts(written[0].world, facts)
        write_field_facts(written[0].world, {**all_fields(new), **changed})
        named = {npc.pk for npc in new} | {npc.pk for npc in updates if NAMES & set(changed[npc])}
        complete_texts_about(written[0].world, named)


def differing_fields(stored: NPC, npc: NPC) -> set[str]:
    """The names of the columns that differ between a stored row and an edited one."""
    fields = [field for field in NPC._meta.concrete_fields if not field.primary_key]
    return {
        field.name
        for field in fields
        if getattr(stored, field.attname) != getattr(npc, field.attname)
    }


def restore_npc(npc: NPC, record: NPC, *, reason: str) -> Outcome:
    """Give `npc` the fields of `record`, an old version of it. Secrets and the reveal log stay as
    they are."""
    with transaction.atomic():
        scores = score_settings(npc)
        for name in (*COPIED, "faction", "home", "family", "milestones"):
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


def sent_fields(entry: NPCIn, *, is_new: bool) -> Collection[str]:
    """The fields to write: all of a new NPC, else those that are set."""
    return set(NPCIn.model_fields) if is_new else entry.model_fields_set


def copy_fields(entry: NPCIn, npc: NPC, lore: Mapping[str, Lore], *, sent: Collection[str]) -> None:
    """Copy the fields `sent`; `lore` has the biographies. Does not save; `store_npcs` finds the
    entries of the other names."""
    if "biography" in sent:
        npc.biography = lore.get(entry.biography)
    for name in FIELDS_WITH_ENTRY:
        if name in sent:
            setattr(npc, name, getattr(entry, name))
            setattr(npc, f"{name}_lore", None)
    for name in COPIED:
        if name in sent:
            setattr(npc, name, getattr(entry, name))
    if "milestones" in sent:
        npc.milestones = [each.model_dump() for each in entry.milestones]
    if "family" in sent:
        npc.family = [each.model_dump(mode="json") for each in entry.family]
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
        if not Audience.parse(text).is_named:
            raise Invalid(
                _("known_to names party:<id>, character:<id> or npc:<id>, not %(text)r.")
                % {"text": text}
            )
    return sorted({*known_to, *(str(Audience.parse(text)) for text in texts)})


def versioned_fields(npc: NPC) -> dict[str, Any]:
    """The fields whose change makes a new version."""
    return {name: getattr(npc, name) for name in (*COPIED, *LINKED, *LISTS)}


def require_sound_texts(npc: NPC, stored: NPC | None) -> None:
    """Raise `Invalid` for an edited text in which a merge was not finished, and for a description
    with a secret block: players who know the NPC read all of it."""
    if stored is None or stored.summary != npc.summary:
        try:
            npc.clean()
        except ValidationError as refusal:
            [text] = refusal.messages
            raise Invalid(f"summary: {text}", errors=[{"loc": ["summary"], "msg": text}]) from None
    for name in ("summary", "voice", "goals", "play_now"):
        value = getattr(npc, name)
        if stored and getattr(stored, name) == value:
            continue
        for text in [value] if isinstance(value, str) else value:
            if problems := check_markers(text):
                raise Invalid(
                    f"{name}: {problems[0]}", errors=[{"loc": [name], "msg": str(problems[0])}]
                )


def secrets_of(npcs: Iterable[NPC]) -> dict[UUID, list[Secret]]:
    """Return the secrets by NPC, each list in its order."""
    by_npc: dict[UUID, list[Secret]] = defaultdict(list)
    if ids := [npc.pk for npc in npcs]:
        for secret in Secret.objects.filter(npc__in=ids).order_by("position"):
            by_npc[secret.npc_id].append(secret)
    return by_npc


def have_secrets_changed(old: Sequence[Secret], entry: NPCIn) -> bool:
    # Audiences are only ever added, because those of the reveal log are in the rows as well.
    return len(old) != len(entry.secrets) or any(
        secret.text != new.text or not set(new.known_to) <= set(secret.known_to)
        for secret, new in zip(old, entry.secrets, strict=True)
    )


def write_secrets(entries: Mapping[NPC, NPCIn], old: Mapping[UUID, list[Secret]]) -> None:
    """Write the secrets in their order. A secret keeps its row, and so the audiences that know it,
    when its text is the same or was reworded. `old` has the stored ones of each NPC."""
    new_rows: list[Secret] = []
    for npc, entry in entries.items():
        stored = old.get(npc.pk, [])
        matches = _match_secrets(stored, [each.text for each in entry.secrets])
        if stored:
            # Out of the way, because no two secrets may have one number, not even for a moment.
            npc.secrets.update(position=F("position") + len(stored) + len(entry.secrets))
            npc.secrets.exclude(pk__in=[row.pk for row in matches if row]).delete()
        for position, (new, row) in enumerate(zip(entry.secrets, matches, strict=True), 1):
            secret = row or Secret(world_id=npc.world_id, npc=npc)
            secret.position, secret.text = position, new.text
            secret.known_to = add_audiences(secret.known_to, new.known_to)
            secret.visibility = Visibility.REVEALED if secret.known_to else Visibility.GM
            if row:
                row.save()
            else:
                new_rows.append(secret)
    Secret.objects.bulk_create(new_rows, batch_size=BATCH)
    follow_secrets(new_rows)


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
