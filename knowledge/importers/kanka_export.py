"""What a campaign export of Kanka holds: entities by their ids, the gallery, modules of its own."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from knowledge.importers.entry_text import as_dict
from knowledge.importers.files import SourceFile

Entity = dict[str, Any]

# Kanka's visibility ids: 1 all, 2 admins, 3 admins and author, 4 author, 5 members. Exports of
# before have words.
OPEN = {1, 5, "all", "members"}
CAMPAIGN, GALLERY, OWN_MODULES = "campaign.json", "gallery", "custom-modules.json"


def entity_of(file: SourceFile) -> Entity | None:
    """The entity of a file, or None: an export holds files of other things, too. Entities of the
    campaign's own modules have their name among what all modules share."""
    value = file.json()
    value = value.get("data", value) if isinstance(value, dict) else value
    if not isinstance(value, dict):
        return None
    shared = value.get("entity")
    name = value.get("name") or as_dict(shared).get("name")
    is_campaign = file.path.name == CAMPAIGN and shared is None
    if not name or is_campaign or not ("entry" in value or "entity" in value):
        return None
    return {**value, "name": name}


def is_about_export(file: SourceFile) -> bool:
    """Whether a file describes the campaign, a picture of the gallery, or its own modules."""
    value = file.json()
    if file.path.parent.name == GALLERY:
        return isinstance(value, dict) and "id" in value and "is_folder" in value
    if file.path.name == OWN_MODULES:
        return isinstance(value, list) and all("code" in as_dict(each) for each in value)
    return file.path.name == CAMPAIGN and isinstance(value, dict) and "name" in value


def is_private(entity: Entity) -> bool:
    return bool(entity.get("is_private") or as_dict(entity.get("entity")).get("is_private"))


def is_open(row: dict[str, Any]) -> bool:
    """Whether a post, a relation or the like is for everybody who may see its entity."""
    visibility = row.get("visibility_id") or row.get("visibility") or "all"
    return visibility in OPEN and not row.get("is_private")


def number(value: Any) -> int:
    return int(value) if str(value).lstrip("-").isdigit() else 0


@dataclass(frozen=True)
class MentionedEntity:
    """An entity that another one names."""

    name: str
    is_private: bool = False


@dataclass
class KankaExport:
    """Mentions and relations name entities by an id that all modules share, other fields by the id
    in a module. Pictures of the gallery are named by an id, too."""

    of_entity: dict[int, MentionedEntity] = field(default_factory=dict)
    of_row: dict[tuple[str, int], MentionedEntity] = field(default_factory=dict)
    gallery: dict[str, dict[str, Any]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, entities: Iterable[tuple[SourceFile, Entity]], others: Iterable[SourceFile]
    ) -> "KankaExport":
        export = cls()
        for file, entity in entities:
            shared = as_dict(entity.get("entity"))
            target = MentionedEntity(str(entity["name"]), is_private(entity))
            entity_id = number(shared.get("id") or entity.get("entity_id") or entity.get("id"))
            export.of_entity[entity_id] = target
            # Entities of the campaign's own modules have no id of their module.
            if row_id := number(entity.get("id")):
                export.of_row[file.path.parent.name, row_id] = target
        for file in others:
            value = file.json()
            if file.path.name == OWN_MODULES:
                export.modules |= {
                    f"{each['code']}_{each.get('id')}": str(each.get("singular") or each["code"])
                    for each in value
                }
            elif file.path.name != CAMPAIGN:
                export.gallery[str(value["id"])] = value
        return export

    def entity(self, entity_id: Any) -> MentionedEntity | None:
        return self.of_entity.get(number(entity_id))

    def row(self, module: str, row_id: Any) -> MentionedEntity | None:
        return self.of_row.get((module, number(row_id)))

    def picture(self, reference: Any) -> tuple[str, bool]:
        """The file of a picture that an entity names by the id of the gallery or by its path, and
        whether the gallery hides it."""
        about = self.gallery.get(str(reference))
        if about is None:
            return str(reference), False
        name = PurePosixPath(GALLERY) / f"{reference}.{about.get('ext')}"
        return name.as_posix(), not is_open(about)
