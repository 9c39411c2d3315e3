"""Move lore entries to the trash, and restore them with their passages, reveals and entities."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from simple_history.utils import bulk_update_with_history

from knowledge.entry_entities import AUDIENCE, ENTITY_FIELDS, SavedEntry, keep_entities
from knowledge.entry_facts import follow_texts
from knowledge.entry_store import write_links_of_entries
from knowledge.graph.models import GraphNode
from knowledge.graph.trash import hide_node, show_node
from knowledge.graph.upsert import lock_graph
from knowledge.mentions.store import forget_sources, resolve_again
from knowledge.models import Lore, LorePassage
from knowledge.passages import write_lore_passages
from worlds.models import Reveal, World
from worlds.trash import TRASH_FIELDS

KEPT_OF_PASSAGE = ("position", "text", "secret", "revealed_to", "metadata")


@transaction.atomic
def trash_lore(entries: Sequence[Lore], *, by: str, at: datetime | None = None) -> int:
    """Move live entries of one world to the trash, as of `at`, by default now; return how many."""
    world = entries[0].world if entries else None
    if world is None:
        return 0
    lock_graph(world)
    ids = [entry.pk for entry in entries]
    rows = list(Lore.objects.select_for_update().filter(pk__in=ids, world=world))
    if not rows:
        return 0
    passages = _take_passages(rows)
    nodes = _take_nodes(rows)
    now = at or timezone.now()
    for row in rows:
        row.deleted_at, row.deleted_by = now, by[:150]
        people: Any = row.npcs  # a relation from the app above
        biography_of = [str(pk) for pk in people.values_list("pk", flat=True)]
        people.update(biography=None)
        row.trash_data = {
            "passages": passages[row.pk],
            "nodes": nodes[row.pk],
            "biography_of": biography_of,
        }
    _write(rows, list(TRASH_FIELDS), by=by, reason="moved to the trash")
    forget_sources("lore", ids)
    resolve_again(world, ids)
    return len(rows)


def _take_passages(rows: list[Lore]) -> dict[Any, list[dict[str, Any]]]:
    """Delete the passages; return of each what keeps its id, and with it its reveals."""
    kept: dict[Any, list[dict[str, Any]]] = {row.pk: [] for row in rows}
    passages = LorePassage.objects.filter(lore__in=rows)
    for passage in passages.order_by("position").values("pk", "lore_id", *KEPT_OF_PASSAGE):
        passage["pk"] = str(passage["pk"])
        kept[passage.pop("lore_id")].append(passage)
    passages.delete()
    return kept


def _take_nodes(rows: list[Lore]) -> dict[Any, list[dict[str, Any]]]:
    """Unlink the entities of the entries, and hide those that no NPC stands for."""
    kept: dict[Any, list[dict[str, Any]]] = {row.pk: [] for row in rows}
    # The relation `npcs` comes from the app above; its manager leaves out those in the trash.
    people = {(row.pk, npc.slug) for row in rows for npc in row.npcs.all()}
    nodes = GraphNode.objects.filter(lore__in=rows)
    for node in nodes:
        is_person = (node.lore_id, node.slug) in people
        is_hidden = is_person or node.believed_until is not None
        record = {"node": str(node.pk)} if is_hidden else hide_node(node)
        kept[node.lore_id].append(record)
    nodes.update(lore=None)
    return kept


@transaction.atomic
def restore_lore(entries: Sequence[Lore], *, by: str) -> int:
    """Bring entries of one world back from the trash; return how many. An entry whose slug was
    taken meanwhile gets another."""
    world = entries[0].world if entries else None
    if world is None:
        return 0
    lock_graph(world)
    ids = [entry.pk for entry in entries]
    rows = Lore.with_trash.select_for_update().filter(pk__in=ids, world=world)
    trashed: list[Lore] = list(rows.exclude(deleted_at=None))
    if not trashed:
        return 0
    for row in trashed:
        _restore_passages(row)
        _restore_links(row)
        row.slug = _free_slug(row)
        row.overrides_id = _free_override(row)
        row.deleted_at, row.deleted_by, row.trash_data = None, "", {}
        # One after the other: the next row may have had the same slug.
        fields = ["slug", "overrides", *TRASH_FIELDS]
        _write([row], fields, by=by, reason="restored from the trash")
    write_lore_passages(trashed)
    write_links_of_entries(trashed)
    keep_entities(world, [SavedEntry(row, ENTITY_FIELDS) for row in trashed])
    follow_texts(world, [SavedEntry(row, AUDIENCE, row) for row in trashed])
    _restore_reveals(trashed)
    return len(trashed)


def _restore_passages(row: Lore) -> None:
    """Create the passages under their old ids; they are cut again afterwards, which takes over
    the ids and reveals of those with the same text."""
    LorePassage.objects.bulk_create(
        LorePassage(
            lore=row,
            world_id=row.world_id,
            campaign_id=row.campaign_id,
            language=row.language,
            **passage,
        )
        for passage in row.trash_data.get("passages", [])
    )


def _restore_reveals(rows: list[Lore]) -> None:
    """Bring the passages in step with the reveal log, which may have changed meanwhile."""
    passages = LorePassage.objects.filter(lore__in=rows, secret=True).select_related("lore")
    log = Reveal.objects.filter(subject_kind="lorepassage", subject_id__in=passages.values("pk"))
    revealed = set(log.values_list("subject_id", flat=True))
    for passage in passages.defer("embedding", "search_vector"):
        if passage.pk in revealed:
            passage.visibility_changed()


def _restore_links(row: Lore) -> None:
    """Link the entry again to its entities, and to the NPCs whose biography it is."""
    for record in row.trash_data.get("nodes", []):
        # An entity that got another entry meanwhile keeps that.
        GraphNode.objects.filter(pk=record["node"], lore=None).update(lore=row)
        if "slug" in record:
            show_node(record)
    people: Any = row.npcs.model.with_trash
    biography_of = row.trash_data.get("biography_of", [])
    people.filter(pk__in=biography_of, biography=None).update(biography=row)


def _free_slug(row: Lore) -> str:
    live = Lore.objects.filter(world=row.world_id, campaign=row.campaign_id)
    if not live.filter(slug=row.slug).exists():
        return row.slug
    return f"{row.slug[:100]}-{row.pk.hex[-8:]}"


def _free_override(row: Lore) -> Any:
    """The canon entry that the row replaces, unless another entry of the campaign does so now."""
    live = Lore.objects.filter(campaign=row.campaign_id, overrides=row.overrides_id)
    return None if row.overrides_id and live.exists() else row.overrides_id


def _write(rows: list[Lore], fields: list[str], *, by: str, reason: str) -> None:
    note = f"{reason} by {by}"[:100]
    bulk_update_with_history(
        rows, Lore, fields, manager=Lore.with_trash, default_change_reason=note
    )


def trashed_lore(world: World) -> Any:
    return Lore.with_trash.filter(world=world).exclude(deleted_at=None).order_by("-deleted_at")
