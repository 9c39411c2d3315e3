"""Which audiences keep knowing a secret when an engine sends the NPC again."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse

from memory_site.archive.vault import write_vault
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from tests.conftest import ApiClient
from tests.memory_site.demo.browser_form import BrowserForm
from tests.memory_site.editor.conftest import form_data
from tests.people import member
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


# --- a description is open

WOLF = "Ada mends nets.\n\n:::secret\nShe howls at the full moon.\n:::\n\nShe sings."


def test_no_writer_takes_a_secret_in_a_description(
    world: World, engine: ApiClient, admin_client: Client, mira: NPC
) -> None:
    """Players who know the person read all of it."""
    status, problem = engine.put("world/npcs", {"npc_id": "ada", "name": "Ada", "summary": WOLF})
    assert status == 422, problem
    assert "person's secrets" in problem["errors"][0]["msg"]
    address = reverse("admin:npcs_npc_change", args=[mira.pk])
    form = BrowserForm(admin_client.get(address).content.decode(), "npc_form").fields
    answers = [admin_client.post(address, {**form, "summary": WOLF})]
    address = reverse("npc-edit", args=[world.slug, mira.slug])
    form = form_data(admin_client.get(address))
    answers.append(admin_client.post(address, {**form, "summary": WOLF}))
    for answer in answers:
        assert answer.status_code in (200, 422)
        assert "Everybody who knows this person reads the description" in answer.content.decode()
    assert not NPC.objects.filter(summary__contains=":::").exists()


def test_a_secret_that_a_description_holds_from_before_is_for_game_masters(
    world: World, mira: NPC, lanternbearers: Party, engine: ApiClient, tmp_path: Path
) -> None:
    NPC.objects.filter(pk=mira.pk).update(summary=WOLF, visibility="public")
    reader = ApiClient(world, audience="party:lanternbearers", scopes=["tools:read"])
    _status, told = reader.tool("npc_profile", npc_id=mira.slug)
    assert told["static"]["description"] == "Ada mends nets.\n\nShe sings."
    assert "howls" in engine.tool("npc_profile", npc_id=mira.slug)[1]["static"]["description"]
    write_vault(world, tmp_path / "vault.zip", audience=Audience("party", "lanternbearers"))
    with ZipFile(tmp_path / "vault.zip") as vault:
        texts = [vault.read(name).decode() for name in vault.namelist()]
    assert any("mends nets" in text for text in texts)
    player = member(world, "pat", role="player", party=lanternbearers)
    for page in ("npcs/mira-voss/", "search/?q=Mira Voss", "known/", "card/npc/mira-voss/", ""):
        texts.append(player.get(f"/w/{world.slug}/{page}").content.decode())
    assert not [text for text in texts if "howls" in text]
