"""Exports of other campaign tools: Kanka and Foundry VTT."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.importers.entry_fields import LoreDraft, fields_except, make_draft
from knowledge.importers.files import TextFile, text_files
from knowledge.importers.html import html_to_markdown
from retrieval.errors import Invalid

# Kanka's visibility ids: 1 all, 2 admins, 3 admins and author, 4 author, 5 members.
KANKA_OPEN = {1, 5}
KANKA_KINDS = {
    "journals": "custom",
    "notes": "custom",
    "quests": "custom",
    "families": "faction",
    "races": "faction",
}
KANKA_MENTION = re.compile(r"\[(\w{1,40}):(\d{1,18})(?:\|([^\[\]\n]{0,200}))?\]")
FOUNDRY_LINK = re.compile(r"@\w{1,40}\[[^\[\]\n]{0,200}\](?:\{([^{}\n]{0,200})\})?")
# Foundry's ownership levels: -1 inherits, 0 none, 1 limited, 2 observer, 3 owner.
FOUNDRY_OBSERVER = 2
FOUNDRY_MARKDOWN = 2


def read_kanka(path: Path) -> Iterator[LoreDraft]:
    """A Kanka campaign export (folder or zip). Private entities and posts stay the game master's;
    relations with their attitude go into `extra`."""
    files = text_files(path, ".json")
    entities = [(file, entity) for file in files if (entity := _kanka_entity(file))]
    # Mentions and relations name entities by id, so all of them are read before the first body.
    names = {_kanka_id(entity): str(entity["name"]) for _file, entity in entities}
    for file, entity in entities:
        folder = file.path.parent.name
        inner = entity.get("entity") or {}
        relations = _kanka_relations(inner, names)
        yield make_draft(
            file.name,
            private=bool(entity.get("is_private") or inner.get("is_private")),
            title=entity["name"],
            body=_kanka_body(entity, inner, names),
            kind=KANKA_KINDS.get(folder, folder),
            tags=[entity["type"]] if entity.get("type") else [],
            status="published",
            source=f"kanka:{file.name}",
            extra={"relations": relations} if relations else {},
        )


def _kanka_entity(file: TextFile) -> dict[str, Any] | None:
    """The entity of a file, or None: an export holds files of other things, too."""
    value = file.json()
    value = value.get("data", value) if isinstance(value, dict) else value
    if isinstance(value, dict) and value.get("name") and ("entry" in value or "entity" in value):
        return value
    return None


def _kanka_id(entity: dict[str, Any]) -> int:
    inner = entity.get("entity") or {}
    return int(inner.get("id") or entity.get("entity_id") or entity.get("id") or 0)


def _kanka_body(entity: dict[str, Any], inner: dict[str, Any], names: dict[int, str]) -> str:
    parts = [html_to_markdown(str(entity.get("entry") or inner.get("entry") or ""))]
    for post in inner.get("posts") or entity.get("posts") or []:
        text = html_to_markdown(str(post.get("entry") or ""))
        text = f"## {post.get('name') or 'Post'}\n\n{text}"
        is_open = post.get("visibility_id", 1) in KANKA_OPEN
        parts.append(text if is_open else f":::secret\n{text}\n:::")

    def link(mention: re.Match[str]) -> str:
        return _link(mention[3] or names.get(int(mention[2]), ""), mention[0])

    return KANKA_MENTION.sub(link, "\n\n".join(parts))


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


def read_foundry(path: Path) -> Iterator[LoreDraft]:
    """Foundry VTT journals: exported JSON, or a pack of one journal a line. Pages become
    sections.
    """
    for file in text_files(path, ".json", ".db"):
        for journal in _foundry_journals(file):
            content = {"name": "", "text": {"content": journal.get("content") or ""}}
            pages = journal.get("pages") or [content]  # before version 10 a journal had no pages
            yield make_draft(
                f"{file.name}: {journal['name']}",
                private=_owner_level(journal) < FOUNDRY_OBSERVER,
                title=journal["name"],
                body="\n\n".join(filter(None, map(_foundry_page, pages))),
                status="published",
                source=f"foundry:{journal.get('_id') or file.name}",
                extra=fields_except({name: journal.get(name) for name in ("folder", "flags")}),
            )


def _foundry_journals(file: TextFile) -> list[dict[str, Any]]:
    try:
        value = json.loads(file.text)
    except RecursionError as problem:
        raise Invalid(f"{file.name} is nested too deeply.") from problem
    except json.JSONDecodeError:
        # A pack has one JSON object a line.
        lines = [(n, line) for n, line in enumerate(file.text.splitlines(), 1) if line]
        value = [TextFile(f"{file.name}, line {n}", line).json() for n, line in lines]
    journals = value if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) and each.get("name") for each in journals):
        hint = "expected objects with `name` and `pages`"
        raise Invalid(f"{file.name} holds no Foundry journals: {hint}.")
    return journals


def _foundry_page(page: dict[str, Any]) -> str:
    text = page.get("text") or {}
    if text.get("format") == FOUNDRY_MARKDOWN:
        body = str(text.get("markdown") or "")
    else:
        body = html_to_markdown(str(text.get("content") or ""))
    body = FOUNDRY_LINK.sub(lambda link: _link(link[1] or "", link[0]), body).strip()
    if not body:
        return ""
    section = f"## {page['name']}\n\n{body}" if page.get("name") else body
    # A page that inherits (-1) is as open as its journal.
    hidden = "ownership" in page and 0 <= _owner_level(page) < FOUNDRY_OBSERVER
    return f":::secret\n{section}\n:::" if hidden else section


def _owner_level(document: dict[str, Any]) -> int:
    level = (document.get("ownership") or document.get("permission") or {}).get("default", 0)
    return level if isinstance(level, int) else 0


def _link(name: str, otherwise: str) -> str:
    return f"[[{name}]]" if name else otherwise
