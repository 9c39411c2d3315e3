"""Check the rows of an archive: what they refer to, and that all of them belong to its world."""

from functools import cache
from typing import Any
from uuid import UUID

from django.db import models
from django.utils.translation import gettext as _

from art.image_files import EXTENSIONS
from art.pictures import FILES
from memory_site.archive.inventory import ARCHIVED, SHARED, AnyField, Table, natural_key, tables
from memory_site.archive.lines import key_in_line, keys_of, known_users
from memory_site.archive.read import Archive, Line
from retrieval.errors import Invalid


class Keys:
    """The primary keys of all rows of an archive, by model."""

    def __init__(self, archive: Archive) -> None:
        self._keys: dict[str, set[str]] = {}
        self._other_uuids: set[str] = set()
        self.counts: dict[str, int] = {}
        for table in tables():
            keys = self._keys[table.label] = set()
            self.counts[table.label] = 0
            for line in archive.lines(table):
                self.counts[table.label] += 1
                self._add(table, keys, line)
        if self.counts["worlds.World"] != 1:
            raise Invalid(_("rows/worlds.World.jsonl: an archive holds one world."))

    @property
    def uuids(self) -> set[str]:
        """The ids of all rows, and those of rows that are gone: a reveal, for instance, outlives
        what was revealed."""
        found = set(self._other_uuids)
        for label, keys in self._keys.items():
            if label in ARCHIVED:
                found |= {key for key in keys if len(key) == 36}
        return found

    def holds(self, label: str, key: Any) -> bool:
        return str(key) in self._keys[label]

    def _add(self, table: Table, keys: set[str], line: Line) -> None:
        if table.path:
            values = (line.row.get(field.attname) for field in uuid_columns(table))
            self._other_uuids |= {str(value) for value in values if is_uuid(value)}
        primary: AnyField = table.model._meta.pk
        if not table.keeps_key or primary not in table.fields:
            return
        key = line.row.get(primary.attname)
        if isinstance(primary, models.UUIDField) and not is_uuid(key):
            raise Invalid(_("%(where)s: %(key)r is no id.") % {"where": line.where, "key": key})
        if table.has_number and key != self.counts[table.label]:
            raise Invalid(
                _("%(where)s: %(key)r is not the number of its line.")
                % {"where": line.where, "key": key}
            )
        if str(key) in keys:
            raise Invalid(
                _("%(where)s: the id %(key)s is there twice.") % {"where": line.where, "key": key}
            )
        keys.add(str(key))


class RowCheck:
    """Checks line by line; the names of users that this site lacks are left out."""

    def __init__(self, archive: Archive, keys: Keys) -> None:
        self._keys = keys
        self._world = next(archive.lines(Table("worlds.World", "pk"))).row["id"]
        self._users = known_users(names_of_users(archive))

    def is_for_unknown_user(self, table: Table, row: dict[str, Any]) -> bool:
        """Whether the row belongs to a user who is not here, such as a membership."""
        return any(
            natural_key(field) == "username"
            and not field.null
            and row.get(field.name) not in self._users
            for field in table.fields
        )

    def check(self, table: Table, line: Line) -> None:
        """Raise `Invalid` for a row that this version cannot store as it is."""
        fields = keys_of(table)
        if unknown := set(line.row) - set(fields):
            raise Invalid(
                _("%(where)s: this site knows no field %(unknown)r.")
                % {"where": line.where, "unknown": min(unknown)}
            )
        for key, field in fields.items():
            value = line.row.get(key)
            if value is None:
                continue
            if key == field.attname and key == key_in_line(field):
                self._check_reference(table, line, field, value)
            choices = {choice for choice, _label in field.flatchoices}
            if choices and value != "" and value not in choices:
                raise Invalid(
                    _("%(where)s: %(value)r is no %(key)s.")
                    % {"where": line.where, "value": value, "key": key}
                )
        if table.label == "art.Picture":
            self._check_files(line)

    def _check_reference(self, table: Table, line: Line, field: AnyField, value: Any) -> None:
        target = field.related_model
        # History may speak of rows that were deleted since.
        if target is None or table.label.split(".")[1].startswith("Historical"):
            is_here = field.attname != "world_id" or value == self._world
        else:
            label = target._meta.label
            is_here = label in SHARED or self._keys.holds(label, value)
        if not is_here:
            raise Invalid(
                _("%(where)s: %(field)s %(value)s is not in the archive.")
                % {"where": line.where, "field": field.name, "value": value}
            )

    def _check_files(self, line: Line) -> None:
        folder = f"pictures/{self._world}/{line.row.get('id')}/"
        content_type = str(line.row.get("content_type"))
        if content_type not in EXTENSIONS:
            raise Invalid(
                _("%(where)s: %(type)r is no type of a picture.")
                % {"where": line.where, "type": content_type}
            )
        for key in FILES:
            name = str(line.row.get(key) or "")
            extension = EXTENSIONS[content_type] if key == "file" else "webp"
            if name and not name.endswith(f".{extension}"):
                raise Invalid(
                    _("%(where)s: %(key)s %(name)r does not end with .%(extension)s.")
                    % {"where": line.where, "key": key, "name": name, "extension": extension}
                )
            if name and (not name.startswith(folder) or "/" in name[len(folder) :] or ".." in name):
                raise Invalid(
                    _("%(where)s: %(key)s %(name)r is no file of this picture.")
                    % {"where": line.where, "key": key, "name": name}
                )


@cache
def uuid_columns(table: Table) -> list[AnyField]:
    """The columns that hold the id of a row without being a foreign key."""
    return [
        each for each in table.fields if isinstance(each, models.UUIDField) and not each.primary_key
    ]


def names_of_users(archive: Archive) -> set[str]:
    names = set()
    for table in tables():
        columns = [each.name for each in table.fields if natural_key(each) == "username"]
        if columns:
            for line in archive.lines(table):
                names |= {str(line.row[column]) for column in columns if line.row.get(column)}
    return names


def is_uuid(value: object) -> bool:
    try:
        return str(UUID(str(value))) == value
    except ValueError:
        return False
