"""Hundreds of episodes with consequences, corrections, retractions, rulings and merges: what is
stored and shown is what a replay of the ledgers from scratch gives.

`LONG_HISTORY=500` makes it longer.
"""

import os
import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from episodes.ingest import ingest_episode, restore_episode, retract_episode
from episodes.schemas import EpisodeIn
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from memory_site.npc_merging.merge import merge_npcs, undo_merge
from npcs.disposition_rules import set_rules
from npcs.dispositions import approve, correct, reject, restore, reverse
from npcs.models import NPC, Disposition, DispositionChange, NPCMerge, OpinionChange
from npcs.opinions import (
    correct_standing,
    find_faction,
    opinions_of,
    rule_on_opinion,
    standings_of,
)
from retrieval.errors import Conflict, Invalid, NotFound
from tests.cast import create_npc
from tests.npcs.ledger_replay import replay, replay_opinions, replay_standings
from worlds.models import Party, World

pytestmark = pytest.mark.django_db
EPISODES = int(os.environ.get("LONG_HISTORY", "80"))
PEOPLE = ("ada", "bo", "cleo", "dag", "eli", "fay")
FACTIONS = ("guild", "choir")
BEGIN = datetime(2026, 9, 5, 18, tzinfo=UTC)
RULINGS = (approve, reject, reverse, restore)
NOTHING = {"kin": 0, "ally": 0, "enemy": 0, "member": 0}
RULES: list[dict[str, Any]] = [
    {"kin": 100, "ally": 25, "enemy": 50, "member": 50},
    {"kin": 50, "ally": 100, "enemy": 25, "member": 100},
    NOTHING,
]


def relations(world: World) -> None:
    """A circle of kin and allies, two enemies, and factions that are part of each other's."""
    nodes = [GraphFact(node=NodeFact(slug=n, name=n.title(), kind="Character")) for n in PEOPLE]
    nodes += [GraphFact(node=NodeFact(slug=n, name=n.title(), kind="Faction")) for n in FACTIONS]
    edges: list[tuple[str, str, str, str]] = [
        ("ada", "RELATES_TO", "bo", "sister of"),
        ("bo", "ALLY_WITH", "cleo", ""),
        ("cleo", "ALLY_WITH", "ada", ""),
        ("dag", "ENEMY_OF", "ada", ""),
        ("eli", "RELATES_TO", "dag", "сын"),
        ("ada", "PART_OF", "guild", ""),
        ("cleo", "PART_OF", "choir", ""),
        ("dag", "ENEMY_OF", "choir", ""),
        ("guild", "ALLY_WITH", "choir", ""),
    ]
    facts = [
        GraphFact(edge=EdgeFact(src=src, relation=code, dst=dst, label=label))
        for src, code, dst, label in edges
    ]
    upsert_facts(world, [*nodes, *facts])


def summary(number: int, version: int, dice: random.Random) -> EpisodeIn:
    deltas = [
        {
            "npc": npc,
            "delta": dice.choice((-60, -30, -12, -5, 4, 9, 20, 45)),
            "axis": dice.choice(("affection", "trust", "respect", "fear")),
            "reason": "Because.",
        }
        for npc in dice.sample(PEOPLE, dice.randint(1, 3))
    ]
    if dice.random() < 0.3:
        npc, other = dice.sample(PEOPLE, 2)
        deltas.append({"npc": npc, "toward": other, "delta": dice.choice((-40, -7, 6, 35))})
    return EpisodeIn.model_validate(
        {
            "summary_id": f"ep-{number}",
            "party_id": "lanternbearers",
            "when": {"real": BEGIN + timedelta(hours=number), "in_world_at": number},
            "what": "What happened.",
            "relations_delta": deltas,
            "version": version,
        }
    )


def disturb(world: World, party: Party, dice: random.Random, told: int) -> None:
    """Do one thing of those that game masters do after an episode."""
    ref = f"ep-{dice.randrange(told)}"
    match dice.randrange(9):
        case 0:
            retract_episode(world, ref)
        case 1:
            restore_episode(world, ref)
        case 2:
            ingest_episode(world, summary(dice.randrange(told), dice.randint(2, 4), dice))
        case 3:
            npc = NPC.objects.get(world=world, slug=dice.choice(PEOPLE))
            correct(npc, party, by=dice.choice((-35, 50)), reason="So it is.", made_by="anna")
        case 4:
            set_rules(world, **dice.choice(RULES), soft_ends=dice.random() < 0.5)
        case 5:
            faction = find_faction(world, dice.choice(FACTIONS))
            correct_standing(faction, party, by=dice.choice((-9, 12)), reason="So.", made_by="anna")
        case 6:
            entry = dice.choice(OpinionChange.objects.changes().order_by("id")[:200])
            verdict = dice.choice(("reverse", "restore"))
            rule_on_opinion(entry, verdict, reason="So.", made_by="anna")
        case 7:
            merge_or_undo(world, dice)
        case _:
            entries = DispositionChange.objects.changes().order_by("-id")[:60]
            entry = dice.choice(entries)
            dice.choice(RULINGS)(entry, reason="So it was.", made_by="anna")


def approve_large_change(world: World) -> None:
    """The sister feels it in full, so her change waits as this one did."""
    told = {"summary_id": "ep-first", "party_id": "lanternbearers", "what": "They left her."}
    change = {"npc": "ada", "delta": -60, "reason": "They left her."}
    ingest_episode(world, EpisodeIn.model_validate({**told, "relations_delta": [change]}))
    approve(DispositionChange.objects.get(), made_by="anna")


def merge_or_undo(world: World, dice: random.Random) -> None:
    """Make two of the people one, or take the last merge back: one merge at a time, so that
    episodes go on to name at least five of them."""
    latest = NPCMerge.objects.filter(undone_at=None).order_by("-id").first()
    if latest:
        undo_merge(latest, by="anna")
        return
    kept, merged = (NPC.objects.get(world=world, slug=slug) for slug in dice.sample(PEOPLE, 2))
    merge_npcs(merged, into=kept, reason="The same.", by="anna")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [37])
def test_hundreds_of_episodes_are_what_replaying_them_gives(
    world: World, lanternbearers: Party, seed: int
) -> None:
    dice = random.Random(seed)
    for slug in PEOPLE:
        create_npc(world, slug=slug, name=slug.title())
    relations(world)
    set_rules(world, **RULES[0])
    approve_large_change(world)
    for number in range(EPISODES):
        # While two are one, an episode may tell what somebody thinks of themselves.
        with suppress(Invalid):
            ingest_episode(world, summary(number, 1, dice))
        with suppress(NotFound, Conflict, Invalid, IndexError, NPC.DoesNotExist):
            disturb(world, lanternbearers, dice, number + 1)
        if number % 50 == 49:
            compare(world, lanternbearers)
    written = DispositionChange.objects.filter(kind="consequence")
    assert written.filter(rule="kin").exists()
    assert written.filter(rule="enemy").exists()
    assert written.filter(held=True).exists()
    assert OpinionChange.objects.filter(kind="consequence").exists()
    assert OpinionChange.objects.filter(kind="episode").exists()
    assert NPCMerge.objects.exclude(undone_at=None).exists()


def compare(world: World, party: Party) -> None:
    rows = Disposition.objects.filter(party=party).select_related("npc")
    stored = {row.npc.slug: row.score for row in rows}
    assert stored == pytest.approx(replay(party), abs=2e-4)
    shown = {each.holder.slug: each.score for each in standings_of(world, party=party)}
    expected = replay_standings(party)
    assert {name: shown.get(name, 0.0) for name in expected} == pytest.approx(expected, abs=2e-4)
    opinions = [each for npc in NPC.with_trash.all() for each in opinions_of(npc)]
    between = {(each.holder.slug, each.toward.slug): each.score for each in opinions}
    expected_opinions = replay_opinions(party)
    assert {pair: between.get(pair, 0.0) for pair in expected_opinions} == pytest.approx(
        expected_opinions, abs=2e-4
    )
