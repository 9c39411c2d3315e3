"""Drafts of lore entries: a source's fields fitted to an entry, the rest kept in `extra`."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import PurePosixPath
from typing import Any, get_args

from django.utils.translation import gettext as _
from pydantic import ValidationError

from knowledge.importers.drafts import LoreDraft
from knowledge.schemas import EntryKind, LoreIn
from retrieval.errors import Invalid
from retrieval.text import clean_text, numbered_slug, slug_of_title, string_list
from worlds.bulk import to_invalid

LONGEST_NAME, MOST_NAMES, LONGEST_TAG = 200, 50, 80
LONGEST_ORIGIN = 200
# One word each, in the singular; plurals that are not made with s stand beside it.
FOREIGN_KINDS: dict[EntryKind, str] = {
    "place": "location city region map country town village settlement landmark building dungeon "
    "realm world continent area site shop tavern место места локация локации город города регион "
    "регионы 장소 지역 도시 마을",
    "faction": "organisation organization guild family race house clan religion group government "
    "фракция фракции организация организации гильдия гильдии 세력 조직 단체 길드",
    "biography": "character npc person people creature hero heroes villain pc god deity ancestor "
    "персонаж персонажи нпс люди герой герои 인물 캐릭터 등장인물",
    "item": "object artefact artifact weapon equipment loot treasure предмет предметы артефакт "
    "артефакты 물건 아이템 유물",
    "timeline": "history calendar era история хронология 역사 연표",
    "quest": "adventure mission quests квест квесты задание задания 퀘스트 임무",
    "event": "battle session событие события 사건",
}
KINDS: dict[str, EntryKind] = {kind: kind for kind in get_args(EntryKind)} | {
    word: kind for kind, words in FOREIGN_KINDS.items() for word in words.split()
}

DRAFT_FIELDS = (
    *("file", "body_line", "folder", "fields", "person", "relations", "pictures"),
    *("private", "template", "is_exact", "is_rule", "notes"),
)
"""The arguments of `make_draft` that are not fields of an entry."""


def make_draft(where: str, *, source: str = "", **fields: Any) -> LoreDraft:
    """Fit the fields of a source into an entry; raises `Invalid`. Arguments are the fields of a
    `LoreIn` and of a `LoreDraft`; `source` is what the entry comes from, for its `origin`."""
    draft_fields = {name: fields.pop(name) for name in DRAFT_FIELDS if name in fields}
    draft_fields["private"] = bool(draft_fields.get("private"))
    notes: list[str] = list(draft_fields.pop("notes", ()))
    extra = dict(fields.pop("extra", {}))
    title = " ".join(str(fields.pop("title", "")).split())
    if len(title) > LONGEST_NAME:
        notes.append(_("The title was cut to %(most)d characters.") % {"most": LONGEST_NAME})
        extra["title"] = title
    for name, longest in (("aliases", LONGEST_NAME), ("tags", LONGEST_TAG)):
        if name in fields:
            values = string_list(fields[name])
            fields[name] = [value for value in values if len(value) <= longest][:MOST_NAMES]
            if surplus := [value for value in values if value not in fields[name]]:
                notes.append(_("%(names)s: some were left out.") % {"names": name})
                extra[name] = surplus
    word = str(fields.get("kind") or "").strip()
    draft_fields.setdefault("template", word[:LONGEST_TAG])
    fields["kind"] = guess_kind(word) or "custom"
    if source:
        # The end of a long path says more than its beginning.
        fields["origin"] = source[-LONGEST_ORIGIN:]
    try:
        if extra:
            fields["extra"] = json_value(extra)
        entry = LoreIn(title=title[:LONGEST_NAME] or _("Untitled"), **fields)
    except RecursionError as problem:
        raise Invalid(_("The data is nested too deeply.")) from problem
    except (ValidationError, Invalid) as problem:
        invalid_entry = to_invalid(problem) if isinstance(problem, ValidationError) else problem
        raise Invalid(invalid_entry.detail) from problem
    draft_fields.setdefault("file", where)
    return LoreDraft(entry, where, notes=tuple(notes), **draft_fields)


def json_value(value: Any) -> Any:
    """Convert what a JSON column cannot hold, such as dates, NUL characters and NaN."""
    if isinstance(value, dict):
        return {clean_text(str(key)): json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [json_value(each) for each in value]
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | bool | None) else clean_text(str(value))


def guess_kind(word: str) -> EntryKind | None:
    """The kind of entry that a word such as "NPCs", "Cities" or "Персонажи" names, or None."""
    name = word.strip().lower().replace("_", " ").replace("-", " ")
    singular = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return KINDS.get(name) or KINDS.get(singular)


def with_unique_slugs(drafts: list[LoreDraft]) -> list[LoreDraft]:
    """Give each draft a slug of its own: `the-bell`, `the-bell-2`, in the order of the source."""
    slugs: dict[str | None, set[str]] = defaultdict(set)
    result = []
    for draft in drafts:
        campaign = draft.entry.campaign
        # 110 of the 120 characters of the column: the rest is for a number.
        base = draft.entry.slug or slug_of_title(draft.entry.title, otherwise="entry", longest=110)
        slug = numbered_slug(base, slugs[campaign])
        slugs[campaign].add(slug)
        result.append(replace(draft, entry=draft.entry.model_copy(update={"slug": slug})))
    return result


def with_unique_sources(drafts: list[LoreDraft]) -> list[LoreDraft]:
    """Give each draft a `where` of its own: what is written is found again by it."""
    counts: Counter[str] = Counter()
    result = []
    for draft in drafts:
        counts[draft.where] += 1
        number = counts[draft.where]
        result.append(replace(draft, where=f"{draft.where} ({number})") if number > 1 else draft)
    return result


def title_from_path(path: PurePosixPath) -> str:
    return path.stem.replace("_", " ").strip()


def fields_except(fields: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The non-empty fields of a source that an entry has no column for: they go into `extra`."""
    empty: tuple[Any, ...] = (None, "", [], {}, False)
    return {key: value for key, value in fields.items() if key not in known and value not in empty}
