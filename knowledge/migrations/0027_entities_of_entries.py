"""Entries of canon that were saved before entries had entities get theirs."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import migrations

from retrieval.text import fold_name, name_keys

KINDS = {
    "place": "Location",
    "faction": "Faction",
    "biography": "Character",
    "item": "Item",
    "event": "Event",
    "timeline": "Event",
    "quest": "Quest",
}
BATCH = 500


def make_entities(apps: Any, _editor: Any) -> None:
    entries: Any = apps.get_model("knowledge", "Lore")._base_manager
    nodes: Any = apps.get_model("knowledge", "GraphNode")._base_manager
    entries = entries.filter(campaign=None, deleted_at=None, kind__in=KINDS)
    for world in entries.order_by("world").values_list("world", flat=True).distinct():
        stored = list(nodes.filter(world=world))
        own = entries.filter(world=world).order_by("pk").iterator(chunk_size=BATCH)
        nodes.bulk_create(missing_entities(nodes.model, own, stored), batch_size=BATCH)


def missing_entities(model: Any, entries: Iterable[Any], stored: list[Any]) -> Iterator[Any]:
    """Yield the entities of those `entries` that none of the `stored` ones is about: by the link
    between them, or by kind and slug or name."""
    slugs = {node.slug for node in stored}
    about = {(node.lore_id, node.kind) for node in stored}
    about |= {(node.slug, node.kind) for node in stored if node.believed_until is None}
    about |= {(fold_name(node.name), node.kind) for node in stored if node.believed_until is None}
    for entry in entries:
        kind = KINDS[entry.kind]
        if about & {(each, kind) for each in (entry.pk, entry.slug, fold_name(entry.title))}:
            continue
        is_hidden = entry.status == "draft" or entry.visibility == "gm"
        candidates = (entry.slug, f"{entry.slug[:100]}-{kind.lower()}", str(entry.pk))
        slug = next(each for each in candidates if each not in slugs)
        slugs.add(slug)
        yield model(
            world_id=entry.world_id,
            kind=kind,
            slug=slug,
            name=entry.title,
            aliases=entry.aliases,
            keys=name_keys(entry.title, *entry.aliases),
            lore_id=entry.pk,
            source_kind="lore",
            source_ref=f"lore:{entry.slug}"[:200],
            visibility="gm" if is_hidden else entry.visibility,
            known_to=[] if is_hidden else sorted(entry.known_to),
        )


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0026_proposals_from_texts")]

    operations = [migrations.RunPython(make_entities, migrations.RunPython.noop, elidable=True)]
