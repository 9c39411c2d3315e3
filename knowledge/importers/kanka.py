"""A Kanka campaign export: a folder or zip with a JSON file per entity, and a gallery."""

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft, PersonDraft, RelationDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.html import html_to_markdown
from knowledge.importers.markup import PictureCollector, adopt_pictures

# Kanka's visibility ids: 1 all, 2 admins, 3 admins and author, 4 author, 5 members. Exports of
# before have words.
OPEN = {1, 5, "all", "members"}
MODULES = {
    "characters": "character",
    "locations": "location",
    "families": "family",
    "organisations": "organisation",
    "races": "race",
    "items": "item",
    "notes": "note",
    "journals": "journal",
    "events": "event",
    "quests": "quest",
    "timelines": "timeline",
    "calendars": "calendar",
    "creatures": "creature",
    "abilities": "ability",
    "maps": "map",
}
KNOWN = (
    *("id", "entity_id", "entity", "name", "slug", "entry", "type", "is_private", "relations"),
    *("posts", "relationships", "title", "created_at", "updated_at", "created_by", "updated_by"),
    *("campaign_id", "image", "traits", "characterTraits", "tags", "location_id", "locations"),
    *("organisationMemberships", "organisation_memberships", "image_full", "image_thumb"),
)
PARENTS = ("parent_id", "parent_location_id", "organisation_id", "quest_id", "family_id")
MENTION = re.compile(r"\[(\w{1,40}):(\d{1,18})(?:\|([^\[\]\n]{0,200}))?\]")
APPEARANCE = 1


def is_kanka(file: SourceFile, _bundle: Bundle) -> int:
    entity = entity_of(file)
    if entity is None:
        return 0
    return 70 if isinstance(entity.get("entity"), dict) or file.path.parent.name in MODULES else 10


def entity_of(file: SourceFile) -> dict[str, Any] | None:
    """The entity of a file, or None: an export holds files of other things, too."""
    value = file.json()
    value = value.get("data", value) if isinstance(value, dict) else value
    if isinstance(value, dict) and value.get("name") and ("entry" in value or "entity" in value):
        return value
    return None


def read_kanka(bundle: Bundle) -> Iterator[LoreDraft]:
    """Private entities and posts stay GM only; relations come with their attitude."""
    entities: list[tuple[SourceFile, dict[str, Any]]] = []
    for file in bundle.files:
        with bundle.problems_of(file.name):
            if entity := entity_of(file):
                entities.append((file, entity))
            else:
                bundle.note(file.name, _("This file holds no entity: it is left out."))
    # Mentions and relations name entities by id, so all of them are read before the first body.
    names = Names(entities)
    for file, entity in entities:
        if file.path.parent.name != "tags":
            with bundle.problems_of(file.name):
                yield EntityReader(bundle, file, entity, names).draft()


def is_private(entity: dict[str, Any]) -> bool:
    return bool(entity.get("is_private") or (entity.get("entity") or {}).get("is_private"))


def is_open(row: dict[str, Any]) -> bool:
    """Whether a post or a relation is for everybody who may see its entity."""
    return (row.get("visibility_id") or row.get("visibility") or "all") in OPEN


class Names:
    """The names of entities: by the id of the entity, and by module and id in the module."""

    def __init__(self, entities: list[tuple[SourceFile, dict[str, Any]]]) -> None:
        self.of_entity: dict[int, str] = {}
        self.of_row: dict[tuple[str, int], str] = {}
        self.private: set[str] = set()
        for file, entity in entities:
            inner = entity.get("entity") or {}
            name = str(entity["name"])
            entity_id = number(inner.get("id") or entity.get("entity_id") or entity.get("id"))
            self.of_entity[entity_id] = name
            self.of_row[file.path.parent.name, number(entity.get("id"))] = name
            if is_private(entity):
                self.private.add(name)

    def row(self, module: str, row_id: Any) -> str:
        return self.of_row.get((module, number(row_id)), "")


def number(value: Any) -> int:
    return int(value) if str(value).lstrip("-").isdigit() else 0


class EntityReader:
    """Reads one entity: `entity` is the row of its module, `inner` what all modules share."""

    def __init__(
        self, bundle: Bundle, file: SourceFile, entity: dict[str, Any], names: Names
    ) -> None:
        self.bundle, self.file, self.entity, self.names = bundle, file, entity, names
        self.inner: dict[str, Any] = entity.get("entity") or {}
        self.module = file.path.parent.name
        self.pictures = PictureCollector(bundle, file.path.parent.as_posix())

    def draft(self) -> LoreDraft:
        entity, inner = self.entity, self.inner
        portrait = inner.get("image_path") or entity.get("image") or inner.get("image_uuid")
        if portrait:
            self.pictures.add(str(portrait), str(entity["name"]), is_portrait=True)
        relations = self._relations()
        extra = fields_except(entity, *KNOWN)
        if relations:
            extra["relations"] = relations
        if attributes := inner.get("attributes"):
            extra["attributes"] = attributes
        return make_draft(
            self.file.name,
            private=is_private(entity),
            title=entity["name"],
            body=self._body(),
            kind=MODULES.get(self.module, self.module),
            tags=self._tags(),
            source=f"kanka:{self.file.name}",
            extra=extra,
            person=self._person() if self.module == "characters" else None,
            relations=tuple(self._relation_drafts(relations)),
            pictures=tuple(self.pictures.pictures),
        )

    def _body(self) -> str:
        parts = [self._text(self.entity.get("entry") or self.inner.get("entry"))]
        for post in self.inner.get("posts") or self.entity.get("posts") or []:
            text = f"## {post.get('name') or 'Post'}\n\n{self._text(post.get('entry'))}"
            parts.append(text if is_open(post) else f":::secret\n{text}\n:::")
        if personality := self._traits(appearance=False):
            is_shown = self.entity.get("is_personality_visible", True)
            text = "\n".join(["## " + _("Personality"), "", *personality])
            parts.append(text if is_shown else f":::secret\n{text}\n:::")
        return "\n\n".join(part for part in parts if part.strip())

    def _text(self, html: Any) -> str:
        text = adopt_pictures(html_to_markdown(str(html or "")), self.pictures)

        def link(mention: re.Match[str]) -> str:
            name, words = self.names.of_entity.get(int(mention[2]), ""), mention[3] or ""
            if not (name or words):
                return mention[0]
            return (
                f"[[{name}|{words}]]"
                if name and words and words != name
                else f"[[{name or words}]]"
            )

        return MENTION.sub(link, text)

    def _tags(self) -> list[str]:
        tags = [str(self.entity["type"])] if self.entity.get("type") else []
        for tag in self.inner.get("tags") or self.entity.get("tags") or []:
            tag_id = tag.get("id") if isinstance(tag, dict) else tag
            tags.append(
                self.names.row("tags", tag_id) or self.names.of_entity.get(number(tag_id), "")
            )
        return list(dict.fromkeys(filter(None, tags)))

    def _traits(self, *, appearance: bool) -> list[str]:
        traits = self.entity.get("characterTraits") or self.entity.get("traits") or []
        return [
            f"- {each.get('name')}: {self._text(each.get('entry'))}"
            for each in traits
            if (each.get("section_id") == APPEARANCE) == appearance
        ]

    def _person(self) -> PersonDraft:
        # Players read these lines of a profile, so they name nothing private.
        factions = [name for name, _role, private in self._memberships() if not private]
        home = self._home()
        return PersonDraft(
            role=str(self.entity.get("title") or "")[:200],
            summary="\n".join(self._traits(appearance=True)),
            home="" if home in self.names.private else home,
            faction=next((name for name in factions if name not in self.names.private), ""),
        )

    def _home(self) -> str:
        places = self.entity.get("locations") or [self.entity.get("location_id")]
        first = places[0] if places else None
        return self.names.row("locations", first.get("id") if isinstance(first, dict) else first)

    def _memberships(self) -> list[tuple[str, str, bool]]:
        """Return the name of each organisation, the role in it, and whether that is private."""
        entity = self.entity
        rows = entity.get("organisationMemberships") or entity.get("organisation_memberships") or []
        found = [
            (
                self.names.row("organisations", row.get("organisation_id")),
                str(row.get("role") or ""),
                bool(row.get("is_private")),
            )
            for row in rows
        ]
        return [each for each in found if each[0]]

    def _relations(self) -> list[dict[str, Any]]:
        """`attitude` runs from -100 to 100; a relation that is not for all is marked."""
        return [
            {
                "to": self.names.of_entity.get(
                    number(each.get("target_id")), str(each.get("target_id"))
                ),
                "relation": each.get("relation"),
                "attitude": each.get("attitude"),
                "private": not is_open(each),
            }
            for each in self.inner.get("relationships") or self.inner.get("relations") or []
        ]

    def _relation_drafts(self, relations: list[dict[str, Any]]) -> Iterator[RelationDraft]:
        for each in relations:
            attitude = each["attitude"]
            is_number = isinstance(attitude, int) and -100 <= attitude <= 100
            words = str(each["relation"] or "")[:80]
            yield RelationDraft(each["to"], words, attitude if is_number else None, each["private"])
        for name, role, private in self._memberships():
            words = f"member: {role}"[:80] if role else "member of"
            yield RelationDraft(name, words, private=private)
        if home := self._home():
            yield RelationDraft(home, "located in")
        for key in PARENTS:
            if parent := self.names.row(self.module, self.entity.get(key)):
                yield RelationDraft(parent, "part of")
