"""What an episode changes in what NPCs think of each other, and what a profile says of it."""

from typing import Any

import pytest

from episodes.ingest import restore_episode, retract_episode
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from npcs.models import NPC, Disposition, OpinionChange
from npcs.opinions import correct_opinion, correct_standing, find_faction, opinions_of
from tests.cast import create_npc
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def corin(world: World, lanternbearers: Party, mira: NPC) -> NPC:
    return create_npc(world, slug="corin-voss", name="Corin Voss", visibility="public")


def tell(engine: ApiClient, version: int = 1, **delta: Any) -> tuple[int, Any]:
    change = {"npc": "Mira Voss", "toward": "Corin Voss", "delta": -30, "reason": "He lied."}
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "what": "Corin lied to his sister.",
        "relations_delta": [{**change, **delta}],
        "version": version,
    }
    return engine.post("world/episodes", body)


def of_corin(mira: NPC) -> float:
    return sum(each.score for each in opinions_of(mira) if each.toward.slug == "corin-voss")


def test_an_episode_changes_what_one_npc_thinks_of_another(engine: ApiClient, mira: NPC) -> None:
    status, report = tell(engine)
    assert (status, report["opinions"]) == (
        200,
        [
            {
                "npc": "mira-voss",
                "toward": "corin-voss",
                "score": -30,
                "label": "unfriendly",
                "pending": 0,
            }
        ],
    )
    assert report["dispositions"] == []
    assert not Disposition.objects.exists(), "the party is not concerned"
    (opinion,) = engine.get("world/npcs/mira-voss/opinions")[1]["opinions"]
    assert (opinion["score"], opinion["changes"][0]["summary_id"]) == (-30, "ep-1")


def test_it_counts_as_long_as_its_version_of_the_episode(engine: ApiClient, mira: NPC) -> None:
    tell(engine)
    tell(engine)
    assert of_corin(mira) == -30
    tell(engine, version=2, delta=12)
    assert of_corin(mira) == 12
    retract_episode(mira.world, "ep-1")
    assert of_corin(mira) == 0
    restore_episode(mira.world, "ep-1")
    assert of_corin(mira) == 12


def test_it_is_reversed_and_restored_like_any_change(engine: ApiClient, mira: NPC) -> None:
    tell(engine)
    entry = OpinionChange.objects.get().pk
    for verdict, score in (("reverse", 0), ("restore", -30)):
        ruling = {"verdict": verdict, "reason": "A mix-up."}
        assert engine.post(f"world/opinions/{entry}/rulings", ruling)[0] == 200
        assert of_corin(mira) == score


def test_a_large_change_waits_for_the_game_master(engine: ApiClient, mira: NPC) -> None:
    report = tell(engine, delta=-80)[1]
    assert report["pending"] == 1
    assert [(each["score"], each["pending"]) for each in report["opinions"]] == [(0, 1)]
    assert of_corin(mira) == 0
    (waiting,) = engine.get("world/opinions/pending")[1]["changes"]
    assert (waiting["npc_id"], waiting["other"], waiting["state"]) == (
        "mira-voss",
        "corin-voss",
        "pending",
    )
    profile = engine.tool("npc_profile", npc_id="mira-voss")[1]
    assert profile["dynamic"]["opinions"] == []
    for verdict, score in (("approve", -80), ("reverse", 0), ("restore", -80)):
        ruling = {"verdict": verdict, "reason": "I say so." * (verdict != "approve")}
        status, ruled = engine.post(f"world/opinions/{waiting['change']}/rulings", ruling)
        assert (status, ruled["npc_id"], ruled["other"]) == (200, "mira-voss", "corin-voss")
        assert of_corin(mira) == score
    profile = engine.tool("npc_profile", npc_id="mira-voss")[1]
    assert [each["score"] for each in profile["dynamic"]["opinions"]] == [-80]
    assert engine.get("world/opinions/pending")[1]["changes"] == []


def test_a_rejected_change_never_counts_and_can_be_restored(engine: ApiClient, mira: NPC) -> None:
    tell(engine, delta=-80)
    entry = OpinionChange.objects.get().pk
    rulings = f"world/opinions/{entry}/rulings"
    assert engine.post(rulings, {"verdict": "reject"})[0] == 422, "only an approval has no reason"
    assert engine.post(rulings, {"verdict": "reject", "reason": "No."})[1]["state"] == "rejection"
    assert engine.post(rulings, {"verdict": "approve"})[0] == 409
    assert of_corin(mira) == 0
    assert engine.tool("npc_profile", npc_id="mira-voss")[1]["dynamic"]["opinions"] == []
    engine.post(rulings, {"verdict": "restore", "reason": "Yes, after all."})
    assert of_corin(mira) == -80


def test_what_one_episode_changes_of_one_pair_is_summed(
    engine: ApiClient, world: World, mira: NPC
) -> None:
    create_npc(world, slug="ysold", name="Ysold", visibility="public")
    deltas = [
        {"npc": "mira-voss", "toward": toward, "delta": delta, "reason": "So."}
        for toward, delta in (("corin-voss", -39), ("corin-voss", -39), ("corin-voss", 5))
    ]
    deltas.append({"npc": "mira-voss", "toward": "ysold", "delta": -39, "reason": "So."})
    body = {"summary_id": "ep-1", "party_id": "lanternbearers", "what": "Words.", "version": 1}
    report = engine.post("world/episodes", {**body, "relations_delta": deltas})[1]
    assert report["pending"] == 2
    scores = {each.toward.slug: each.score for each in opinions_of(mira)}
    assert scores == {"corin-voss": 5, "ysold": -39}


def test_a_session_is_one_swing(engine: ApiClient, mira: NPC, settings: Any) -> None:
    settings.DISPOSITION_HOLD_AT_SESSION = 50
    for number, pending in ((1, 0), (2, 1)):
        delta = {"npc": "mira-voss", "toward": "corin-voss", "delta": -30, "reason": "So."}
        body = {"summary_id": f"ep-{number}", "party_id": "lanternbearers", "what": "Words."}
        body |= {"session_id": "s-1", "scene_id": f"s-1-{number}", "version": 1}  # type: ignore[dict-item]
        report = engine.post("world/episodes", {**body, "relations_delta": [delta]})[1]
        assert report["pending"] == pending
    assert of_corin(mira) == -30


@pytest.mark.parametrize(
    ("delta", "says"),
    [
        ({"toward": "Nobody At All"}, "matches no NPC"),
        ({"toward": "mira-voss"}, "no opinion of themselves"),
        ({"axis": "fear"}, "fear"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    engine: ApiClient, delta: dict[str, Any], says: str
) -> None:
    status, problem = tell(engine, **delta)
    assert status == 422
    assert says in str(problem)
    assert not OpinionChange.objects.exists()


def test_a_profile_has_opinions_and_the_standing_with_the_factions_of_the_npc(
    engine: ApiClient, world: World, lanternbearers: Party, mira: NPC, corin: NPC
) -> None:
    nodes = [NodeFact(slug=name, name=name, kind="Faction") for name in ("guild", "choir")]
    member = EdgeFact(src="mira-voss", relation="PART_OF", dst="guild")
    facts = [GraphFact(node=NodeFact(slug="mira-voss", name="Mira Voss", kind="Character"))]
    facts += [GraphFact(node=node) for node in nodes]
    upsert_facts(world, [*facts, GraphFact(edge=member)])
    tell(engine)
    correct_opinion(mira, corin, by=5, reason="He said sorry.", made_by="anna")
    for name, by in (("guild", 20), ("choir", -40)):
        faction = find_faction(world, name)
        correct_standing(faction, lanternbearers, by=by, reason="So.", made_by="anna")
    asked = {"npc_id": "mira-voss", "party_id": "lanternbearers"}
    dynamic = engine.tool("npc_profile", **asked)[1]["dynamic"]
    assert dynamic["opinions"] == [
        {
            "other": "corin-voss",
            "other_name": "Corin Voss",
            "score": -25,
            "label": "wary",
            "last_reason": "He said sorry.",
        }
    ]
    assert [(each["faction"], each["score"]) for each in dynamic["standings"]] == [("guild", 20)]
    retract_episode(world, "ep-1")
    dynamic = engine.tool("npc_profile", npc_id="mira-voss")[1]["dynamic"]
    assert ([each["score"] for each in dynamic["opinions"]], dynamic["standings"]) == ([5], [])
