"""lore_search: what each audience finds, overlays of campaigns, filters."""

from collections.abc import Callable

import pytest

from knowledge.models import Lore
from knowledge.presenters import SearchAnswer
from knowledge.schemas import LoreQuestion
from knowledge.tools import lore_search
from retrieval.errors import Forbidden
from worlds.audiences import PUBLIC, Audience, Visibility
from worlds.callers import Caller
from worlds.models import Campaign, Party, World

Write = Callable[..., Lore]


def ask(caller: Caller, query: str, **question: object) -> SearchAnswer:
    return lore_search(LoreQuestion(query=query, **question), caller)


def ids(answer: SearchAnswer) -> list[str]:
    return [hit.id for hit in answer.hits]


def test_an_entry_is_found_by_its_words_and_by_its_names(world: World, write: Write) -> None:
    write(
        "Mira Voss",
        "She keeps the ledger of the ferry.",
        aliases=["Мира Восс", "미라 보스"],
        kind="biography",
    )
    write("The Quay", "Boats and eels.", kind="place")
    for query in ("who keeps the ledger?", "Миру Восс", "미라 보스는", "mira vos"):
        hit = ask(Caller.gm(world), query).hits[0]
        assert (hit.id, hit.kind, hit.title) == ("mira-voss", "biography", "Mira Voss")


def test_a_secret_is_found_by_the_game_master_and_by_those_it_names(
    world: World, write: Write, lanternbearers: Party, gilded_oath: Party
) -> None:
    write(
        "Mira Voss",
        "She keeps the ledger.\n\n:::secret party:lanternbearers\nShe forged the ninth page.\n:::",
    )
    question = "who forged the ninth page?"

    def texts_for(audience: Audience) -> str:
        return " ".join(hit.text for hit in ask(Caller(world, audience), question).hits)

    assert "forged" in " ".join(hit.text for hit in ask(Caller.gm(world), question).hits)
    assert "forged" in texts_for(Audience("party", "lanternbearers"))
    assert "forged" not in texts_for(Audience("party", "gilded-oath"))
    assert "forged" not in texts_for(PUBLIC)


def test_a_hidden_entry_is_not_found_by_name_either(world: World, write: Write) -> None:
    write("The Drowned Choir", "It sings.", visibility=Visibility.GM)
    assert ids(ask(Caller.gm(world), "The Drowned Choir")) == ["the-drowned-choir"]
    assert ids(ask(Caller(world, PUBLIC), "The Drowned Choir")) == []


def test_another_world_is_never_searched(world: World, write: Write) -> None:
    write("The Quay", "Boats and eels.")
    other = World.objects.create(slug="saltmere", name="Saltmere")
    assert ids(ask(Caller.gm(other), "the quay")) == []


def test_a_campaign_overrides_canon_for_itself_alone(
    world: World, campaign: Campaign, write: Write
) -> None:
    canon = write("The Bell", "The bell hangs in the tower.")
    write(
        "The Bell", "The bell lies in the river.", slug="bell-2", campaign=campaign, overrides=canon
    )
    write("The Toll", "Only in this campaign there is a toll on the bell.", campaign=campaign)
    assert set(ids(ask(Caller.gm(world), "bell"))) == {"the-bell"}
    in_campaign = Caller(world, PUBLIC, campaign=campaign)
    assert set(ids(ask(in_campaign, "bell"))) == {"bell-2", "the-toll"}
    assert set(ids(ask(Caller.gm(world), "bell", filters={"campaign": "low-water"}))) == {
        "bell-2",
        "the-toll",
    }
    with pytest.raises(Forbidden):
        ask(Caller(world, PUBLIC), "bell", filters={"campaign": "low-water"})


def test_an_override_that_players_may_not_know_leaves_them_the_canon(
    world: World, campaign: Campaign, write: Write
) -> None:
    canon = write("The Bell", "The bell hangs in the tower.")
    hidden = {"campaign": campaign, "overrides": canon, "visibility": Visibility.GM}
    write("The Bell", "The bell is a mimic.", slug="bell-2", **hidden)
    assert ids(ask(Caller(world, PUBLIC, campaign=campaign), "bell")) == ["the-bell"]
    gm = Caller(world, Audience("gm"), campaign=campaign)
    assert ids(ask(gm, "bell")) == ["bell-2"]


def test_filters_must_all_hold(world: World, write: Write) -> None:
    write("The Quay", "Eels and boats.", kind="place", tags=["river", "trade"])
    write(
        "The Fall",
        "Eels fell on the quay.",
        kind="event",
        tags=["river"],
        in_world_at=100.0,
        in_world_until=110.0,
    )
    gm = Caller.gm(world)
    assert ids(ask(gm, "eels", filters={"kind": "place"})) == ["the-quay"]
    assert ids(ask(gm, "eels", filters={"tags": ["river", "trade"]})) == ["the-quay"]
    assert ids(ask(gm, "eels", filters={"in_world_from": 105, "in_world_to": 200})) == ["the-fall"]
    assert ids(ask(gm, "eels", filters={"in_world_from": 111})) == []


def test_drafts_are_shown_to_the_game_master_who_asks_for_them(world: World, write: Write) -> None:
    write("The Quay", "Eels.", status="draft")
    assert ids(ask(Caller.gm(world), "eels")) == []
    assert ids(ask(Caller.gm(world), "eels", filters={"status": "draft"})) == ["the-quay"]
    with pytest.raises(Forbidden):
        ask(Caller(world, PUBLIC), "eels", filters={"status": "draft"})


def test_an_entry_comes_once_however_many_passages_of_it_match(world: World, write: Write) -> None:
    write("The Quay", "Eels.\n\n:::secret\nMore eels.\n:::\n\nAnd eels.")
    assert ids(ask(Caller.gm(world), "eels")) == ["the-quay"]


def test_a_long_entry_does_not_crowd_others_out(world: World, write: Write) -> None:
    write(
        "The Quay",
        "\n\n".join(f"# Berth {number}\n\n{'Eels here. ' * 300}" for number in range(12)),
    )
    for number in range(3):
        write(f"Inn {number}", "One eel was once seen near this inn, on a quiet evening in spring.")
    assert len(ask(Caller.gm(world), "eels", k=4).hits) == 4


def test_explaining_tells_filters_legs_and_time(world: World, write: Write) -> None:
    for number in range(12):
        write(f"Quay {number}", "Eels and boats.")
    answer = ask(Caller.gm(world), "eels", k=3, explain=True, filters={"kind": "custom"})
    assert answer.explain is not None
    assert answer.explain.filters == {"filters": {"kind": "custom"}}
    assert [near.id for near in answer.explain.near_misses] == [
        f"quay-{number}" for number in range(3, 8)
    ]
    assert answer.hits[0].legs["keyword"].rank is not None


def test_the_state_of_the_index_does_not_matter_to_being_found_by_words(
    world: World, write: Write
) -> None:
    write("The Quay", "Eels and boats.")
    hit = ask(Caller.gm(world), "boats").hits[0]
    assert (hit.match, hit.legs["keyword"].rank) == ("keyword", 1)
