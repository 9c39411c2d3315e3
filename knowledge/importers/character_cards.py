"""Character cards of chat front ends, versions 1 to 3: JSON, or a PNG that holds it in a text chunk
(`ccv3`, or `chara` before version 3), in base64."""

import base64
import binascii
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.importers.drafts import LoreDraft, PersonDraft, PictureDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.lorebooks import world_info_draft, world_info_entries
from retrieval.errors import Invalid

PNG = b"\x89PNG\r\n\x1a\n"
CHUNKS = ("ccv3", "chara")  # version 3 first: such files hold both
LARGEST_CARD = 20_000_000
SPECS = ("chara_card_v2", "chara_card_v3")
VERSION_1 = {"name", "description", "personality", "first_mes"}
SECTIONS = {"personality": gettext_lazy("Personality"), "scenario": gettext_lazy("Scenario")}
USED = (*VERSION_1, "scenario", "mes_example", "nickname", "tags", "creator", "character_book")
MOST_LINES = 3


def is_card(file: SourceFile, _bundle: Bundle) -> int:
    if file.suffix == ".png":
        return 95 if card_json(file.read()) else 0
    content = file.json()
    if not isinstance(content, dict):
        return 0
    return 95 if content.get("spec") in SPECS else 85 * (set(content) >= VERSION_1)


def read_cards(bundle: Bundle) -> Iterator[LoreDraft]:
    """A card is a character with its picture; the entries of its book are lore."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            card = _card_of(file)
            yield _draft(file, card)
            book = card.get("character_book")
            for uid, entry in world_info_entries(book) if isinstance(book, dict) else ():
                with bundle.problems_of(file.name):
                    folder = str(card.get("name") or "")
                    yield world_info_draft(file.name, uid, entry, folder=folder)


def _card_of(file: SourceFile) -> dict[str, Any]:
    if file.suffix == ".png":
        text = card_json(file.read())
        try:
            content = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as problem:
            message = _("The picture holds no character card that can be read.")
            raise Invalid(message) from problem
    else:
        content = file.json()
    card = content.get("data", content) if isinstance(content, dict) else None
    if not isinstance(card, dict) or not card.get("name"):
        raise Invalid(_("This is no character card: it has no `name`."))
    return card


def _draft(file: SourceFile, card: dict[str, Any]) -> LoreDraft:
    name = str(card["name"])

    def text(key: str) -> str:
        # The front end puts the names in; the player's stays a placeholder.
        value = str(card.get(key) or "").replace("{{char}}", name).replace("<BOT>", name)
        return value.strip()

    sections = [f"## {label}\n\n{text(key)}" for key, label in SECTIONS.items() if text(key)]
    lines = [line.strip() for line in text("personality").splitlines() if line.strip()]
    example = text("mes_example").replace("<START>", "").strip()
    nickname = str(card.get("nickname") or "")
    return make_draft(
        file.name,
        title=name,
        kind="character",
        body="\n\n".join(filter(None, [text("description"), *sections])),
        aliases=[nickname] if nickname and nickname != name else [],
        tags=card.get("tags") or [],
        author=str(card.get("creator") or "")[:120],
        source=f"card:{file.path.name}",
        extra=fields_except(card, *USED) | {"first_mes": text("first_mes")},
        person=PersonDraft(
            voice=example, play_now=tuple(line[:400] for line in lines[:MOST_LINES])
        ),
        pictures=(PictureDraft(file.name, name, True),) if file.suffix == ".png" else (),
    )


def card_json(content: bytes) -> str:
    """Return the JSON that a PNG carries as a character card, or an empty string."""
    found: dict[str, str] = {}
    for keyword, value in text_chunks(content):
        if keyword.lower() in CHUNKS:
            try:
                found[keyword.lower()] = base64.b64decode(value).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                continue
    return next((found[name] for name in CHUNKS if name in found), "")


def text_chunks(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield keyword and text of the tEXt, zTXt and iTXt chunks of a PNG, up to the first that is
    broken (PNG specification, section 11.3.3)."""
    if not content.startswith(PNG):
        return
    at = len(PNG)
    while at + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + length]
        at += 12 + length  # length, type and checksum are four bytes each
        if len(data) < length:
            return
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, _nul, rest = data.partition(b"\x00")
            yield keyword.decode("latin-1"), _chunk_text(kind, rest)


def _chunk_text(kind: bytes, rest: bytes) -> bytes:
    if kind == b"tEXt":
        return rest
    is_packed = kind == b"zTXt" or rest[:1] == b"\x01"
    if kind == b"iTXt":  # flag, method, language and translated keyword precede the text
        parts = rest[2:].split(b"\x00", 2)
        rest = parts[2] if len(parts) == 3 else b""
    else:
        rest = rest[1:]
    if not is_packed:
        return rest
    try:
        return zlib.decompressobj().decompress(rest, LARGEST_CARD)
    except zlib.error:
        return b""
