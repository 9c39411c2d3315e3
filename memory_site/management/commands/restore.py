"""`manage.py restore FILE`: make this installation what it was when the backup was written."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from memory_site.backup.errors import BackupError
from memory_site.backup.restore import restore_backup


class Command(BaseCommand):
    help = (
        "Restore a file of `backup`: checked first, then in one transaction. Stop web, worker and "
        "scheduler before."
    )
    requires_system_checks: list[str] = []  # the database may be empty

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--identity", type=Path, help="File of the secret key of an encrypted backup."
        )
        parser.add_argument(
            "--replace", action="store_true", help="Delete the worlds that are there."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            manifest = restore_backup(
                options["file"], identity=options["identity"], replace=options["replace"]
            )
        except (BackupError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        values = {"at": manifest.written_at, "product": manifest.product}
        self.stdout.write(_("Restored: the state of %(at)s, written by %(product)s.") % values)
