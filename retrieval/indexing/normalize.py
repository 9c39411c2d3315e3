"""Bring raw text into chunks: cleaned, titled, cut (requirement 1.4). Pure: nothing is stored here.

`raw` is plain text, Markdown (with or without YAML front matter), or a dict such as a JSON export
holds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from retrieval.errors import Invalid
from retrieval.indexing.chunk import Piece, cut
from retrieval.indexing.chunk_schema import Chunk, Domain
from retrieval.text import (
    clean_text,
    guess_language,
    slugify,
    split_front_matter,
    string_list,
    without_secrets,
)

TITLE_KEYS, TEXT_KEYS, ID_KEYS = (
    ("title", "name"),
    ("body", "text", "content", "desc", "entry"),
    ("id", "slug", "index"),
)
UNTITLED = "untitled"
LONGEST_TITLE = 200

_FIRST_HEADING = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class SourceEntry:
    """A text with what is known about it, before it is cut."""

    title: str
    body: str
    id: str = ""
    language: str = ""
    breadcrumb: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


def normalize_srd(raw: str | Mapping[str, Any]) -> list[Chunk]:
    """Cut a rule into chunks; raises `Invalid` when there is no text."""
    return chunk_entry(read_entry(raw), domain="srd")


def normalize_lore(raw: str | Mapping[str, Any]) -> list[Chunk]:
    """Cut a lore entry into chunks; secret blocks are chunks of their own. Raises `Invalid` when
    there is no text."""
    return chunk_entry(read_entry(raw), domain="lore")


def chunk_entry(entry: SourceEntry, *, domain: Domain) -> list[Chunk]:
    pieces = [piece for piece in cut(entry.body) if piece.text]
    if not pieces and not entry.body.strip():
        pieces = [Piece(entry.title, text=entry.title)]
    return [
        _chunk(entry, piece, domain=domain, position=position)
        for position, piece in enumerate(pieces)
    ]


def read_entry(raw: str | Mapping[str, Any]) -> SourceEntry:
    """Understand `raw`; what has no place of its own is kept in `extra`."""
    if isinstance(raw, str):
        fields, body = split_front_matter(clean_text(raw))
        return _entry({**fields, "body": body})
    if isinstance(raw, Mapping):
        return _entry(raw)
    raise Invalid(
        f"An entry is text or an object with a title and a text, not {type(raw).__name__}."
    )


def _entry(fields: Mapping[str, Any]) -> SourceEntry:
    known_keys = {"language", "breadcrumb", "aliases", *TITLE_KEYS, *TEXT_KEYS, *ID_KEYS}
    body = _text(_first(fields, TEXT_KEYS))
    heading = _FIRST_HEADING.match(body)
    title = str(_first(fields, TITLE_KEYS) or "").strip() or (heading[1] if heading else "")
    title = (
        title
        or next((line.strip() for line in body.splitlines() if line.strip()), "")[:LONGEST_TITLE]
    )
    if not title:
        raise Invalid("The entry is empty: it needs a text or a title.")
    return SourceEntry(
        title=clean_text(title),
        body=body,
        id=str(_first(fields, ID_KEYS) or slugify(title) or UNTITLED),
        language=str(fields.get("language") or guess_language(f"{title} {body}")),
        breadcrumb=tuple(string_list(fields.get("breadcrumb"))),
        aliases=tuple(string_list(fields.get("aliases"))),
        extra={key: value for key, value in fields.items() if key not in known_keys},
    )


def _first(fields: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((fields[key] for key in keys if fields.get(key)), None)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return clean_text("\n\n".join(str(part) for part in value))
    return clean_text(str(value or ""))


def _chunk(entry: SourceEntry, piece: Piece, *, domain: Domain, position: int) -> Chunk:
    headings = [*entry.breadcrumb, *(title for title in piece.headings if title != entry.title)]
    secret = {} if piece.audiences is None else {"secret": True, "audiences": list(piece.audiences)}
    return Chunk(
        id=f"{entry.id}#{position}",
        domain=domain,
        text=piece.text,
        payload={
            "entry": entry.id,
            "title": entry.title,
            "aliases": list(entry.aliases),
            "headings": headings,
        },
        metadata={**entry.extra, "language": entry.language, "position": position, **secret},
    )


class Summary(Protocol):
    """What `normalize_episode` reads of an episodic summary (requirement 1.3)."""

    @property
    def summary_id(self) -> str: ...
    @property
    def scene_id(self) -> str | None: ...
    @property
    def when(self) -> Any: ...
    @property
    def who(self) -> Any: ...
    @property
    def where(self) -> str: ...
    @property
    def what(self) -> str: ...


class Card(Protocol):
    """What `normalize_art` reads of an art card (requirement 1.3)."""

    @property
    def image_id(self) -> str: ...
    @property
    def scene_id(self) -> str | None: ...
    @property
    def prompt_text(self) -> str: ...
    @property
    def visual_tags(self) -> list[str]: ...
    @property
    def style(self) -> str: ...
    @property
    def entities(self) -> list[str]: ...


def normalize_episode(summary: Summary) -> Chunk:
    """Return the one chunk of an episode: what everyone may read who knows of it. Notes, flags,
    changes of relations and secret blocks are the game master's, and NPCs may be unknown to
    players: none of them is in it."""
    day, label = summary.when.in_world_at, summary.when.in_world_label
    about = [label, summary.where.replace("-", " "), ", ".join(summary.who.players)]
    return Chunk(
        id=summary.summary_id,
        domain="episode",
        text=clean_text(without_secrets(summary.what)),
        payload={"players": summary.who.players, "where": summary.where},
        metadata={
            "scene": summary.scene_id,
            "in_world_at": day,
            "context": " · ".join(filter(None, about)),
        },
    )


def normalize_art(card: Card) -> Chunk:
    """Return the one chunk of an art card: its prompt, under style and tags. What it shows may be
    unknown to players, so names of entities stay out of the text."""
    return Chunk(
        id=card.image_id,
        domain="art",
        text=clean_text(card.prompt_text),
        payload={"style": card.style, "visual_tags": card.visual_tags},
        metadata={
            "scene": card.scene_id,
            "tags": card.visual_tags,
            "context": " · ".join(filter(None, [", ".join(card.visual_tags), card.style])),
        },
    )
