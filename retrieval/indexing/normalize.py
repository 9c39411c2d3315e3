"""Bring raw text into chunks: cleaned, titled, cut (requirement 1.4). Pure: nothing is stored here.

`raw` is plain text, Markdown (with or without YAML front matter), or a dict such as a JSON export holds.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml

from retrieval.errors import Invalid
from retrieval.indexing.chunk import Piece, cut, without_secrets
from retrieval.schemas import Chunk, Domain

TITLE_KEYS, TEXT_KEYS, ID_KEYS = (
    ("title", "name"),
    ("body", "text", "content", "desc", "entry"),
    ("id", "slug", "index"),
)
UNTITLED = "untitled"
LONGEST_TITLE = 200

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIRST_HEADING = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")
_NO_WORD = re.compile(r"[^\w]+")


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few lines of them can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


@dataclass(frozen=True)
class Entry:
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
    return chunks_of(read_entry(raw), domain="srd")


def normalize_lore(raw: str | Mapping[str, Any]) -> list[Chunk]:
    """Cut a lore entry into chunks; secret blocks are chunks of their own. Raises `Invalid` when there is no text."""
    return chunks_of(read_entry(raw), domain="lore")


def chunks_of(entry: Entry, *, domain: Domain) -> list[Chunk]:
    pieces = [piece for piece in cut(entry.body) if piece.text]
    if not pieces and not entry.body.strip():
        pieces = [Piece(entry.title, text=entry.title)]
    return [
        _chunk(entry, piece, domain=domain, position=position)
        for position, piece in enumerate(pieces)
    ]


def read_entry(raw: str | Mapping[str, Any]) -> Entry:
    """Understand `raw`; what has no place of its own is kept in `extra`."""
    if isinstance(raw, str):
        fields, body = split_front_matter(clean(raw))
        return _entry({**fields, "body": body})
    if isinstance(raw, Mapping):
        return _entry(raw)
    raise Invalid(
        f"An entry is text or an object with a title and a text, not {type(raw).__name__}."
    )


def clean(text: str) -> str:
    """Return `text` in NFC with plain line ends, and without what PostgreSQL or a reader would choke on."""
    return unicodedata.normalize(
        "NFC", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    )


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Take YAML front matter off `text`; what is not a YAML object stays in the text."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return {}, text
    try:
        fields = yaml.load(found[1] or "", Loader=_PlainLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise Invalid(
            f"The front matter is not YAML: {(str(problem) or 'too deep').splitlines()[0]}."
        ) from problem
    if not isinstance(fields, dict):
        return {}, text
    return {str(key): value for key, value in fields.items()}, text[found.end() :]


def slugify(text: str, *, longest: int = 120) -> str:
    """Return a readable id in lower case, letters of every script kept: `Зал вёсел` gives `зал-вёсел`."""
    return (
        _NO_WORD.sub("-", unicodedata.normalize("NFC", text).lower().replace("'", ""))
        .strip("-_")[:longest]
        .strip("-")
    )


def guess_language(text: str) -> str:
    """Tell Korean and Russian by their script; everything else is taken for English."""
    sample = text[:4000]
    hangul = len(re.findall(r"[\uac00-\ud7a3]", sample))
    cyrillic = len(re.findall(r"[\u0400-\u04ff]", sample))
    latin = len(re.findall(r"[A-Za-z]", sample))
    if hangul * 2 > max(cyrillic, latin):
        return "ko"
    return "ru" if cyrillic > latin else "en"


def strings(value: Any) -> list[str]:
    """Read a list of names from a list, or from text with commas."""
    if value is None:
        return []
    parts: Sequence[Any] = (
        value.split(",")
        if isinstance(value, str)
        else value
        if isinstance(value, list)
        else [value]
    )
    return list(dict.fromkeys(clean(str(part)).strip() for part in parts if str(part).strip()))


def _entry(fields: Mapping[str, Any]) -> Entry:
    known = {"language", "breadcrumb", "aliases", *TITLE_KEYS, *TEXT_KEYS, *ID_KEYS}
    body = _text(_first(fields, TEXT_KEYS))
    heading = _FIRST_HEADING.match(body)
    title = str(_first(fields, TITLE_KEYS) or "").strip() or (heading[1] if heading else "")
    title = (
        title
        or next((line.strip() for line in body.splitlines() if line.strip()), "")[:LONGEST_TITLE]
    )
    if not title:
        raise Invalid("The entry is empty: it needs a text or a title.")
    return Entry(
        title=clean(title),
        body=body,
        id=str(_first(fields, ID_KEYS) or slugify(title) or UNTITLED),
        language=str(fields.get("language") or guess_language(f"{title} {body}")),
        breadcrumb=tuple(strings(fields.get("breadcrumb"))),
        aliases=tuple(strings(fields.get("aliases"))),
        extra={key: value for key, value in fields.items() if key not in known},
    )


def _first(fields: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((fields[key] for key in keys if fields.get(key)), None)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return clean("\n\n".join(str(part) for part in value))
    return clean(str(value or ""))


def _chunk(entry: Entry, piece: Piece, *, domain: Domain, position: int) -> Chunk:
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
    """Return the one chunk of an episode: what everyone may read who knows of it. Notes, flags, changes of relations
    and secret blocks are the game master's, and NPCs may be unknown to players: none of them is in it."""
    day, label = summary.when.in_world_at, summary.when.in_world_label
    about = [label, summary.where.replace("-", " "), ", ".join(summary.who.players)]
    return Chunk(
        id=summary.summary_id,
        domain="episode",
        text=clean(without_secrets(summary.what)),
        payload={"players": summary.who.players, "where": summary.where},
        metadata={
            "scene": summary.scene_id,
            "in_world_at": day,
            "context": " · ".join(filter(None, about)),
        },
    )


def normalize_art(card: Card) -> Chunk:
    """Return the one chunk of an art card: its prompt, under style and tags. What it shows may be unknown to players,
    so names of entities stay out of the text."""
    return Chunk(
        id=card.image_id,
        domain="art",
        text=clean(card.prompt_text),
        payload={"style": card.style, "visual_tags": card.visual_tags},
        metadata={
            "scene": card.scene_id,
            "tags": card.visual_tags,
            "context": " · ".join(filter(None, [", ".join(card.visual_tags), card.style])),
        },
    )
