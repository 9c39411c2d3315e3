"""`manage.py import_lore PATH`: lore from other tools, with a report, as on the import page."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from knowledge.importers.formats import FORMATS
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from memory_site.imports.report import WriteReport
from retrieval.errors import Problem
from worlds.lookup import find_world

MOST_LINES = 20


class Command(BaseCommand):
    help = "Import lore: all of it or nothing. Importing again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--format", choices=sorted(FORMATS), help="Default: by the content.")
        parser.add_argument("--world", help="Slug; default: the first world.")
        parser.add_argument("--dry-run", action="store_true", help="Report, store nothing.")
        parser.add_argument(
            "--visibility", choices=["gm", "public"], default="gm", help="Of new entries."
        )
        parser.add_argument("--publish", action="store_true", help="Publish new entries.")
        parser.add_argument("--skip-bad-files", action="store_true", help="Leave faulty files out.")

    def handle(self, *_args: Any, path: Path, **options: Any) -> None:
        chosen = ImportOptions(
            format=options["format"] or "",
            visibility=options["visibility"],
            status="published" if options["publish"] else "draft",
            bad_files="skip" if options["skip_bad_files"] else "refuse",
        )
        try:
            world = find_world(options["world"])
            report = import_path(world, path, chosen, dry_run=options["dry_run"])
        except Problem as problem:
            raise CommandError(
                _("Nothing was imported. %(reason)s") % {"reason": problem}
            ) from problem
        self._print(report, dry_run=options["dry_run"])

    def _print(self, report: WriteReport, *, dry_run: bool) -> None:
        for problem in report.problems[:MOST_LINES]:
            self.stdout.write(f"  {problem}")
        for where, targets in list(report.unknown_links.items())[:MOST_LINES]:
            missing = {"where": where, "targets": ", ".join(targets)}
            warning = _("%(where)s: unknown links: %(targets)s") % missing
            self.stdout.write("  " + self.style.WARNING(warning))
        outcomes = report.counts().get("lore", {})
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        message = _("Dry run, nothing stored: %(counts)s") % {"counts": counts}
        self.stdout.write(message if dry_run else counts)
