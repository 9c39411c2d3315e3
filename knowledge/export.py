"""Export lore as readable text that imports again to the same rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from knowledge.importers.tables import OWN_FORMAT
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from retrieval.errors import Invalid
from worlds.models import World

ALWAYS = ("title", "slug", "kind", "language", "status", "visibility")


def lore_fields(world: World) -> Iterator[dict[str, Any]]:
    """All lore of the world, canon first, as `LoreIn` takes it. Empty fields are left out."""
    rows = Lore.objects.filter(world=world).select_related("campaign", "overrides")
    rows = rows.order_by("campaign__slug", "slug")
    # Canon first, because an overlay names the canon entry that it overrides. The sort is stable.
    for row in sorted(rows, key=lambda each: each.campaign is not None):
        links = row.related_slugs()
        names = (*ALWAYS, *(name for name in LoreIn.model_fields if name not in ALWAYS))
        fields = {name: links[name] if name in links else getattr(row, name) for name in names}
        # Zero and False are values, so truth is no test for an empty field.
        empty: tuple[Any, ...] = (None, "", [], {})
        yield {key: value for key, value in fields.items() if key in ALWAYS or value not in empty}


def export_json(world: World) -> str:
    entries = list(lore_fields(world))
    content = {"format": OWN_FORMAT, "version": 1, "world": world.slug, "entries": entries}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def export_markdown(world: World, folder: Path) -> None:
    """Write a Markdown file per entry. Raises `Invalid` unless the folder is empty or new."""
    if folder.exists() and any(folder.iterdir()):
        raise Invalid(f"{folder} is not empty: name a new folder.")
    for fields in lore_fields(world):
        place = folder / "campaigns" / fields["campaign"] if fields.get("campaign") else folder
        place.mkdir(parents=True, exist_ok=True)
        body = fields.pop("body", "")
        front = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=120)
        text = f"---\n{front}---\n{body}\n"
        (place / f"{fields['slug']}.md").write_text(text, encoding="utf-8")
