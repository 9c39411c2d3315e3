"""What stands at an m37:// address, and for whom."""

from collections.abc import Callable
from typing import Any

import pytest

from knowledge.entry_store import save_entry
from knowledge.models import Lore
from memory_site import mcp_resources
from npcs.models import NPC
from retrieval.errors import NotFound
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
    return lambda uri, audience: mcp_resources.read(
        uri, Caller(world=world, audience=Audience.parse(audience))
    )


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
