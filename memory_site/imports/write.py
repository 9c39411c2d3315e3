"""Write everything that was read from an upload: entries, people, relations, pictures."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from knowledge.importers.drafts import ImportProblem, LoreDraft
from knowledge.importers.run import ImportReading, claimed_names, shared_names, unknown_links
from knowledge.markup_check import check_audiences
from knowledge.mentions.store import links_at_once
from knowledge.models import Lore
from memory_site.imports.completions import complete_npcs, complete_texts
from memory_site.imports.entities import EntityWriter
from memory_site.imports.entries import BATCH, EntryWriter
from memory_site.imports.options import ImportOptions
from memory_site.imports.people import PeopleWriter
from memory_site.imports.pictures import PictureWriter
from memory_site.imports.relations import (
    EntryNames,
    RelationWriter,
    keep_unresolved,
    people_without_entry,
)
from memory_site.imports.report import WriteReport
from retrieval.text import fold_name
from worlds.models import World

Progress = Callable[[float], None]
SHARE_OF_ENTRIES = 0.8
"""Of the time that writing takes."""


def write_reading(
    world: World,
    reading: ImportReading,
    options: ImportOptions,
    *,
    author: str = "",
    progress: Progress = lambda _share: None,
    is_kept: bool = True,
) -> WriteReport:
    """Write the drafts and return what became of each. Call within a transaction: a dry run (not
    `is_kept`) rolls it back. What cannot be stored is among the problems; the rest is stored."""
    report = WriteReport()
    with links_at_once(world):
        pictures = PictureWriter(world, reading.bundle, report, by=author, is_kept=is_kept)
        relations = _write(world, reading, options, report, pictures, progress=progress)
    complete_texts(world, report, relations.rows.values(), relations.npcs.values())
    progress(1.0)
    return report


def _write(
    world: World,
    reading: ImportReading,
    options: ImportOptions,
    report: WriteReport,
    pictures: PictureWriter,
    *,
    progress: Progress,
) -> RelationWriter:
    drafts = _prepare(world, reading, options)
    report.unknown_links = unknown_links(world, drafts)
    report.problems += [*shared_names(drafts), *claimed_names(world, drafts)]
    for draft in drafts:
        if ":::" in draft.entry.body:
            for problem in check_audiences(world, draft.entry.body):
                line = draft.body_line + problem.line - 1
                note = ImportProblem(draft.file, problem.message, line, is_error=False)
                report.problems.append(note)
    entries = EntryWriter(world, options, report, pictures.by)
    # Canon first: an entry of a campaign may override an entry of canon from the same import.
    ordered = sorted(drafts, key=lambda each: each.entry.campaign is not None)
    for at in range(0, len(ordered), BATCH):
        batch = ordered[at : at + BATCH]
        entries.write([pictures.adopt(draft) for draft in batch])
        pictures.place(batch, entries.rows)
        progress(SHARE_OF_ENTRIES * (at + BATCH) / max(len(ordered), BATCH))
    entities = EntityWriter(world, report)
    # Factions and homes before the people who name them.
    entities.write(
        (where, row) for where, row in entries.rows.items() if row.kind != Lore.Kind.BIOGRAPHY
    )
    people = PeopleWriter(world, report)
    if options.people:
        characters = [
            (draft, row)
            for draft in ordered
            if (row := entries.rows.get(draft.where))
            and row.kind == Lore.Kind.BIOGRAPHY
            and row.campaign_id is None
            and not draft.is_exact
        ]
        people.write(characters)
    progress(0.9)
    entities.write(entries.rows.items())
    complete_npcs(world, report)
    relations = RelationWriter(
        world, report, entries.rows, people.written, entities, entries.old_bodies
    )
    relations.write(ordered)
    return relations


def _prepare(world: World, reading: ImportReading, options: ImportOptions) -> Sequence[LoreDraft]:
    drafts = reading.drafts
    if not options.pictures:
        drafts = [replace(draft, pictures=()) for draft in drafts]
    if not any(relation.source for draft in drafts for relation in draft.relations):
        return drafts
    stored = Lore.objects.filter(world=world, campaign=None)
    entries = stored.only("title", "slug", "aliases", "campaign_id")
    names = EntryNames(entries, people_without_entry(world))
    known = {
        fold_name(name)
        for draft in drafts
        for name in (draft.entry.title, draft.entry.slug or "", *draft.entry.aliases)
    }
    return keep_unresolved(drafts, names, known)
