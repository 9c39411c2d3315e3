"""Characters of an import become NPCs with an entity, and their entry is the biography."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from pydantic import ValidationError

from knowledge.importers.drafts import ImportProblem, LoreDraft, PersonDraft
from knowledge.models import Lore
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import Values, values_of
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from retrieval.errors import Problem
from worlds.audiences import Visibility
from worlds.bulk import to_invalid
from worlds.models import World

LINES = ("role", "summary", "faction", "home", "voice")
LISTS = ("goals", "play_now")
LONGEST_LINE = 200


class PeopleWriter:
    """Makes an NPC of each character. An NPC that exists gets what it lacks; nothing that somebody
    wrote about it changes."""

    def __init__(self, world: World, report: WriteReport) -> None:
        self.world, self.report = world, report
        npcs = list(NPC.objects.filter(world=world).prefetch_related("secrets"))
        self.by_slug = {npc.slug: npc for npc in npcs}
        self.by_biography = {npc.biography_id: npc for npc in npcs if npc.biography_id}
        self.written: dict[Any, NPC] = {}

    def write(self, characters: Iterable[tuple[LoreDraft, Lore]]) -> None:
        for draft, entry in characters:
            try:
                with transaction.atomic():
                    self._write(draft, entry)
            except (Problem, ValidationError) as problem:
                fault = problem if isinstance(problem, Problem) else to_invalid(problem)
                self.report.problems.append(
                    ImportProblem(draft.file, fault.detail, draft.body_line)
                )

    def _write(self, draft: LoreDraft, entry: Lore) -> None:
        old = self.by_biography.get(entry.pk) or self.by_slug.get(entry.slug)
        before: Values | None = values_of("npc", old) if old else None
        person = draft.person or PersonDraft()
        fields = _complete(old, person, entry) if old else _new_fields(person, entry)
        npc, outcome = upsert_npc(self.world, NPCIn.model_validate(fields))
        self.by_slug[npc.slug] = self.written[entry.pk] = npc
        self.report.add(
            "npc",
            npc,
            outcome,
            name=npc.name,
            source=draft.where,
            before=before if outcome == "changed" else None,
            after=values_of("npc", npc) if outcome != "unchanged" else None,
        )


def _new_fields(person: PersonDraft, entry: Lore) -> dict[str, Any]:
    known_to = entry.known_to if entry.visibility == Visibility.REVEALED else []
    return {
        "npc_id": entry.slug,
        "name": entry.title,
        "aliases": [alias for alias in entry.aliases if len(alias) <= LONGEST_LINE],
        "biography": entry.slug,
        "language": entry.language,
        "visibility": entry.visibility,
        "known_to": known_to,
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
