"""Lorebooks of chat front ends: SillyTavern's World Info and NovelAI's `.lorebook`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.importers.entry_fields import LoreDraft, fields_except, make_draft
from knowledge.importers.files import text_files
from retrieval.errors import Invalid

WORLD_INFO_FIELDS = ("comment", "key", "keys", "content", "disable", "enabled", "uid", "name")
NOVELAI_FIELDS = ("displayName", "keys", "text", "enabled", "category")


def read_world_info(path: Path) -> Iterator[LoreDraft]:
    """SillyTavern: comment = title, key = aliases, content = text, disable = draft; patterns go
    into `extra`.
    """
    for file in text_files(path, ".json"):
        for uid, entry in _entries(file.json(), file.name):
            keys = [str(key) for key in _list(entry.get("key") or entry.get("keys"))]
            patterns = [key for key in keys if _is_pattern(key)]
            names = [key for key in keys if key not in patterns]
            # SillyTavern writes `disable`; character books write `enabled`, by default true.
            is_off = entry.get("disable") or entry.get("enabled") is False
            extra = {"patterns": patterns} if patterns else {}
            yield make_draft(
                f"{file.name}#{uid}",
                title=entry.get("comment") or entry.get("name") or [*names, f"Entry {uid}"][0],
                body=str(entry.get("content") or ""),
                aliases=names,
                status="draft" if is_off else "published",
                tags=["always-on"] if entry.get("constant") else [],
                source=f"sillytavern:{file.name}#{uid}",
                extra=extra | fields_except(entry, *WORLD_INFO_FIELDS),
            )


def read_novelai(path: Path) -> Iterator[LoreDraft]:
    """NovelAI: displayName = title, keys = aliases, text = text, category = tag."""
    for file in text_files(path, ".lorebook", ".json"):
        book = _object(file.json(), file.name)
        categories = {each.get("id"): each.get("name") for each in _list(book.get("categories"))}
        for number, entry in enumerate(_list(book.get("entries"))):
            category = categories.get(entry.get("category"))
            keys = [str(key) for key in _list(entry.get("keys"))]
            yield make_draft(
                f"{file.name}#{number}",
                title=entry.get("displayName") or [*keys, f"Entry {number}"][0],
                body=str(entry.get("text") or ""),
                aliases=[key for key in keys if not _is_pattern(key)],
                tags=[category] if category else [],
                kind=category or "custom",
                status="published" if entry.get("enabled", True) else "draft",
                source=f"novelai:{file.name}#{number}",
                extra=fields_except(entry, *NOVELAI_FIELDS),
            )


def _entries(book: Any, name: str) -> list[tuple[str, dict[str, Any]]]:
    """(id, entry) of a World Info file; `entries` is an object by id or, in character books, a
    list.
    """
    entries = _object(book, name).get("entries")
    if isinstance(entries, dict):
        return [(uid, entry) for uid, entry in entries.items() if isinstance(entry, dict)]
    if isinstance(entries, list):
        pairs = [(n, entry) for n, entry in enumerate(entries) if isinstance(entry, dict)]
        return [(str(entry.get("uid", n)), entry) for n, entry in pairs]
    raise Invalid(f"{name} holds no `entries`: this is not a World Info file.")


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(f"{name} is not a lorebook: expected an object with `entries`.")
    return value


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else []


def _is_pattern(key: str) -> bool:
    """`/…/flags` is a regular expression."""
    return len(key) > 2 and key.startswith("/") and "/" in key[1:]
