"""What an episode does to NPCs: who was there, what they think now, which of their secrets came
out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from episodes.lore_effects import PlannedReveal, parse_audiences, write_reveals
from episodes.models import Episode
from episodes.schemas import EpisodeIn, IngestReport, RelationDelta, RevealIn
from npcs.dispositions import build_change, recompute_dispositions
from npcs.lookup import UnknownNPC, find_npcs
from npcs.models import NPC, Appearance, DispositionChange
from npcs.score import label_of
from retrieval.errors import Invalid
from worlds.audiences import Guarded
from worlds.models import Party


@dataclass(frozen=True)
class Cast:
    """Who was there, and the names that nobody here goes by."""

    present: list[NPC]
    unknown: list[str] = field(default_factory=list)


class Appearances:
    def plan(self, party: Party, summary: EpisodeIn) -> Cast:
        found, missing = find_npcs(party.world, [*summary.who.npcs])
        return Cast(list({npc.pk: npc for npc in found.values()}.values()), list(missing))

    def write(self, episode: Episode, plan: Cast, report: IngestReport) -> None:
        rows = [Appearance(npc=npc, episode=episode) for npc in plan.present]
        Appearance.objects.bulk_create(rows, ignore_conflicts=True)
        report.unknown += plan.unknown

    def withdraw(self, episode: Episode) -> None:
        Appearance.objects.filter(episode=episode).delete()


class DispositionChanges:
    """Entries of the ledger carry the episode's version: those of other versions do not count
    (decision 0021).
    """

    def plan(self, party: Party, summary: EpisodeIn) -> list[tuple[NPC, RelationDelta]]:
        found, missing = find_npcs(party.world, [delta.npc for delta in summary.relations_delta])
        if missing:
            refuse(missing, where="relations_delta")
        return [(found[delta.npc], delta) for delta in summary.relations_delta]

    def write(
        self, episode: Episode, plan: list[tuple[NPC, RelationDelta]], report: IngestReport
    ) -> None:
        written = DispositionChange.objects.filter(episode=episode, episode_version=episode.version)
        if not written.exists():
            DispositionChange.objects.bulk_create(
                build_change(npc, episode, by=delta.delta, axis=delta.axis, reason=delta.reason)
                for npc, delta in plan
            )
        self._settle(episode, report)

    def withdraw(self, episode: Episode) -> None:
        self._settle(episode)

    def _settle(self, episode: Episode, report: IngestReport | None = None) -> None:
        touched = (
            DispositionChange.objects.filter(episode=episode)
            .values_list("npc_id", flat=True)
            .distinct()
        )
        rows = recompute_dispositions(episode.party, touched)
        if report is None:
            return
        report.dispositions = [
            {
                "npc": row.npc.slug,
                "score": row.score,
                "label": str(label_of(row.score)),
                "pending": row.pending,
            }
            for row in rows
        ]
        report.pending = DispositionChange.objects.pending().filter(episode=episode).count()


class NPCReveals:
    """Who learned of an NPC, or of one of its secrets."""

    def plan(self, party: Party, summary: EpisodeIn) -> list[PlannedReveal]:
        entries = [entry for entry in summary.reveals if entry.npc]
        found, missing = find_npcs(party.world, [entry.npc or "" for entry in entries])
        if missing:
            refuse(missing, where="reveals")
        return [
            PlannedReveal(_subject(found[entry.npc or ""], entry), audience, entry.note)
            for entry in entries
            for audience in parse_audiences(party, entry)
        ]

    def write(self, episode: Episode, plan: list[PlannedReveal], _report: IngestReport) -> None:
        write_reveals(episode, plan)

    def withdraw(self, episode: Episode) -> None:
        """`LoreReveals` takes back every reveal of the episode."""


def refuse(missing: Mapping[str, Sequence[str]], *, where: str) -> None:
    names = ", ".join(repr(name) for name in missing)
    near = list(dict.fromkeys(name for candidates in missing.values() for name in candidates))[:5]
    hint = f" Did you mean {', '.join(near)}?" if near else " Create them first."
    raise UnknownNPC(
        f"{where} names {names}, and no one NPC of this world is called so. Nothing was recorded.{hint}",
        candidates=near,
        errors=[{"loc": [where, name], "msg": "unknown or ambiguous NPC"} for name in missing],
    )


def _subject(npc: NPC, entry: RevealIn) -> Guarded:
    if entry.secret is None:
        return npc
    secret: Guarded | None = npc.secrets.filter(position=entry.secret).first()
    if secret is None:
        raise Invalid(f"{npc.name} has no secret number {entry.secret}.")
    return secret
