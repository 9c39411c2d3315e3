"""What stands at an m37:// address, and for whom."""

from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest

from knowledge.entry_store import save_entry
from knowledge.models import Document, Lore, Rule
from memory_site import mcp_prompts, mcp_resources
from npcs.models import NPC, Secret
from retrieval.errors import Invalid, NotFound
from tests.conftest import ApiClient
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def read(engine: ApiClient, world: World, lanternbearers: Party) -> Callable[[str, str], str]:
    body = "An inn by the river.\n\n:::secret\nThe fourth room has two doors.\n:::"
    save_entry(
        Lore(
            world=world,
            slug="tin-heron",
            title="Tin Heron",
            body=body,
            status="published",
            visibility="public",
        )
    )
    NPC.objects.create(
        world=world, slug="mira-voss", name="Mira Voss", voice="Short orders.", visibility="public"
    )
    told: dict[str, Any] = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "what": "Fog.",
        "notes": "A trap.",
    }
    engine.post("world/episodes", told)
    return lambda uri, audience: mcp_resources.read(uri, caller_in(world, audience)).text


def caller_in(world: World, audience: str) -> Caller:
    return Caller(world=world, audience=Audience.parse(audience))


@pytest.mark.parametrize(
    ("uri", "open_text", "hidden"),
    [
        ("m37://lore/tin-heron", "An inn", "two doors"),
        ("m37://npc/mira-voss", "Mira Voss", "Short orders"),
        ("m37://episode/ep-1", "Fog.", "A trap"),
    ],
)
def test_each_audience_reads_its_part(
    read: Callable[[str, str], str], uri: str, open_text: str, hidden: str
) -> None:
    for audience, sees in (("gm", True), ("party:lanternbearers", False)):
        text = read(uri, audience)
        assert open_text in text
        assert (hidden in text) == sees


@pytest.mark.parametrize(
    "uri", ["m37://episode/ep-1", "m37://episode/ep-404", "m37://lore/nowhere", "m37://x/y", "z"]
)
def test_what_is_not_known_is_not_there(read: Callable[[str, str], str], uri: str) -> None:
    with pytest.raises(NotFound):
        read(uri, "party:gilded-oath")


@pytest.mark.parametrize(
    ("uri", "mime_type"),
    [("m37://lore/tin-heron", "text/markdown"), ("m37://npc/mira-voss", "text/plain")],
)
def test_the_type_says_what_the_text_is(
    read: Callable[[str, str], str], world: World, uri: str, mime_type: str
) -> None:
    assert mcp_resources.read(uri, caller_in(world, "gm")).mime_type == mime_type


def test_a_rule_is_markdown_with_its_title(world: World) -> None:
    house = Document.objects.create(slug="house", title="House", system=world.system, world=world)
    save_entry(
        Rule(
            key="house/mud",
            document=house,
            world=world,
            title="Mud",
            body="You are slow.",
        )
    )
    text = mcp_resources.read("m37://rules/house/mud", caller_in(world, "gm")).text
    assert text.startswith("# Mud\n\nYou are slow.")
    assert mcp_resources.complete("rules", "mu", caller_in(world, "public")) == ["house/mud"]


def test_the_list_has_all_kinds_that_the_audience_knows(
    read: Callable[[str, str], str], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    NPC.objects.create(world=world, slug="odo", name="Odo", visibility="gm")
    monkeypatch.setattr(mcp_resources, "PAGE", 1)
    all_of_them = [
        "m37://lore/tin-heron",
        "m37://npc/mira-voss",
        "m37://npc/odo",
        "m37://episode/ep-1",
    ]
    assert listed(world, "gm") == all_of_them
    assert listed(world, "party:lanternbearers") == [
        uri for uri in all_of_them if not uri.endswith("odo")
    ]
    assert listed(world, "public") == all_of_them[:2]


def listed(world: World, audience: str) -> list[str]:
    caller, uris, cursor = caller_in(world, audience), [], None
    while True:
        resources, cursor = mcp_resources.page(caller, cursor)
        uris += [resource.uri for resource in resources]
        if cursor is None:
            return uris


def test_ids_are_completed_from_ids_and_names_that_are_known(
    read: Callable[[str, str], str], world: World
) -> None:
    NPC.objects.create(world=world, slug="boatman", name="Mirko", visibility="gm")
    assert mcp_resources.complete("npc", "mir", caller_in(world, "gm")) == ["boatman", "mira-voss"]
    assert mcp_resources.complete("npc", "mir", caller_in(world, "public")) == ["mira-voss"]


def test_prompts_bring_what_the_audience_knows(
    read: Callable[[str, str], str], world: World
) -> None:
    for audience in ("gm", "party:lanternbearers"):
        recap = prompt(world, audience, "recap", party="lanternbearers")
        assert "Fog." in recap
        assert "A trap" not in recap
    assert "Short orders" in prompt(world, "gm", "portrait", npc="mira-voss")
    assert "The bell rang." in prompt(world, "public", "check", text="The bell rang.")
    assert "We hide" in prompt(world, "gm", "scene", party="lanternbearers", action="We hide")


def test_a_portrait_holds_no_secret_that_the_npc_does_not_know(
    read: Callable[[str, str], str], world: World
) -> None:
    mira = NPC.objects.get(world=world, slug="mira-voss")
    text = "She is the lost heir and does not know it."
    Secret.objects.create(world=world, npc=mira, position=90, text=text)
    profile = mcp_prompts.ask_tool("npc_profile", {"npc_id": "mira-voss"}, caller_in(world, "gm"))
    assert "lost heir" in profile
    for name in ("mira-voss", "Mira Voss"):
        portrait = prompt(world, "gm", "portrait", npc=name)
        assert "Short orders" in portrait
        assert "lost heir" not in portrait
    with pytest.raises(NotFound):
        prompt(world, "gm", "portrait", npc="nobody-at-all")


def prompt(world: World, audience: str, name: str, **arguments: str) -> str:
    [message] = mcp_prompts.get(name, arguments, caller_in(world, audience)).messages
    assert isinstance(message.content, types.TextContent)
    return message.content.text


def test_what_a_prompt_needs_is_told(world: World) -> None:
    with pytest.raises(Invalid, match="needs the argument party"):
        mcp_prompts.get("recap", {}, caller_in(world, "gm"))
    with pytest.raises(NotFound) as unknown:
        mcp_prompts.get("sing", {}, caller_in(world, "gm"))
    assert "recap" in unknown.value.candidates


def test_parties_are_completed_for_those_who_know_them(world: World, lanternbearers: Party) -> None:
    for audience, found in (
        ("gm", ["lanternbearers"]),
        ("party:lanternbearers", ["lanternbearers"]),
    ):
        caller = caller_in(world, audience)
        assert mcp_prompts.complete_argument("party", "lan", caller) == found
    assert mcp_prompts.complete_argument("party", "lan", caller_in(world, "npc:odo")) == []
    assert mcp_prompts.complete_argument("text", "lan", caller_in(world, "gm")) == []
