"""Write the drafts of lore entries in batches, and keep what they replace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.importers.drafts import ImportProblem, LoreDraft, PersonDraft
from knowledge.importers.entry_fields import json_value
from knowledge.importers.entry_text import join_blocks, secret_block
from knowledge.importers.files import line_of
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import make_kind, upsert_lore_batch
from memory_site.imports.options import ImportOptions
from memory_site.imports.own_edits import keep_edits, last_imported
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import Values, values_of
from npcs.models import NPC
from retrieval.errors import Problem
from worlds.audiences import Audience, Visibility
from worlds.models import ImportedRow, World

BATCH = 500
REASON = "import"
NOTES = "obsidian"
"""How the origins of notes begin."""
LONGEST_FOLDER = 200
Key = tuple[str | None, str]


@dataclass
class EntryWriter:
    """Writes drafts into a world. `rows` are the entries by the `where` of their drafts."""

    world: World
    options: ImportOptions
    report: WriteReport
    author: str = ""
    rows: dict[str, Lore] = field(default_factory=dict)
    old_bodies: dict[UUID, str] = field(default_factory=dict)
    """The texts, before the import, of the entries that it has changed."""
    stored: set[Key] = field(default_factory=set)
    shown: dict[Key, str] = field(default_factory=dict)
    """The origin of each entry that players may see."""
    with_npc: set[Key] = field(default_factory=set)

    def __post_init__(self) -> None:
        people = NPC.objects.filter(world=self.world).exclude(biography=None)
        columns = ("biography__campaign__slug", "biography__slug")
        self.with_npc = {(campaign, slug) for campaign, slug in people.values_list(*columns)}
        rows = Lore.objects.filter(world=self.world)
        keys = "campaign__slug", "slug"
        self.stored = set(rows.values_list(*keys))
        shown = rows.exclude(visibility=Visibility.GM)
        self.shown = {
            (campaign, slug): origin
            for campaign, slug, origin in shown.values_list(*keys, "origin")
        }

    def write(self, drafts: Sequence[LoreDraft]) -> None:
        """Write a batch. If it is refused, each of it is written alone, to name the bad one."""
        drafts = [self._with_defaults(draft) for draft in self._not_skipped(drafts)]
        for kind in {each.entry.custom_kind for each in drafts if each.entry.custom_kind}:
            make_kind(self.world, kind)
        stored = self._stored_rows(drafts)
        before = {key: values_of("lore", row) for key, row in stored.items()}
        if self.options.existing != "overwrite":
            drafts = self._with_edits(drafts, stored)
        try:
            with transaction.atomic():
                self._write(drafts, before)
        except Problem:
            for draft in drafts:
                try:
                    with transaction.atomic():
                        self._write([draft], before)
                except Problem as problem:
                    line = line_of(problem) or draft.body_line
                    fault = ImportProblem(draft.file, problem.detail, line)
                    self.report.problems.append(fault)

    def _write(self, drafts: Sequence[LoreDraft], before: dict[Key, Values]) -> None:
        entries = [draft.entry for draft in drafts]
        # The entities are written after the people, and listed in the report.
        results = upsert_lore_batch(
            self.world, entries, author=self.author, reason=REASON, with_graph=False
        )
        for draft, (row, outcome) in zip(drafts, results, strict=True):
            self.rows[draft.where] = row
            if outcome == "changed":
                self.old_bodies[row.pk] = before[key_of(draft)]["body"]
            self.report.add(
                "lore",
                row,
                outcome,
                name=row.title,
                source=draft.where,
                before=before.get(key_of(draft)) if outcome == "changed" else None,
                after=values_of("lore", row) if outcome != "unchanged" else None,
            )

    def _not_skipped(self, drafts: Sequence[LoreDraft]) -> Iterator[LoreDraft]:
        for draft in drafts:
            is_exposed = self._would_be_exposed(draft)
            if is_exposed:
                message = _(
                    "“%(title)s” is private in the file, and players see an entry of this name "
                    "here: it was left as it is."
                )
                self.report.note(draft.file, message % {"title": draft.entry.title})
            if is_exposed or (self.options.existing == "skip" and key_of(draft) in self.stored):
                skipped = ImportedRow.Outcome.SKIPPED
                self.report.add("lore", None, skipped, name=draft.entry.title, source=draft.where)
            else:
                yield draft

    def _would_be_exposed(self, draft: LoreDraft) -> bool:
        """Whether a private entry would replace one of another source that players may see, whose
        audience stays. One of the same source was opened to them here, after an import, and a note
        may be of our own vault, which marks what is not for everybody."""
        tool = (draft.entry.origin or "").partition(":")[0]
        origin = self.shown.get(key_of(draft))
        is_foreign = tool not in ("", NOTES) and origin is not None and not origin.startswith(tool)
        return draft.private and is_foreign

    def _has_npc(self, draft: LoreDraft) -> bool:
        """Whether the entry has an NPC, or gets one by this import."""
        is_character = self.options.people and draft.entry.kind == "biography"
        return is_character or key_of(draft) in self.with_npc

    def _stored_rows(self, drafts: Sequence[LoreDraft]) -> dict[Key, Lore]:
        slugs = [key[1] for draft in drafts if (key := key_of(draft)) in self.stored]
        rows = Lore.objects.filter(world=self.world, slug__in=slugs)
        rows = rows.select_related("campaign", "custom_kind")
        return {(row.campaign.slug if row.campaign else None, row.slug): row for row in rows}

    def _with_edits(
        self, drafts: Sequence[LoreDraft], stored: Mapping[Key, Lore]
    ) -> list[LoreDraft]:
        """Return the drafts with what people have changed here since the last import."""
        imported = last_imported(stored.values())
        kept = []
        for draft in drafts:
            row = stored.get(key_of(draft))
            if row is not None and row.pk in imported:
                title = row.title
                draft, is_disputed = keep_edits(draft, row, imported[row.pk])
                if is_disputed:
                    message = _(
                        "“%(title)s” was changed here and in the file since the last import. "
                        "What stands here was kept."
                    )
                    self.report.note(draft.file, message % {"title": title})
            kept.append(draft)
        return kept

    def _with_defaults(self, draft: LoreDraft) -> LoreDraft:
        """Set audience and status of a new entry. Importing a stored entry again changes
        neither."""
        defaults: dict[str, Any] = {}
        if key_of(draft) not in self.stored:
            audience = Audience.parse(self.options.visibility)
            defaults["status"] = self.options.status
            defaults["visibility"] = Visibility.GM
            if not draft.private and audience.kind == "public":
                defaults["visibility"] = Visibility.PUBLIC
            elif not draft.private and audience.kind in ("party", "character"):
                defaults |= {"visibility": Visibility.REVEALED, "known_to": [str(audience)]}
        if draft.folder:
            defaults["folder"] = draft.folder[:LONGEST_FOLDER].rstrip("/")
        fields = draft.entry.model_dump(exclude_unset=True)
        if draft.person and not self._has_npc(draft):
            fields |= fields_of_person(draft.person, draft.entry)
        if key_of(draft) in self.stored and not draft.is_exact:
            fields.pop("origin", None)  # a vault of ours is not where its entries come from
        return replace(draft, entry=LoreIn.model_validate({**defaults, **fields}))


def fields_of_person(person: PersonDraft, entry: LoreIn) -> dict[str, Any]:
    """Text and data of an entry that gets no NPC, with what its source says of one."""
    values = {name: value for name, value in asdict(person).items() if value and name != "secrets"}
    body = join_blocks([entry.body, *map(secret_block, person.secrets)])
    return {"body": body, "extra": {**entry.extra, **json_value(values)}}


def key_of(draft: LoreDraft) -> Key:
    return draft.entry.campaign, draft.entry.slug or ""
