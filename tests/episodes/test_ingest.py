"""What an engine hands in after a scene, and what it must not hand in."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from episodes.models import Episode, EpisodeVersion, Scene
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge
from knowledge.models import Lore
from npcs.models import NPC, DispositionChange, Secret
from tests.conftest import ApiClient
from worlds.models import Campaign, Membership, Party, Reveal, World

pytestmark = pytest.mark.django_db

FOG: dict[str, Any] = {
    "summary_id": "ep-s1-01",
    "campaign_id": "low-water",
    "party_id": "lanternbearers",
    "scene_id": "s1-fog",
    "session_id": "session-1",
    "when": {
        "in_world_at": 76541.75,
        "in_world_label": "12 Lantern 212",
        "real": "2026-09-05T18:20:00Z",
    },
    "who": {"players": ["Tobin Marrow"], "npcs": ["Миру Восс", "a ferryman"]},
    "where": "lower-landing",
    "what": "Two night boats struck each other in the fog. :::secret\n"
    "Mira cut the rope.\n:::\nTobin went in.",
    "flags": ["rescue"],
    "relations_delta": [
        {"npc": "mira-voss", "delta": 16, "axis": "trust", "reason": "They pulled out eleven."},
        {"npc": "Mira Voss", "delta": 8, "axis": "respect"},
    ],
    "notes": "The child was the ringer's.",
    "version": 1,
}


@pytest.fixture(autouse=True)
def ferrymark(world: World, lanternbearers: Party, gilded_oath: Party, mira: NPC) -> None:
    Secret.objects.create(world=world, npc=mira, text="The ninth boat was hers.")
    place = {"kind": "place", "status": "published", "visibility": "public"}
    Lore.objects.create(world=world, slug="lower-landing", title="Lower Landing", **place)
    Lore.objects.create(
        world=world, slug="eelskin-map", title="Eelskin Map", kind="item", status="published"
    )


def ingest(engine: ApiClient, **changes: Any) -> tuple[int, Any]:
    return engine.post("world/episodes", {**FOG, **changes})


def read_score(engine: ApiClient, party: str = "lanternbearers") -> float:
    _status, profile = engine.tool("npc_profile", npc_id="mira-voss", party_id=party)
    return float(profile["dynamic"]["disposition"][party]["score"])


def test_one_summary_writes_all_effects(engine: ApiClient) -> None:
    status, report = ingest(engine)
    assert (status, report["outcome"], report["unknown"]) == (200, "created", ["a ferryman"])
    assert report["dispositions"] == [
        {"npc": "mira-voss", "score": 24.0, "label": "warm", "pending": 0}
    ]
    episode = Episode.objects.get(external_id="ep-s1-01")
    assert [mention.lore.slug for mention in episode.mentions.all()] == ["lower-landing"]
    assert [each.npc.slug for each in episode.appearances.all()] == ["mira-voss"]
    scene = Scene.objects.get(external_id="s1-fog")
    assert scene.session is not None
    assert (scene.session.external_id, scene.place_lore and scene.place_lore.slug) == (
        "session-1",
        "lower-landing",
    )


def test_lore_that_the_text_names_is_linked(engine: ApiClient, world: World) -> None:
    save_entry(
        Lore(world=world, slug="tin-heron", title="Tin Heron", body="An inn.", status="published")
    )
    ingest(engine, what="Supper at the Tin Heron. Nobody spoke of herons.")
    roles = {mention.lore.slug: mention.role for mention in Episode.objects.get().mentions.all()}
    assert roles == {"lower-landing": "place", "tin-heron": "named"}


def test_a_name_that_only_a_secret_has_is_no_mention_for_players(
    engine: ApiClient, world: World, client: Client
) -> None:
    for slug, title in (("tin-heron", "Tin Heron"), ("salt-bay", "Salt Bay")):
        entry = Lore(world=world, slug=slug, title=title, body="Wet.", status="published")
        entry.visibility = "public"
        save_entry(entry)
    secret = ":::secret\nThe Tin Heron paid. Mira Voss was there, masked.\n:::"
    ingest(engine, what=f"They crossed Salt Bay to Salt Bay.\n{secret}")
    NPC.objects.update(visibility="public")
    mentions = Episode.objects.get().mentions.all()
    assert {each.lore.slug: each.secret for each in mentions} == {
        "lower-landing": False,
        "salt-bay": False,
        "tin-heron": True,
    }
    pages = ("lore/tin-heron", "lore/salt-bay", "lore/lower-landing", "npcs/mira-voss")
    seen = {}
    for role, party in (("gm", None), ("player", Party.objects.get(slug="lanternbearers"))):
        user = User.objects.create_user(role)
        Membership.objects.create(user=user, world=world, role=role, party=party)
        client.force_login(user)
        answers = [client.get(f"/w/ferrymark/{page}/") for page in pages]
        assert {answer.status_code for answer in answers} == {200}
        seen[role] = [len(answer.context["episodes"]) for answer in answers]
    assert seen == {"gm": [1, 1, 1, 1], "player": [0, 1, 1, 0]}


def test_players_are_not_told_the_title_of_a_hidden_scene(
    engine: ApiClient, world: World, client: Client
) -> None:
    ingest(engine)
    Scene.objects.update(title="The Harbourmaster's trap", visibility="gm")
    user = User.objects.create_user("pat")
    party = Party.objects.get(slug="lanternbearers")
    Membership.objects.create(user=user, world=world, role="player", party=party)
    client.force_login(user)
    pages = ("story/", "parties/lanternbearers/", "sessions/session-1/", "lore/lower-landing/")
    for page in pages:
        answer = client.get(f"/w/ferrymark/{page}")
        assert answer.status_code == 200, page
        assert "episodes/ep-s1-01" in answer.content.decode(), page
        assert "trap" not in answer.content.decode(), page


def test_the_same_summary_twice_changes_nothing(engine: ApiClient) -> None:
    ingest(engine)
    status, report = ingest(engine)
    assert (status, report["outcome"]) == (200, "unchanged")
    assert (DispositionChange.objects.count(), EpisodeVersion.objects.count()) == (2, 1)


def test_a_new_version_replaces_the_effects_of_the_old_one(engine: ApiClient) -> None:
    ingest(engine, reveals=[{"lore": "eelskin-map"}])
    ingest(
        engine,
        version=2,
        relations_delta={"mira-voss": -5},
        who={"npcs": []},
        reveals=[{"npc": "Mira Voss", "secret": 1}],
    )
    assert read_score(engine) == -5
    assert not Episode.objects.get().appearances.exists()
    assert Lore.objects.get(slug="eelskin-map").known_to == []
    assert Secret.objects.get().known_to == ["party:lanternbearers"]


def current_facts() -> set[str]:
    return {str(edge) for edge in GraphEdge.objects.believed_now().select_related("src", "dst")}


def test_facts_follow_the_current_version(engine: ApiClient) -> None:
    people = [
        {"node": {"kind": "Character", "name": name}} for name in ("Mira Voss", "Jory Fenn", "Wat")
    ]

    def edge(dst: str) -> dict[str, Any]:
        return {"edge": {"src": "Mira Voss", "relation": "KNOWS", "dst": dst}}

    status, report = ingest(engine, facts=[*people, edge("Jory Fenn")])
    assert status == 200, report
    assert len(current_facts()) == 1
    ingest(engine, version=2, facts=[edge("Jory Fenn"), edge("Wat")])
    assert len(current_facts()) == 2
    ingest(engine, version=3, facts=[edge("Wat")])
    assert len(current_facts()) == 1
    engine.post("world/episodes/ep-s1-01/retract", {})
    assert current_facts() == set()
    engine.post("world/episodes/ep-s1-01/restore")
    assert len(current_facts()) == 1
    status, _problem = ingest(engine, version=4, facts=[edge("Nobody At All")])
    assert (status, Episode.objects.get().version) == (422, 3)


def test_an_older_version_that_arrives_late_is_stored_without_effects(engine: ApiClient) -> None:
    ingest(engine, version=3, relations_delta={"mira-voss": 10})
    status, report = ingest(engine, version=2)
    assert (status, report["outcome"], report["standing_version"]) == (200, "superseded", 3)
    assert (read_score(engine), EpisodeVersion.objects.count()) == (10, 2)


def test_a_version_cannot_be_used_for_two_texts(engine: ApiClient) -> None:
    ingest(engine)
    status, problem = ingest(engine, what="Nothing happened.")
    assert (status, problem["code"]) == (409, "version_reused")
    assert "version 2" in problem["detail"]


def test_retracting_withdraws_effects_and_restoring_writes_them_again(
    engine: ApiClient, lanternbearers: Party
) -> None:
    ingest(engine, reveals=[{"lore": "eelskin-map"}])
    assert (
        engine.post("world/episodes/ep-s1-01/retract", {"reason": "It was a dream."})[1]["outcome"]
        == "retracted"
    )
    assert read_score(engine) == 0
    assert Lore.objects.get(slug="eelskin-map").known_to == []
    assert engine.tool("session_fetch", party_id="lanternbearers")[1]["episodes"] == []
    assert engine.post("world/episodes/ep-s1-01/restore")[1]["outcome"] == "restored"
    assert read_score(engine) == 24
    assert Lore.objects.get(slug="eelskin-map").known_to == ["party:lanternbearers"]


def test_what_two_episodes_reveal_stays_known_when_one_is_retracted(engine: ApiClient) -> None:
    ingest(engine, reveals=[{"lore": "eelskin-map"}])
    ingest(engine, summary_id="ep-s1-02", reveals=[{"lore": "eelskin-map"}])
    engine.post("world/episodes/ep-s1-02/retract", {})
    assert Lore.objects.get(slug="eelskin-map").known_to == ["party:lanternbearers"]
    engine.post("world/episodes/ep-s1-01/retract", {})
    assert Lore.objects.get(slug="eelskin-map").known_to == []
    assert Reveal.objects.filter(undone_at=None).count() == 0


def test_an_unknown_npc_refuses_the_whole_episode_and_says_who_may_be_meant(
    engine: ApiClient,
) -> None:
    status, problem = ingest(engine, relations_delta={"mira-voss": 3, "Mira Vosk Junior": -3})
    assert (status, problem["code"]) == (422, "unknown_npc")
    assert "Mira Voss" in problem["candidates"]
    assert not Episode.objects.exists()
    assert not DispositionChange.objects.exists()
    assert not Scene.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"relations_delta": {"mira-voss": 101}},
        {"relations_delta": {"mira-voss": 0}},
        {"relations_delta": [{"npc": "mira-voss", "delta": 1, "axis": "hunger"}]},
        {"what": "x" * 200_000},
        {"what": ""},
        {"what": "nul \x00 inside"},
        {"notes": "lone \ud800 surrogate"},
        {"summary_id": "../../etc/passwd"},
        {"version": 0},
        {"mood": "grim"},
        {"when": {"in_world_at": 1e999}},
        {"party_id": "nobody"},
        {"campaign_id": "another"},
        {"reveals": [{"lore": "atlantis"}]},
        {"reveals": [{"npc": "mira-voss", "secret": 9}]},
        {"reveals": [{"npc": "mira-voss", "to": ["party:nobody"]}]},
        {"reveals": [{"npc": "mira-voss", "to": ["gm"]}]},
    ],
)
def test_an_invalid_summary_is_refused_and_nothing_is_written(
    engine: ApiClient, changes: dict[str, Any]
) -> None:
    status, problem = ingest(engine, **changes)
    assert status in (400, 422), problem
    assert problem["detail"]
    assert not Episode.objects.exists()


def test_a_party_of_another_world_is_unknown(engine: ApiClient, world: World) -> None:
    other = World.objects.create(slug="elsewhere", name="Elsewhere")
    campaign = Campaign.objects.create(world=other, slug="far", name="Far")
    strangers = Party.objects.create(
        world=other, campaign=campaign, slug="strangers", name="Strangers"
    )
    for reference in ("strangers", str(strangers.pk)):
        status, problem = ingest(engine, party_id=reference, campaign_id=None)
        assert status == 422
        assert "strangers" not in problem["candidates"]


def test_a_summary_cannot_change_its_party(engine: ApiClient) -> None:
    ingest(engine)
    status, problem = ingest(engine, party_id="gilded-oath", scene_id="another", version=2)
    assert (status, problem["code"]) == (422, "wrong_party")


def test_hostile_text_is_stored_unchanged(engine: ApiClient) -> None:
    hostile = "<script>alert(1)</script> [x](javascript:alert(1)) '; DROP TABLE episodes; -- %s {0}"
    ingest(engine, what=hostile)
    _status, fetched = engine.tool("session_fetch", party_id="lanternbearers")
    assert fetched["episodes"][0]["text"] == hostile


def test_clocks_that_run_backwards_do_not_matter(engine: ApiClient) -> None:
    ingest(engine)
    late = {"in_world_at": -5, "real": "1999-01-01T00:00:00Z"}
    ingest(engine, summary_id="ep-s1-02", when=late, relations_delta={"mira-voss": -4})
    assert read_score(engine) == 20


def test_a_bulk_reports_on_each_and_can_be_all_or_nothing(engine: ApiClient) -> None:
    items = [
        FOG,
        {**FOG, "summary_id": "ep-2", "relations_delta": {"Nobody": 1}},
        {"summary_id": "ep-3"},
    ]
    status, report = engine.post("world/episodes/bulk", {"episodes": items, "atomic": True})
    assert (status, report["stored"], report["failed"]) == (200, 0, 2)
    assert not Episode.objects.exists()
    _status, report = engine.post("world/episodes/bulk", {"episodes": items})
    assert [item["status"] for item in report["items"]] == ["ok", "failed", "failed"]
    assert report["items"][1]["code"] == "unknown_npc"
    assert Episode.objects.count() == 1


def test_an_idempotency_key_replays_the_answer(engine: ApiClient) -> None:
    first = engine.post("world/episodes", FOG, **{"Idempotency-Key": "once"})
    second = engine.post("world/episodes", FOG, **{"Idempotency-Key": "once"})
    assert first == second
    assert first[1]["outcome"] == "created"


def test_a_player_key_cannot_record(client_with_key: Any) -> None:
    assert client_with_key(audience="party:lanternbearers").post("world/episodes", FOG)[0] == 403
