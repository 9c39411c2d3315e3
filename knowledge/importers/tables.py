"""Tables (CSV, TSV) and the JSON of our own export."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.markdown import note_encoding
from knowledge.schemas import LoreIn
from retrieval.errors import Invalid

OWN_FORMAT = "memory37-lore"
TITLE_COLUMNS = ("title", "name", "название", "имя", "이름", "제목")
BODY_COLUMNS = ("body", "text", "content", "description", "описание", "текст", "설명", "내용")
KIND_COLUMNS = ("kind", "type", "category", "тип", "вид", "종류", "유형")
LISTS = ("aliases", "tags")
PLAIN = (
    *("slug", "custom_kind", "language", "status", "campaign", "author"),
    *("in_world_at", "in_world_label", "in_world_until", "in_world_until_label"),
)
COLUMNS = (*TITLE_COLUMNS, *BODY_COLUMNS, *KIND_COLUMNS, *LISTS, *PLAIN, "folder")
DELIMITERS = ",;\t|"


def is_table(file: SourceFile, _bundle: Bundle) -> int:
    rows = csv.reader(lines_of(file), dialect=dialect_of(file))
    try:
        return 40 if has_title(next(rows, [])) else 10
    except csv.Error:
        return 10  # the reader says what is wrong


def is_own_json(file: SourceFile, _bundle: Bundle) -> int:
    content = file.json()
    return 90 if isinstance(content, dict) and content.get("format") == OWN_FORMAT else 0


def read_csv(bundle: Bundle) -> Iterator[LoreDraft]:
    """Read one entry per line. The first line names the columns; `|` or `;` separates lists."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            note_encoding(bundle, file)
            for line, row in table_rows(file):
                with bundle.problems_of(file.name, line=line):
                    yield row_draft(row, file=file.name, line=line, source=f"csv:{file.name}")


def row_draft(row: Mapping[str, Any], *, file: str, line: int, source: str) -> LoreDraft:
    """Return the draft of a row, whose columns are in lower case."""
    lists = {name: row[name].replace(";", "|").split("|") for name in LISTS if row.get(name)}
    folder = {"folder": str(row["folder"])} if row.get("folder") else {}
    plain = {name: row[name] for name in PLAIN if row.get(name)}
    title = first_of(row, TITLE_COLUMNS)
    if not title.strip():
        raise Invalid(_("The row has no title: it is left out."))
    return make_draft(
        _("%(file)s, line %(line)d") % {"file": file, "line": line},
        file=file,
        body_line=line,
        title=title,
        body=first_of(row, BODY_COLUMNS),
        kind=first_of(row, KIND_COLUMNS),
        source=source,
        fields=fields_except(row, *COLUMNS),
        **folder,
        **lists,
        **plain,
    )


def table_rows(file: SourceFile) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows with their line, by columns in lower case."""
    # A text of a broken file may open a quote that nothing closes: one cell of the whole rest.
    csv.field_size_limit(1_000_000)
    rows = csv.DictReader(lines_of(file), dialect=dialect_of(file))
    try:
        if not has_title(rows.fieldnames or []):
            message = _("The first line must name the columns, among them `title` or `name`.")
            raise Invalid(message, errors=[{"loc": ["line", 1]}])
        for row in rows:
            # A line that is longer than the first has a list under None.
            cells = ((key, value) for key, value in row.items() if key and isinstance(value, str))
            yield rows.line_num, {key.strip().lower(): value for key, value in cells}
    except csv.Error as problem:
        message = _("The table cannot be read: %(reason)s.") % {"reason": problem}
        raise Invalid(message, errors=[{"loc": ["line", rows.line_num]}]) from problem


def lines_of(file: SourceFile) -> io.StringIO:
    """Lines may end as on any system: the parser refuses a bare carriage return."""
    return io.StringIO(file.text, newline=None)


def dialect_of(file: SourceFile) -> Any:
    """The delimiter is the character of `DELIMITERS` that is most frequent in the first line;
    Excel writes `;` where the comma is the decimal sign."""
    line = file.text.partition("\n")[0]

    class Dialect(csv.excel):
        delimiter = max(DELIMITERS, key=line.count)

    return Dialect


def has_title(header: Any) -> bool:
    return bool({str(name).strip().lower() for name in header} & set(TITLE_COLUMNS))


def first_of(row: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    return next((str(row[name]) for name in columns if row.get(name)), "")


def read_own_json(bundle: Bundle) -> Iterator[LoreDraft]:
    """A file of `export_lore --format json`."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            content = file.json()
            if not is_own_json(file, bundle) or not isinstance(content.get("entries"), list):
                message = _("This is no export of ours: `format` should be %(name)r.")
                raise Invalid(message % {"name": OWN_FORMAT})
            for number, entry in enumerate(content["entries"]):
                with bundle.problems_of(file.name):
                    yield _own_draft(file.name, number, entry)


def _own_draft(file: str, number: int, entry: Any) -> LoreDraft:
    if not isinstance(entry, dict) or set(entry) - set(LoreIn.model_fields):
        message = _("Entry %(number)d has unknown fields, or is no object.")
        raise Invalid(message % {"number": number})
    return make_draft(f"{file}: {entry.get('slug') or number}", file=file, is_exact=True, **entry)
