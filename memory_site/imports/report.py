"""What an import did, or would do: counted, and listed as far as a page shows it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from knowledge.importers.drafts import ImportProblem
from knowledge.importers.formats import PICTURE
from knowledge.importers.run import ImportReading
from memory_site.imports.snapshots import Values, mark_of
from worlds.models import ImportedRow

MOST_LISTED = 1_000
LONGEST_SOURCE, LONGEST_SLUG = 400, 120


@dataclass
class WriteReport:
    """`rows` are what was written, in order; `problems` those met while writing."""

    rows: list[ImportedRow] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)
    unknown_links: dict[str, list[str]] = field(default_factory=dict)
    book: str = ""
    """The slug of the book of rules that was written."""
    system_before: str | None = None
    """The id of the game system that the world played before, if the import has changed it."""

    def add(
        self,
        kind: str,
        row: Any,
        outcome: str,
        *,
        name: str,
        source: str = "",
        before: Values | None = None,
        after: Values | None = None,
    ) -> None:
        self.rows.append(
            ImportedRow(
                kind=kind,
                row_id=getattr(row, "pk", None) if kind != "disposition" else None,
                name=name[:200],
                slug=getattr(row, "slug", "") or getattr(row, "key", "")[:LONGEST_SLUG],
                source=source[:LONGEST_SOURCE],
                outcome=outcome,
                before=before,
                mark=mark_of(after) if after else "",
            )
        )

    def note(self, file: str, message: str) -> None:
        self.problems.append(ImportProblem(file, message, is_error=False))

    def counts(self) -> dict[str, dict[str, int]]:
        """The number of rows by kind and outcome."""
        counted = Counter((row.kind, str(row.outcome)) for row in self.rows)
        counts: dict[str, dict[str, int]] = {}
        for (kind, outcome), number in counted.items():
            counts.setdefault(kind, {})[outcome] = number
        return counts


def reading_json(reading: ImportReading) -> dict[str, Any]:
    """The files of an upload and what they were recognised as, for the run."""
    faulty = {problem.file for problem in reading.errors}
    files = [
        [found.file.name, found.format, found.file.size, found.file.name in faulty]
        for found in reading.files
    ]
    # Files with a fault first, then in the order of the upload; pictures are only counted.
    listed = sorted((each for each in files if each[1] != PICTURE), key=lambda each: not each[3])
    return {
        "files": listed[:MOST_LISTED],
        "formats": dict(Counter(found.format for found in reading.files)),
        "entries": len(reading.drafts),
        "book": reading.book.title if reading.book else "",
        "is_rules": bool(reading.drafts) and all(draft.is_rule for draft in reading.drafts),
        "problems": problems_json(reading.problems),
    }


def problems_json(problems: Iterable[ImportProblem]) -> dict[str, Any]:
    """Errors first, each with file and line."""
    ordered = sorted(problems, key=lambda each: (not each.is_error, each.file, each.line or 0))
    return {
        "errors": sum(each.is_error for each in ordered),
        "notes": sum(not each.is_error for each in ordered),
        "list": [
            [each.file, each.line, each.message, each.is_error] for each in ordered[:MOST_LISTED]
        ],
    }


def written_json(report: WriteReport) -> dict[str, Any]:
    links = list(report.unknown_links.items())
    return {
        "counts": report.counts(),
        "book": report.book,
        "system_before": report.system_before,
        "rows": [
            [row.kind, str(row.outcome), row.name, row.source, row.slug]
            for row in report.rows[:MOST_LISTED]
            if row.outcome != ImportedRow.Outcome.UNCHANGED
        ],
        "unknown_links": [[where, names[:50]] for where, names in links[:MOST_LISTED]],
        "unknown_link_count": sum(len(names) for _where, names in links),
    }
