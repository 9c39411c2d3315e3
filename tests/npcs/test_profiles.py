"""What `npc_profile` tells, and to whom."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from npcs import page_queries
from npcs.admin import DispositionAdmin
from npcs.gm_profile import read_gm_profile
from npcs.models import NPC, DispositionChange, Secret
from npcs.opinions_in_graph import opinions_to_draw
from tests.conftest import ApiClient
from worlds.audiences import GM, Audience, audience_of_party
from worlds.callers import Caller
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


def ingest(
    engine: ApiClient, number: int, delta: int, party: str = "lanternbearers", **more: Any
) -> None:
    body = {
        "summary_id": f"ep-{number}",
        "party_id": party,
        "when": {"real": f"2026-09-{number:02d}T18:00:00Z", "in_world_at": number},
        "what": f"Episode {number}.",
        "relations_delta": [{"npc": "mira-voss", "delta": delta, "reason": f"Reason {number}."}],
        **more,
    }
    assert engine.post("world/episodes", body)[0] == 200


def read_profile(client: ApiClient, **more: Any) -> Any:
    status, profile = client.tool(
        "npc_profile", **{"npc_id": "mira-voss", "party_id": "lanternbearers", **more}
    )
    assert status == 200, profile
    return profile


@pytest.fixture(autouse=True)
def cast(
    mira: NPC, jory: NPC, ninth_oarsman: NPC, lanternbearers: Party, gilded_oath: Party
) -> None:
    Secret.objects.create(world=mira.world, npc=mira, text="The ninth boat was hers.")


def test_two_parties_are_thought_of_differently(engine: ApiClient) -> None:
    ingest(engine, 1, 30)
    ingest(engine, 2, -30, "gilded-oath")
    standings = read_profile(engine, party_id=None)["dynamic"]["disposition"]
    assert {slug: each["label"] for slug, each in standings.items()} == {
        "lanternbearers": "friendly",
        "gilded-oath": "unfriendly",
    }


def test_a_betrayal_outweighs_three_favours(engine: ApiClient) -> None:
    for number in (1, 2, 3):
        ingest(engine, number, 10)
    ingest(engine, 4, -39)
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["score"], standing["label"], standing["direction"]) == (-9, "wary", "falling")
    assert standing["last_reason"] == "Reason 4."


def test_a_reversal_takes_the_change_out_and_the_profile_follows(engine: ApiClient) -> None:
    ingest(engine, 1, 10)
    ingest(engine, 2, -30)
    change = read_profile(engine)["dynamic"]["influences"][0]
    assert (change["summary_id"], change["delta"], change["state"]) == ("ep-2", -30, "counts")
    path = f"world/changes/{change['change']}/rulings"
    assert engine.post(path, {"verdict": "reverse", "reason": ""})[0] == 422
    assert (
        engine.post(path, {"verdict": "reverse", "reason": "It was her brother."})[1]["state"]
        == "reversal"
    )
    assert read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]["score"] == 10
    assert (
        engine.post(path, {"verdict": "reverse", "reason": "Again."})[1]["code"] == "not_in_force"
    )
    assert (
        engine.post(path, {"verdict": "restore", "reason": "It was her."})[1]["state"] == "counts"
    )
    assert read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]["score"] == -20


def test_a_large_swing_waits_for_the_game_master(engine: ApiClient) -> None:
    ingest(engine, 1, -60)
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["score"], standing["pending"]) == (0, 1)
    waiting = engine.get("world/changes/pending")[1]["changes"]
    assert [(each["npc_id"], each["summary_id"], each["state"]) for each in waiting] == [
        ("mira-voss", "ep-1", "pending")
    ]
    rulings = f"world/changes/{waiting[0]['change']}/rulings"
    assert engine.post(rulings, {"verdict": "approve"})[1]["npc_id"] == "mira-voss"
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["score"], standing["pending"], standing["label"]) == (-60, 0, "unfriendly")
    assert engine.get("world/changes/pending")[1]["changes"] == []


def test_the_scale_ends_at_a_hundred(engine: ApiClient) -> None:
    for number in range(1, 5):
        ingest(engine, number, 39)
    ingest(engine, 5, -10)
    assert read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]["score"] == 90


def test_a_correction_is_an_entry_with_a_reason(engine: ApiClient) -> None:
    body = {"party_id": "lanternbearers", "delta": 7, "reason": "They apologised off screen."}
    status, entry = engine.post("world/npcs/mira-voss/changes", body)
    assert (status, entry["delta"], entry["summary_id"]) == (200, 7, None)
    assert engine.post("world/npcs/mira-voss/changes", {**body, "reason": ""})[0] == 422
    assert engine.post("world/npcs/mira-voss/changes", {**body, "delta": 0})[0] == 422
    assert DispositionChange.objects.get().made_by.startswith("test")


def test_dispositions_decay_with_a_half_life(engine: ApiClient, mira: NPC) -> None:
    NPC.objects.filter(pk=mira.pk).update(half_life=10, base=-10)
    ingest(engine, 1, 30)
    ingest(engine, 11, 1, "lanternbearers", relations_delta={"jory-fenn": 1})
    assert read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]["score"] == 5.0


def test_mixed_feelings_are_not_those_of_a_stranger(
    engine: ApiClient, mira: NPC, admin_client: Client
) -> None:
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["label"], standing["feelings"]) == ("neutral", "none")
    page = f"/w/{mira.world.slug}/npcs/{mira.slug}/?party=lanternbearers"
    assert "stranger" in admin_client.get(page).content.decode()
    ingest(engine, 1, 30)
    distrust = [{"npc": "mira-voss", "delta": -30, "axis": "trust", "reason": "They lied."}]
    ingest(engine, 2, 0, relations_delta=distrust)
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["label"], standing["feelings"]) == ("neutral", "mixed")
    assert "ambivalent" in admin_client.get(page).content.decode()


def test_the_trend_fades_with_the_score(engine: ApiClient, mira: NPC) -> None:
    NPC.objects.filter(pk=mira.pk).update(half_life=10)
    ingest(engine, 1, 4)
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["trend"], standing["direction"]) == (4.0, "rising")
    sixty_days_later = {"real": "2026-09-02T18:00:00Z", "in_world_at": 61}
    ingest(engine, 2, 1, when=sixty_days_later, relations_delta={})
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["trend"], standing["direction"]) == (0.1, "steady")


def test_what_is_told_late_is_not_the_last_reason(engine: ApiClient, mira: NPC) -> None:
    ingest(engine, 5, 10)
    late = {"real": "2026-09-06T18:00:00Z", "in_world_at": 2}
    ingest(engine, 6, -4, when=late)
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (standing["score"], standing["last_reason"]) == (6, "Reason 5.")
    ingest(engine, 7, 1)
    standing = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert standing["last_reason"] == "Reason 7."


def test_every_page_shows_the_disposition_of_the_day_that_the_party_has_reached(
    engine: ApiClient, mira: NPC, admin_client: Client
) -> None:
    mira.half_life, mira.base = 10, -10
    mira.save()
    ingest(engine, 1, 30)
    ingest(engine, 11, 1, "lanternbearers", relations_delta={"jory-fenn": 1})
    profile = read_profile(engine)["dynamic"]["disposition"]["lanternbearers"]
    assert (profile["score"], profile["axes"]) == (5.0, {"affection": 15.0})
    audience, party = Audience("gm"), Party.objects.get(slug="lanternbearers")
    [(_npc, [in_list])] = page_queries.disposition_table([mira], [party], audience)
    opinions = dict(page_queries.opinions_of_party(party, audience))
    whole = read_gm_profile(Caller.gm(mira.world), "mira-voss", None)
    assert whole
    assert whole.dynamic
    stored = whole.dynamic.disposition
    assert in_list == opinions[mira] == page_queries.disposition_history(mira, party, stored).now
    assert (in_list.score, in_list.label, in_list.axes) == (5.0, "neutral", {"affection": 15.0})
    [row] = [
        row
        for row in admin_client.get("/admin/npcs/disposition/").context["cl"].result_list
        if row.npc_id == mira.pk
    ]
    assert (row.score, DispositionAdmin.present(None, row)) == (20.0, 5.0)  # type: ignore[arg-type]


def test_the_history_of_a_disposition_ends_with_its_newest_changes(
    engine: ApiClient, mira: NPC, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_queries, "MOST_CHANGES", 3)
    for number in range(1, 6):
        ingest(engine, number, number)
    party = Party.objects.get(slug="lanternbearers")
    history = page_queries.disposition_history(mira, party, {})
    shown = [(each.influence.delta, each.score) for each in history.changes]
    assert shown == [(5, 15), (4, 10), (3, 6)]


def test_the_most_devoted_are_those_of_today(engine: ApiClient, mira: NPC, jory: NPC) -> None:
    NPC.objects.filter(pk=mira.pk).update(half_life=1)
    ingest(engine, 1, 30, relations_delta={"mira-voss": 30, "jory-fenn": 10})
    ingest(engine, 11, 0, relations_delta={"jory-fenn": 1})
    party = Party.objects.get(slug="lanternbearers")
    ranked = page_queries.opinions_of_party(party, Audience("gm"))
    assert [npc for npc, _standing in ranked] == [jory, mira]


@pytest.mark.parametrize("name", ["MIRA VOSS", "Мире Восс", "미라 보스는", "Mira", "Mira Vos"])
def test_an_npc_is_found_by_its_name_in_each_language(
    engine: ApiClient, mira: NPC, name: str
) -> None:
    assert read_profile(engine, npc_id=name)["npc_id"] == "mira-voss"


def test_players_read_what_they_may_and_nothing_else(
    engine: ApiClient, client_with_key: Callable[..., ApiClient], mira: NPC
) -> None:
    NPC.objects.filter(pk=mira.pk).update(
        voice="marker-voice", goals=["marker-goal"], play_now=["marker-play"]
    )
    met = {"what": "They met Mira Voss."}
    ingest(engine, 1, 20, **met)
    ingest(engine, 2, 15, visibility="gm", **met)
    ingest(engine, 3, -70, **met)
    engine.post(
        "world/npcs/mira-voss/changes",
        {"party_id": "lanternbearers", "delta": -100, "reason": "marker-reason"},
    )
    player = client_with_key(audience="party:lanternbearers")
    profile = read_profile(player)
    assert "marker" not in str(profile)
    assert "Reason" not in str(profile)
    assert (profile["dynamic"], profile["private"]) == (None, None)
    assert profile["apparent"] == {
        "party_id": "lanternbearers",
        "label": "warm",
        "feelings": "clear",
        "direction": "rising",
        "summary_ids": ["ep-1"],
    }
    assert profile["static"]["secrets"] == []


def test_players_are_not_told_who_watched_them_unseen(
    engine: ApiClient, client_with_key: Callable[..., ApiClient], mira: NPC, lanternbearers: Party
) -> None:
    """What an episode changed of the mind of somebody whom its open text does not name."""
    player = client_with_key(audience="party:lanternbearers")
    ingest(engine, 1, -9, what="They robbed the mill.", who={"npcs": ["mira-voss"]})
    ingest(engine, 2, -9, what="They hid the flour.\n\n:::secret\nMira Voss listened.\n:::\n")
    assert read_profile(player)["apparent"]["summary_ids"] == []
    known = audience_of_party(lanternbearers)
    assert page_queries.opinions_of_party(lanternbearers, known) == []
    assert opinions_to_draw(mira.world, known, [mira.slug], [lanternbearers]) == []
    assert len(page_queries.opinions_of_party(lanternbearers, GM)) == 1
    ingest(engine, 3, 12, what="They paid Mira Voss.")
    assert read_profile(player)["apparent"]["summary_ids"] == ["ep-3"]
    assert read_profile(player)["apparent"]["direction"] == "rising"
    [(npc, apparent)] = page_queries.opinions_of_party(lanternbearers, known)
    assert (npc, apparent.direction) == (mira, "rising")


def test_a_profile_shows_a_secret_to_the_party_that_learned_it(
    engine: ApiClient, client_with_key: Callable[..., ApiClient]
) -> None:
    ingest(engine, 1, 1, reveals=[{"npc": "mira-voss", "secret": 1}])
    player, rival = (
        client_with_key(audience="party:lanternbearers"),
        client_with_key(audience="party:gilded-oath"),
    )
    assert read_profile(player)["static"]["secrets"] == ["The ninth boat was hers."]
    assert read_profile(rival, party_id="gilded-oath")["static"]["secrets"] == []


def test_a_hidden_npc_and_another_party_are_not_found(
    client_with_key: Callable[..., ApiClient], ninth_oarsman: NPC
) -> None:
    player = client_with_key(audience="party:lanternbearers")
    for arguments in (
        {"npc_id": "ninth-oarsman"},
        {"npc_id": "Ninth Oarsman"},
        {"npc_id": str(ninth_oarsman.pk)},
    ):
        status, problem = player.tool("npc_profile", **arguments)
        assert status == 404
        assert "Oarsman" not in str(problem["candidates"])
    assert player.tool("npc_profile", npc_id="mira-voss", party_id="gilded-oath")[0] == 404


def test_a_hidden_home_stays_hidden(
    client_with_key: Callable[..., ApiClient], mira: NPC, world: World
) -> None:
    hide = Lore.objects.create(
        world=world, slug="hideout", title="Hideout", kind="place", visibility="gm"
    )
    NPC.objects.filter(pk=mira.pk).update(home="Hideout", home_lore=hide)
    assert read_profile(client_with_key(audience="party:lanternbearers"))["static"]["home"] == ""


def test_a_profile_takes_the_same_number_of_statements_whatever_the_history(
    engine: ApiClient, world: World
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as caught:
            read_profile(engine)
        return len(caught)

    ingest(engine, 1, 1)
    read_profile(engine)
    before = statements()
    for number in range(2, 20):
        ingest(engine, number, 1)
    assert statements() == before


def test_the_profile_lists_what_the_npc_learned(engine: ApiClient) -> None:
    ingest(
        engine,
        1,
        1,
        reveals=[{"npc": "jory-fenn", "to": ["npc:mira-voss"], "note": "She saw him."}],
    )
    known = read_profile(engine)["dynamic"]["knows"]
    assert [(each["kind"], each["title"], each["summary_id"]) for each in known] == [
        ("npc", "Jory Fenn", "ep-1")
    ]


def test_an_npc_sent_twice_is_one_and_keeps_what_was_revealed(engine: ApiClient) -> None:
    entry = {
        "npc_id": "orrin-tace",
        "name": "Orrin Tace",
        "secrets": ["He fears water."],
        "goals": ["A bridge."],
    }
    assert engine.put("world/npcs", entry)[1]["outcome"] == "created"
    assert engine.put("world/npcs", entry)[1]["outcome"] == "unchanged"
    Secret.objects.filter(npc__slug="orrin-tace").update(
        known_to=["party:gilded-oath"], visibility="revealed"
    )
    changed = engine.put("world/npcs", {**entry, "role": "Bridgewright"})[1]
    assert (changed["outcome"], changed["version"]) == ("changed", 2)
    assert Secret.objects.get(npc__slug="orrin-tace").known_to == ["party:gilded-oath"]
    assert engine.put("world/npcs", entry, **{"If-Match": '"1"'})[0] == 412


def test_a_profile_tells_of_the_strongest_relations_that_the_asker_may_know(
    engine: ApiClient, client_with_key: Callable[..., ApiClient], world: World
) -> None:
    for npc in ("mira-voss", "jory-fenn", "ninth-oarsman"):
        engine.put(
            "world/npcs",
            {
                "npc_id": npc,
                "name": npc.title().replace("-", " "),
                "role": "x",
                "visibility": "public",
            },
        )
    public = {"src": "jory-fenn", "dst": "mira-voss", "visibility": "public"}
    upsert_facts(
        world,
        [
            GraphFact(edge=EdgeFact(src="mira-voss", relation="ALLY_WITH", dst="ninth-oarsman")),
            GraphFact(edge=EdgeFact(**public, relation="KNOWS", since=3)),
            GraphFact(edge=EdgeFact(**public, relation="ENEMY_OF", confidence=0.4)),
        ],
    )
    told = read_profile(engine)["relations"]
    assert [(each["other"], each["since"]) for each in told] == [
        ("jory-fenn", 3),
        ("ninth-oarsman", None),
    ]
    assert told[1]["says"] in (
        "Mira Voss is allied with Ninth Oarsman",
        "Ninth Oarsman is allied with Mira Voss",
    )
    player = client_with_key(audience="party:lanternbearers")
    assert [each["other"] for each in read_profile(player)["relations"]] == ["jory-fenn"]
