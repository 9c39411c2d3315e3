"""Uploads of tests: files are written to a folder, and read or imported from it."""

import json
from pathlib import Path
from typing import Any

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.field_map import ImportMapping
from knowledge.importers.run import ImportReading, read_upload
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from memory_site.imports.report import WriteReport
from worlds.audiences import Visibility
from worlds.models import World

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cf"
    "c0000003010100c9fe92ef0000000049454e44ae426082"
)
"""A picture: PNG of one pixel."""
DEEP = 100_000
Files = dict[str, Any]


def write_files(folder: Path, files: Files) -> Path:
    """Write texts, bytes, or values as JSON, by their paths."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
    return folder


def read_files(folder: Path, files: Files) -> ImportReading:
    """Read the files as an upload whose mapping nobody changed."""
    return read_upload(write_files(folder, files), mapping=ImportMapping())


def formats_of(reading: ImportReading) -> dict[str, str]:
    return {found.file.name: found.format for found in reading.files}


def drafts_by_title(reading: ImportReading) -> dict[str, LoreDraft]:
    return {draft.entry.title: draft for draft in reading.drafts}


def import_files(
    world: World, folder: Path, files: Files, *, visibility: Visibility = Visibility.PUBLIC
) -> WriteReport:
    """Import what can be read, published for everybody unless the source says otherwise."""
    options = ImportOptions(status="published", visibility=visibility, bad_files="skip")
    return import_path(world, write_files(folder, files), options)
