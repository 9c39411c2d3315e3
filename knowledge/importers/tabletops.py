"""Exports of other campaign tools: Kanka and Foundry VTT."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.importers.entry_fields import Draft, draft, without
from knowledge.importers.files import TextFile, text_files
from knowledge.importers.html import to_markdown
from retrieval.errors import Invalid

KANKA_OPEN = {1, 5}
"""Kanka's visibility ids: 1 all, 2 admins, 3 admins and author, 4 author, 5 members."""
KANKA_KINDS = {
    "journals": "custom",
    "notes": "custom",
    "quests": "custom",
    "families": "faction",
    "races": "faction",
}
KANKA_MENTION = re.compile(r"\[(\w{1,40}):(\d{1,18})(?:\|([^\[\]\n]{0,200}))?\]")
FOUNDRY_LINK = re.compile(r"@\w{1,40}\[[^\[\]\n]{0,200}\](?:\{([^{}\n]{0,200})\})?")
FOUNDRY_OBSERVER = 2


def read_kanka(path: Path) -> Iterator[Draft]:
    """A Kanka campaign export (folder or zip). Private entities and posts stay the game master's; relations with their
    attitude are kept in `extra`."""
    entities = [
        (file, entity) for file in text_files(path, ".json") if (entity := _kanka_entity(file))
    ]
    names = {_kanka_id(entity): str(entity["name"]) for _file, entity in entities}
    for file, entity in entities:
        folder = file.path.parent.name
        inner = entity.get("entity") or {}
        yield draft(
            file.name,
            private=bool(entity.get("is_private") or inner.get("is_private")),
            title=entity["name"],
            body=_kanka_body(entity, inner, names),
            kind=KANKA_KINDS.get(folder, folder),
            tags=[entity["type"]] if entity.get("type") else [],
            status="published",
            origin=f"kanka:{file.name}"[-200:],
            extra={"relations": told} if (told := _kanka_relations(inner, names)) else {},
        )


def _kanka_entity(file: TextFile) -> dict[str, Any] | None:
    value = file.json()
    value = value.get("data", value) if isinstance(value, dict) else value
    return (
        value
        if isinstance(value, dict) and value.get("name") and ("entry" in value or "entity" in value)
        else None
    )


def _kanka_id(entity: dict[str, Any]) -> int:
    inner = entity.get("entity") or {}
    return int(inner.get("id") or entity.get("entity_id") or entity.get("id") or 0)


def _kanka_body(entity: dict[str, Any], inner: dict[str, Any], names: dict[int, str]) -> str:
    parts = [to_markdown(str(entity.get("entry") or inner.get("entry") or ""))]
    for post in inner.get("posts") or entity.get("posts") or []:
        text = f"## {post.get('name') or 'Post'}\n\n{to_markdown(str(post.get('entry') or ''))}"
        parts.append(
            text if post.get("visibility_id", 1) in KANKA_OPEN else f":::secret\n{text}\n:::"
        )
    return KANKA_MENTION.sub(
        lambda found: _link(found[3] or names.get(int(found[2]), ""), found[0]), "\n\n".join(parts)
    )


def _kanka_relations(inner: dict[str, Any], names: dict[int, str]) -> list[dict[str, Any]]:
    """`attitude` runs from -100 to 100; a relation that is not for all is marked."""
    return [
        {
            "to": names.get(int(each.get("target_id") or 0), str(each.get("target_id"))),
            "relation": each.get("relation"),
            "attitude": each.get("attitude"),
            "private": each.get("visibility_id", 1) not in KANKA_OPEN,
        }
        for each in inner.get("relationships") or inner.get("relations") or []
    ]


def read_foundry(path: Path) -> Iterator[Draft]:
    """Foundry VTT journals: exported JSON, or a pack of one journal a line. Pages become sections."""
    for file in text_files(path, ".json", ".db"):
        for journal in _journals(file):
            pages = journal.get("pages") or [
                {"name": "", "text": {"content": journal.get("content") or ""}}
            ]
            yield draft(
                f"{file.name}: {journal['name']}",
                private=_owner_level(journal) < FOUNDRY_OBSERVER,
                title=journal["name"],
                body="\n\n".join(filter(None, (_page(page) for page in pages))),
                status="published",
                origin=f"foundry:{journal.get('_id') or file.name}"[-200:],
                extra=without({"folder": journal.get("folder"), "flags": journal.get("flags")}),
            )


def _journals(file: TextFile) -> list[dict[str, Any]]:
    try:
        found = json.loads(file.text)
    except RecursionError as problem:
        raise Invalid(f"{file.name} is nested too deeply.") from problem
    except json.JSONDecodeError:
        found = [
            TextFile(f"{file.name}, line {n}", line).json()
            for n, line in enumerate(file.text.splitlines(), 1)
            if line
        ]
    journals = found if isinstance(found, list) else [found]
    if not all(isinstance(each, dict) and each.get("name") for each in journals):
        raise Invalid(
            f"{file.name} holds no Foundry journals: expected objects with `name` and `pages`."
        )
    return journals


def _page(page: dict[str, Any]) -> str:
    text = page.get("text") or {}
    body = (
        str(text.get("markdown") or "")
        if text.get("format") == 2
        else to_markdown(str(text.get("content") or ""))
    )
    body = FOUNDRY_LINK.sub(lambda found: _link(found[1] or "", found[0]), body).strip()
    if not body:
        return ""
    told = f"## {page['name']}\n\n{body}" if page.get("name") else body
    hidden = "ownership" in page and 0 <= _owner_level(page) < FOUNDRY_OBSERVER
    return f":::secret\n{told}\n:::" if hidden else told


def _owner_level(document: dict[str, Any]) -> int:
    """0 none, 1 limited, 2 observer, 3 owner; -1 inherits."""
    level = (document.get("ownership") or document.get("permission") or {}).get("default", 0)
    return level if isinstance(level, int) else 0


def _link(name: str, otherwise: str) -> str:
    return f"[[{name}]]" if name else otherwise
