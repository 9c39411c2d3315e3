"""Open an archive and check all that can be checked before anything is written."""

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from memory_site.archive.inventory import Table, tables
from memory_site.archive.write import BLOCK, FORMAT, FORMAT_VERSION, MANIFEST
from retrieval.errors import Invalid

MOST_MEMBERS = 200_000
LARGEST_MANIFEST = 50_000_000
LARGEST_LINE = 50_000_000
LARGEST_TOTAL = 20_000_000_000
MOST_TIMES_LARGER, NEVER_TOO_LARGE = 100, 200_000_000
"""Text of a world shrinks to a tenth. What grows a hundredfold is made to fill the disk."""
FILE_NAME = re.compile(r"files/pictures/[0-9a-f-]{36}/[0-9a-f-]{36}/[a-z]+\.[a-z0-9]{2,5}")


@dataclass(frozen=True)
class Line:
    """`number` counts from 1, as editors do."""

    member: str
    number: int
    text: str
    row: dict[str, Any]

    @property
    def where(self) -> str:
        return f"{self.member}, line {self.number}"


class Archive:
    """An open archive whose manifest and digests are right; its rows are not checked yet."""

    def __init__(self, file: zipfile.ZipFile, name: str, packed_size: int) -> None:
        self._zip, self.name = file, name
        self._check_size(packed_size)
        self.manifest = self._read_manifest()
        self._check_members()

    @property
    def world_slug(self) -> str:
        return str(self.manifest["world"]["slug"])

    @property
    def file_names(self) -> list[str]:
        """The names in the storage of the pictures' files."""
        return [
            name.removeprefix("files/") for name in self._zip.namelist() if FILE_NAME.match(name)
        ]

    def file(self, name: str) -> bytes:
        return self._zip.read(f"files/{name}")

    def holds(self, table: Table) -> bool:
        """Whether the archive has the file of this model: an older one lacks newer models."""
        return table.member in self._zip.namelist()

    def lines(self, table: Table) -> Iterator[Line]:
        """Return the lines of a model; raises `Invalid` for one that is no JSON object."""
        member = table.member
        if not self.holds(table):
            return
        with self._zip.open(member) as file:
            number = 0
            while raw := file.readline(LARGEST_LINE):
                number += 1
                try:
                    text = raw.decode()
                    row = json.loads(text)
                except (ValueError, RecursionError) as problem:
                    raise Invalid(
                        _("%(member)s, line %(number)s: not valid JSON (%(problem)s).")
                        % {"member": member, "number": number, "problem": problem}
                    ) from None
                if not isinstance(row, dict):
                    raise Invalid(
                        _("%(member)s, line %(number)s: not a row.")
                        % {"member": member, "number": number}
                    )
                yield Line(member, number, text.strip(), row)

    def _check_size(self, packed_size: int) -> None:
        members = self._zip.infolist()
        total = sum(member.file_size for member in members)
        if len(members) > MOST_MEMBERS:
            raise Invalid(
                _("%(name)s: %(count)s files are too many for an archive.")
                % {"name": self.name, "count": len(members)}
            )
        bomb = total > NEVER_TOO_LARGE and total > MOST_TIMES_LARGER * packed_size
        if bomb or total > LARGEST_TOTAL:
            raise Invalid(
                _("%(name)s: too large, it unpacks to %(total)s bytes.")
                % {"name": self.name, "total": f"{total:,}"}
            )

    def _read_manifest(self) -> dict[str, Any]:
        if MANIFEST not in self._zip.namelist():
            raise Invalid(
                _("%(name)s is no archive of a world: it has no %(manifest)s.")
                % {"name": self.name, "manifest": MANIFEST}
            )
        if self._zip.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
            raise Invalid(
                _("%(name)s: %(manifest)s is too large.")
                % {"name": self.name, "manifest": MANIFEST}
            )
        try:
            manifest = json.loads(self._zip.read(MANIFEST))
            kind, version = manifest["format"], manifest["version"]
            members, _slug = dict(manifest["members"]), manifest["world"]["slug"] + ""
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise Invalid(
                _("%(manifest)s: it cannot be read (%(problem)r).")
                % {"manifest": MANIFEST, "problem": problem}
            ) from problem
        if kind != FORMAT or not isinstance(version, int):
            raise Invalid(
                _("%(manifest)s: the format %(kind)r is not %(format)r.")
                % {"manifest": MANIFEST, "kind": kind, "format": FORMAT}
            )
        if version > FORMAT_VERSION:
            raise Invalid(
                _(
                    "%(manifest)s: format version %(version)s is newer than %(known)s. Update "
                    "this site to %(product)s or newer."
                )
                % {
                    "manifest": MANIFEST,
                    "version": version,
                    "known": FORMAT_VERSION,
                    "product": manifest.get("product"),
                }
            )
        return {**manifest, "members": members}

    def _check_members(self) -> None:
        names = self._zip.namelist()
        if len(set(names)) < len(names):
            raise Invalid(_("%(name)s: a file is in the archive twice.") % {"name": self.name})
        known = {table.member for table in tables()}
        for name in names:
            if name != MANIFEST and name not in known and not FILE_NAME.fullmatch(name):
                raise Invalid(_("%(name)s: an archive holds no such file.") % {"name": name})
        listed = self.manifest["members"]
        if difference := set(listed) ^ (set(names) - {MANIFEST}):
            name = min(difference)
            if name in listed:
                text = _("%(name)s is missing from the archive.")
            else:
                text = _("%(name)s is not in %(manifest)s.")
            raise Invalid(text % {"name": name, "manifest": MANIFEST})
        for name, facts in listed.items():
            if not isinstance(facts, dict) or self._digest(name) != facts.get("sha256"):
                raise Invalid(_("%(name)s: damaged, its checksum is wrong.") % {"name": name})

    def _digest(self, name: str) -> str:
        digest = hashlib.sha256()
        with self._zip.open(name) as file:
            while block := file.read(BLOCK):
                digest.update(block)
        return digest.hexdigest()


@contextmanager
def open_archive(path: Path, *, name: str = "") -> Iterator[Archive]:
    """Open the archive `path`, called `name` in messages; raises `Invalid` naming the file that is
    wrong."""
    name = name or path.name
    try:
        with zipfile.ZipFile(path) as file:
            yield Archive(file, name, path.stat().st_size)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise Invalid(
            _("%(name)s: damaged or no zip file (%(problem)s).")
            % {"name": name, "problem": problem}
        ) from problem
    except OSError as problem:
        raise Invalid(
            _("%(name)s: it cannot be read (%(reason)s).")
            % {"name": name, "reason": problem.strerror}
        ) from problem
