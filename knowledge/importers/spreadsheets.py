"""Excel workbooks: each sheet is a table whose first row names the columns."""

import io
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.files import Bundle, SourceFile, check_archive
from knowledge.importers.tables import has_title, row_draft
from retrieval.errors import Invalid

MOST_ROWS = 50_000


def is_workbook(_file: SourceFile, _bundle: Bundle) -> int:
    return 40


def read_workbooks(bundle: Bundle) -> Iterator[LoreDraft]:
    """Read one entry per row. A formula counts as the value that was stored with it."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            for sheet in _open(file).worksheets:
                rows = sheet.iter_rows(values_only=True, max_row=MOST_ROWS)
                header = [str(cell or "").strip().lower() for cell in next(rows, ())]
                if not has_title(header):
                    message = _("Sheet %(sheet)s: the first row names no column `title` or `name`.")
                    bundle.note(file.name, message % {"sheet": sheet.title})
                    continue
                for line, cells in enumerate(rows, 2):
                    row = dict(zip(header, map(_text, cells), strict=False))
                    if any(row.values()):
                        with bundle.problems_of(file.name, line=line):
                            name = f"{file.name}: {sheet.title}"
                            source = f"xlsx:{file.name}#{sheet.title}"
                            yield row_draft(row, file=name, line=line, source=source)


def _open(file: SourceFile) -> Any:
    # Few processes read a workbook, and the import takes a tenth of the time of their start.
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    content = io.BytesIO(file.read())
    check_archive(content)
    try:
        return load_workbook(content, read_only=True, data_only=True)
    # openpyxl raises what its XML parser and the zip module raise
    except (BadZipFile, InvalidFileException, KeyError, OSError, SyntaxError) as problem:
        message = _("The workbook cannot be read: %(reason)s.") % {"reason": problem}
        raise Invalid(message) from problem


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
