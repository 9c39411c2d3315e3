"""What a party knows of the things on the Play page. Players may see its screen, so the page shows
that in the open and folds the rest."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from knowledge.models import Lore, RulePassage
from memory_site.site_hits import SiteHit
from npcs.models import NPC
from npcs.profiles import read_players_profile
from worlds.audiences import Audience, Visibility, is_known_to_party
from worlds.models import Party
from worlds.pages import Viewer

BoxHit = tuple[str, Any, SiteHit]
"""Kind, its name, and the hit."""


class PartyKnowledge:
    """What `party` knows; `viewer` is the game master at its table."""

    def __init__(self, viewer: Viewer, party: Party) -> None:
        self.party = party
        self._game_master = viewer

    @cached_property
    def viewer(self) -> Viewer:
        """For what the party may see."""
        return self._game_master.as_party(self.party)

    @property
    def audience(self) -> Audience:
        return self.viewer.audience

    def knows(self, row: Any) -> bool:
        """Whether the party knows that `row` exists: the rule of `visible_to` for what was read
        already, an answer of the tools or a row. Nobody knows a draft."""
        if isinstance(row, Lore) and not self._is_published_here(row):
            return False
        if row.visibility != Visibility.REVEALED:
            return bool(row.visibility == Visibility.PUBLIC)
        is_own = getattr(row, "known_to_own_party", False) and row.party_id == self.party.pk
        return (is_own and is_known_to_party(row.known_to)) or self.audience.knows(row.known_to)

    def _is_published_here(self, entry: Lore) -> bool:
        is_of_campaign = entry.campaign_id in (None, self.party.campaign_id)
        return is_of_campaign and entry.status == Lore.Status.PUBLISHED

    def notes_on(self, npc: NPC) -> tuple[list[str], list[str]]:
        """Role, faction and home of `npc`: those that the party knows, as on the players' page,
        and the others."""
        everything = list(filter(None, [npc.role, npc.faction, npc.home]))
        profile = read_players_profile(npc.world_id, self.audience, npc.slug, None)
        if profile is None:
            return [], everything
        known = profile.static
        shown = list(filter(None, [known.role, known.faction, known.home]))
        return shown, [each for each in everything if each not in shown]

    def split_hits(self, hits: Sequence[BoxHit]) -> tuple[list[BoxHit], list[BoxHit]]:
        """Return the hits that the party knows, and the others. A statement for each kind."""
        refs = {kind: {hit.ref for each, _label, hit in hits if each == kind} for kind in KNOWN}
        known = {kind: set(KNOWN[kind](self.viewer, refs[kind])) for kind in KNOWN if refs[kind]}
        # A campaign's entry may have the slug of a canon entry, and another name.
        is_known = [(hit.ref, hit.title) in known[kind] for kind, _label, hit in hits]
        return (
            [each for each, shown in zip(hits, is_known, strict=True) if shown],
            [each for each, shown in zip(hits, is_known, strict=True) if not shown],
        )


def known_npcs(viewer: Viewer, slugs: Iterable[str]) -> Any:
    rows = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    return rows.filter(slug__in=slugs).values_list("slug", "name")


def known_entries(viewer: Viewer, slugs: Iterable[str]) -> Any:
    rows = Lore.objects.in_world(viewer.world).visible_to(viewer.audience).only_published()
    rows = rows.known_in(viewer.campaign, viewer.audience)
    return rows.filter(slug__in=slugs).values_list("slug", "title")


def known_rules(viewer: Viewer, keys: Iterable[str]) -> Any:
    rows = RulePassage.objects.in_force(viewer.world, viewer.campaign, viewer.audience)
    rows = rows.visible_to(viewer.audience).filter(rule__key__in=keys)
    return rows.values_list("rule__key", "rule__title").distinct()


KNOWN = {"npc": known_npcs, "thing": known_entries, "rule": known_rules}
"""The references and names of what a party knows, by kind of hit."""
