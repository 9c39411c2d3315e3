"""Lorebooks of chat front ends: SillyTavern's World Info and NovelAI's `.lorebook`."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.files import Bundle, SourceFile
from retrieval.errors import Invalid

WORLD_INFO_FIELDS = ("comment", "key", "keys", "content", "disable", "enabled", "uid", "name")
NOVELAI_FIELDS = ("displayName", "keys", "text", "enabled", "category")


def is_world_info(file: SourceFile, _bundle: Bundle) -> int:
    content = file.json()
    if not isinstance(content, dict) or not isinstance(content.get("entries"), dict | list):
        return 0
    entries = world_info_entries(content)
    return 80 if entries and all("content" in entry for _uid, entry in entries[:20]) else 0


def is_novelai(file: SourceFile, _bundle: Bundle) -> int:
    content = file.json()
    return 90 if isinstance(content, dict) and "lorebookVersion" in content else 0


def read_world_info(bundle: Bundle) -> Iterator[LoreDraft]:
    for file in bundle.files:
        with bundle.problems_of(file.name):
            book = _object(file.json())
            for uid, entry in world_info_entries(book):
                with bundle.problems_of(file.name):
                    yield world_info_draft(file.name, uid, entry)


def world_info_entries(book: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (id, entry) pairs; `entries` is an object by id or, in character books, a list."""
    entries = book.get("entries")
    if isinstance(entries, dict):
        return [(uid, entry) for uid, entry in entries.items() if isinstance(entry, dict)]
    if isinstance(entries, list):
        pairs = [(n, entry) for n, entry in enumerate(entries) if isinstance(entry, dict)]
        return [(str(entry.get("uid", n)), entry) for n, entry in pairs]
    raise Invalid(_("The file holds no `entries`: this is not a World Info file."))


def world_info_draft(file: str, uid: str, entry: dict[str, Any], *, folder: str = "") -> LoreDraft:
    """SillyTavern: comment = title, key = aliases, content = text, disable = draft."""
    keys = [str(key) for key in _list(entry.get("key") or entry.get("keys"))]
    patterns = [key for key in keys if _is_pattern(key)]
    names = [key for key in keys if key not in patterns]
    # SillyTavern writes `disable`; character books write `enabled`, by default true.
    is_off = entry.get("disable") or entry.get("enabled") is False
    extra = {"patterns": patterns} if patterns else {}
    return make_draft(
        f"{file}#{uid}",
        file=file,
        title=entry.get("comment") or entry.get("name") or [*names, f"Entry {uid}"][0],
        body=str(entry.get("content") or ""),
        aliases=names,
        **({"status": "draft"} if is_off else {}),
        tags=["always-on"] if entry.get("constant") else [],
        folder=folder,
        source=f"sillytavern:{file}#{uid}",
        extra=extra | fields_except(entry, *WORLD_INFO_FIELDS),
    )


def read_novelai(bundle: Bundle) -> Iterator[LoreDraft]:
    """NovelAI: displayName = title, keys = aliases, text = text, category = tag."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            book = _object(file.json())
            categories = {
                each.get("id"): each.get("name") for each in _list(book.get("categories"))
            }
            for number, entry in enumerate(_list(book.get("entries"))):
                with bundle.problems_of(file.name):
                    category = categories.get(entry.get("category")) or ""
                    yield _novelai_draft(file.name, number, entry, category)


def _novelai_draft(file: str, number: int, entry: dict[str, Any], category: str) -> LoreDraft:
    keys = [str(key) for key in _list(entry.get("keys"))]
    return make_draft(
        f"{file}#{number}",
        file=file,
        title=entry.get("displayName") or [*keys, f"Entry {number}"][0],
        body=str(entry.get("text") or ""),
        aliases=[key for key in keys if not _is_pattern(key)],
        tags=[category] if category else [],
        kind=category,
        **({} if entry.get("enabled", True) else {"status": "draft"}),
        source=f"novelai:{file}#{number}",
        extra=fields_except(entry, *NOVELAI_FIELDS),
    )


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(_("This is not a lorebook: expected an object with `entries`."))
    return value


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else []


def _is_pattern(key: str) -> bool:
    """`/…/flags` is a regular expression."""
    return len(key) > 2 and key.startswith("/") and "/" in key[1:]
