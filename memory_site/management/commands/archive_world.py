"""`manage.py archive_world WORLD FILE`: all of one world in a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from memory_site.archive.write import archive_world
from retrieval.errors import Problem
from worlds.lookup import find_world


class Command(BaseCommand):
    help = "Write all of a world into a zip file: texts, history, people, memories, pictures."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("world", help="Slug.")
        parser.add_argument("file", type=Path)

    def handle(self, *_args: Any, world: str, file: Path, **_options: Any) -> None:
        try:
            archive_world(find_world(world), file)
        except (Problem, OSError) as problem:
            raise CommandError(str(problem)) from problem
        places = {"world": world, "file": file}
        self.stdout.write(_("The world %(world)s is in %(file)s.") % places)
