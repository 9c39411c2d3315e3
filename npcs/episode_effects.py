"""The effects of an episode on NPCs: appearances, disposition changes, reveals of NPCs and
secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from episodes.lore_effects import PlannedReveal, parse_audiences, write_reveals
from episodes.models import Episode
from episodes.schemas import EpisodeIn, EpisodeReveal, IngestReport, RelationDelta
from npcs.consequences import write_consequences
from npcs.dispositions import build_change, days_reached, recompute_dispositions
from npcs.kept_rulings import keep_rulings, keep_rulings_of_consequences
from npcs.large_changes import hold_large_changes, hold_large_opinions
from npcs.lookup import UnknownNPC, find_npcs, npcs_resembling
from npcs.models import NPC, Appearance, Disposition, DispositionChange, OpinionChange
from npcs.opinions import build_opinion, opinions_of
from npcs.profiles import present_disposition
from retrieval.errors import Invalid
from worlds.audiences import Guarded
from worlds.models import Party


@dataclass(frozen=True)
class Cast:
    """The NPCs who were there, and the names that match no NPC or several, each with the NPCs that
    it may have meant."""

    present: list[NPC]
    unknown: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedOpinion:
    """A change of what `npc` thinks of `other`."""

    npc: NPC
    other: NPC
    delta: RelationDelta


class Appearances:
    """Who was there. A name that matches no NPC is kept as it is, for anybody may have been there;
    nobody is chosen for it, and where it resembles a name the report asks."""

    def plan(self, party: Party, summary: EpisodeIn) -> Cast:
        by_name, missing = find_npcs(party.world, [*summary.who.npcs])
        present = list({npc.pk: npc for npc in by_name.values()}.values())
        return Cast(present, npcs_resembling(party.world, [*missing]))

    def write(self, episode: Episode, plan: Cast, report: IngestReport) -> None:
        rows = [Appearance(npc=npc, episode=episode) for npc in plan.present]
        Appearance.objects.bulk_create(rows, ignore_conflicts=True)
        report.unknown += plan.unknown
        text = _("%(name)r is the name of no NPC here, or of several: did you mean %(names)s?")
        report.warnings += [
            text % {"name": name, "names": ", ".join(near)}
            for name, near in plan.unknown.items()
            if near
        ]

    def withdraw(self, episode: Episode) -> None:
        Appearance.objects.filter(episode=episode).delete()


class DispositionChanges:
    """Ledger entries carry the version of their episode and count while it is current.

    So nothing is deleted on a withdrawal (docs/decisions/0021). Rulings about what a new version
    tells again are kept (docs/decisions/0186).
    """

    def plan(self, party: Party, summary: EpisodeIn) -> list[tuple[NPC, RelationDelta]]:
        deltas = [each for each in summary.relations_delta if each.toward is None]
        by_name, missing = find_npcs(party.world, [each.npc for each in deltas])
        if missing:
            refuse_unknown(missing, where="relations_delta")
        # Unlike an appearance, a change of an unknown NPC is refused: it would be lost silently.
        return [(by_name[delta.npc], delta) for delta in deltas]

    def write(
        self, episode: Episode, plan: list[tuple[NPC, RelationDelta]], report: IngestReport
    ) -> None:
        entries = DispositionChange.objects.filter(episode=episode)
        # A restored episode already has the entries of its version.
        if not entries.filter(episode_version=episode.version).exists():
            changes = [
                build_change(npc, episode, by=delta.delta, axis=delta.axis, reason=delta.reason)
                for npc, delta in plan
            ]
            hold_large_changes(episode, changes)
            DispositionChange.objects.bulk_create(changes)
            approved = keep_rulings(episode, changes)
            write_consequences([each for each in changes if not each.held or each in approved])
            keep_rulings_of_consequences(episode, changes)
        today = days_reached([episode.party])[episode.party_id]
        rows = [row for row in self.recompute(episode) if row.npc.deleted_at is None]
        report.dispositions = [
            {
                "npc": row.npc.slug,
                "score": standing.score,
                "label": str(standing.label),
                "pending": standing.pending,
            }
            for row in rows
            for standing in [present_disposition(row, today=today)]
        ]
        waiting = DispositionChange.objects.pending()
        report.pending += waiting.filter(Q(episode=episode) | Q(cause__episode=episode)).count()

    def withdraw(self, episode: Episode) -> None:
        self.recompute(episode)

    def recompute(self, episode: Episode) -> list[Disposition]:
        """Recompute the dispositions that any version of `episode` changed, or its changes did."""
        told = Q(episode=episode) | Q(cause__episode=episode)
        ids: set[UUID] = set(
            DispositionChange.objects.filter(told).values_list("npc_id", flat=True)
        )
        return recompute_dispositions(episode.party, ids)


class OpinionChanges:
    """What the episode changed in what NPCs think of each other. The entries carry the version of
    the episode, as those of `DispositionChanges`."""

    def plan(self, party: Party, summary: EpisodeIn) -> list[PlannedOpinion]:
        deltas = [each for each in summary.relations_delta if each.toward is not None]
        names = [name for each in deltas for name in (each.npc, each.toward) if name]
        by_name, missing = find_npcs(party.world, names)
        if missing:
            refuse_unknown(missing, where="relations_delta")
        planned = [
            PlannedOpinion(by_name[each.npc], by_name[each.toward], each)
            for each in deltas
            if each.toward
        ]
        for each in planned:
            if each.npc == each.other:
                raise Invalid(
                    _("relations_delta: %(name)s has no opinion of themselves.")
                    % {"name": each.npc.name}
                )
        return planned

    def write(self, episode: Episode, plan: list[PlannedOpinion], report: IngestReport) -> None:
        entries = OpinionChange.objects.filter(episode=episode)
        if not entries.filter(episode_version=episode.version).exists():
            changes = [
                build_opinion(
                    each.npc, each.other, episode, by=each.delta.delta, reason=each.delta.reason
                )
                for each in plan
            ]
            hold_large_opinions(episode, changes)
            OpinionChange.objects.bulk_create(changes)
            keep_rulings(episode, changes)
        for npc in dict.fromkeys(each.npc for each in plan):
            others = {each.other for each in plan if each.npc == npc}
            report.opinions += [
                {
                    "npc": npc.slug,
                    "toward": opinion.toward.slug,
                    "score": round(opinion.score, 1),
                    "label": str(opinion.label),
                    "pending": opinion.pending,
                }
                for opinion in opinions_of(npc)
                if opinion.toward in others
            ]
        report.pending += OpinionChange.objects.pending().filter(episode=episode).count()

    def withdraw(self, episode: Episode) -> None:
        """Nothing to do: opinions are folded when they are read."""


class NPCReveals:
    """Who learned of an NPC, or of one of its secrets."""

    def plan(self, party: Party, summary: EpisodeIn) -> list[PlannedReveal]:
        entries = [(entry.npc, entry) for entry in summary.reveals if entry.npc]
        by_name, missing = find_npcs(party.world, [name for name, _entry in entries])
        if missing:
            refuse_unknown(missing, where="reveals")
        return [
            PlannedReveal(find_reveal_subject(by_name[name], entry), audience, entry.note)
            for name, entry in entries
            for audience in parse_audiences(party, entry)
        ]

    def write(self, episode: Episode, plan: list[PlannedReveal], _report: IngestReport) -> None:
        write_reveals(episode, plan)

    def withdraw(self, episode: Episode) -> None:
        """Nothing to do: `LoreReveals` withdraws every reveal of the episode."""


def refuse_unknown(missing: Mapping[str, Sequence[str]], *, where: str) -> None:
    """Raise UnknownNPC with the nearest names of the `missing` ones."""
    names = ", ".join(repr(name) for name in missing)
    near = list(dict.fromkeys(name for candidates in missing.values() for name in candidates))[:5]
    hint = _("Did you mean %(names)s?") % {"names": ", ".join(near)} if near else ""
    detail = _(
        "%(where)s: %(names)s matches no NPC of this world, or several. Nothing was recorded."
    )
    raise UnknownNPC(
        f"{detail % {'where': where, 'names': names}} {hint or _('Create them first.')}",
        candidates=near,
        errors=[{"loc": [where, name], "msg": "unknown or ambiguous NPC"} for name in missing],
    )


def find_reveal_subject(npc: NPC, entry: EpisodeReveal) -> Guarded:
    """Return the NPC, or its secret with the number of `entry`; raises Invalid without such one."""
    if entry.secret is None:
        return npc
    secret: Guarded | None = npc.secrets.filter(position=entry.secret).first()
    if secret is None:
        raise Invalid(
            _("%(npc)s has no secret number %(number)s.")
            % {"npc": npc.name, "number": entry.secret}
        )
    return secret
