"""A Kanka campaign export: a folder or zip with a JSON file per entity, and a gallery."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft, PersonDraft, RelationDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.entry_text import as_dict, as_list
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.kanka_export import (
    Entity,
    KankaExport,
    MentionedEntity,
    entity_of,
    is_about_export,
    is_open,
    is_private,
)
from knowledge.importers.kanka_text import EntityText
from knowledge.importers.markup import PictureCollector

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
    # Species of animals and monsters, no single beings.
    "creatures": "monster",
    "abilities": "ability",
    "maps": "map",
}
KNOWN = (
    *("id", "entity_id", "entity", "name", "slug", "entry", "type", "is_private", "relations"),
    *("posts", "relationships", "title", "created_at", "updated_at", "created_by", "updated_by"),
    *("campaign_id", "image", "traits", "characterTraits", "tags", "location_id", "locations"),
    *("organisationMemberships", "organisation_memberships", "image_full", "image_thumb"),
    *("characterFamilies", "characterRaces", "elements", "eras", "character_id", "creator_id"),
    *("instigator_id", "author_id", "attributes", "is_personality_visible"),
)
PARENTS = ("parent_id", "parent_location_id", "organisation_id", "quest_id", "family_id")
PEOPLE = {"creator_id": "made by", "instigator_id": "given by", "author_id": "written by"}
"""Fields that name an entity, and what its own entity is to it."""
DATED = ("events", "journals", "quests")
ALIAS = 3
"""The type of an asset that is another name; the others are files and links."""


def is_kanka(file: SourceFile, _bundle: Bundle) -> int:
    entity = entity_of(file)
    if entity is None:
        return 60 if is_about_export(file) else 0
    return 70 if isinstance(entity.get("entity"), dict) or file.path.parent.name in MODULES else 10


def read_kanka(bundle: Bundle) -> Iterator[LoreDraft]:
    """Private entities and posts stay GM only; relations come with their attitude."""
    entities: list[tuple[SourceFile, Entity]] = []
    others: list[SourceFile] = []
    for file in bundle.files:
        with bundle.problems_of(file.name):
            if entity := entity_of(file):
                entities.append((file, entity))
            elif is_about_export(file):
                others.append(file)
            else:
                bundle.note(file.name, _("This file holds no entity: it is left out."))
    # Mentions and relations name entities by id, so all of them are read before the first body.
    export = KankaExport.of(entities, others)
    for file, entity in entities:
        if file.path.parent.name != "tags":
            with bundle.problems_of(file.name):
                yield EntityReader(bundle, file, entity, export).draft()


class EntityReader:
    """Reads one entity: `entity` is the row of its module, `shared` what all modules share."""

    def __init__(
        self, bundle: Bundle, file: SourceFile, entity: Entity, export: KankaExport
    ) -> None:
        self.file, self.entity, self.export = file, entity, export
        self.shared: dict[str, Any] = as_dict(entity.get("entity"))
        self.module = file.path.parent.name
        self.pictures = PictureCollector(bundle, file.path.parent.as_posix())
        self.text = EntityText(entity, export, self.pictures)

    def draft(self) -> LoreDraft:
        self._add_pictures()
        relations = self._relations()
        extra = fields_except(self.entity, *KNOWN)
        if relations:
            extra["relations"] = relations
        tags, hidden_tags = self._tags()
        if hidden_tags:
            extra["tags"] = hidden_tags
        body = self.text.body()
        return make_draft(
            self.file.name,
            private=is_private(self.entity),
            title=self.entity["name"],
            body=body,
            kind=MODULES.get(self.module) or self.export.modules.get(self.module, self.module),
            aliases=self._aliases(),
            tags=tags,
            in_world_label=self._date(),
            source=f"kanka:{self.file.name}",
            extra=extra,
            person=self._person() if self.module == "characters" else None,
            relations=tuple(self._relation_drafts(relations)),
            pictures=tuple(self.pictures.pictures),
            notes=self._notes(),
        )

    def _date(self) -> str:
        # That of a calendar is its present day.
        return str(self.entity.get("date") or "")[:120] if self.module in DATED else ""

    def _notes(self) -> list[str]:
        if not self.text.unnamed:
            return []
        message = _(
            "Private in Kanka: the open text does not name them, a secret at its end does: "
            "%(names)s."
        )
        return [message % {"names": ", ".join(self.text.unnamed)}]

    def _add_pictures(self) -> None:
        own = (self.shared.get("image_path"), self.entity.get("image"))
        portrait = next(filter(None, (*own, self.shared.get("image_uuid"))), None)
        header = self.shared.get("header_image") or self.shared.get("header_uuid")
        for reference, is_portrait in ((portrait, True), (header, False)):
            if reference:
                name, is_hidden = self.export.picture(reference)
                words = str(self.entity["name"])
                self.pictures.add(name, words, is_portrait=is_portrait, is_hidden=is_hidden)

    def _aliases(self) -> list[str]:
        assets = map(as_dict, as_list(self.shared.get("assets")))
        return [
            str(each["name"])
            for each in assets
            if each.get("type_id") == ALIAS and each.get("name") and is_open(each)
        ]

    def _tags(self) -> tuple[list[str], list[str]]:
        """The tags, and the private ones, which players may not see. The type is a tag, too."""
        kind = self.entity.get("type") or self.shared.get("type")
        shown: list[str] = [str(kind)] if kind else []
        hidden: list[str] = []
        rows = self.shared.get("entityTags") or self.shared.get("tags") or self.entity.get("tags")
        for tag in as_list(rows):
            tag_id = as_dict(tag).get("tag_id") or as_dict(tag).get("id") or tag
            found = self.export.row("tags", tag_id) or self.export.entity(tag_id)
            if found:
                (hidden if found.is_private else shown).append(found.name)
        return list(dict.fromkeys(shown)), hidden

    def _person(self) -> PersonDraft:
        # Players read these lines of a profile, so they name nothing private.
        factions = [
            target.name
            for target, _role, private in self._memberships()
            if not (private or target.is_private)
        ]
        home = next(iter(self._places()), None)
        return PersonDraft(
            role=str(self.entity.get("title") or "")[:200],
            summary=self.text.appearance(),
            home=home.name if home and not home.is_private else "",
            faction=next(iter(factions), ""),
        )

    def _places(self) -> list[MentionedEntity]:
        rows = self.shared.get("entityLocations") or self.entity.get("locations")
        ids = [
            as_dict(row).get("location_id") or as_dict(row).get("id") or row
            for row in as_list(rows) or [self.entity.get("location_id")]
        ]
        return self._targets("locations", ids)

    def _targets(self, module: str, ids: list[Any]) -> list[MentionedEntity]:
        return [target for each in ids if (target := self.export.row(module, each))]

    def _memberships(self) -> list[tuple[MentionedEntity, str, bool]]:
        """Return each organisation, the role in it, and whether that is private."""
        entity = self.entity
        rows = entity.get("organisationMemberships") or entity.get("organisation_memberships")
        return [
            (target, str(row.get("role") or ""), bool(row.get("is_private")))
            for row in map(as_dict, as_list(rows))
            if (target := self.export.row("organisations", row.get("organisation_id")))
        ]

    def _kin(self) -> Iterator[RelationDraft]:
        """The families and races of a character. Exports of before name one of each."""
        for name, module, key, words in (
            ("characterFamilies", "families", "family_id", "member of"),
            ("characterRaces", "races", "race_id", "race"),
        ):
            rows = as_list(self.entity.get(name)) or [{key: self.entity.get(key)}]
            for row in map(as_dict, rows):
                if target := self.export.row(module, row.get(key)):
                    yield RelationDraft(target.name, words, private=not is_open(row))

    def _relations(self) -> list[dict[str, Any]]:
        """`attitude` runs from -100 to 100; a relation that is not for all is marked."""
        rows = self.shared.get("relationships") or self.shared.get("relations") or []
        return [
            {
                "to": target.name if target else str(each.get("target_id")),
                "relation": each.get("relation"),
                "attitude": each.get("attitude"),
                "private": not is_open(each),
            }
            for each in rows
            for target in [self.export.entity(each.get("target_id"))]
        ]

    def _relation_drafts(self, relations: list[dict[str, Any]]) -> Iterator[RelationDraft]:
        for each in relations:
            attitude = each["attitude"]
            is_number = isinstance(attitude, int) and -100 <= attitude <= 100
            words = str(each["relation"] or "")[:80]
            yield RelationDraft(each["to"], words, attitude if is_number else None, each["private"])
        for target, role, private in self._memberships():
            words = f"member: {role}"[:80] if role else "member of"
            yield RelationDraft(target.name, words, private=private)
        if is_person := self.module == "characters":
            yield from self._kin()
        for place in self._places():
            yield RelationDraft(place.name, "lives in" if is_person else "located in")
        yield from self._named_by_fields()

    def _named_by_fields(self) -> Iterator[RelationDraft]:
        """What single fields name: the whole of a part, owners, makers, who is in a quest."""
        parents = self._targets(self.module, [self.entity.get(key) for key in PARENTS])
        if whole := self.export.entity(self.shared.get("parent_id")):
            parents.append(whole)
        for parent in dict.fromkeys(parents):
            yield RelationDraft(parent.name, "part of")
        if owner := self.export.row("characters", self.entity.get("character_id")):
            yield RelationDraft(owner.name, "owned by")
        for key, words in PEOPLE.items():
            if person := self.export.entity(self.entity.get(key)):
                yield RelationDraft(person.name, words)
        for element in map(as_dict, as_list(self.entity.get("elements"))):
            target = self.export.entity(element.get("entity_id"))
            if target and self.module == "quests":
                yield RelationDraft(target.name, "involves", private=not is_open(element))
