"""Tables (CSV, TSV) and the JSON of our own export."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from knowledge.importers.entry_fields import LoreDraft, fields_except, make_draft
from knowledge.importers.files import TextFile, text_files
from knowledge.schemas import LoreIn
from retrieval.errors import Invalid

OWN_FORMAT = "memory37-lore"
TITLE_COLUMNS, BODY_COLUMNS = ("title", "name"), ("body", "text", "content", "description")
LISTS = ("aliases", "tags")
PLAIN = (
    *("slug", "kind", "language", "status", "campaign", "author"),
    *("in_world_at", "in_world_label", "in_world_until", "in_world_until_label"),
)
COLUMNS = (*TITLE_COLUMNS, *BODY_COLUMNS, *LISTS, *PLAIN)


def read_csv(path: Path) -> Iterator[LoreDraft]:
    """One entry a line; the first line names the columns: title, body, kind, aliases, tags, … Lists
    by `|` or `;`.
    """
    for file in text_files(path, ".csv", ".tsv"):
        for number, row in enumerate(_rows(file), 2):
            lists = {
                name: row[name].replace(";", "|").split("|") for name in LISTS if row.get(name)
            }
            yield make_draft(
                f"{file.name}, line {number}",
                title=_first(row, TITLE_COLUMNS),
                body=_first(row, BODY_COLUMNS),
                source=f"csv:{file.name}",
                extra=fields_except(row, *COLUMNS),
                **lists,
                **{name: row[name] for name in PLAIN if row.get(name)},
            )


def _rows(file: TextFile) -> Iterator[dict[str, str]]:
    dialect = "excel-tab" if file.name.endswith(".tsv") else "excel"
    rows = csv.DictReader(io.StringIO(file.text), dialect=dialect)
    columns = {str(name).strip().lower() for name in rows.fieldnames or []}
    if not columns & set(TITLE_COLUMNS):
        raise Invalid(f"{file.name}: the first line must name the columns, among them `title`.")
    for row in rows:
        # A line that is longer than the first has a list under None.
        cells = ((key, value) for key, value in row.items() if key and isinstance(value, str))
        yield {key.strip().lower(): value for key, value in cells}


def _first(row: dict[str, str], columns: tuple[str, ...]) -> str:
    return next((row[name] for name in columns if row.get(name)), "")


def read_own_json(path: Path) -> Iterator[LoreDraft]:
    """A file of `export_lore --format json`."""
    for file in text_files(path, ".json"):
        content = file.json()
        own = isinstance(content, dict) and content.get("format") == OWN_FORMAT
        if not own or not isinstance(content.get("entries"), list):
            raise Invalid(f"{file.name} is no export of ours: `format` should be {OWN_FORMAT!r}.")
        for number, entry in enumerate(content["entries"]):
            if not isinstance(entry, dict) or set(entry) - set(LoreIn.model_fields):
                raise Invalid(f"{file.name}, entry {number}: unknown fields or no object.")
            yield make_draft(f"{file.name}: {entry.get('slug') or number}", **entry)
