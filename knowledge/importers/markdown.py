"""Folders of Markdown: an Obsidian vault, or our own export."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.importers.entry_fields import Draft, draft, title_of, without
from knowledge.importers.files import TextFile, text_files
from knowledge.schemas import LoreIn
from retrieval.text import clean_text, slugify, split_front_matter, string_list

COMMENT = re.compile(r"%%(.+?)%%", re.DOTALL)
INLINE_TAG = re.compile(r"(?:^|\s)#([^\W\d][\w/-]*)")
OWN_FIELDS = set(LoreIn.model_fields) - {"title", "body", "slug", "extra"}


def read_vault(path: Path) -> Iterator[Draft]:
    """Notes of an Obsidian vault. Comments (`%%…%%`) are the author's own: they become secrets."""
    for file in text_files(path, ".md", ".markdown"):
        fields, body = split_front_matter(clean_text(file.text))
        body = COMMENT.sub(
            lambda found: f"\n\n:::secret\n{found[1].strip()}\n:::\n\n", body
        ).strip()
        tags = [*string_list(fields.get("tags") or fields.get("tag")), *INLINE_TAG.findall(body)]
        yield draft(
            file.name,
            title=fields.get("title") or title_of(file.path),
            slug=slugify(title_of(file.path)) or None,
            body=body,
            kind=fields.get("kind") or fields.get("type") or _folder(file),
            aliases=string_list(fields.get("aliases") or fields.get("alias")),
            tags=[tag.lstrip("#") for tag in dict.fromkeys(tags)],
            origin=f"obsidian:{file.name}"[-200:],
            extra=_plain(
                without(fields, "title", "kind", "type", "aliases", "alias", "tags", "tag")
            ),
            **{name: str(fields[name]) for name in ("in_world_label",) if fields.get(name)},
            **{
                name: fields[name]
                for name in ("in_world_at", "in_world_until")
                if fields.get(name) is not None
            },
        )


def read_own(path: Path) -> Iterator[Draft]:
    """Files of `export_lore --format markdown`: the front matter says everything, also who may see it."""
    for file in text_files(path, ".md"):
        fields, body = split_front_matter(clean_text(file.text))
        told: dict[str, Any] = {name: fields[name] for name in OWN_FIELDS if name in fields}
        yield draft(
            file.name,
            title=fields.get("title") or title_of(file.path),
            slug=str(fields.get("slug") or slugify(title_of(file.path))),
            body=body,
            extra=fields.get("extra") or {},
            **told,
        )


def _folder(file: TextFile) -> str:
    return file.path.parent.name


def _plain(value: Any) -> Any:
    """YAML knows dates, JSON does not."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
