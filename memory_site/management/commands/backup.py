"""`manage.py backup FILE`: the whole installation in a file, while it runs."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pyrage
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from memory_site.backup.errors import BackupError
from memory_site.backup.write import write_backup


class Command(BaseCommand):
    help = (
        "Write database, pictures and secret key of this installation into one file, as of one "
        "moment, while it runs. Without --encrypt-to whoever has the file can read everything."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, nargs="?")
        parser.add_argument(
            "--encrypt-to", metavar="age1…", default="", help="Public key to encrypt to."
        )
        parser.add_argument(
            "--new-key",
            metavar="FILE",
            type=Path,
            help="Write a new secret key into FILE and print its public key; no backup is made.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["new_key"]:
            self._write_key(options["new_key"])
            return
        if not options["file"]:
            raise CommandError(_("Name the file of the backup."))
        try:
            manifest = write_backup(options["file"], recipient=options["encrypt_to"])
        except (BackupError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        for name in manifest.missing_files:
            self.stderr.write(_("Not in the storage: %(name)s") % {"name": name})
        size = options["file"].stat().st_size / 1e6
        self.stdout.write(
            _("The backup is in %(file)s (%(size).1f MB).")
            % {"file": options["file"], "size": size}
        )

    def _write_key(self, path: Path) -> None:
        identity = pyrage.x25519.Identity.generate()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as problem:
            raise CommandError(str(problem)) from problem
        with os.fdopen(handle, "w") as file:
            file.write(f"# public key: {identity.to_public()}\n{identity}\n")
        self.stdout.write(str(identity.to_public()))
