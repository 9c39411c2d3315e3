"""Read an upload into drafts that can be stored: recognise, read, map, check. Writes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.importers.drafts import BookHeader, ImportProblem, LoreDraft
from knowledge.importers.entry_fields import with_unique_slugs, with_unique_sources
from knowledge.importers.field_map import ImportMapping
from knowledge.importers.files import Bundle, open_bundle
from knowledge.importers.formats import Recognition, read_files, recognise_files
from knowledge.markup_check import check_structure
from knowledge.mentions.names import read_names
from knowledge.models import Lore
from retrieval.errors import Invalid
from retrieval.text import find_links, fold_name
from worlds.models import World

SHARED = gettext_lazy(
    "The name %(name)s is also that of %(others)s: a link by this name is ambiguous."
)

OTHER_ARCHIVES = (".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst", ".7z", ".rar")
MOST_ENTRIES = 20_000


@dataclass
class ImportReading:
    """An upload that was read. `drafts` have unique slugs; `problems` hold every fault of every
    file."""

    bundle: Bundle
    files: list[Recognition]
    drafts: list[LoreDraft] = field(default_factory=list)

    @property
    def problems(self) -> list[ImportProblem]:
        return self.bundle.problems

    @property
    def book(self) -> BookHeader | None:
        """What the upload says of its book, if it is one alone."""
        books = list(dict.fromkeys(self.bundle.books))
        return books[0] if len(books) == 1 else None

    @property
    def errors(self) -> list[ImportProblem]:
        return [problem for problem in self.problems if problem.is_error]


def read_upload(
    path: Path, *, name: str = "", format: str = "", mapping: ImportMapping | None = None
) -> ImportReading:
    """Read `path`: a folder, a zip or a file. With a `mapping` the drafts are interpreted. Raises
    `Invalid` if the whole cannot be read; a single bad file is one of the problems."""
    bundle = open_bundle(path, name=name)
    reading = ImportReading(bundle, recognise_files(bundle, format=format))
    drafts = list(read_files(bundle, reading.files))
    if len(drafts) > MOST_ENTRIES:
        message = _("%(count)d entries are more than %(most)d: import them in parts.")
        raise Invalid(message % {"count": len(drafts), "most": MOST_ENTRIES})
    if mapping is not None:
        drafts = [draft for each in drafts if (draft := _map(bundle, mapping, each))]
    reading.drafts = with_unique_slugs(with_unique_sources(drafts))
    for draft in reading.drafts:
        for note in draft.notes:
            bundle.note(draft.where, note)
    for found in reading.files:
        if not found.format:
            _report_unknown(bundle, found)
    return reading


def _map(bundle: Bundle, mapping: ImportMapping, draft: LoreDraft) -> LoreDraft | None:
    with bundle.problems_of(draft.where, line=draft.body_line):
        mapped = mapping.apply(draft)
        if not (flaws := check_structure(mapped.entry.body)):
            return mapped
        for flaw in flaws:
            bundle.report(draft.file, flaw.message, line=draft.body_line + flaw.line - 1)
    return None


def _report_unknown(bundle: Bundle, found: Recognition) -> None:
    if any(problem.file == found.file.name for problem in bundle.problems):
        return
    if found.file.suffix in OTHER_ARCHIVES:
        message = _("Of archives only zip can be read: unpack this one, or pack it as zip.")
        bundle.note(found.file.name, message)
    else:
        bundle.note(found.file.name, _("The file is of no known format: it is left out."))


def unknown_links(world: World, drafts: Sequence[LoreDraft]) -> dict[str, list[str]]:
    """The links to names that neither the world nor the import has, by the source of the entry."""
    known = {fold_name(name) for draft in drafts for name in names_of(draft)}
    rows = Lore.objects.filter(world=world).values_list("slug", "title", "aliases")
    known |= {fold_name(name) for slug, title, aliases in rows for name in (slug, title, *aliases)}
    unknown: dict[str, list[str]] = {}
    for draft in drafts:
        targets = dict.fromkeys(link.name for link in find_links(draft.entry.body))
        if missing := [name for name in targets if fold_name(name) not in known]:
            unknown[draft.where] = missing
    return unknown


def names_of(draft: LoreDraft) -> tuple[str, ...]:
    return (draft.entry.slug or "", draft.entry.title, *draft.entry.aliases)


def claimed_names(world: World, drafts: Sequence[LoreDraft]) -> list[ImportProblem]:
    """A note for each draft with a name that another thing of the world has already. Call before
    the drafts are written."""
    canon = [draft for draft in drafts if not draft.entry.campaign]
    table = read_names(world, {name for draft in canon for name in draft.names})
    slugs = {draft.entry.slug for draft in canon}
    notes = []
    for draft in canon:
        for name in draft.names:
            others = {
                group[0].name
                for group in table.things_named(name)
                # What an import writes again is no other thing; two drafts are `shared_names`.
                if not any(row.slug in slugs or row.campaign for row in group)
            }
            if others:
                notes.append(note_of_shared_name(draft, name, sorted(others)))
    return notes


def shared_names(drafts: Iterable[LoreDraft]) -> list[ImportProblem]:
    """A note for each name that several entries of the import claim: a link by it is ambiguous."""
    owners: dict[str, dict[str, LoreDraft]] = {}
    names: dict[str, str] = {}
    for draft in drafts:
        if draft.entry.campaign:
            continue  # an overlay has the names of the entry that it overrides
        for name in draft.names:
            owners.setdefault(fold_name(name), {})[draft.where] = draft
            names.setdefault(fold_name(name), name)
    return [
        note_of_shared_name(claims[0], names[key], [each.where for each in claims[1:]])
        for key, by_source in owners.items()
        if len(claims := list(by_source.values())) > 1
    ]


def note_of_shared_name(draft: LoreDraft, name: str, others: Sequence[str]) -> ImportProblem:
    values = {"name": name, "others": ", ".join(others[:3])}
    return ImportProblem(draft.file, str(SHARED) % values, is_error=False)
