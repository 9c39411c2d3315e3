"""Import: read everything, then store all of it or none, and report; a dry run reports the same and stores nothing."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from knowledge.importers.entry_fields import Draft, numbered
from knowledge.importers.lorebooks import read_novelai, read_world_info
from knowledge.importers.markdown import read_own, read_vault
from knowledge.importers.tables import read_csv, read_own_json
from knowledge.importers.tabletops import read_foundry, read_kanka
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from retrieval.errors import Invalid, Problem
from retrieval.text import fold_name
from worlds.audiences import Visibility
from worlds.models import World

FORMATS: dict[str, Callable[[Path], Iterator[Draft]]] = {
    "obsidian": read_vault,
    "markdown": read_own,
    "json": read_own_json,
    "sillytavern": read_world_info,
    "novelai": read_novelai,
    "kanka": read_kanka,
    "foundry": read_foundry,
    "csv": read_csv,
}
LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:[#|][^\[\]\n]{0,200})?\]\]")
MOST_ENTRIES = 20_000


@dataclass
class Report:
    """What became of each entry, by where it came from; `unknown_links` name nothing in the world or the import."""

    outcomes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unknown_links: dict[str, list[str]] = field(default_factory=dict)
    stored: bool = False

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
) -> Report:
    """Import `path`. Raises `Invalid` naming the file and field when anything cannot be stored; nothing is, then.

    `visibility` is for new entries that say nothing themselves; private ones stay the game master's."""
    if format not in FORMATS:
        raise Invalid(f"Unknown format {format!r}.", candidates=sorted(FORMATS))
    drafts = numbered(list(FORMATS[format](path)))
    if not drafts:
        raise Invalid(f"{path} holds nothing that the format {format} knows.")
    if len(drafts) > MOST_ENTRIES:
        raise Invalid(f"{len(drafts)} entries are more than {MOST_ENTRIES}: import them in parts.")
    report = Report(unknown_links=_unknown_links(world, drafts))
    with transaction.atomic():
        for each in sorted(drafts, key=lambda one: one.entry.campaign is not None):
            _store(world, each, report, visibility=visibility, publish=publish)
        report.stored = not dry_run
        if dry_run:
            transaction.set_rollback(True)
    return report


def _store(
    world: World, each: Draft, report: Report, *, visibility: Visibility, publish: bool
) -> None:
    entry = _told(world, each, visibility=visibility, publish=publish)
    try:
        _row, outcome = upsert_lore(world, entry, reason="import")
    except Problem as problem:
        raise Invalid(f"{each.where}: {problem.detail}", candidates=problem.candidates) from problem
    report.outcomes[each.where] = outcome
    report.notes += [f"{each.where}: {note}" for note in each.notes]


def _told(world: World, each: Draft, *, visibility: Visibility, publish: bool) -> LoreIn:
    """Add what the importer decides for a new entry; who may see a stored one is not changed by importing it again."""
    entry = each.entry
    changes: dict[str, str] = {}
    stored = Lore.objects.filter(
        world=world, campaign__slug=entry.campaign, slug=entry.slug
    ).exists()
    if "visibility" not in entry.model_fields_set and not stored:
        changes["visibility"] = Visibility.GM if each.private else visibility
    if "status" not in entry.model_fields_set and not stored:
        changes["status"] = "published" if publish else "draft"
    told = entry.model_dump(exclude_unset=True)
    return LoreIn.model_validate({**told, "slug": entry.slug, **changes})


def _unknown_links(world: World, drafts: list[Draft]) -> dict[str, list[str]]:
    names = [(each.entry.slug or "", each.entry.title, *each.entry.aliases) for each in drafts]
    stored = Lore.objects.filter(world=world).values_list("slug", "title", "aliases")
    names += [(slug, title, *aliases) for slug, title, aliases in stored]
    known = {fold_name(name) for group in names for name in group}
    unknown: dict[str, list[str]] = {}
    for each in drafts:
        targets = (target.strip() for target in LINK.findall(each.entry.body))
        missing = [
            target
            for target in dict.fromkeys(targets)
            if fold_name(target.rsplit("/", 1)[-1]) not in known
        ]
        if missing:
            unknown[each.where] = missing
    return unknown
