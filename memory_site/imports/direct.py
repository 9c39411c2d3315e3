"""Import a path of this computer at once, without a page: for the command line and scripts."""

from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.importers.run import read_upload
from memory_site.imports.options import ImportOptions
from memory_site.imports.report import WriteReport, problems_json, reading_json, written_json
from memory_site.imports.rules import write_rule_book
from memory_site.imports.runs import finish_step, keep_rows, problems_of, refuse_faults
from memory_site.imports.write import write_reading
from retrieval.errors import Invalid
from retrieval.tasks import embed_soon
from worlds.models import ImportRun, World


def import_path(
    world: World, path: Path, options: ImportOptions, *, dry_run: bool = False
) -> WriteReport:
    """Import a folder, a zip or a file; raises `Invalid`, and stores nothing then. The run is
    listed on the import page, where it can be undone."""
    is_rules = options.target == "rules"
    mapping = None if is_rules else options.mapping
    reading = read_upload(path, format=options.format, mapping=mapping)
    with transaction.atomic():
        if is_rules:
            report = write_rule_book(world, reading, options, file_name=path.name)
        else:
            report = write_reading(world, reading, options, is_kept=not dry_run)
        report.problems = problems_of(reading, report)
        if options.bad_files == "refuse":
            refuse_faults(report.problems)
        if not report.rows:
            raise Invalid(_("%(path)s holds nothing that can be imported.") % {"path": path})
        if dry_run:
            transaction.set_rollback(True)
            return report
        run = ImportRun.objects.create(
            world=world, file_name=path.name, options=options.model_dump()
        )
        keep_rows(run, report)
        finish_step(
            run,
            ImportRun.State.DONE,
            reading=reading_json(reading),
            problems=problems_json(report.problems),
            written=written_json(report),
        )
        embed_soon("srd" if is_rules else "lore")
    return report
