"""Write an archive back: all of it or nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.validators import validate_unicode_slug
from django.db import DataError, IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from art.image_files import require_type
from art.models import Picture
from art.pictures import FILES, stored_file
from knowledge.mentions.store import relink
from memory_site.archive.check import Keys, RowCheck
from memory_site.archive.identities import NewIds
from memory_site.archive.inventory import Table, tables
from memory_site.archive.lines import insert_lines, keys_of, new_numbers, with_defaults
from memory_site.archive.read import Archive, Line, open_archive
from memory_site.archive.write import Progress
from retrieval.errors import Conflict, Invalid, TooLarge
from retrieval.models import passage_models
from retrieval.tasks import embed_soon
from worlds.characters import add_missing_characters
from worlds.deletion import forget_history
from worlds.erasure import permanent_deletion
from worlds.models import Party, World
from worlds.versions import lock_row

ROWS_AT_ONCE = 500
PERSONAL = ("worlds.Membership", "knowledge.EntryDraft", "knowledge.SavedFilter")


@dataclass
class Restored:
    """`left_out`: how many rows of each model belong to users who are not on this site."""

    world: World
    counts: dict[str, int]
    left_out: dict[str, int] = field(default_factory=dict)
    is_copy: bool = False


def restore_world(
    path: Path,
    *,
    as_slug: str = "",
    replace: bool = False,
    with_people: bool = True,
    name: str = "",
    progress: Progress = lambda _percent: None,
) -> Restored:
    """Restore the archive `path` under its own slug, or `as_slug`. A world that has the slug is
    refused, or replaced. Raises `Invalid` or `Conflict` naming file and line; then nothing is
    written. `with_people=False` leaves out memberships, drafts and saved filters. Messages call the
    archive `name`, or as its file is called."""
    with open_archive(path, name=name) as archive:
        restorer = Restorer(archive, as_slug or archive.world_slug, progress)
        restorer.with_people = with_people
        try:
            with transaction.atomic():
                return restorer.restore(replace=replace)
        except (IntegrityError, DataError) as problem:
            restorer.delete_new_files()
            reason = str(problem).splitlines()[0]
            raise Invalid(
                _("%(where)s: the database refuses it (%(reason)s).")
                % {"where": restorer.where, "reason": reason}
            ) from problem
        except BaseException:
            restorer.delete_new_files()
            raise


class Restorer:
    """One restoration. `where` is the part of the archive that is being written."""

    with_people = True

    def __init__(self, archive: Archive, slug: str, progress: Progress) -> None:
        self._archive, self._slug, self._progress = archive, slug, progress
        self._keys = Keys(archive)
        self._check = RowCheck(archive, self._keys)
        self._new_ids: NewIds | None = None
        self._new_files: list[str] = []
        self._left_out: dict[str, int] = {}
        self.where = archive.name

    def restore(self, *, replace: bool) -> Restored:
        world_line = next(self._archive.lines(Table("worlds.World", "pk")))
        old_id = world_line.row["id"]
        self._make_place(replace=replace, old_id=old_id)
        forget_history(old_id if self._new_ids is None else self._new_ids.replace(old_id))
        counts = self._insert_all()
        self.where = _("the links between rows")
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        self._write_files()
        world = World.objects.get(slug=self._slug)
        if not self._archive.holds(Table("worlds.Character", "world")):
            add_missing_characters(Party.objects.filter(world=world).order_by("pk"))
        relink(world)
        for model in passage_models():
            embed_soon(model.search_config.domain)
        self._progress(100)
        return Restored(world, counts, self._left_out, self._new_ids is not None)

    def _make_place(self, *, replace: bool, old_id: str) -> None:
        """Delete the world to replace; choose new ids if another world has the archive's."""
        try:
            validate_unicode_slug(self._slug)
        except ValidationError as problem:
            raise Invalid(f"{self._slug!r}: {problem.messages[0]}") from problem
        if existing := World.objects.filter(slug=self._slug).first():
            if not replace:
                raise Conflict(
                    _(
                        "There is a world at the address %(slug)r already. Choose another address "
                        "for the copy; only the command restore_world can replace a world."
                    )
                    % {"slug": self._slug}
                )
            delete_world(existing)
        if other := World.objects.filter(pk=old_id).first():
            if self._slug == self._archive.world_slug:
                raise Conflict(
                    _(
                        "The world of this archive is here at the address %(slug)r. Choose another "
                        "address for the copy; only the command restore_world can replace a world."
                    )
                    % {"slug": other.slug}
                )
            self._new_ids = NewIds(self._keys.uuids, seed=str(uuid4()))

    def _insert_all(self) -> dict[str, int]:
        counts, numbers = {}, {}
        every_table = tables()
        for place, table in enumerate(every_table):
            self.where = table.member
            if table.has_number and table.keeps_key:
                numbers[table.label] = new_numbers(table, self._keys.counts[table.label])
            lines, counts[table.label] = self._lines(table), 0
            at_once = ROWS_AT_ONCE if table.path else 1
            while batch := list(islice(lines, at_once)):
                self._insert(table, batch, numbers)
                counts[table.label] += len(batch)
            self._progress(90 * (place + 1) // len(every_table))
        return counts

    def _lines(self, table: Table) -> Iterator[tuple[Line, str]]:
        """Return the checked lines with the text to store."""
        is_personal = table.label in PERSONAL and not self.with_people
        for line in self._archive.lines(table):
            self._check.check(table, line)
            if is_personal or self._check.is_for_unknown_user(table, line.row):
                self._left_out[table.label] = self._left_out.get(table.label, 0) + 1
                continue
            if table.label == "worlds.World":
                text = json.dumps({**line.row, "slug": self._slug}, ensure_ascii=False)
            elif set(line.row) != set(keys_of(table)):
                text = with_defaults(table, line.row)
            else:
                text = line.text
            yield line, self._new_ids.replace(text) if self._new_ids else text

    def _insert(
        self, table: Table, batch: list[tuple[Line, str]], numbers: dict[str, list[int]]
    ) -> None:
        try:
            with transaction.atomic():
                insert_lines(table, [text for _line, text in batch], numbers)
        except (DataError, IntegrityError):
            # Once more, row by row, to name the one that the database refuses.
            for line, text in batch:
                self.where = line.where
                insert_lines(table, [text], numbers)
            raise

    def _write_files(self) -> None:
        for name in self._archive.file_names:
            self.where = f"files/{name}"
            content = self._archive.file(name)
            target = self._new_ids.replace(name) if self._new_ids else name
            self._check_file(target, content)
            if default_storage.exists(target):
                with default_storage.open(target) as file:
                    if sha256(file.read()).digest() == sha256(content).digest():
                        continue
                default_storage.delete(target)
            else:
                self._new_files.append(target)
            default_storage.save(target, ContentFile(content))

    def _check_file(self, target: str, content: bytes) -> None:
        """Raise `Invalid` unless a restored picture names this file, and it is one of its type."""
        content_type = type_of_file(target)
        if content_type is None:
            raise Invalid(
                _("%(file)s: no picture of the archive names this file.") % {"file": self.where}
            )
        try:
            require_type(content, content_type)
        except (Invalid, TooLarge) as problem:
            raise Invalid(f"{self.where}: {problem.detail}") from problem

    def delete_new_files(self) -> None:
        for name in self._new_files:
            default_storage.delete(name)


def type_of_file(name: str) -> str | None:
    """Return the type that the file of this name is served as, None if no picture has it."""
    for size in FILES:
        picture = Picture._base_manager.filter(**{size: name}).first()
        if picture:
            return stored_file(picture, size)[1]
    return None


def delete_world(world: World) -> None:
    """Delete a world that an archive replaces, with the history of its rows.

    The rows of pictures go by a statement of their own: their files would be deleted after the
    commit, and they are the files of the restored pictures, too. Files that no restored row names
    are deleted by the daily task.
    """
    with permanent_deletion():
        lock_row(world)  # calls that are audited meanwhile wait, and are then not written
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE art_artcard SET picture_id = NULL WHERE world_id = %s", [world.pk]
            )
            cursor.execute(
                "DELETE FROM art_pictureuse USING art_picture WHERE art_pictureuse.picture_id = "
                "art_picture.id AND art_picture.world_id = %s",
                [world.pk],
            )
            cursor.execute("DELETE FROM art_picture WHERE world_id = %s", [world.pk])
        key = world.pk
        world.delete()
    forget_history(key)  # an archive brings its own
