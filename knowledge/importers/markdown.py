"""Folders of Markdown: an Obsidian vault, or our own export."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.importers.entry_fields import LoreDraft, fields_except, make_draft, title_from_path
from knowledge.importers.files import text_files
from knowledge.schemas import LoreIn
from retrieval.text import clean_text, slugify, split_front_matter, string_list

COMMENT = re.compile(r"%%(.+?)%%", re.DOTALL)
INLINE_TAG = re.compile(r"(?:^|\s)#([^\W\d][\w/-]*)")
OWN_FIELDS = set(LoreIn.model_fields) - {"title", "body", "slug", "extra"}
VAULT_FIELDS = ("title", "kind", "type", "aliases", "alias", "tags", "tag")


def read_vault(path: Path) -> Iterator[LoreDraft]:
    """Notes of an Obsidian vault. Comments (`%%…%%`) are for the author alone: they become
    secrets.
    """
    for file in text_files(path, ".md", ".markdown"):
        fields, text = split_front_matter(clean_text(file.text))
        body = COMMENT.sub(lambda found: f"\n\n:::secret\n{found[1].strip()}\n:::\n\n", text)
        tags = [*string_list(fields.get("tags") or fields.get("tag")), *INLINE_TAG.findall(body)]
        in_world = {
            name: fields[name]
            for name in ("in_world_at", "in_world_until")
            if fields.get(name) is not None
        }
        if fields.get("in_world_label"):
            in_world["in_world_label"] = str(fields["in_world_label"])
        yield make_draft(
            file.name,
            title=fields.get("title") or title_from_path(file.path),
            slug=slugify(title_from_path(file.path)) or None,
            body=body.strip(),
            kind=fields.get("kind") or fields.get("type") or file.path.parent.name,
            aliases=string_list(fields.get("aliases") or fields.get("alias")),
            tags=[tag.lstrip("#") for tag in dict.fromkeys(tags)],
            source=f"obsidian:{file.name}",
            extra=_json_value(fields_except(fields, *VAULT_FIELDS)),
            **in_world,
        )


def read_own_markdown(path: Path) -> Iterator[LoreDraft]:
    """Files of `export_lore --format markdown`: the front matter holds all fields, the audience
    too.
    """
    for file in text_files(path, ".md"):
        fields, body = split_front_matter(clean_text(file.text))
        yield make_draft(
            file.name,
            title=fields.get("title") or title_from_path(file.path),
            slug=str(fields.get("slug") or slugify(title_from_path(file.path))),
            body=body,
            extra=fields.get("extra") or {},
            **{name: fields[name] for name in OWN_FIELDS if name in fields},
        )


def _json_value(value: Any) -> Any:
    """YAML has dates, JSON does not: they become text."""
    if isinstance(value, dict):
        return {str(key): _json_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_value(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
