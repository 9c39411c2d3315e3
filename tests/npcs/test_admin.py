"""The admin of episodes, NPCs and art goes through the same rooms as the engine."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from art.models import ArtCard
from episodes.models import Episode
from knowledge.graph.models import GraphEdge
from knowledge.models import Lore
from npcs.models import NPC, Disposition, DispositionChange
from tests.admin_forms import save_form
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(admin_user: User) -> Client:
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def episode(engine: ApiClient, mira: NPC, lanternbearers: Party) -> Episode:
    delta = [{"npc": "mira-voss", "delta": 10, "reason": "A favour."}]
    body = {
        "summary_id": "ep-1",
        "party_id": "lanternbearers",
        "what": "Fog.",
        "relations_delta": delta,
    }
    engine.post("world/episodes", body)
    engine.put(
        "world/art", {"image_id": "a", "cdn_url": "https://a.example/a.png", "prompt_text": "Fog"}
    )
    return Episode.objects.get()


def score() -> float:
    return Disposition.objects.get().score


@pytest.mark.parametrize(
    "page",
    [
        "episodes/episode",
        "episodes/session",
        "episodes/scene",
        "episodes/arc",
        "episodes/thread",
        "episodes/recap",
        "npcs/npc",
        "npcs/dispositionchange",
        "npcs/disposition",
        "art/artcard",
    ],
)
def test_every_list_opens(client: Client, episode: Episode, page: str) -> None:
    assert client.get(f"/admin/{page}/").status_code == 200


def test_every_form_opens(client: Client, episode: Episode, mira: NPC) -> None:
    card, entry = ArtCard.objects.get(), DispositionChange.objects.get()
    for page in (f"episodes/episode/{episode.pk}", f"npcs/npc/{mira.pk}", f"art/artcard/{card.pk}"):
        assert client.get(f"/admin/{page}/change/").status_code == 200
    assert client.get(f"/admin/npcs/dispositionchange/{entry.pk}/change/").status_code == 200
    assert client.get("/admin/npcs/dispositionchange/add/").status_code == 200


def test_an_episode_changed_by_hand_is_its_next_version(client: Client, episode: Episode) -> None:
    form = {
        "what": "No fog.",
        "notes": "",
        "visibility": "revealed",
        "versions-TOTAL_FORMS": 0,
        "versions-INITIAL_FORMS": 0,
    }
    save_form(client, f"/admin/episodes/episode/{episode.pk}/change/", form)
    episode.refresh_from_db()
    assert (episode.what, episode.text, episode.version, score()) == ("No fog.", "No fog.", 2, 10)


def test_a_home_written_in_the_admin_gets_its_entry(
    client: Client, world: World, mira: NPC, engine: ApiClient
) -> None:
    for title in ("The Stumps", "Hall of Oars"):
        entry = {"title": title, "kind": "place", "status": "published"}
        assert engine.put("world/lore", entry)[0] == 200
    body = {"npc_id": "mira-voss", "name": mira.name, "home": "The Stumps"}
    assert engine.put("world/npcs", body)[0] == 200
    form = {
        "name": mira.name,
        "faction_visibility": "public",
        "language": "en",
        "base": 0,
        "family": "[]",
        "milestones": "[]",
        "visibility": mira.visibility,
        "known_to": "[]",
        "secrets-TOTAL_FORMS": 0,
        "secrets-INITIAL_FORMS": 0,
    }
    page = f"/admin/npcs/npc/{mira.pk}/change/"
    stumps = Lore.objects.get(title="The Stumps")
    save_form(client, page, {**form, "home": "hall of oars", "home_lore": stumps.pk})
    mira.refresh_from_db()
    assert mira.home_lore
    assert (mira.home, mira.home_lore.slug) == ("Hall of Oars", "hall-of-oars")
    assert GraphEdge.objects.believed_now().get().dst.name == "Hall of Oars"
    save_form(client, page, {**form, "home": "nowhere", "home_lore": mira.home_lore_id})
    assert "nowhere" in " ".join(map(str, client.get(page).context["messages"]))


def test_a_ruling_in_the_admin_needs_a_reason(client: Client, episode: Episode) -> None:
    entry = DispositionChange.objects.get()
    action = {"action": "reverse", "_selected_action": [entry.pk], "reason": ""}
    client.post("/admin/npcs/dispositionchange/", action)
    assert score() == 10
    client.post("/admin/npcs/dispositionchange/", {**action, "reason": "A mix-up."})
    assert score() == 0


def test_a_correction_is_added_as_an_entry(
    client: Client, episode: Episode, mira: NPC, lanternbearers: Party
) -> None:
    form = {
        "npc": mira.pk,
        "party": lanternbearers.pk,
        "axis": "trust",
        "delta": -4,
        "reason": "Seen lying.",
    }
    client.post("/admin/npcs/dispositionchange/add/", form)
    assert (score(), DispositionChange.objects.latest("id").made_by) == (6, "admin")


def test_a_deleted_npc_is_kept_in_the_trash(client: Client, episode: Episode, mira: NPC) -> None:
    client.post(f"/admin/npcs/npc/{mira.pk}/delete/", {"post": "yes"})
    assert not NPC.objects.exists()
    assert DispositionChange.objects.exists()
    NPC.with_trash.get().delete_for_good()
    assert not DispositionChange.objects.exists()


def test_a_card_is_approved_in_the_admin(client: Client, episode: Episode) -> None:
    card = ArtCard.objects.get()
    client.post("/admin/art/artcard/", {"action": "approve", "_selected_action": [card.pk]})
    card.refresh_from_db()
    assert (card.moderation, card.moderated_by) == ("approved", "admin")
