"""A link shows players its words, and what it leads to only if they may know that."""

from typing import Any

import pytest

from knowledge.entry_store import save_entry
from knowledge.models import Lore
from memory_site import mcp_resources, toolbox
from npcs.models import NPC
from tests.cast import NINTH_OARSMAN, create_npc
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.models import Party, World

pytestmark = pytest.mark.django_db

BODY = (
    "By the old crane stood [[The Ninth Oarsman|a stranger in grey]]. [[Tin Heron|The inn]] was "
    "dark, and [[The Drowned Gate]] shut."
)
TO_PLAYERS = (
    "By the old crane stood a stranger in grey. [[Tin Heron|The inn]] was dark, and "
    "The Drowned Gate shut."
)


@pytest.fixture
def told_world(world: World, lanternbearers: Party) -> World:
    create_npc(world, **NINTH_OARSMAN)
    for title, body in (("Tin Heron", "An inn."), ("Dusk at the Quay", BODY)):
        save_entry(
            Lore(
                world=world,
                slug=title.lower().replace(" ", "-"),
                title=title,
                body=body,
                status="published",
                visibility="public",
            )
        )
    return world


def caller_in(world: World, audience: str) -> Caller:
    return Caller(world, audience=Audience.parse(audience), scopes=frozenset(["tools:read"]))


def ask(world: World, audience: str, tool: str, **arguments: Any) -> Any:
    return toolbox.call_tool(tool, arguments, caller_in(world, audience), via="test").answer


@pytest.mark.parametrize("query", ["Oarsman", "the ninth oarsman", "Who is the Ninth Oarsman?"])
def test_a_guessed_name_does_not_find_the_text_that_hides_it(told_world: World, query: str) -> None:
    """The hit would say that the stranger of the text is the one whose name was guessed."""
    titles = {
        audience: [hit.title for hit in ask(told_world, audience, "lore_search", query=query).hits]
        for audience in ("gm", "party:lanternbearers", "public")
    }
    assert "Dusk at the Quay" in titles["gm"]
    assert "Dusk at the Quay" not in titles["party:lanternbearers"] + titles["public"]
    found = ask(told_world, "public", "lore_search", query="a stranger beside the old crane")
    assert found.hits[0].title == "Dusk at the Quay"
    found = ask(told_world, "public", "lore_search", query="Tin Heron")
    assert "Dusk at the Quay" in [hit.title for hit in found.hits]


@pytest.mark.parametrize(
    ("audience", "text"),
    [("gm", BODY), ("party:lanternbearers", TO_PLAYERS), ("public", TO_PLAYERS)],
)
def test_a_search_does_not_tell_whom_a_hidden_link_means(
    told_world: World, audience: str, text: str
) -> None:
    found = ask(told_world, audience, "lore_search", query="Dusk at the Quay", k=1)
    assert found.hits[0].text == text


def test_a_text_that_is_cut_within_a_link_tells_nothing_of_it(told_world: World) -> None:
    entry = Lore.objects.get(slug="dusk-at-the-quay")
    entry.body = "Fog lay. " * 20 + "[[The Ninth Oarsman|a stranger]] came."
    save_entry(entry)
    arguments = {"query": "Dusk at the Quay", "k": 1, "max_chars": 200}
    text = ask(told_world, "public", "lore_search", **arguments).hits[0].text
    assert text == "Fog lay. " * 20 + "…"


def test_an_address_shows_the_same(told_world: World) -> None:
    uri = "m37://lore/dusk-at-the-quay"
    assert mcp_resources.read(uri, caller_in(told_world, "public")).text == TO_PLAYERS
    assert mcp_resources.read(uri, caller_in(told_world, "gm")).text == BODY


def test_a_profile_shows_the_same(told_world: World) -> None:
    summary = "Once saved by [[The Ninth Oarsman|a stranger]] at [[Tin Heron]]."
    NPC.objects.create(
        world=told_world, slug="jory-fenn", name="Jory Fenn", summary=summary, visibility="public"
    )
    profile = ask(told_world, "public", "npc_profile", npc_id="jory-fenn").model_dump()
    assert profile["static"]["description"] == "Once saved by a stranger at [[Tin Heron]]."
