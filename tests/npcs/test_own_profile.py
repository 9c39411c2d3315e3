"""An agent that plays an NPC gets what that NPC knows of itself, and nothing of the game
master's."""

from collections.abc import Callable
from typing import Any

import pytest

from npcs.dispositions import correct
from npcs.models import NPC, DispositionRules, Secret
from npcs.opinions import correct_opinion
from tests.cast import create_npc
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db
VOICE = {"voice": "Dry.", "goals": ["Her boat."], "play_now": ["Count the coins."]}


@pytest.fixture
def mira(world: World) -> NPC:
    values = {**VOICE, "milestones": [{"text": "She will drown."}], "base": 7}
    faction = {"faction": "Quiet Water", "faction_visibility": "gm"}
    npc = create_npc(
        world, slug="mira-voss", name="Mira Voss", visibility="gm", **values, **faction
    )
    secrets = {
        "She is the duke's daughter.": [],
        "She sank the barge.": ["npc:mira-voss"],
        "Jory saw her.": ["npc:jory-fenn"],
    }
    for position, (text, known_to) in enumerate(secrets.items(), 1):
        row = Secret(world=world, npc=npc, text=text, known_to=known_to, position=position)
        row.visibility = "revealed" if known_to else "gm"
        row.save()
    return npc


@pytest.fixture
def as_mira(mira: NPC, client_with_key: Callable[..., ApiClient]) -> ApiClient:
    return client_with_key(audience="npc:mira-voss", scopes=["tools:read"])


def tell(engine: ApiClient, number: int, party: str, *deltas: dict[str, Any], **more: Any) -> None:
    body = {
        "summary_id": f"ep-{number}",
        "party_id": party,
        "when": {"in_world_at": number},
        "what": "They met.",
        "relations_delta": deltas,
        **more,
    }
    assert engine.post("world/episodes", body)[0] == 200


def of_mira(delta: int, reason: str, **more: Any) -> dict[str, Any]:
    return {"npc": "mira-voss", "delta": delta, "reason": reason, **more}


def ask(client: ApiClient, npc: str = "mira-voss", **more: Any) -> tuple[int, Any]:
    return client.tool("npc_profile", npc_id=npc, **more)


@pytest.mark.parametrize("name", ["mira-voss", "Mira Voss", "mira voss"])
def test_it_has_voice_goals_and_the_secrets_that_the_npc_knows(
    as_mira: ApiClient, name: str
) -> None:
    status, profile = ask(as_mira, name)
    assert status == 200
    private = {"milestones": [], "visibility": "", "known_to": [], "base": 7}
    assert profile["private"] == {**VOICE, **private}
    assert profile["static"]["secrets"] == ["She sank the barge."]
    assert profile["static"]["faction"] == "Quiet Water"
    assert profile.get("updated_at") is None


def test_a_game_masters_key_asks_as_the_npc(engine: ApiClient, mira: NPC) -> None:
    profile = ask(engine, **{"as": "npc:mira-voss"})[1]
    assert (profile["private"]["voice"], profile["private"]["milestones"]) == ("Dry.", [])


def test_it_has_what_the_npc_thinks_of_the_party(
    engine: ApiClient, as_mira: ApiClient, lanternbearers: Party, mira: NPC
) -> None:
    tell(engine, 1, "lanternbearers", of_mira(12, "They rowed."), of_mira(-90, "They lied."))
    correct(mira, lanternbearers, by=5, reason="Bob missed the evening.", made_by="anna")
    status, profile = ask(as_mira, party_id="Lanternbearers")
    assert status == 200
    disposition = profile["dynamic"]["disposition"]["lanternbearers"]
    assert (disposition["score"], disposition["last_reason"]) == (24, "They rowed.")
    assert disposition["pending"] == 0, "what waits is the game master's"
    (influence,) = profile["dynamic"]["influences"]
    assert (influence["delta"], influence["reason"]) == (12, "They rowed.")
    assert (influence["summary_id"], influence["made_by"], influence["change"]) == (None, "", 0)
    assert set(ask(as_mira)[1]["dynamic"]["disposition"]) == {"lanternbearers"}
    assert "Bob" not in str(profile)


def test_a_party_that_the_npc_has_not_met_does_not_exist_for_it(
    engine: ApiClient, as_mira: ApiClient, lanternbearers: Party, gilded_oath: Party
) -> None:
    tell(engine, 1, "lanternbearers", who={"npcs": ["mira-voss"]})
    assert ask(as_mira, party_id="lanternbearers")[0] == 200
    unmet, unknown = ask(as_mira, party_id="gilded-oath"), ask(as_mira, party_id="nobody-here")
    assert unmet[0] == unknown[0] == 404
    assert unmet[1]["detail"].replace("gilded-oath", "nobody-here") == unknown[1]["detail"]
    assert engine.post("world/episodes/ep-1/retract", {})[0] == 200
    assert ask(as_mira, party_id="lanternbearers")[0] == 404


def test_it_has_opinions_of_those_whom_the_npc_may_know(
    engine: ApiClient, as_mira: ApiClient, world: World, mira: NPC, jory: NPC, lanternbearers: Party
) -> None:
    hidden = create_npc(world, slug="masked-man", name="Masked Man", visibility="gm")
    NPC.objects.filter(pk=jory.pk).update(visibility="public")
    tell(engine, 1, "lanternbearers", of_mira(-20, "He lied.", toward="jory-fenn"))
    correct_opinion(mira, jory, by=2, reason="A note.", made_by="anna")
    correct_opinion(mira, hidden, by=9, reason="A note.", made_by="anna")
    profile = ask(as_mira)[1]
    assert profile["dynamic"]["opinions"] == [
        {
            "other": "jory-fenn",
            "other_name": jory.name,
            "score": -18.0,
            "label": "wary",
            "last_reason": "He lied.",
        }
    ]
    assert "Masked" not in str(profile)


def test_consequences_count_without_telling_of_the_relation(
    engine: ApiClient, as_mira: ApiClient, world: World, mira: NPC, jory: NPC, lanternbearers: Party
) -> None:
    DispositionRules.objects.create(world=world, kin=50)
    for slug, name in (("jory-fenn", jory.name), ("mira-voss", "Mira Voss")):
        assert engine.put("world/npcs", {"npc_id": slug, "name": name, "role": "kin"})[0] == 200
    family = [{"relation": "brother", "npc": "jory-fenn"}]
    body = {"npc_id": "mira-voss", "name": "Mira Voss", "family": family}
    assert engine.put("world/npcs", body)[0] == 200
    tell(engine, 1, "lanternbearers", {"npc": "jory-fenn", "delta": -20, "reason": "Wet."})
    dynamic = ask(as_mira)[1]["dynamic"]
    assert dynamic["disposition"]["lanternbearers"]["score"] == -3
    assert (dynamic["influences"], "Wet" in str(dynamic)) == ([], False)


def test_other_npcs_and_players_get_none_of_it(
    as_mira: ApiClient, client_with_key: Callable[..., ApiClient], world: World, jory: NPC
) -> None:
    NPC.objects.filter(slug__in=["jory-fenn", "mira-voss"]).update(visibility="public")
    for client, npc in (
        (as_mira, "jory-fenn"),
        (client_with_key(audience="npc:jory-fenn"), "mira-voss"),
        (client_with_key(audience="public"), "mira-voss"),
    ):
        profile = ask(client, npc)[1]
        assert (profile["private"], profile["dynamic"]) == (None, None)


@pytest.mark.parametrize("query", [None, "the quay"])
@pytest.mark.parametrize("party", ["lanternbearers", "gilded-oath", "nobody-here"])
def test_the_episodes_of_a_party_are_not_for_it_and_it_is_told_where_its_own_past_is(
    engine: ApiClient,
    as_mira: ApiClient,
    lanternbearers: Party,
    gilded_oath: Party,
    party: str,
    query: str | None,
) -> None:
    tell(engine, 1, "lanternbearers", who={"npcs": ["mira-voss"]})
    for client, more in ((as_mira, {}), (engine, {"as": "npc:mira-voss"})):
        status, problem = client.tool("session_fetch", party_id=party, query=query, **more)
        assert (status, problem["candidates"]) == (404, [])
        assert "memory_ask" in problem["detail"]
        assert "`about`" in problem["detail"]


def test_the_note_of_a_reveal_is_the_game_masters(
    engine: ApiClient, as_mira: ApiClient, jory: NPC
) -> None:
    note = {"note": "So that she trusts him before he sells her."}
    told = {"kind": "npc", "id": "jory-fenn", "audience": "npc:mira-voss", **note}
    assert engine.post("world/reveals", told)[0] < 300
    [known] = ask(as_mira)[1]["dynamic"]["knows"]
    assert (known["title"], known["note"]) == ("Jory Fenn", "")
    [known] = ask(engine)[1]["dynamic"]["knows"]
    assert known["note"] == note["note"]
