"""An entry on its way in: the fields that a source has, fitted to what an entry can hold, the rest kept in `extra`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, get_args

from pydantic import ValidationError

from knowledge.schemas import LoreIn, LoreKind
from retrieval.errors import Invalid
from retrieval.text import slugify, string_list
from worlds.bulk import invalid

LONGEST_NAME, MOST_NAMES, LONGEST_TAG = 200, 50, 80
KINDS: dict[str, LoreKind] = {
    **{kind: kind for kind in get_args(LoreKind)},
    "location": "place",
    "city": "place",
    "region": "place",
    "map": "place",
    "country": "place",
    "organisation": "faction",
    "organization": "faction",
    "guild": "faction",
    "family": "faction",
    "race": "faction",
    "character": "biography",
    "npc": "biography",
    "person": "biography",
    "creature": "biography",
    "object": "item",
    "artefact": "item",
    "artifact": "item",
    "history": "timeline",
    "calendar": "timeline",
}


@dataclass(frozen=True)
class Draft:
    """`where` names the source for the report; `private` text stays the game master's whatever the import is told."""

    entry: LoreIn
    where: str
    private: bool = False
    notes: tuple[str, ...] = field(default=())


def draft(where: str, *, private: Any = False, **fields: Any) -> Draft:
    """Make a draft of what a source holds; raises `Invalid` naming the source."""
    notes: list[str] = []
    extra = dict(fields.pop("extra", {}))
    title = " ".join(str(fields.pop("title", "")).split())
    if len(title) > LONGEST_NAME:
        notes.append(f"title cut to {LONGEST_NAME} characters")
        extra["title"] = title
    for name, longest in (("aliases", LONGEST_NAME), ("tags", LONGEST_TAG)):
        if name in fields:
            fields[name], left = _fitted(string_list(fields[name]), longest)
            if left:
                notes.append(f"{len(left)} {name} did not fit")
                extra[name] = left
    fields["kind"] = KINDS.get(
        str(fields.get("kind") or "").strip().lower().rstrip("s") or "custom", "custom"
    )
    try:
        entry = LoreIn(
            title=title[:LONGEST_NAME] or "Untitled",
            **fields,
            **({"extra": extra} if extra else {}),
        )
    except (ValidationError, Invalid) as problem:
        told = invalid(problem).detail if isinstance(problem, ValidationError) else problem.detail
        raise Invalid(f"{where}: {told}") from problem
    return Draft(entry, where, bool(private), tuple(notes))


def numbered(drafts: list[Draft]) -> list[Draft]:
    """Give each draft a slug of its own: `the-bell`, `the-bell-2`, in the order of the source."""
    taken: set[tuple[str | None, str]] = set()
    told = []
    for each in drafts:
        campaign = each.entry.campaign
        wanted = slug = each.entry.slug or slugify(each.entry.title, longest=110) or "entry"
        number = 1
        while (campaign, slug) in taken:
            number += 1
            slug = f"{wanted}-{number}"
        taken.add((campaign, slug))
        entry = each.entry.model_copy(update={"slug": slug})
        told.append(Draft(entry, each.where, each.private, each.notes))
    return told


def title_of(path: PurePosixPath) -> str:
    return path.stem.replace("_", " ").strip()


def without(fields: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """What a source says beside the known fields, if it says anything."""
    return {
        key: value
        for key, value in fields.items()
        if key not in known and value not in (None, "", [], {}, False)
    }


def _fitted(names: list[str], longest: int) -> tuple[list[str], list[str]]:
    fitting = [name for name in names if len(name) <= longest]
    kept = fitting[:MOST_NAMES]
    return kept, [name for name in names if name not in kept]
