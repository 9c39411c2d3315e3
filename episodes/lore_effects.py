"""What an episode does to lore: what it names, and who learned of what in it."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from episodes.lookup import lore_by_name
from episodes.models import Episode, Mention
from episodes.schemas import EpisodeIn, IngestReport, RevealIn
from knowledge.graph.models import GraphEdge, SourceKind
from knowledge.graph.schemas import GraphFact, Provenance
from knowledge.graph.upsert import replace_source_facts
from knowledge.models import Lore, LorePassage
from knowledge.name_matching import name_index
from retrieval.errors import Invalid, NotFound
from worlds import reveals
from worlds.audiences import Audience, Guarded
from worlds.models import Party, Reveal, World

SURE = ("exact", "alias", "ending")


class UnknownLore(Invalid):
    code, title = "unknown_lore", "Unknown lore entry"


@dataclass(frozen=True)
class PlannedReveal:
    """`audience` learned of `subject`."""

    subject: Guarded
    audience: Audience
    note: str = ""


class LoreMentions:
    """The place where it happened, and the entries that the text names beyond doubt."""

    def plan(self, party: Party, summary: EpisodeIn) -> dict[UUID, Mention.Role]:
        named = dict.fromkeys(_named_in(party.world, summary.what), Mention.Role.NAMED)
        place = lore_by_name(party.world, [summary.where] if summary.where else [])
        return named | {lore.pk: Mention.Role.PLACE for lore in place.values()}

    def write(
        self, episode: Episode, plan: dict[UUID, Mention.Role], _report: IngestReport
    ) -> None:
        rows = [Mention(episode=episode, lore_id=lore, role=role) for lore, role in plan.items()]
        Mention.objects.bulk_create(rows, ignore_conflicts=True)

    def withdraw(self, episode: Episode) -> None:
        episode.mentions.all().delete()


def _named_in(world: World, text: str) -> set[UUID]:
    entries = Lore.objects.in_world(world).filter(campaign=None).published()
    found = (
        mention for mention in name_index(entries, text).mentions(text) if not mention.ambiguous
    )
    return {match.key for mention in found for match in mention.matches if match.how in SURE}  # type: ignore[misc]


class LoreReveals:
    """Who learned of which lore, or which secret of it."""

    def plan(self, party: Party, summary: EpisodeIn) -> list[PlannedReveal]:
        return [
            PlannedReveal(_subject(party, entry), audience, entry.note)
            for entry in summary.reveals
            if entry.lore
            for audience in parse_audiences(party, entry)
        ]

    def write(self, episode: Episode, plan: list[PlannedReveal], _report: IngestReport) -> None:
        write_reveals(episode, plan)

    def withdraw(self, episode: Episode) -> None:
        """Take back every reveal that names this episode, also those of other effects."""
        log = Reveal.objects.filter(
            world=episode.world, episode_ref=episode.external_id, undone_at=None
        )
        for entry in log.order_by("subject_id", "audience"):
            try:
                reveals.undo_reveal(entry)
            except NotFound:  # what it revealed was deleted for good
                entry.delete()


class GraphFacts:
    """Lasting facts: those that an earlier version told and this one no longer tells are taken
    back.
    """

    def plan(self, _party: Party, summary: EpisodeIn) -> list[GraphFact]:
        return summary.facts

    def write(self, episode: Episode, plan: list[GraphFact], _report: IngestReport) -> None:
        said = {"source_kind": SourceKind.EPISODE, "source_ref": episode.external_id}
        facts = [
            GraphFact(
                node=fact.node.model_copy(update=said) if fact.node else None,
                edge=fact.edge.model_copy(update=said) if fact.edge else None,
            )
            for fact in plan
        ]
        if facts or self._told_before(episode):
            self._replace(episode, facts)

    def withdraw(self, episode: Episode) -> None:
        """A new version replaces them by itself, so that what both versions tell goes on being
        believed.
        """
        if episode.retracted_at:
            self._replace(episode, [])

    def _told_before(self, episode: Episode) -> bool:
        """Whether a version carried facts itself. What people wrote with the episode as their
        source is theirs.
        """
        return episode.versions.filter(body__has_key="facts").exists()

    def _replace(self, episode: Episode, facts: list[GraphFact]) -> None:
        source = Provenance(source_kind=SourceKind.EPISODE, source_ref=episode.external_id)
        told = GraphEdge.objects.filter(world=episode.world, source_kind=source.source_kind)
        if (
            not facts
            and not told.filter(source_ref=episode.external_id, believed_until=None).exists()
        ):
            return
        try:
            replace_source_facts(episode.world, facts, source=source)
        except NotFound as unknown:
            raise Invalid(f"facts: {unknown.detail}", candidates=unknown.candidates) from unknown


def write_reveals(episode: Episode, learned: Iterable[PlannedReveal]) -> None:
    """Write the reveal log in one order for everyone, so that writers do not wait in a circle."""
    for each in sorted(learned, key=lambda one: (str(one.subject.pk), str(one.audience))):
        reveals.reveal(
            each.subject,
            each.audience,
            episode_ref=episode.external_id,
            in_world_at=episode.in_world_at,
            in_world_label=episode.in_world_label,
            note=each.note,
            by="episode",
        )


def parse_audiences(party: Party, entry: RevealIn) -> list[Audience]:
    """Whom a reveal names: parties of this world by slug, NPCs as written; nobody named is the
    episode's own party.
    """
    named = [Audience.parse(text) for text in entry.to] or [Audience("party", party.slug)]
    for audience in named:
        if audience.kind not in ("party", "npc"):
            raise Invalid(f"A reveal is to party:<id> or npc:<id>, not {audience}.")
        if (
            audience.kind == "party"
            and not Party.objects.filter(world=party.world, slug=audience.slug).exists()
        ):
            known = tuple(
                Party.objects.filter(world=party.world).values_list("slug", flat=True)[:5]
            )
            raise Invalid(f"There is no party {audience.slug!r} in this world.", candidates=known)
    return named


def _subject(party: Party, entry: RevealIn) -> Guarded:
    reference = entry.lore or ""
    lore = lore_by_name(party.world, [reference]).get(reference)
    if lore is None:
        near = tuple(
            Lore.objects.in_world(party.world)
            .filter(title__icontains=reference[:40])
            .values_list("slug")[:5]
        )
        raise UnknownLore(
            f"There is no lore entry {reference!r} in this world; nothing was recorded.",
            candidates=[slug for (slug,) in near],
        )
    return lore if entry.secret is None else _secret(lore, entry.secret)


def _secret(lore: Lore, number: int) -> Guarded:
    secrets = LorePassage.objects.filter(lore=lore, secret=True).order_by("position")
    found: Guarded | None = secrets[number - 1 : number].first()
    if found is None:
        raise UnknownLore(
            f"{lore.slug} has {secrets.count()} secrets; there is no number {number}."
        )
    return found
