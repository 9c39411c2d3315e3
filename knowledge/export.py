"""Export lore so that it can be read, kept in version control, and imported again to the same rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from knowledge.importers.tables import OWN
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from retrieval.errors import Invalid
from worlds.models import World

ALWAYS = ("title", "slug", "kind", "language", "status", "visibility")


def entries(world: World) -> Iterator[dict[str, Any]]:
    """All lore of the world, canon first, as `LoreIn` takes it."""
    rows = (
        Lore.objects.filter(world=world)
        .select_related("campaign", "overrides")
        .order_by("campaign__slug", "slug")
    )
    for row in sorted(rows, key=lambda each: (each.campaign is not None,)):
        yield _fields(row)


def as_json(world: World) -> str:
    content = {"format": OWN, "version": 1, "world": world.slug, "entries": list(entries(world))}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def to_markdown(world: World, folder: Path) -> int:
    """Write a file an entry, overlays in a folder a campaign; return how many. The folder must be empty or new."""
    if folder.exists() and any(folder.iterdir()):
        raise Invalid(f"{folder} is not empty: name a new folder.")
    count = 0
    for fields in entries(world):
        place = folder / "campaigns" / fields["campaign"] if fields.get("campaign") else folder
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{fields['slug']}.md").write_text(as_markdown(fields), encoding="utf-8")
        count += 1
    return count


def as_markdown(fields: dict[str, Any]) -> str:
    head = {name: value for name, value in fields.items() if name != "body"}
    front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=120)
    return f"---\n{front}---\n{fields.get('body', '')}\n"


def _fields(row: Lore) -> dict[str, Any]:
    told = {
        name: getattr(row, name)
        for name in LoreIn.model_fields
        if name not in ("campaign", "overrides")
    }
    told |= {
        "campaign": row.campaign.slug if row.campaign else None,
        "overrides": row.overrides.slug if row.overrides else None,
    }
    kept = {
        name: value
        for name, value in told.items()
        if name in ALWAYS or value not in (None, "", [], {})
    }
    return {name: kept[name] for name in (*ALWAYS, *(name for name in kept if name not in ALWAYS))}
