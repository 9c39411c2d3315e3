"""Tables and our own JSON."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from knowledge.importers.entry_fields import Draft, draft, without
from knowledge.importers.files import text_files
from knowledge.schemas import LoreIn
from retrieval.errors import Invalid

OWN = "memory37-lore"
LISTS = ("aliases", "tags")
PLAIN = (
    "slug",
    "kind",
    "language",
    "status",
    "in_world_label",
    "in_world_until_label",
    "campaign",
    "author",
)
DAYS = ("in_world_at", "in_world_until")


def read_csv(path: Path) -> Iterator[Draft]:
    """One entry a line; the first line names the columns: title, body, kind, aliases, tags, … Lists by `|` or `;`."""
    for file in text_files(path, ".csv", ".tsv"):
        dialect = "excel-tab" if file.name.endswith(".tsv") else "excel"
        rows = csv.DictReader(io.StringIO(file.text), dialect=dialect)
        columns = {str(name).strip().lower() for name in rows.fieldnames or []}
        if not columns & {"title", "name"}:
            raise Invalid(f"{file.name}: the first line must name the columns, among them `title`.")
        for number, row in enumerate(rows, 2):
            told = {
                str(key).strip().lower(): value
                for key, value in row.items()
                if key and isinstance(value, str)
            }
            yield draft(
                f"{file.name}, line {number}",
                title=told.get("title") or told.get("name") or "",
                body=told.get("body")
                or told.get("text")
                or told.get("content")
                or told.get("description")
                or "",
                origin=f"csv:{file.name}"[-200:],
                extra=without(
                    told,
                    "title",
                    "name",
                    "body",
                    "text",
                    "content",
                    "description",
                    *LISTS,
                    *PLAIN,
                    *DAYS,
                ),
                **{
                    name: told[name].replace(";", "|").split("|")
                    for name in LISTS
                    if told.get(name)
                },
                **{name: told[name] for name in (*PLAIN, *DAYS) if told.get(name)},
            )


def read_own_json(path: Path) -> Iterator[Draft]:
    """A file of `export_lore --format json`."""
    for file in text_files(path, ".json"):
        content = file.json()
        if (
            not isinstance(content, dict)
            or content.get("format") != OWN
            or not isinstance(content.get("entries"), list)
        ):
            raise Invalid(f"{file.name} is no export of ours: `format` should be {OWN!r}.")
        for number, entry in enumerate(content["entries"]):
            if not isinstance(entry, dict) or set(entry) - set(LoreIn.model_fields):
                raise Invalid(f"{file.name}, entry {number}: unknown fields or no object.")
            yield draft(f"{file.name}: {entry.get('slug') or number}", **entry)
