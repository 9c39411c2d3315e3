"""The page of what texts propose, and its operations."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from knowledge.entry_store import save_entry
from knowledge.fact_proposal_model import FactProposal, LatestReading
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore
from memory_site.fact_proposals import store
from memory_site.fact_proposals.sources import MOST_TRIES, find_source
from memory_site.fact_proposals.store import forget_source, read_source
from memory_site.tasks import (
    decide_proposals,
    read_saved_texts,
    read_texts_of_world,
    read_unread_texts,
)
from npcs.models import NPC
from tests.conftest import ApiClient
from tests.memory_site.fact_proposals.conftest import TEXT
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


def page(world: World, query: str = "") -> str:
    return f"/w/{world.slug}/from-texts/{query}"


@pytest.fixture
def proposals(world: World, saltmen: Lore) -> World:
    read_source(world, find_source(world, "lore", "saltmen"))
    return world


def test_a_game_master_reads_decides_and_undoes_on_the_page(
    master: Client, world: World, saltmen: Lore
) -> None:
    master.post(page(world, "read/"), {"source_kind": "lore", "source_ref": "saltmen"})
    text = master.get(page(world)).content.decode()
    assert "Marta Quill leads The Saltmen" in text
    master.post(page(world, "decide/"), {"decision": "accept", "every": "1"})
    assert GraphEdge.objects.count() == 3
    decided = master.get(page(world, "?state=accepted&kind=fact")).content.decode()
    assert "Marta Quill leads The Saltmen" in decided
    form = {"decision": "reopen", "every": "1", "state": "accepted", "kind": "fact"}
    master.post(page(world, "decide/"), form)
    assert not GraphEdge.objects.believed_now().exists()


def test_only_the_ticked_rows_are_decided(master: Client, proposals: World) -> None:
    row = FactProposal.objects.get(fields__label="leads")
    master.post(page(proposals, "decide/"), {"decision": "drop", "row": [str(row.pk), "x"]})
    assert FactProposal.objects.filter(state="dropped").count() == 1


def test_a_correction_on_the_page_is_what_is_written(master: Client, proposals: World) -> None:
    row = FactProposal.objects.get(fields__label="leads")
    form = {"entity": "Ivo Brandt", "relation": "RELATES_TO", "label": "leads"}
    master.post(page(proposals, f"{row.pk}/change/"), {**form, "other": "The Saltmen"})
    assert GraphEdge.objects.get().src.name == "Ivo Brandt"
    row.refresh_from_db()
    assert row.state == "changed"


def test_players_see_no_proposals(player: Client, proposals: World) -> None:
    assert player.get(page(proposals)).status_code in (302, 403, 404)


def test_the_worker_reads_a_world_and_decides_many(world: World, saltmen: Lore) -> None:
    assert read_texts_of_world(str(world.pk)) == 5
    assert decide_proposals(str(world.pk), {"state": "open"}, "accept", "Anna") == 5
    assert GraphNode.objects.filter(name="Joss Arden").exists()


def test_an_engine_reads_lists_and_decides(engine: ApiClient, saltmen: Lore) -> None:
    body = {"source_ref": "saltmen"}
    assert engine.post("world/fact-proposals/read", body)[1]["new"] == 5
    assert engine.post("world/fact-proposals/read", body)[1]["new"] == 0
    status, listed = engine.get("world/fact-proposals?kind=fact")
    assert status == 200
    rows = listed["fact_proposals"]
    assert {row["says"] for row in rows} >= {"Marta Quill leads The Saltmen"}
    leads = next(row for row in rows if row["statement"].get("label") == "leads")
    changed = {"statement": {**leads["statement"], "label": "founder of"}}
    status, row = engine.post(f"world/fact-proposals/{leads['id']}/accept", changed)
    assert (status, row["state"]) == (200, "changed")
    assert engine.post(f"world/fact-proposals/{leads['id']}/accept", {})[0] == 409
    decision = {"decision": "reopen", "ids": [leads["id"]]}
    assert engine.post("world/fact-proposals/decide", decision)[1]["decided"] == 1
    nobody = "0198c0de-0000-7000-8000-000000000000"
    for choice in ("accept", "drop", "reopen"):
        decision = {"decision": choice, "ids": [nobody]}
        receipt = engine.post("world/fact-proposals/decide", decision)[1]
        assert receipt["decided"] == 0
        assert [each["id"] for each in receipt["refused"]] == [nobody]


def test_a_player_key_gets_no_proposals(
    client_with_key: Callable[..., ApiClient], lanternbearers: Party, proposals: World
) -> None:
    player = client_with_key(audience="party:lanternbearers")
    assert player.get("world/fact-proposals")[0] == 403


def test_a_thread_that_names_two_people_proposes_them(
    engine: ApiClient, mira: NPC, jory: NPC, lanternbearers: Party
) -> None:
    steps = {
        "party_id": "lanternbearers",
        "steps": [
            {"text": "Mira Voss waited at the ferry.", "speaker": "GM"},
            {"text": "Jory Fenn hates us now. We must return tomorrow.", "speaker": "GM"},
        ],
    }
    assert engine.post("world/threads/t-9/steps", steps)[0] == 200
    status, proposal = engine.post("world/threads/t-9/propose", {})
    assert status == 200
    assert {line["candidates"][0]["ref"] for line in proposal["people"]} >= {
        "mira-voss",
        "jory-fenn",
    }
    assert [line["axis"] for line in proposal["changes"]] == ["affection"]
    assert proposal["loose_ends"]


@pytest.mark.parametrize("speaker", ["GM", "DM", "Мастер"])
def test_a_speaker_is_no_mark_for_a_secret(
    engine: ApiClient, mira: NPC, lanternbearers: Party, speaker: str
) -> None:
    told = ("Mira Voss waited at the ferry. It rained.", "GM only: the ferry is a trap.")
    steps = [{"text": text, "speaker": speaker} for text in told]
    body = {"party_id": "lanternbearers", "steps": [*steps, {"text": "I wait.", "speaker": "Nuri"}]}
    assert engine.post("world/threads/t-9/steps", body)[0] == 200
    proposal = engine.post("world/threads/t-9/propose", {})[1]
    assert proposal["notes"] == "GM only: the ferry is a trap."
    assert "Mira Voss waited at the ferry. It rained." in proposal["summary"]
    assert "Nuri: I wait." in proposal["summary"]


def test_entries_and_episodes_have_a_button_that_reads_them(
    master: Client, player: Client, engine: ApiClient, world: World, saltmen: Lore
) -> None:
    told = {"summary_id": "ep-1", "party_id": "lanternbearers", "what": "Ivo Brandt died."}
    assert engine.post("world/episodes", told)[0] == 200
    for path, kind, ref in (
        ("lore/saltmen/", "lore", "saltmen"),
        ("episodes/ep-1/", "episode", "ep-1"),
    ):
        text = master.get(f"/w/{world.slug}/{path}").content.decode()
        assert "from-texts/read/" in text
        assert "from-texts/read/" not in player.get(f"/w/{world.slug}/{path}").content.decode()
        form = {"source_kind": kind, "source_ref": ref}
        answer = master.post(page(world, "read/"), form, follow=True).content.decode()
        assert FactProposal.objects.filter(source_kind=kind).exists()
        assert f'value="{ref}"' in answer, "what it proposes is shown"


@pytest.mark.django_db(transaction=True)
def test_what_is_saved_is_read_once_for_all_saves_of_half_a_minute(
    world: World, saltmen: Lore, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[list[str]] = []
    monkeypatch.setattr(
        read_saved_texts, "apply_async", lambda args, countdown: queued.append(args)
    )
    cache.clear()
    for number in range(5):
        saltmen.body = f"{TEXT}\nPage {number}."
        save_entry(saltmen)
    assert 1 <= len(queued) <= 2, "two where the saves are on both sides of a window's end"
    assert not FactProposal.objects.exists()
    assert sum(read_saved_texts(*args) for args in queued) > 0
    assert not GraphEdge.objects.filter(source_kind="lore").exists(), "nothing is believed"


@pytest.mark.django_db(transaction=True)
def test_a_sweep_reads_what_a_lost_message_announced(
    world: World, saltmen: Lore, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_saved_texts, "apply_async", lambda *_args, **_more: None)
    cache.clear()
    saltmen.body = f"{TEXT}\nPage 1."
    save_entry(saltmen)
    assert read_unread_texts() == 0, "its message may still come"
    an_hour_ago = timezone.now() - timedelta(hours=1)
    Lore.objects.filter(pk=saltmen.pk).update(updated_at=an_hour_ago)
    settings.PROPOSE_AT_SAVE = False
    assert read_unread_texts() == 0
    settings.PROPOSE_AT_SAVE = True
    assert read_unread_texts() > 0
    FactProposal.objects.all().delete()
    assert read_unread_texts() == 0, "once"
    Lore.objects.filter(pk=saltmen.pk).update(updated_at=an_hour_ago + timedelta(minutes=5))
    assert read_unread_texts() > 0, "it was saved again"
    forget_source(saltmen.pk)
    assert not LatestReading.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_reading_that_fails_stops_no_other_and_is_tried_again(
    world: World, saltmen: Lore, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_saved_texts, "apply_async", lambda *_args, **_more: None)
    settings.PROPOSE_AT_SAVE = True
    other = Lore.objects.create(world=world, slug="b", title="B", body=TEXT)
    Lore.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    read, tried = store.read_source, []

    def fails(world: World, source: Any, **options: Any) -> Any:
        if source.id == saltmen.pk:
            tried.append(source.id)
            raise RuntimeError("no connection")
        return read(world, source, **options)

    monkeypatch.setattr(store, "read_source", fails)
    assert read_unread_texts() > 0
    assert LatestReading.objects.get(source_id=other.pk).unfinished == 0
    monkeypatch.setattr(store, "read_source", read)
    FactProposal.objects.all().delete()
    assert read_unread_texts() > 0, "the one that failed"
    assert read_unread_texts() == 0
    LatestReading.objects.all().delete()
    monkeypatch.setattr(store, "read_source", fails)
    for _sweep in range(5):
        read_unread_texts()
    assert len(tried) == 1 + MOST_TRIES


@pytest.mark.django_db(transaction=True)
def test_saves_are_not_read_where_a_setting_says_so(
    saltmen: Lore, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PROPOSE_AT_SAVE = False
    queued: list[Any] = []
    monkeypatch.setattr(read_saved_texts, "apply_async", lambda *args, **_more: queued.append(args))
    cache.clear()
    saltmen.body = f"{TEXT}\nAnother page."
    save_entry(saltmen)
    assert queued == []


@pytest.mark.django_db(transaction=True)
def test_an_entry_is_saved_when_the_broker_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: Any, **_more: Any) -> None:
        raise ConnectionError("the broker is away")

    monkeypatch.setattr(read_saved_texts, "apply_async", refuse)
    cache.clear()
    save_entry(Lore(world=world, slug="pier", title="Pier", body="Boats."))
    assert Lore.objects.filter(slug="pier").exists()
