"""What is done to one NPC is felt by kin, allies, enemies and factions, by the rules of the world;
what is taken back is felt no more."""

from typing import Any

import pytest

from episodes.ingest import restore_episode, retract_episode
from knowledge.graph.models import GraphNode
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from npcs.disposition_rules import USUAL, set_rules
from npcs.dispositions import approve, reject, restore, reverse
from npcs.models import NPC, Disposition, DispositionChange, OpinionChange
from npcs.opinions import standings_of
from npcs.profiles import apparent_dispositions
from tests.cast import create_npc
from tests.conftest import ApiClient
from worlds.audiences import audience_of_party
from worlds.erasure import permanent_deletion
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def corin(world: World) -> NPC:
    return create_npc(world, slug="corin-voss", name="Corin Voss", visibility="public")


def relate(world: World, *facts: tuple[str, str, str] | tuple[str, str, str, str]) -> None:
    factions = {"guild", "choir"}
    names = {name for src, _relation, dst, *_label in facts for name in (src, dst)}
    nodes = [
        GraphFact(
            node=NodeFact(
                slug=name,
                name=name.replace("-", " ").title(),
                kind="Faction" if name in factions else "Character",
            )
        )
        for name in sorted(names)
    ]
    edges = [
        GraphFact(edge=EdgeFact(src=src, relation=relation, dst=dst, label="".join(label)))
        for src, relation, dst, *label in facts
    ]
    upsert_facts(world, [*nodes, *edges])


@pytest.fixture
def sisters(world: World, mira: NPC, corin: NPC) -> None:
    relate(world, ("mira-voss", "RELATES_TO", "corin-voss", "sister of"))


def tell(engine: ApiClient, name: str = "ep-1", version: int = 1, **deltas: int) -> Any:
    changes = [
        {"npc": npc.replace("_", "-"), "delta": delta, "axis": "trust", "reason": "They hurt her."}
        for npc, delta in deltas.items()
    ]
    body = {
        "summary_id": name,
        "party_id": "lanternbearers",
        "when": {"in_world_at": 10.0},
        "what": "A quarrel.",
        "version": version,
        "relations_delta": changes,
    }
    status, report = engine.post("world/episodes", body)
    assert status == 200, report
    return report


def score(npc: NPC) -> float:
    row = Disposition.objects.filter(npc=npc).first()
    return row.score if row else 0.0


def test_a_world_without_rules_has_no_consequences(
    engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    tell(engine, mira_voss=-30)
    assert score(corin) == 0
    assert not DispositionChange.objects.filter(kind="consequence").exists()


def test_a_brother_feels_what_was_done_to_his_sister(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    report = tell(engine, mira_voss=-30)
    entry = DispositionChange.objects.get(kind="consequence")
    assert (entry.npc, entry.delta, entry.rule, score(corin)) == (corin, -15, "kin", -15)
    assert entry.reason == "Mira Voss sister of Corin Voss: They hurt her."
    assert {each["npc"] for each in report["dispositions"]} == {"mira-voss", "corin-voss"}
    _status, profile = engine.get("world/npcs/corin-voss")
    (influence,) = profile["dynamic"]["influences"]
    assert (influence["caused_as"], influence["caused_by"]) == ("kin", entry.cause_id)
    assert influence["summary_id"] == "ep-1"


def test_an_enemy_is_glad_and_a_switched_off_rule_does_nothing(
    world: World, engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC, corin: NPC
) -> None:
    relate(world, ("mira-voss", "ENEMY_OF", "jory-fenn"), ("corin-voss", "ALLY_WITH", "mira-voss"))
    set_rules(world, enemy=50)
    tell(engine, mira_voss=-30)
    assert (score(jory), score(corin)) == (15, 0)


def test_who_is_ally_and_enemy_at_once_feels_nothing(
    world: World, engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    relate(world, ("mira-voss", "ENEMY_OF", "jory-fenn"), ("mira-voss", "ALLY_WITH", "jory-fenn"))
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    assert score(jory) == 0


def test_a_circle_of_allies_ends_after_one_step(
    world: World,
    engine: ApiClient,
    lanternbearers: Party,
    mira: NPC,
    jory: NPC,
    corin: NPC,
) -> None:
    relate(
        world,
        ("mira-voss", "ALLY_WITH", "jory-fenn"),
        ("jory-fenn", "ALLY_WITH", "corin-voss"),
        ("corin-voss", "RELATES_TO", "mira-voss", "brother of"),
    )
    set_rules(world, kin=100, ally=100)
    tell(engine, jory_fenn=-20)
    assert (score(mira), score(corin), score(jory)) == (-20, -20, -20)


def test_whom_the_episode_names_itself_nothing_is_concluded_of(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30, corin_voss=5)
    assert score(corin) == 5


def test_a_relation_that_has_ended_passes_nothing_on(
    world: World, engine: ApiClient, lanternbearers: Party, mira: NPC, jory: NPC
) -> None:
    relate(world, ("mira-voss", "KNOWS", "jory-fenn"))
    fact = EdgeFact(src="mira-voss", relation="ALLY_WITH", dst="jory-fenn", until=5.0)
    upsert_facts(world, [GraphFact(edge=fact)])
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    assert score(jory) == 0


def test_a_consequence_goes_and_comes_back_with_its_cause(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    retract_episode(world, "ep-1")
    assert score(corin) == 0
    restore_episode(world, "ep-1")
    assert score(corin) == -15
    cause = DispositionChange.objects.get(kind="episode")
    reverse(cause, reason="A mix-up.", made_by="anna")
    assert score(corin) == 0
    restore(cause, reason="No mix-up.", made_by="anna")
    assert score(corin) == -15
    tell(engine, version=2, mira_voss=-10)
    assert score(corin) == -5


def test_a_consequence_is_reversed_by_itself(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, mira: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    reverse(DispositionChange.objects.get(kind="consequence"), reason="He is glad.", made_by="anna")
    assert (score(mira), score(corin)) == (-30, 0)


def test_a_held_change_causes_nothing_until_it_is_approved(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-60)
    tell(engine, "ep-2", mira_voss=-70)
    first, second = DispositionChange.objects.filter(held=True).order_by("id")
    assert not DispositionChange.objects.filter(kind="consequence").exists()
    reject(second, reason="No.", made_by="anna")
    approve(first, made_by="anna")
    assert score(corin) == -30
    reverse(first, reason="No.", made_by="anna")
    restore(first, reason="Yes.", made_by="anna")
    assert DispositionChange.objects.filter(kind="consequence").count() == 1
    assert score(corin) == -30


def test_a_large_consequence_waits_itself(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    set_rules(world, kin=100)
    tell(engine, mira_voss=-60)
    approve(DispositionChange.objects.get(), made_by="anna")
    assert score(corin) == 0
    approve(DispositionChange.objects.get(kind="consequence"), made_by="anna")
    assert score(corin) == -60


def test_players_see_no_consequence(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    (apparent,) = apparent_dispositions(
        [corin.pk], lanternbearers, audience_of_party(lanternbearers)
    )
    assert (apparent.label, apparent.feelings, apparent.summary_ids) == ("neutral", "none", [])


def test_a_brother_is_as_before_when_his_sister_is_deleted_for_good(
    world: World, engine: ApiClient, lanternbearers: Party, corin: NPC, mira: NPC, sisters: None
) -> None:
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    with permanent_deletion():
        mira.delete()
    assert score(corin) == 0


def test_deeds_against_members_count_for_the_standing_with_the_faction(
    world: World, engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    relate(
        world,
        ("mira-voss", "PART_OF", "guild"),
        ("mira-voss", "ENEMY_OF", "choir"),
        ("guild", "KNOWS", "mira-voss"),
    )
    set_rules(world, member=50, enemy=25)
    tell(engine, mira_voss=-30)
    assert [(each.holder.slug, each.score) for each in standings_of(world)] == [
        ("choir", 7),
        ("guild", -15),
    ]
    retract_episode(world, "ep-1")
    assert standings_of(world) == []


def test_a_faction_that_contains_itself_is_told_once(
    world: World, engine: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    relate(
        world,
        ("mira-voss", "PART_OF", "guild"),
        ("guild", "PART_OF", "choir"),
        ("choir", "ALLY_WITH", "guild"),
    )
    set_rules(world, **USUAL)
    tell(engine, mira_voss=-30)
    (entry,) = OpinionChange.objects.all()
    assert entry.faction == GraphNode.objects.get(slug="guild")
