"""Import lore: read everything, then store all of it or none. A dry run gives the same report and
stores nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from knowledge.importers.entry_fields import LoreDraft, with_unique_slugs
from knowledge.importers.lorebooks import read_novelai, read_world_info
from knowledge.importers.markdown import read_own_markdown, read_vault
from knowledge.importers.tables import read_csv, read_own_json
from knowledge.importers.tabletops import read_foundry, read_kanka
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from retrieval.errors import Invalid, Problem
from retrieval.text import fold_name, link_targets
from worlds.audiences import Visibility
from worlds.models import World

FORMATS: dict[str, Callable[[Path], Iterator[LoreDraft]]] = {
    "obsidian": read_vault,
    "markdown": read_own_markdown,
    "json": read_own_json,
    "sillytavern": read_world_info,
    "novelai": read_novelai,
    "kanka": read_kanka,
    "foundry": read_foundry,
    "csv": read_csv,
}
MOST_ENTRIES = 20_000


@dataclass
class ImportReport:
    """`outcomes` and `unknown_links` by where an entry came from; unknown: neither in the world nor
    in the import.
    """

    outcomes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unknown_links: dict[str, list[str]] = field(default_factory=dict)
    is_stored: bool = False

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.outcomes.values())


def import_lore(
    world: World,
    path: Path,
    format: str,
    *,
    dry_run: bool = False,
    visibility: Visibility = Visibility.GM,
    publish: bool = False,
) -> ImportReport:
    """Import `path`. Raises `Invalid` naming file and field when anything cannot be stored; then
    nothing is.

    `visibility` and `publish` are for new entries that do not say it themselves; private ones stay
    the game master's."""
    if format not in FORMATS:
        raise Invalid(f"Unknown format {format!r}.", candidates=sorted(FORMATS))
    drafts = with_unique_slugs(list(FORMATS[format](path)))
    if not drafts:
        raise Invalid(f"{path} holds nothing that the format {format} knows.")
    if len(drafts) > MOST_ENTRIES:
        raise Invalid(f"{len(drafts)} entries are more than {MOST_ENTRIES}: import them in parts.")
    report = ImportReport(unknown_links=_unknown_links(world, drafts))
    with transaction.atomic():
        # Canon first: an entry of a campaign may override an entry of canon from the same import.
        for draft in sorted(drafts, key=lambda each: each.entry.campaign is not None):
            entry = _with_defaults(world, draft, visibility=visibility, publish=publish)
            try:
                _row, outcome = upsert_lore(world, entry, reason="import")
            except Problem as problem:
                message = f"{draft.where}: {problem.detail}"
                raise Invalid(message, candidates=problem.candidates) from problem
            report.outcomes[draft.where] = outcome
            report.notes += [f"{draft.where}: {note}" for note in draft.notes]
        report.is_stored = not dry_run
        # Everything is written either way, so that a dry run meets every constraint.
        if dry_run:
            transaction.set_rollback(True)
    return report


def _with_defaults(
    world: World, draft: LoreDraft, *, visibility: Visibility, publish: bool
) -> LoreIn:
    """Set audience and status of a new entry. Importing a stored entry again changes neither."""
    entry = draft.entry
    rows = Lore.objects.filter(world=world, campaign__slug=entry.campaign, slug=entry.slug)
    defaults: dict[str, str] = {}
    if not rows.exists():
        defaults["visibility"] = Visibility.GM if draft.private else visibility
        defaults["status"] = "published" if publish else "draft"
    fields = entry.model_dump(exclude_unset=True)
    return LoreIn.model_validate({**defaults, **fields, "slug": entry.slug})


def _unknown_links(world: World, drafts: list[LoreDraft]) -> dict[str, list[str]]:
    names = [(each.entry.slug or "", each.entry.title, *each.entry.aliases) for each in drafts]
    rows = Lore.objects.filter(world=world).values_list("slug", "title", "aliases")
    names += [(slug, title, *aliases) for slug, title, aliases in rows]
    names_in_world = {fold_name(name) for group in names for name in group}
    unknown: dict[str, list[str]] = {}
    for draft in drafts:
        targets = link_targets(draft.entry.body)
        # A vault's link may name the folder as well.
        missing = [
            target
            for target in targets
            if fold_name(target.rsplit("/", 1)[-1]) not in names_in_world
        ]
        if missing:
            unknown[draft.where] = missing
    return unknown
