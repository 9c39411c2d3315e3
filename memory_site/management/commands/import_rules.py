"""`manage.py import_rules PATH --system NAME`: the rules of a game, from any format of the import
page."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.importers.formats import FORMATS
from knowledge.importers.run import read_upload
from knowledge.rule_books.drafts import rules_of
from knowledge.rule_books.store import (
    find_or_create_book,
    find_or_create_system,
    find_system,
    write_rules,
)
from knowledge.rule_books.undo import import_reason, undo_last_import
from knowledge.srd.source import EDITIONS
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from memory_site.imports.rules import about_book, choose_title, title_of_imported
from memory_site.imports.runs import refuse_faults
from memory_site.imports.undo import EVERYTHING, undo_run
from retrieval.errors import Invalid, Problem
from retrieval.tasks import embed_soon
from worlds.lookup import find_world
from worlds.models import GameSystem, ImportRun, World

MOST_LINES = 20


class Command(BaseCommand):
    help = (
        "Import the rules of a game: a Markdown file, folder or zip, an Obsidian vault, Datasworn "
        "and other formats, or the SRD. All of it or nothing; importing again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, nargs="?", help="File, folder or zip.")
        parser.add_argument("--system", default="", help="Name or slug of the game.")
        parser.add_argument("--edition", default="", help="Of the game, such as “2e”.")
        parser.add_argument("--book", help="Title of the book; default: the name of the file.")
        parser.add_argument("--world", help="Slug: for this world alone, which plays by them.")
        parser.add_argument("--format", choices=sorted(FORMATS), help="Default: by the content.")
        parser.add_argument("--srd", choices=sorted(EDITIONS), help="The SRD of this edition.")
        parser.add_argument("--licence", default="")
        parser.add_argument("--attribution", default="")
        parser.add_argument("--skip-bad-files", action="store_true", help="Leave faulty files out.")
        parser.add_argument("--dry-run", action="store_true", help="Report, store nothing.")
        parser.add_argument(
            "--undo",
            action="store_true",
            help="Undo the last import of the book: delete the rules it created, restore others.",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="With --undo: also what was changed since, and a book that worlds play by.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            if options["srd"]:
                self._import_srd(options)
            elif options["undo"] and options["world"]:
                self._undo_of_world(options)
            elif options["undo"]:
                self._undo(options)
            elif options["path"] is None:
                raise CommandError("Give a path, or --srd with an edition.")
            elif options["world"]:
                self._import_for_world(options)
            else:
                self._import_shared(options)
        except Problem as problem:
            raise CommandError(
                _("Nothing was imported. %(reason)s") % {"reason": problem}
            ) from problem

    def _import_srd(self, options: dict[str, Any]) -> None:
        call_command(
            "import_srd",
            edition=options["srd"],
            file=options["path"],
            system=options["system"] or None,
            stdout=self.stdout,
        )

    def _undo(self, options: dict[str, Any]) -> None:
        system = find_system(options["system"], edition=options["edition"])
        if system is None:
            raise CommandError(f"There is no game system {options['system']!r}.")
        title = _title_of(options, system=system)
        undone = undo_last_import(system, title, force=options["force"])
        embed_soon("srd")
        values = {"deleted": undone.deleted, "restored": undone.restored}
        self.stdout.write(
            _("%(deleted)d rules were deleted, %(restored)d have their former text.") % values
        )
        self._print_kept(undone.kept)

    def _undo_of_world(self, options: dict[str, Any]) -> None:
        """Undo the last import of the book into one world, as its page does."""
        world = find_world(options["world"])
        book = _title_of(options, world=world)
        runs = ImportRun.objects.filter(world=world, state=ImportRun.State.DONE)
        run = runs.filter(options__target="rules", report__written__book=book).first()
        if run is None:
            raise CommandError(f"No import of {book!r} into {world} is left to undo.")
        run.report["also"] = [EVERYTHING] if options["force"] else []
        run.state = ImportRun.State.UNDOING
        run.save(update_fields=["state", "report"])
        undo_run(run.pk)
        run.refresh_from_db()
        if run.state != ImportRun.State.UNDONE:
            raise CommandError(str(run.report.get("failure") or run.get_state_display()))
        self.stdout.write(_("The import was undone."))
        self._print_kept({name: why for _pk, _kind, name, _slug, why in run.report["kept"]})

    def _print_kept(self, kept: Mapping[str, str]) -> None:
        for name, why in list(kept.items())[:MOST_LINES]:
            self.stdout.write(f"  {name}: {why}")

    def _import_for_world(self, options: dict[str, Any]) -> None:
        chosen = ImportOptions(
            target="rules",
            system=options["system"],
            edition=options["edition"],
            book=options["book"] or "",
            format=options["format"] or "",
            bad_files="skip" if options["skip_bad_files"] else "refuse",
        )
        world = find_world(options["world"])
        report = import_path(world, options["path"], chosen, dry_run=options["dry_run"])
        for problem in report.problems[:MOST_LINES]:
            self.stdout.write(f"  {problem}")
        self._print_counts(Counter(report.counts().get("rule", {})), options["dry_run"])

    def _import_shared(self, options: dict[str, Any]) -> None:
        path, counts = options["path"], Counter[str]()
        reading = read_upload(path, format=options["format"] or "")
        drafts = rules_of(reading)
        for problem in reading.problems[:MOST_LINES]:
            self.stdout.write(f"  {problem}")
        if not options["skip_bad_files"]:
            refuse_faults(reading.problems)
        if not drafts:
            raise Invalid(_("%(path)s holds nothing that can be imported.") % {"path": path})
        with transaction.atomic():
            system = find_or_create_system(options["system"], edition=options["edition"])
            title = options["book"] or choose_title(reading.book, path.name, system=system)
            given = {name: options[name] for name in ("licence", "attribution") if options[name]}
            values = about_book(reading.book) | given
            book = find_or_create_book(system, title=title, source=path.name, **values)
            for written in write_rules(book, drafts, reason=import_reason(path.name)):
                counts.update(each.outcome for each in written)
            transaction.set_rollback(options["dry_run"])
            if not options["dry_run"]:
                embed_soon("srd")
        self._print_counts(counts, options["dry_run"])
        if not options["dry_run"]:
            names = {"system": system, "slug": system.slug, "book": book.title}
            self.stdout.write(_("“%(book)s” belongs to %(system)s (%(slug)s).") % names)

    def _print_counts(self, counts: Counter[str], is_dry_run: bool) -> None:
        text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        message = _("Dry run, nothing stored: %(counts)s") % {"counts": text}
        self.stdout.write(message if is_dry_run else text)


def _title_of(
    options: dict[str, Any], *, system: GameSystem | None = None, world: World | None = None
) -> str:
    """The title of the book whose import is to be undone."""
    if options["book"]:
        return str(options["book"])
    if options["path"] is None:
        raise CommandError("Name the book by --book, or give the path it was imported from.")
    return title_of_imported(options["path"].name, system=system, world=world)
