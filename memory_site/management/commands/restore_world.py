"""`manage.py restore_world FILE`: a world out of its archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from memory_site.archive.restore import restore_world
from retrieval.errors import Problem


class Command(BaseCommand):
    help = "Restore a world from its archive: all of it or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--as", dest="as_slug", default="", help="Another slug: a copy.")
        parser.add_argument(
            "--replace", action="store_true", help="Delete the world that has the slug."
        )

    def handle(self, *_args: Any, file: Path, **options: Any) -> None:
        try:
            restored = restore_world(file, as_slug=options["as_slug"], replace=options["replace"])
        except Problem as problem:
            text = _("Nothing was restored. %(reason)s")
            raise CommandError(text % {"reason": problem}) from problem
        for label, count in restored.left_out.items():
            left_out = {"count": count, "label": label}
            text = _("%(label)s: %(count)s rows of users who are not on this site were left out.")
            self.stdout.write(self.style.WARNING(text % left_out))
        rows = {"world": restored.world, "rows": sum(restored.counts.values())}
        self.stdout.write(_("%(world)s is restored: %(rows)s rows.") % rows)
