"""A person is an NPC and the entry about it: both leave and come back in one act, and a merge
leaves one page."""

import pytest
from django.test import Client

from knowledge.graph.models import GraphNode
from knowledge.models import Lore
from memory_site.npc_merging.merge import merge_npcs, undo_merge
from npcs.models import NPC, NPCMerge
from npcs.trash import trash_npcs
from tests.conftest import ApiClient
from tests.people import member
from worlds.models import Party, World

pytestmark = pytest.mark.django_db
W = "/w/ferrymark"


@pytest.fixture
def master(world: World) -> Client:
    return member(world, "anna", role="gm")


@pytest.fixture
def player(world: World, lanternbearers: Party) -> Client:
    return member(world, "pat", role="player", party=lanternbearers)


def make(world: World, name: str, *, text: str = "He rowed.", visibility: str = "public") -> NPC:
    slug = name.lower().replace(" ", "-")
    open_to_all = {"visibility": visibility, "status": "published"}
    entry = {"title": name, "slug": slug, "kind": "biography", "body": text, **open_to_all}
    assert ApiClient(world).put("world/lore", entry)[0] == 200
    person = {"npc_id": slug, "name": name, "biography": slug, "visibility": visibility}
    status, answer = ApiClient(world).put("world/npcs", person)
    assert status == 200, answer
    npc: NPC = NPC.objects.get(slug=slug)
    NPC.objects.filter(pk=npc.pk).update(biography=Lore.objects.get(slug=slug))
    return NPC.objects.get(slug=slug)


def pages(client: Client, slug: str) -> tuple[int, int]:
    return tuple(
        client.get(f"{W}/{part}/{slug}/", follow=True).status_code for part in ("npcs", "lore")
    )  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["lore", "npc"])
@pytest.mark.parametrize("act", ["npcs/tam-reed/delete", "npcs/tam-reed/trash"])
def test_what_went_to_the_trash_in_one_act_comes_back_in_one(
    master: Client, world: World, kind: str, act: str
) -> None:
    npc = make(world, "Tam Reed")
    pk = {"lore": npc.biography_id, "npc": npc.pk}[kind]
    assert master.post(f"{W}/{act}/", {"biography": "1"}).status_code == 302
    assert not NPC.objects.exists()
    assert not Lore.objects.exists()
    master.post(f"{W}/trash/{kind}/{pk}/restore/")
    assert NPC.objects.get().biography == Lore.objects.get()
    assert pages(master, "tam-reed") == (200, 200)
    assert GraphNode.objects.believed_now().get(slug="tam-reed").lore == Lore.objects.get()


def test_what_went_alone_stays_when_the_other_comes_back(master: Client, world: World) -> None:
    npc = make(world, "Tam Reed")
    trash_npcs([npc], by="anna")
    master.post(f"{W}/lore/tam-reed/trash/")
    master.post(f"{W}/trash/lore/{npc.biography_id}/restore/")
    assert Lore.objects.exists()
    assert not NPC.objects.exists()


def test_a_merge_leaves_one_page_and_its_undo_two(
    master: Client, player: Client, world: World
) -> None:
    old, wilm = make(world, "Old Wilm"), make(world, "Wilm Sorrel")
    before = set(GraphNode.objects.believed_now().values_list("slug", "lore__slug"))
    merge = merge_npcs(old, into=wilm, reason="One man.", by="anna")
    for client in (master, player):
        assert list(client.get(f"{W}/lore/").context["page_obj"].object_list) == [wilm.biography]
        for part in ("npcs", "lore"):
            answer = client.get(f"{W}/{part}/old-wilm/")
            assert (answer.status_code, answer.headers["Location"]) == (
                302,
                f"{W}/npcs/wilm-sorrel/",
            )
    undo_merge(merge, by="anna")
    assert NPC.objects.get(slug="old-wilm").biography == Lore.objects.get(slug="old-wilm")
    assert set(GraphNode.objects.believed_now().values_list("slug", "lore__slug")) == before
    assert pages(player, "old-wilm") == (200, 200)
    assert player.get(f"{W}/npcs/old-wilm/").status_code == 200


def test_the_entry_that_the_kept_one_takes_over_stays(world: World) -> None:
    old = make(world, "Old Wilm")
    wilm = NPC.objects.create(world=world, slug="wilm", name="Wilm", visibility="public")
    merge = merge_npcs(old, into=wilm, reason="One man.", by="anna")
    assert NPC.objects.get(slug="wilm").biography == Lore.objects.get(slug="old-wilm")
    undo_merge(merge, by="anna")
    assert NPC.objects.get(slug="old-wilm").biography == Lore.objects.get(slug="old-wilm")


def test_an_old_address_does_not_tell_players_what_names_do_not(
    master: Client, player: Client, world: World
) -> None:
    old, wilm = make(world, "Old Wilm"), make(world, "Wilm Sorrel")
    merge_npcs(old, into=wilm, reason="One man.", by="anna", with_profile=False)
    assert pages(player, "old-wilm") == (404, 404)
    assert pages(master, "old-wilm") == (200, 200)


def test_an_old_address_leads_through_two_merges_and_to_no_hidden_npc(
    master: Client, player: Client, world: World
) -> None:
    old, wilm = make(world, "Old Wilm"), make(world, "Wilm Sorrel")
    merge_npcs(old, into=wilm, reason="", by="anna")
    last = make(world, "Captain Sorrel", visibility="gm")
    merge_npcs(NPC.objects.get(pk=wilm.pk), into=last, reason="", by="anna")
    assert NPCMerge.objects.count() == 2
    answer = master.get(f"{W}/npcs/old-wilm/")
    assert answer.headers["Location"] == f"{W}/npcs/captain-sorrel/"
    assert pages(player, "old-wilm") == (404, 404)
