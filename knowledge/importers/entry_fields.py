"""Drafts of lore entries: the fields of a source, fitted to what an entry can hold, the rest kept
in `extra`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, get_args

from pydantic import ValidationError

from knowledge.schemas import LoreIn, LoreKind
from retrieval.errors import Invalid
from retrieval.text import slugify, string_list
from worlds.bulk import to_invalid

LONGEST_NAME, MOST_NAMES, LONGEST_TAG = 200, 50, 80
LONGEST_ORIGIN = 200
FOREIGN_KINDS: dict[LoreKind, str] = {
    "place": "location city region map country",
    "faction": "organisation organization guild family race",
    "biography": "character npc person creature",
    "item": "object artefact artifact",
    "timeline": "history calendar",
}
KINDS: dict[str, LoreKind] = {kind: kind for kind in get_args(LoreKind)} | {
    word: kind for kind, words in FOREIGN_KINDS.items() for word in words.split()
}


@dataclass(frozen=True)
class LoreDraft:
    """`where` names the source in the report. `private`: for the game master alone, whatever the
    import asks for.
    """

    entry: LoreIn
    where: str
    private: bool = False
    notes: tuple[str, ...] = ()


def make_draft(where: str, *, source: str = "", private: Any = False, **fields: Any) -> LoreDraft:
    """Fit the fields of a source into an entry; raises `Invalid` naming the source. `source`
    becomes its origin.
    """
    notes: list[str] = []
    extra = dict(fields.pop("extra", {}))
    title = " ".join(str(fields.pop("title", "")).split())
    if len(title) > LONGEST_NAME:
        notes.append(f"title cut to {LONGEST_NAME} characters")
        extra["title"] = title
    for name, longest in (("aliases", LONGEST_NAME), ("tags", LONGEST_TAG)):
        if name in fields:
            values = string_list(fields[name])
            fields[name] = [value for value in values if len(value) <= longest][:MOST_NAMES]
            if surplus := [value for value in values if value not in fields[name]]:
                notes.append(f"{len(surplus)} {name} did not fit")
                extra[name] = surplus
    kind = str(fields.get("kind") or "").strip().lower().rstrip("s")  # many tools name the plural
    fields["kind"] = KINDS.get(kind, "custom")
    if source:
        # The end of a long path says more than its beginning.
        fields["origin"] = source[-LONGEST_ORIGIN:]
    if extra:
        fields["extra"] = extra
    try:
        entry = LoreIn(title=title[:LONGEST_NAME] or "Untitled", **fields)
    except (ValidationError, Invalid) as problem:
        invalid_entry = to_invalid(problem) if isinstance(problem, ValidationError) else problem
        raise Invalid(f"{where}: {invalid_entry.detail}") from problem
    return LoreDraft(entry, where, bool(private), tuple(notes))


def with_unique_slugs(drafts: list[LoreDraft]) -> list[LoreDraft]:
    """Give each draft a slug of its own: `the-bell`, `the-bell-2`, in the order of the source."""
    slugs: set[tuple[str | None, str]] = set()
    result = []
    for draft in drafts:
        campaign = draft.entry.campaign
        # 110 of the 120 characters of the column: the rest is for a number.
        base = slug = draft.entry.slug or slugify(draft.entry.title, longest=110) or "entry"
        number = 1
        while (campaign, slug) in slugs:
            number += 1
            slug = f"{base}-{number}"
        slugs.add((campaign, slug))
        result.append(replace(draft, entry=draft.entry.model_copy(update={"slug": slug})))
    return result


def title_from_path(path: PurePosixPath) -> str:
    return path.stem.replace("_", " ").strip()


def fields_except(fields: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The fields of a source that have no place in an entry and are not empty: they go into
    `extra`.
    """
    empty: tuple[Any, ...] = (None, "", [], {}, False)
    return {key: value for key, value in fields.items() if key not in known and value not in empty}
