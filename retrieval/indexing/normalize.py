"""Convert raw text into chunks: clean it, find its title, split it (requirement 1.4).

`raw` is plain text, Markdown (with or without YAML front matter), or a dict from a JSON export.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.utils.translation import gettext as _

from retrieval.errors import Invalid
from retrieval.indexing.chunk import Piece, split_into_pieces
from retrieval.indexing.chunk_schema import Chunk, Domain
from retrieval.text import (
    clean_text,
    language_of_open_text,
    slug_of_title,
    split_front_matter,
    string_list,
    without_secrets,
)

# Keys of the usual exports (wikis, SRD data); the first one with a value counts.
TITLE_KEYS, ID_KEYS = ("title", "name"), ("id", "slug", "index")
TEXT_KEYS = ("body", "text", "content", "desc", "entry")
UNTITLED = "untitled"
LONGEST_TITLE = 200

_FIRST_HEADING = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class SourceEntry:
    """A text and its properties, before it is split."""

    title: str
    body: str
    id: str = ""
    language: str = ""
    breadcrumb: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


def normalize_srd(raw: str | Mapping[str, Any]) -> list[Chunk]:
    """Split a rule into chunks; raises `Invalid` when there is no text."""
    return chunk_entry(read_entry(raw), domain="srd")


def normalize_lore(raw: str | Mapping[str, Any]) -> list[Chunk]:
    """Split a lore entry; each secret is its own chunk. Raises `Invalid` when there is no text."""
    return chunk_entry(read_entry(raw), domain="lore")


def chunk_entry(entry: SourceEntry, *, domain: Domain) -> list[Chunk]:
    pieces = split_into_pieces(entry.body)
    # An entry without a body is found by its title; one whose body is an empty secret is not.
    if not pieces and not entry.body.strip():
        pieces = [Piece(entry.title)]
    payload = {"entry": entry.id, "title": entry.title, "aliases": list(entry.aliases)}
    chunks = []
    for position, piece in enumerate(pieces):
        headings = [*entry.breadcrumb, *(title for title in piece.headings if title != entry.title)]
        metadata = {**entry.extra, "language": entry.language, "position": position}
        if piece.audiences is not None:
            metadata |= {"secret": True, "audiences": list(piece.audiences)}
        chunk = Chunk(
            id=f"{entry.id}#{position}",
            domain=domain,
            text=piece.text,
            payload={**payload, "headings": headings},
            metadata=metadata,
        )
        chunks.append(chunk)
    return chunks


def read_entry(raw: str | Mapping[str, Any]) -> SourceEntry:
    """Parse `raw`; fields without an attribute of their own go to `extra`."""
    if isinstance(raw, str):
        front_matter, markdown = split_front_matter(clean_text(raw))
        fields: Mapping[str, Any] = {**front_matter, "body": markdown}
    elif isinstance(raw, Mapping):
        fields = raw
    else:
        kind = type(raw).__name__
        raise Invalid(
            _("An entry is text or an object with a title and a text, not %(kind)s.")
            % {"kind": kind}
        )
    known_keys = {"language", "breadcrumb", "aliases", *TITLE_KEYS, *TEXT_KEYS, *ID_KEYS}
    content = _first(fields, TEXT_KEYS)
    # Some exports hold a list of paragraphs.
    if isinstance(content, list):
        content = "\n\n".join(str(part) for part in content)
    body = clean_text(str(content or ""))
    heading = _FIRST_HEADING.match(body)
    first_line = next((line.strip() for line in body.splitlines() if line.strip()), "")
    title = str(_first(fields, TITLE_KEYS) or "").strip() or (heading[1] if heading else "")
    title = title or first_line[:LONGEST_TITLE]
    if not title:
        raise Invalid(_("The entry is empty: it needs a text or a title."))
    return SourceEntry(
        title=clean_text(title),
        body=body,
        id=str(_first(fields, ID_KEYS) or slug_of_title(title, otherwise=UNTITLED)),
        language=str(fields.get("language") or language_of_open_text(title, body)),
        breadcrumb=tuple(string_list(fields.get("breadcrumb"))),
        aliases=tuple(string_list(fields.get("aliases"))),
        extra={key: value for key, value in fields.items() if key not in known_keys},
    )


def _first(fields: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((fields[key] for key in keys if fields.get(key)), None)


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
    """Return the one chunk of an episode: the text for everyone who may read the episode."""
    # Notes, flags, changes of relations and secret blocks are for the game master, and NPCs may be
    # unknown to players: a search must not find the episode by any of them.
    day, label = summary.when.in_world_at, summary.when.in_world_label
    about = [label, summary.where.replace("-", " "), ", ".join(summary.who.players)]
    context = " · ".join(filter(None, about))
    return Chunk(
        id=summary.summary_id,
        domain="episode",
        text=clean_text(without_secrets(summary.what)),
        payload={"players": summary.who.players, "where": summary.where},
        metadata={"scene": summary.scene_id, "in_world_at": day, "context": context},
    )


def normalize_art(card: Card) -> Chunk:
    """Return the one chunk of an art card: its prompt, with style and tags as context. Names of
    entities are left out, because players may not know them."""
    context = " · ".join(filter(None, [", ".join(card.visual_tags), card.style]))
    return Chunk(
        id=card.image_id,
        domain="art",
        text=clean_text(card.prompt_text),
        payload={"style": card.style, "visual_tags": card.visual_tags},
        metadata={"scene": card.scene_id, "tags": card.visual_tags, "context": context},
    )
