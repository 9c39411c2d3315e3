"""Characters of an import become NPCs with an entity, and their entry is the biography."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import prefetch_related_objects
from pydantic import ValidationError

from knowledge.graph.models import GraphEdge
from knowledge.importers.drafts import ImportProblem, LoreDraft, PersonDraft
from knowledge.models import Lore
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import values_of
from npcs.field_facts import facts_of_fields
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npcs
from retrieval.errors import Problem
from worlds.audiences import Visibility
from worlds.bulk import to_invalid
from worlds.models import ImportedRow, World

LINES = ("role", "summary", "faction", "home", "voice")
LISTS = ("goals", "play_now")
LONGEST_LINE = 200
BATCH = 500


@dataclass(frozen=True)
class ImportedPerson:
    """A character of the import: what its NPC is to hold, and the NPC that it has already."""

    draft: LoreDraft
    entry: Lore
    fields: NPCIn
    old: NPC | None


class PeopleWriter:
    """Makes an NPC of each character. An NPC that exists gets what it lacks; nothing that somebody
    wrote about it changes."""

    def __init__(self, world: World, report: WriteReport) -> None:
        self.world, self.report = world, report
        rows = NPC.objects.filter(world=world).select_related("biography")
        npcs = list(rows.prefetch_related("secrets"))
        self.by_slug = {npc.slug: npc for npc in npcs}
        self.by_biography = {npc.biography_id: npc for npc in npcs if npc.biography_id}
        self.written: dict[Any, NPC] = {}

    def write(self, characters: Iterable[tuple[LoreDraft, Lore]]) -> None:
        batch: dict[str, ImportedPerson] = {}
        for draft, entry in characters:
            # Two characters of one NPC: the second completes what the first has written.
            if len(batch) == BATCH or self._npc_id(entry) in batch:
                self._write_batch(list(batch.values()))
                batch = {}
            try:
                batch[self._npc_id(entry)] = self._character(draft, entry)
            except ValidationError as problem:
                self._report_fault(draft, to_invalid(problem))
        self._write_batch(list(batch.values()))

    def _npc_id(self, entry: Lore) -> str:
        old = self._npc_of(entry)
        return old.slug if old else entry.slug

    def _npc_of(self, entry: Lore) -> NPC | None:
        return self.by_biography.get(entry.pk) or self.by_slug.get(entry.slug)

    def _character(self, draft: LoreDraft, entry: Lore) -> ImportedPerson:
        old = self._npc_of(entry)
        person = draft.person or PersonDraft()
        fields = _complete(old, person, entry) if old else _new_fields(person, entry)
        return ImportedPerson(draft, entry, NPCIn.model_validate(fields), old)

    def _write_batch(self, batch: Sequence[ImportedPerson]) -> None:
        """Write a batch. If it is refused, each of it is written alone, to name the bad one."""
        try:
            with transaction.atomic():
                self._write(batch)
        except Problem:
            for each in batch:
                try:
                    with transaction.atomic():
                        self._write([each])
                except Problem as problem:
                    self._report_fault(each.draft, problem)

    def _write(self, batch: Sequence[ImportedPerson]) -> None:
        old = [each.old for each in batch if each.old]
        before_facts = {
            fact.pk for own in facts_of_fields(self.world, old).values() for fact in own
        }
        results = upsert_npcs(self.world, [each.fields for each in batch])
        prefetch_related_objects([npc for npc, _outcome in results], "secrets")
        for each, (npc, outcome) in zip(batch, results, strict=True):
            self.by_slug[npc.slug] = self.written[each.entry.pk] = npc
            before = values_of("npc", each.old) if each.old and outcome == "changed" else None
            self.report.add(
                "npc",
                npc,
                outcome,
                name=npc.name,
                source=each.draft.where,
                before=before,
                after=values_of("npc", npc) if outcome != "unchanged" else None,
            )
        stated = facts_of_fields(self.world, [npc for npc, _outcome in results])
        for each, (npc, _outcome) in zip(batch, results, strict=True):
            for fact in stated[npc.pk]:
                if fact.pk not in before_facts:
                    self._report_fact(each, fact)

    def _report_fact(self, person: ImportedPerson, fact: GraphEdge) -> None:
        """List a fact that a field of the NPC states: it is undone with the import."""
        self.report.add(
            "relation",
            fact,
            ImportedRow.Outcome.CREATED,
            name=fact.source_note,
            source=person.draft.where,
            after=values_of("relation", fact),
        )

    def _report_fault(self, draft: LoreDraft, fault: Problem) -> None:
        problem = ImportProblem(draft.file, fault.detail, draft.body_line)
        self.report.problems.append(problem)


def _new_fields(person: PersonDraft, entry: Lore) -> dict[str, Any]:
    # A draft is the game master's alone: so is the name of the person that it is about.
    visibility = Visibility.GM if entry.status == Lore.Status.DRAFT else entry.visibility
    return {
        "npc_id": entry.slug,
        "name": entry.title,
        "aliases": [alias for alias in entry.aliases if len(alias) <= LONGEST_LINE],
        "biography": entry.slug,
        "language": entry.language,
        "visibility": visibility,
        "known_to": entry.known_to if visibility == Visibility.REVEALED else [],
        "secrets": list(person.secrets),
        **{name: getattr(person, name) for name in LINES},
        **{name: list(getattr(person, name)) for name in LISTS},
    }


def _complete(npc: NPC, person: PersonDraft, entry: Lore) -> dict[str, Any]:
    """The fields of an NPC as they are, and those of the import where they are empty."""
    same = ("name", "aliases", "language", "base", "half_life", "visibility", "faction_visibility")
    secrets = [
        {"text": secret.text, "known_to": secret.known_to}
        for secret in sorted(npc.secrets.all(), key=lambda each: each.position)
    ]
    return {
        "npc_id": npc.slug,
        "biography": npc.biography.slug if npc.biography else entry.slug,
        "milestones": npc.milestones,
        "known_to": npc.known_to,
        "secrets": secrets or [{"text": text, "known_to": []} for text in person.secrets],
        **{name: getattr(npc, name) for name in same},
        **{name: getattr(npc, name) or getattr(person, name) for name in LINES},
        **{name: getattr(npc, name) or list(getattr(person, name)) for name in LISTS},
    }
