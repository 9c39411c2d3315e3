"""A world as a vault that Obsidian opens: a note per thing, for one audience."""

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from django.core.files.storage import default_storage
from django.db.models import Q

from art.models import Picture, PictureUse
from knowledge.graph.labels import in_words
from knowledge.graph.protocol import View
from knowledge.importers.markdown import PERSON_SECRET, SLUG_FIELD
from knowledge.models import Lore, LorePassage
from memory_site.archive.write import entry as zip_entry
from npcs.models import NPC, Secret
from npcs.profiles import profile_for_players
from retrieval.text import (
    DEEPEST_SECRET,
    fold_name,
    parse_secret,
    replace_links,
    slugify,
    split_secrets,
)
from worlds.audiences import Audience
from worlds.models import Campaign, World

FORBIDDEN = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|#^\[\]]+')
"""What file systems or links of Obsidian do not allow in a name."""
PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(\s*<?picture:(?P<id>[0-9a-fA-F-]{36})>?[^)]*\)")
TABLE_ROW = re.compile(r"[> \t]*\|")
LINK_IN_ROW = re.compile(r"\[\[[^\[\]\n]{1,700}\]\]")
BAR = re.compile(r"(?<!\\)\|")
ATTACHMENTS, PEOPLE = "attachments", "People"
PICTURE_FIELDS = PORTRAIT, GALLERY, HIDDEN = "portrait", "gallery", "hidden_pictures"
LONGEST_NAME = 120


@dataclass
class Note:
    """`file` is the name that links use; it is unique in the vault."""

    title: str
    file: str
    folder: str
    fields: dict[str, Any]
    body: str = ""
    names: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        return "/".join(filter(None, [self.folder, f"{self.file}.md"]))

    @property
    def text(self) -> str:
        fields = {key: value for key, value in self.fields.items() if value not in (None, "", [])}
        if self.title != self.file:
            fields = {"title": self.title, **fields}
        front = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=1000)
        return f"---\n{front}---\n{self.body.strip()}\n"


def write_vault(
    world: World, path: Path, *, audience: Audience, campaign: Campaign | None = None
) -> int:
    """Write what `audience` may know of `world` into the zip file `path`; return the number of
    notes. Canon, and the overlay of `campaign`; a game master gets all campaigns."""
    vault = Vault(world, audience, campaign)
    vault.collect()
    with zipfile.ZipFile(path, "w") as archive:
        for note in vault.notes:
            archive.writestr(zip_entry(note.path), note.text.encode())
        for name, picture in sorted(vault.used_pictures.items()):
            stored = str(picture.file.name)
            if default_storage.exists(stored):
                with default_storage.open(stored) as file:
                    archive.writestr(zip_entry(f"{ATTACHMENTS}/{name}"), file.read())
    return len(vault.notes)


class Vault:
    """Collects the notes; each kind of row is read with one statement."""

    def __init__(self, world: World, audience: Audience, campaign: Campaign | None) -> None:
        self.world, self.audience, self.campaign = world, audience, campaign
        self.notes: list[Note] = []
        self.used_pictures: dict[str, Picture] = {}
        self._taken: set[str] = set()
        self._notes_named: dict[str, list[Note]] = defaultdict(list)
        self._note_of: dict[UUID, Note] = {}
        visible = Picture.objects.filter(world=world, deleted_at=None).visible_to(audience)
        self._pictures = {str(picture.pk): picture for picture in visible}

    def collect(self) -> None:
        texts = self._texts()
        for row in self._entries():
            # Folders may be called *Villains*: no page shows them to players either.
            folder = row.folder if self.audience.is_gm else ""
            fields = entry_fields(row, self.audience)
            note = self._new_note(row.title, folder, fields, row.aliases)
            is_canon = row.campaign is None
            if self.audience.is_gm and is_canon and slugify(note.file) != row.slug:
                note.fields[SLUG_FIELD] = row.slug  # of an entry that was renamed
            if row.campaign and self.audience.is_gm:
                note.folder = "/".join(filter(None, ["campaigns", row.campaign.slug, note.folder]))
            note.body = row.body if self.audience.is_gm else "\n\n".join(texts[row.pk])
            self._note_of[row.pk] = note
        self._add_people()
        self._add_relations()
        self._add_portraits()
        for note in self.notes:
            body = replace_links(note.body, self._link)
            body = PICTURE.sub(self._embed, secrets_as_callouts(body))
            note.body = with_bars_for_tables(body)

    def _entries(self) -> Iterable[Lore]:
        rows = Lore.objects.in_world(self.world).select_related("campaign", "custom_kind")
        if not self.audience.is_gm:
            rows = rows.only_published().visible_to(self.audience)
            rows = rows.known_in(self.campaign, self.audience)
        # Canon first: it gets the plain file name.
        return sorted(rows, key=lambda row: (row.campaign is not None, row.title, str(row.pk)))

    def _texts(self) -> dict[UUID, list[str]]:
        texts: dict[UUID, list[str]] = defaultdict(list)
        if not self.audience.is_gm:
            rows = LorePassage.objects.filter(world=self.world).visible_to(self.audience)
            for key, text in rows.order_by("position").values_list("lore_id", "text"):
                texts[key].append(text)
        return texts

    def _new_note(
        self, title: str, folder: str, fields: dict[str, Any], aliases: Iterable[str]
    ) -> Note:
        plain = plain_name(title)[:LONGEST_NAME].strip() or "Untitled"
        name, number = plain, 1
        while fold_name(name) in self._taken:
            number += 1
            name = f"{plain} ({number})"
        self._taken.add(fold_name(name))
        parts = map(plain_name, folder.split("/"))
        note = Note(title, name, "/".join(filter(None, parts)), fields)
        for known in dict.fromkeys(map(fold_name, (title, *aliases))):
            self._notes_named[known].append(note)
        self.notes.append(note)
        return note

    def _add_people(self) -> None:
        rows = NPC.objects.in_world(self.world).visible_to(self.audience)
        rows = rows.select_related("home_lore", "faction_lore", "biography")
        for npc in rows.prefetch_related("secrets").order_by("name", "pk"):
            note = self._note_of.get(npc.biography_id) if npc.biography_id else None
            if note is None:
                fields = {"kind": "biography", "aliases": list(npc.aliases)}
                note = self._new_note(npc.name, PEOPLE, fields, npc.aliases)
                note.body = npc.summary_for(self.audience)
            self._note_of[npc.pk] = note
            person = self._person_fields(npc)
            note.fields |= {
                key: value for key, value in person.items() if value or key not in note.fields
            }
            secrets = npc.secrets.all()
            if not self.audience.is_gm:
                secrets = npc.secrets.visible_to(self.audience)
            note.body = "\n\n".join([note.body, *map(self._secret, secrets)])

    def _person_fields(self, npc: NPC) -> dict[str, Any]:
        shown = profile_for_players(npc, self.audience, None).static
        fields = {"role": npc.role, "home": shown.home, "faction": shown.faction}
        if not self.audience.is_gm:
            return {**fields, "summary": npc.open_summary}
        own = {"home": npc.home, "faction": npc.faction, "voice": npc.voice}
        lists = {"goals": list(npc.goals), "play_now": list(npc.play_now)}
        return {**fields, "summary": npc.summary, **own, **lists}

    def _secret(self, secret: Secret) -> str:
        if not self.audience.is_gm:
            return secret.text
        # Not one of the text: the importer gives it back to the NPC.
        title = " ".join([f"> [!{PERSON_SECRET}]", *secret.known_to])
        return "\n".join([title, *(f"> {line}".rstrip() for line in secret.text.splitlines())])

    def _add_relations(self) -> None:
        facts = View(self.world, self.audience).facts().filter(until=None)
        people = dict(NPC.objects.in_world(self.world).values_list("slug", "pk"))
        for fact in facts.select_related("src", "dst").order_by("pk"):
            subject, words, other = in_words(fact)
            ends = [
                self._note_of.get(node.lore_id or people.get(node.slug))  # type: ignore[arg-type]
                for node in (subject, other)
            ]
            source, target = ends
            if source and target:
                links = source.fields.setdefault(str(words), [])
                link = f"[[{target.file}]]"
                if isinstance(links, list) and link not in links:
                    links.append(link)

    def _add_portraits(self) -> None:
        uses = PictureUse.objects.visible_to(self.audience).filter(
            Q(lore__in=self._note_of) | Q(npc__in=self._note_of), removed_at=None
        )
        for use in uses.order_by("position", "pk"):
            note = self._note_of.get(use.lore_id or use.npc_id)
            name = self._attachment(str(use.picture_id))
            if not note or not name:
                continue
            if use.is_portrait and not use.is_hidden:
                note.fields.setdefault(PORTRAIT, f"[[{name}]]")
                continue
            pictures = note.fields.setdefault(HIDDEN if use.is_hidden else GALLERY, [])
            if f"[[{name}]]" not in pictures:
                pictures.append(f"[[{name}]]")

    def _attachment(self, key: str) -> str:
        """Return the file name of a picture in the vault, or "" for one that may not be seen."""
        picture = self._pictures.get(key.lower())
        if picture is None:
            return ""
        stem, _dot, suffix = picture.name.rpartition(".")
        suffix = picture.file.name.rpartition(".")[2]
        plain = (self.audience.is_gm and plain_name(stem or picture.name)) or "picture"
        # The end of the id makes it unique: many pictures are called image.png.
        name = f"{plain}-{key[-6:].lower()}.{suffix}"
        self.used_pictures[name] = picture
        return name

    def _embed(self, found: re.Match[str]) -> str:
        name = self._attachment(found["id"])
        alt = f"|{found['alt']}" if found["alt"] else ""
        return f"![[{name}{alt}]]" if name else found["alt"]

    def _link(self, link: Any) -> str:
        """A link to a note by its file name; for players, a name without a note is plain text."""
        words = link.words or link.name
        notes = self._notes_named.get(fold_name(link.name), [])
        if not notes:
            return str(link.raw) if self.audience.is_gm else words
        inside = [note for note in notes if link.folder and is_folder_of(note, link.folder)]
        note = (inside or notes)[0]
        # With its folder, because the importer finds the titles of all of them.
        is_one_of_many = bool(inside) and len(notes) > 1
        file = f"{note.folder}/{note.file}" if is_one_of_many else note.file
        heading = f"#{link.heading}" if link.heading else ""
        shown = "" if not link.words and link.name == note.file else words
        if is_one_of_many and not shown:
            shown = words
        bar = "\\|" if "\\|" in link.raw else "|"
        return f"[[{file}{heading}{bar}{shown}]]" if shown else f"[[{file}{heading}]]"


def is_folder_of(note: Note, folder: str) -> bool:
    """Whether `folder`, the whole of it or its end, is the one of the note."""
    return f"/{fold_name(note.folder)}".endswith(f"/{fold_name(folder)}")


def with_bars_for_tables(text: str) -> str:
    """Escape the bars of links in rows of tables, where they would end the cell."""
    lines = text.split("\n")
    rows = (TABLE_ROW.match(line) for line in lines)
    return "\n".join(
        LINK_IN_ROW.sub(lambda link: BAR.sub(r"\\|", link[0]), line) if row else line
        for line, row in zip(lines, rows, strict=True)
    )


def plain_name(text: str) -> str:
    """Return `text` as a file or folder may be called everywhere."""
    return " ".join(FORBIDDEN.sub(" ", text).split()).strip(" .")


def entry_fields(row: Lore, audience: Audience) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "kind": row.custom_kind.slug if row.custom_kind else row.kind,
        "aliases": list(row.aliases),
        "tags": list(row.tags) if audience.is_gm else [],
        "language": row.language,
        "in_world_at": row.in_world_at,
        "in_world_label": row.in_world_label,
        "in_world_until": row.in_world_until,
    }
    if not audience.is_gm:
        return fields
    own = {
        "status": row.status,
        "visibility": row.visibility,
        "revealed_to": list(row.known_to),
        "campaign": row.campaign.slug if row.campaign else None,
    }
    # The source's own status of a quest, or the language of a people, rather than ours: whoever
    # reads a vault back chooses the first, and the second is guessed.
    reserved = {"title", SLUG_FIELD, *PICTURE_FIELDS, *fields} - {"language"}
    data = {key: value for key, value in row.extra.items() if key not in reserved}
    return fields | own | data


def secrets_as_callouts(text: str, depth: int = 0) -> str:
    """Return `text` with each `:::secret` as a callout whose title names the audiences. What is
    deeper than `DEEPEST_SECRET` stays as it is written."""
    if depth > DEEPEST_SECRET:
        return text
    parts: list[str] = []
    line = ""  # what stands before the next part in its line
    is_after_secret = False
    for part, is_secret in split_secrets(text):
        if not is_secret:
            parts.append(_apart(part) if is_after_secret else part)
            line = part.rpartition("\n")[2]
        else:
            parts += ["\n\n" if is_after_secret else "", _callout(part, line, depth)]
        is_after_secret = is_secret
    return "".join(parts)


def _callout(secret: str, before: str, depth: int) -> str:
    """A secret that begins after `before` in its line: in a list its lines are indented like the
    first, and among words it begins below them, because a callout cannot begin within a line."""
    _head, audiences, body, _tail = parse_secret(secret)
    indent = "" if before.strip() else before
    gap = "\n\n" if before.strip() else ""
    lines = secrets_as_callouts(body, depth + 1).strip().splitlines()
    title = " ".join(["> [!secret]", *audiences])
    return gap + "\n".join([title, *(f"{indent}> {line}".rstrip() for line in lines)])


def _apart(text: str) -> str:
    """What follows a callout, below a blank line: else it would belong to the callout."""
    rest = text.lstrip("\n")
    gap = max(2, len(text) - len(rest))
    return "\n" * gap + (rest.lstrip(" \t") if rest == text else rest)
