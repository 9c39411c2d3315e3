"""Which audiences keep knowing a secret when an engine sends the NPC again."""

import pytest

from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from worlds.audiences import Audience
from worlds.models import Party, World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
ROPE = "She cut the rope at the landing."
CHEST = "The chest in the cellar is empty."


def send(world: World, *secrets: str) -> NPC:
    texts = [{"text": text} for text in secrets]
    entry = NPCIn.model_validate({"npc_id": "ada", "name": "Ada", "secrets": texts})
    return upsert_npc(world, entry)[0]


def knowers(npc: NPC) -> dict[str, list[str]]:
    return dict(npc.secrets.order_by("position").values_list("text", "known_to"))


@pytest.fixture
def ada(world: World, lanternbearers: Party) -> NPC:
    """Ada with two secrets, of which the party knows the first."""
    npc = send(world, ROPE, CHEST)
    reveal(npc.secrets.get(position=1), Audience("party", lanternbearers.slug))
    return npc


def test_a_secret_that_moves_up_does_not_inherit_the_knowers_of_the_one_before(
    world: World, ada: NPC
) -> None:
    assert knowers(send(world, CHEST)) == {CHEST: []}


def test_secrets_that_change_places_keep_their_knowers(
    world: World, ada: NPC, lanternbearers: Party
) -> None:
    assert knowers(send(world, CHEST, ROPE)) == {CHEST: [], ROPE: [f"party:{lanternbearers.slug}"]}


def test_a_reworded_secret_stays_known_and_a_new_one_in_its_place_does_not(
    world: World, ada: NPC, lanternbearers: Party
) -> None:
    reworded = "She cut the rope at the lower landing."
    assert knowers(send(world, reworded, CHEST))[reworded] == [f"party:{lanternbearers.slug}"]
    other = "Her brother leads the smugglers."
    assert knowers(send(world, other, CHEST)) == {other: [], CHEST: []}
