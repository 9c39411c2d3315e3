"""`manage.py import_lore PATH --format obsidian`: lore from other tools, with a report."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.importers.run import FORMATS, ImportReport, import_lore
from knowledge.management.commands.ask import find_world
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.audiences import Visibility

MOST_LINES = 20


class Command(BaseCommand):
    help = "Import lore: all of it or nothing. Importing again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--format", choices=sorted(FORMATS), required=True)
        parser.add_argument("--world", help="Slug; default: the first world.")
        parser.add_argument("--dry-run", action="store_true", help="Report, store nothing.")
        parser.add_argument(
            "--visibility", choices=["gm", "public"], default="gm", help="Of new entries."
        )
        parser.add_argument(
            "--publish", action="store_true", help="New entries are published, not drafts."
        )

    def handle(self, *_args: Any, path: Path, visibility: str, **options: Any) -> None:
        world = find_world(options["world"])
        try:
            with transaction.atomic():
                report = import_lore(
                    world,
                    path,
                    options["format"],
                    dry_run=options["dry_run"],
                    visibility=Visibility(visibility),
                    publish=options["publish"],
                )
                if report.is_stored:
                    embed_soon("lore")
        except Problem as problem:
            raise CommandError(_("Nothing was imported. %(why)s") % {"why": problem}) from problem
        self._print(report)

    def _print(self, report: ImportReport) -> None:
        for note in report.notes[:MOST_LINES]:
            self.stdout.write(f"  {note}")
        for where, targets in list(report.unknown_links.items())[:MOST_LINES]:
            missing = {"where": where, "targets": ", ".join(targets)}
            warning = _("%(where)s: unknown links: %(targets)s") % missing
            self.stdout.write("  " + self.style.WARNING(warning))
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.counts.items()))
        dry_run = _("Dry run, nothing stored: %(told)s") % {"told": counts}
        self.stdout.write(counts if report.is_stored else dry_run)
