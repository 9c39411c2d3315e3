"""The effects of an episode on lore: mentions, reveals of entries and secrets, facts of the
graph."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from episodes.lookup import lore_by_name
from episodes.models import Episode, Mention
from episodes.schemas import EpisodeIn, EpisodeReveal, IngestReport
from knowledge.graph.models import GraphEdge, SourceKind
from knowledge.graph.schemas import EdgeFact, GraphFact, Provenance
from knowledge.graph.upsert import replace_source_facts
from knowledge.models import Lore
from knowledge.name_matching import name_index
from retrieval.errors import Invalid, NotFound
from retrieval.text import NameIndex, without_secrets
from worlds import reveals
from worlds.audience_names import audience_models, missing_audiences
from worlds.audiences import Audience, Guarded
from worlds.models import Party, Reveal, World

SURE_MATCHES = ("exact", "alias", "ending", "quoted")


class UnknownLore(Invalid):
    code, title = "unknown_lore", "Unknown lore entry"


@dataclass(frozen=True)
class PlannedReveal:
    """`audience` learned of `subject`."""

    subject: Guarded
    audience: Audience
    note: str = ""


class LoreMentions:
    """The place of the episode, and the entries that its text names unambiguously."""

    def plan(self, party: Party, summary: EpisodeIn) -> list[Mention]:
        entries = Lore.objects.in_world(party.world).filter(campaign=None).only_published()
        index = name_index(entries, summary.what)
        in_open_text = names_in(index, without_secrets(summary.what))
        named = in_open_text | names_in(index, summary.what)
        place = lore_by_name(party.world, [summary.where] if summary.where else [])
        # An entry has one role in an episode, and everybody who knows the episode knows its place.
        places = {lore.pk for lore in place.values()}
        return [
            *(Mention(lore_id=lore, role=Mention.Role.PLACE) for lore in places),
            *(Mention(lore_id=lore, secret=lore not in in_open_text) for lore in named - places),
        ]

    def write(self, episode: Episode, plan: list[Mention], _report: IngestReport) -> None:
        for mention in plan:
            mention.episode = episode
        Mention.objects.bulk_create(plan, ignore_conflicts=True)

    def withdraw(self, episode: Episode) -> None:
        episode.mentions.all().delete()


def names_in(index: NameIndex, text: str) -> set[UUID]:
    """Return the rows that `text` names. Ambiguous and misspelt names are left out: a wrong link is
    worse than a missing one."""
    return {
        match.key
        for mention in index.mentions(text)
        if not mention.ambiguous
        for match in mention.matches
        if match.how in SURE_MATCHES and isinstance(match.key, UUID)
    }


class LoreReveals:
    """Who learned of which lore entry, or of which of its secrets."""

    def plan(self, party: Party, summary: EpisodeIn) -> list[PlannedReveal]:
        return [
            PlannedReveal(find_reveal_subject(party, entry), audience, entry.note)
            for entry in summary.reveals
            if entry.lore
            for audience in parse_audiences(party, entry)
        ]

    def write(self, episode: Episode, plan: list[PlannedReveal], _report: IngestReport) -> None:
        write_reveals(episode, plan)

    def withdraw(self, episode: Episode) -> None:
        """Undo every reveal that names this episode, also those of other effects."""
        log = Reveal.objects.filter(
            world=episode.world, episode_ref=episode.external_id, undone_at=None
        )
        for entry in log.order_by("subject_id", "audience"):  # see write_reveals
            try:
                reveals.undo_reveal(entry)
            except NotFound:  # the revealed row was deleted permanently
                entry.delete()


class GraphFacts:
    """Lasting facts for the graph, with the episode as their source."""

    def plan(self, _party: Party, summary: EpisodeIn) -> list[GraphFact]:
        return summary.facts

    def write(self, episode: Episode, plan: list[GraphFact], _report: IngestReport) -> None:
        source = {"source_kind": SourceKind.EPISODE, "source_ref": episode.external_id}
        ended = ends_of_version_before(episode)
        facts = [
            GraphFact(
                node=fact.node.model_copy(update=source) if fact.node else None,
                edge=whole_statement(fact.edge, ended).model_copy(update=source)
                if fact.edge
                else None,
            )
            for fact in plan
        ]
        # Facts that people entered with this episode as their source are not in any version of it
        # and must stay.
        if facts or episode.versions.filter(body__has_key="facts").exists():
            self.replace(episode, facts)

    def withdraw(self, episode: Episode) -> None:
        """Retract the facts of a retracted episode.

        A new version replaces the facts in `write`, so that those in both versions stay valid.
        """
        if episode.retracted_at:
            self.replace(episode, [])

    def replace(self, episode: Episode, facts: list[GraphFact]) -> None:
        source = Provenance(source_kind=SourceKind.EPISODE, source_ref=episode.external_id)
        edges = GraphEdge.objects.filter(
            world=episode.world,
            source_kind=source.source_kind,
            source_ref=source.source_ref,
            believed_until=None,
        )
        if not facts and not edges.exists():
            return  # spares the lock of the whole graph
        try:
            replace_source_facts(episode.world, facts, source=source)
        except NotFound as unknown:
            raise Invalid(f"facts: {unknown.detail}", candidates=unknown.candidates) from unknown


def claim_of(fact: Mapping[str, Any]) -> tuple[str, ...]:
    """What makes two facts of an episode the same one, as it is spelled."""
    return tuple(str(fact.get(name) or "") for name in ("src", "relation", "dst", "label", "since"))


def ends_of_version_before(episode: Episode) -> set[tuple[str, ...]]:
    """The facts that the version before this one has ended itself."""
    earlier = episode.versions.filter(version__lt=episode.version).order_by("-version")
    body: dict[str, Any] = earlier.values_list("body", flat=True).first() or {}
    edges = [fact.get("edge") or {} for fact in body.get("facts", ())]
    return {claim_of(edge) for edge in edges if edge.get("until") is not None}


def whole_statement(fact: EdgeFact, ended: Collection[tuple[str, ...]]) -> EdgeFact:
    """Return the fact with every field sent: a version replaces the one before. An end that others
    have written stays, unless this version says otherwise."""
    names = set(Provenance.model_fields)
    if claim_of(fact.model_dump(mode="json")) not in ended:
        names -= {"until"} - fact.model_fields_set
    return fact.model_copy(update={name: getattr(fact, name) for name in names})


def write_reveals(episode: Episode, plan: Iterable[PlannedReveal]) -> None:
    # Rows are locked in one order by all writers, so that two episodes cannot deadlock.
    for each in sorted(plan, key=lambda one: (str(one.subject.pk), str(one.audience))):
        reveals.reveal(
            each.subject,
            each.audience,
            episode_ref=episode.external_id,
            in_world_at=episode.in_world_at,
            in_world_label=episode.in_world_label,
            note=each.note,
            by="episode",
        )


def parse_audiences(party: Party, entry: EpisodeReveal) -> list[Audience]:
    """Return whom `entry` names, by default the episode's own party; raises Invalid for others than
    NPCs, parties and characters of this world.
    """
    audiences = [Audience.parse(text) for text in entry.to] or [Audience("party", party.slug)]
    missing = missing_audiences(party.world, (str(each) for each in audiences))
    for audience in audiences:
        if not audience.is_named:
            raise Invalid(
                _("A reveal is to party:<id>, character:<id> or npc:<id>, not %(audience)s.")
                % {"audience": audience}
            )
        if audience.kind != "npc" and str(audience) in missing:
            rows = audience_models()[audience.kind]._default_manager.filter(world=party.world)
            raise Invalid(
                _("There is no %(kind)s %(audience)r in this world.")
                % {"kind": _(audience.kind), "audience": audience.slug},
                candidates=tuple(rows.values_list("slug", flat=True)[:5]),
            )
    return audiences


def find_reveal_subject(party: Party, entry: EpisodeReveal) -> Guarded:
    """Return the lore entry, or its secret with the number of `entry`; raises UnknownLore."""
    reference = entry.lore or ""
    lore = lore_by_name(party.world, [reference]).get(reference)
    if lore is None:
        raise UnknownLore(
            _("There is no lore entry %(reference)r in this world; nothing was recorded.")
            % {"reference": reference},
            candidates=entries_resembling(party.world, reference),
        )
    if entry.secret is None:
        return lore
    secrets = lore.secret_parts()
    secret: Guarded | None = secrets[entry.secret - 1 : entry.secret].first()
    if secret is None:
        raise UnknownLore(
            _("%(entry)s has %(count)s secrets; there is no number %(number)s.")
            % {"entry": lore.slug, "count": secrets.count(), "number": entry.secret}
        )
    return secret


def entries_resembling(world: World, reference: str) -> list[str]:
    """Return the slugs of the canon entries that `reference` may mean, or the nearest titles."""
    canon = Lore.objects.in_world(world).filter(campaign=None)
    index = name_index(canon, reference)
    meant = [match.key for match in index.find(reference)]
    slugs = dict(canon.filter(pk__in=meant).values_list("pk", "slug"))
    return [slugs[key] for key in meant if key in slugs] or index.suggest(reference)
