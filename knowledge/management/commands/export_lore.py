"""`manage.py export_lore PATH --format markdown`: all lore of a world, secrets included."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from knowledge.export import export_json, export_markdown
from retrieval.errors import Problem
from worlds.lookup import find_world


class Command(BaseCommand):
    help = "Export all lore of a world, secrets included. Importing it again gives the same rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="A new folder (markdown) or file (json).")
        parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
        parser.add_argument("--world", help="Slug; default: the first world.")

    def handle(self, *_args: Any, path: Path, **options: Any) -> None:
        try:
            world = find_world(options["world"])
            if options["format"] == "json":
                path.write_text(export_json(world), encoding="utf-8")
            else:
                export_markdown(world, path)
        except (Problem, OSError) as problem:
            raise CommandError(str(problem)) from problem
        places = {"world": world, "path": path}
        self.stdout.write(_("The lore of %(world)s is in %(path)s.") % places)
