"""The one statement of a player's profile says what the querysets say, and costs no more than the
game master's."""

import itertools
import random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from episodes.models import Episode
from knowledge.link_models import Link
from knowledge.models import Lore
from npcs.models import NPC, DispositionChange, Secret
from npcs.profiles import apparent_dispositions, profile_for_players
from npcs.tools import ProfileAsk, npc_profile
from worlds.audiences import GM, PUBLIC, Audience, Visibility, audience_of_party
from worlds.callers import Caller
from worlds.models import Character, Party, World

pytestmark = pytest.mark.django_db
KNOWN_TO: list[list[str]] = [
    [],
    ["party:lanternbearers"],
    ["party:gilded-oath"],
    ["character:tobin"],
    ["character:tobin", "character:ilse"],
    ["npc:mira-voss"],
    ["character:tobin&party:lanternbearers"],
]
GUARDS = [*itertools.product(Visibility.values, KNOWN_TO)]


@pytest.fixture
def audiences(world: World, lanternbearers: Party, gilded_oath: Party) -> list[Audience]:
    for slug in ("tobin", "ilse"):
        Character.objects.create(world=world, slug=slug, name=slug.title(), party=lanternbearers)
    return [
        GM,
        PUBLIC,
        audience_of_party(lanternbearers),
        audience_of_party(gilded_oath),
        Audience("character", "tobin", party="lanternbearers"),
        Audience("npc", "mira-voss"),
    ]


@pytest.fixture
def people(world: World, lanternbearers: Party) -> list[NPC]:
    """Fifty NPCs whose faction, home, secrets and episodes are guarded in every way."""
    chance = random.Random(37)

    def guard() -> dict[str, Any]:
        visibility, known_to = chance.choice(GUARDS)
        return {"visibility": visibility, "known_to": known_to}

    entries = [
        Lore.objects.create(world=world, slug=f"e{n}", title=f"E{n}", kind="place", **guard())
        for n in range(20)
    ]
    entries[0].deleted_at = timezone.now()
    entries[0].save()
    episodes = [
        Episode.objects.create(
            world=world,
            campaign=lanternbearers.campaign,
            party=lanternbearers,
            external_id=f"x{n}",
            text="t",
            what="t",
            happened_at=timezone.now(),
            **guard(),
            retracted_at=timezone.now() if n % 7 == 6 else None,
        )
        for n in range(30)
    ]
    people = []
    for n in range(50):
        npc = NPC.objects.create(
            world=world,
            slug=f"p{n}",
            name=f"P {n}",
            visibility="public",
            faction="F",
            home="H",
            faction_visibility=chance.choice(["public", "gm"]),
            faction_lore=chance.choice([None, *entries]),
            home_lore=chance.choice([None, *entries]),
        )
        for position in range(1, 5):
            Secret.objects.create(
                world=world, npc=npc, position=position, text=f"S{position}", **guard()
            )
        for _change in range(8):
            add_change(npc, lanternbearers, chance.choice(episodes), chance)
        people.append(npc)
    for episode in episodes:
        name_in_text(episode, chance.sample(people, 30), is_secret=chance.random() < 0.2)
    return people


def name_in_text(episode: Episode, npcs: list[NPC], *, is_secret: bool) -> None:
    Link.objects.create(
        world=episode.world,
        source_kind="episode",
        source_id=episode.pk,
        field="what",
        position=0,
        secret=is_secret,
        targets=[npc.pk for npc in npcs],
    )


def add_change(npc: NPC, party: Party, episode: Episode, chance: random.Random) -> None:
    common = {"npc": npc, "party": party, "reason": "R.", "happened_at": timezone.now()}
    change = DispositionChange.objects.create(
        **common,
        kind="episode",
        axis=chance.choice(["affection", "trust"]),
        delta=chance.choice([-9, 7, 12]),
        held=chance.random() < 0.3,
        episode=episode,
        episode_version=episode.version + (chance.random() < 0.1),
    )
    for kind in chance.choice([[], ["approval"], ["reversal"], ["reversal", "restoration"]]):
        DispositionChange.objects.create(**common, kind=kind, delta=0, about=change)


def test_the_statement_has_the_same_audience_rules_as_the_querysets(
    people: list[NPC], audiences: list[Audience], lanternbearers: Party
) -> None:
    outcomes = set()
    for audience in audiences:
        for npc in people:
            profile = profile_for_players(npc, audience, lanternbearers)
            known = Lore.objects.visible_to(audience)
            home = npc.home_lore is None or known.filter(pk=npc.home_lore.pk).exists()
            faction = npc.faction_lore is None or known.filter(pk=npc.faction_lore.pk).exists()
            secrets = Secret.objects.filter(npc=npc).visible_to(audience).order_by("position")
            assert profile.static.home == ("H" if home else "")
            is_open = faction and npc.faction_visibility == "public"
            assert profile.static.faction == ("F" if is_open else "")
            assert profile.static.secrets == [secret.text for secret in secrets]
            (apparent,) = apparent_dispositions([npc.pk], lanternbearers, audience)
            assert profile.apparent == apparent
            outcomes.add((str(audience), home, is_open, len(secrets), len(apparent.summary_ids)))
    assert len(outcomes) > 100, "the cases differ"


def test_an_npc_that_the_audience_does_not_know_has_no_profile(
    people: list[NPC], audiences: list[Audience]
) -> None:
    for visibility, known_to in GUARDS:
        NPC.objects.filter(pk=people[0].pk).update(visibility=visibility, known_to=known_to)
        for audience in audiences:
            is_known = NPC.objects.visible_to(audience).filter(pk=people[0].pk).exists()
            try:
                profile_for_players(people[0], audience, None)
            except NPC.DoesNotExist:
                assert not is_known
            else:
                assert is_known


def test_a_party_costs_no_more_statements_than_a_game_master(
    people: list[NPC], lanternbearers: Party
) -> None:
    gm = Caller.gm(people[0].world)
    counts = {}
    for caller in (gm, gm.as_party("lanternbearers")):
        for party in (None, "lanternbearers"):
            with CaptureQueriesContext(connection) as sent:
                npc_profile(ProfileAsk(npc_id="p3", party_id=party), caller)
            counts[str(caller.audience), party] = len(sent)
    assert counts == dict.fromkeys(counts, 2)
