"""Making and editing things by forms: entry, NPC and entity stay in step."""

from typing import Any

import pytest
from django.test import Client

from knowledge.entry_entities import NODE_KINDS
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore, LorePassage
from npcs.models import NPC, Secret
from tests.memory_site.editor.conftest import form_data, member
from worlds.audiences import Audience
from worlds.models import Party, Reveal, World
from worlds.reveals import reveal

W = "/w/ferrymark"


def make(client: Client, kind: str, name: str, /, **fields: Any) -> Any:
    data = form_data(client.get(f"{W}/lore/new/", {"kind": kind, "title": name}))
    return client.post(f"{W}/lore/new/?kind={kind}", {**data, **fields})


def edit(client: Client, path: str, /, **fields: Any) -> Any:
    data = form_data(client.get(f"{W}/{path}/edit/"))
    return client.post(f"{W}/{path}/edit/", {**data, **fields})


@pytest.mark.parametrize("kind", list(Lore.Kind))
def test_each_kind_is_made_by_posting_its_form(master: Client, world: World, kind: str) -> None:
    response = make(master, kind, "The Quay", aliases=["Low Quay"], body="Wet.")
    assert response.status_code == 302, response.context["form"].errors
    entry = Lore.objects.get()
    assert (entry.kind, entry.title, entry.aliases) == (kind, "The Quay", ["Low Quay"])
    assert (entry.status, entry.visibility, entry.author) == ("draft", "gm", "anna")
    nodes = GraphNode.objects.filter(world=world).values_list("kind", "name", "aliases", "lore")
    expected = (
        [(NODE_KINDS[kind], "The Quay", ["Low Quay"], entry.pk)] if kind in NODE_KINDS else []
    )
    assert list(nodes) == expected
    assert NPC.objects.count() == (kind == "biography")
    assert master.get(response["Location"]).status_code == 200


def test_an_entry_is_revealed_to_an_npc_by_an_alias(
    master: Client, world: World, mira: NPC
) -> None:
    fields = {"visibility": "revealed", "npcs": ["Миру Восс"]}
    response = make(master, "place", "The Quay", **fields)
    assert response.status_code == 302, response.context["form"].errors
    assert Lore.objects.get().known_to == ["npc:mira-voss"]
    response = make(master, "place", "The Mole", visibility="revealed", npcs=["Мира"])
    assert "Did you mean: Mira Voss?" in response.context["form"].errors["npcs"][0]


def test_a_kind_of_the_worlds_own_brings_its_template(master: Client, world: World) -> None:
    deity = LoreKind.objects.create(world=world, slug="deity", name="Deity", template="## Domain")
    page = master.get(f"{W}/lore/new/", {"kind": "own:deity"})
    assert form_data(page)["body"] == "## Domain"
    make(master, "own:deity", "Mother Eel")
    assert Lore.objects.get().custom_kind == deity


def test_without_a_kind_the_page_asks_for_one(master: Client, world: World) -> None:
    page = master.get(f"{W}/lore/new/", {"title": "Tide & Bell"})
    assert "title=Tide%20%26%20Bell&amp;kind=quest" in page.content.decode()


def test_a_name_in_another_script_becomes_one_by_a_tick(master: Client, world: World) -> None:
    make(master, "biography", "Tam Reed")
    page = master.get(f"{W}/npcs/tam-reed/edit/")
    assert page.context["spellings"] == ["Там Рид", "탐 리드"]
    box = '<input type="checkbox" name="aliases" value="Там Рид">'
    assert box in page.content.decode()
    edit(master, "npcs/tam-reed", aliases=["Там Рид"])
    assert rows_agree("tam-reed")[0].aliases == ["Там Рид"]
    assert master.get(f"{W}/npcs/tam-reed/edit/").context["spellings"] == ["탐 리드"]


@pytest.mark.parametrize("name", ["The Drowned Bell", "Knife of Sal", "A long name of five words"])
def test_a_name_of_translatable_words_is_not_spelled(
    master: Client, world: World, name: str
) -> None:
    make(master, "item", name)
    page = master.get(f"{W}/lore/{Lore.objects.get().slug}/edit/")
    assert page.context["spellings"] == []


def rows_agree(slug: str) -> tuple[NPC, Lore, GraphNode]:
    npc, node = NPC.objects.get(slug=slug), GraphNode.objects.get(slug=slug)
    entry = npc.biography
    assert entry is not None
    assert npc.name == entry.title == node.name
    assert npc.aliases == entry.aliases == node.aliases
    assert npc.visibility == node.visibility
    assert node.lore_id == entry.pk
    return npc, entry, node


def test_the_three_records_of_a_character_agree_after_each_edit(
    master: Client, world: World, lanternbearers: Party
) -> None:
    make(master, "biography", "Tam Reed", role="Ferryman", play_now=["Slow.", "Kind, if fed."])
    npc, entry, _node = rows_agree("tam-reed")
    assert (npc.role, npc.play_now) == ("Ferryman", ["Slow.", "Kind, if fed."])
    assert npc.visibility == "gm"
    edit(master, "npcs/tam-reed", status="published", visibility="public")
    npc, entry, _node = rows_agree("tam-reed")
    assert (npc.visibility, entry.visibility, entry.status) == ("public", "public", "published")
    edit(master, "npcs/tam-reed", title="Old Tam", aliases=["Tam"])
    npc, entry, _node = rows_agree("tam-reed")
    assert (npc.name, npc.aliases) == ("Old Tam", ["Tam", "Tam Reed"])
    edit(master, "npcs/tam-reed", role="Ferryman, retired.", body="He rowed.")
    npc, entry, _node = rows_agree("tam-reed")
    assert (npc.play_now, entry.body) == (["Slow.", "Kind, if fed."], "He rowed.")


def test_a_rename_of_an_npc_without_an_entry_rewrites_its_mentions(
    master: Client, world: World
) -> None:
    npc = NPC.objects.create(world=world, name="Tam Reed", slug="tam-reed", visibility="public")
    quay = Lore(
        world=world,
        slug="quay",
        title="The Quay",
        body="[[Tam Reed]] and [[Tam Reed|the old man]].",
    )
    save_entry(quay)
    edit(master, "npcs/tam-reed", title="Old Tam")
    npc.refresh_from_db()
    quay.refresh_from_db()
    assert (npc.name, npc.aliases, npc.biography) == ("Old Tam", ["Tam Reed"], None)
    assert quay.body == "[[Old Tam]] and [[Old Tam|the old man]]."
    page = master.get(f"{W}/npcs/tam-reed/?mentions=1").content.decode()
    assert "The Quay" in page


def test_an_npc_takes_no_name_of_another_thing(master: Client, world: World) -> None:
    NPC.objects.create(world=world, name="Tam Reed", slug="tam-reed")
    save_entry(Lore(world=world, slug="tam", title="Old Tam", kind="place"))
    response = edit(master, "npcs/tam-reed", title="Old Tam")
    assert "There is already a “Old Tam”" in response.content.decode()
    assert NPC.objects.get().name == "Tam Reed"


def test_a_draft_of_a_public_character_is_the_game_masters_alone(
    master: Client, player: Client, world: World
) -> None:
    make(master, "biography", "Tam Reed", visibility="public")
    rows_agree("tam-reed")
    assert player.get(f"{W}/npcs/tam-reed/").status_code == 404
    edit(master, "npcs/tam-reed", status="published")
    assert player.get(f"{W}/npcs/tam-reed/").status_code == 200


def test_revealed_asks_to_whom_and_saves_nothing_without(
    master: Client, player: Client, world: World, lanternbearers: Party
) -> None:
    response = make(master, "place", "The Quay", status="published", visibility="revealed")
    assert response.status_code == 422
    assert "visibility" in response.context["form"].errors
    assert not Lore.objects.exists()
    make(
        master,
        "place",
        "The Quay",
        status="published",
        visibility="revealed",
        parties=["party:lanternbearers"],
    )
    entry = Lore.objects.get()
    assert entry.known_to == ["party:lanternbearers"]
    assert Reveal.objects.get(subject_id=entry.pk).by == "anna"
    assert player.get(f"{W}/lore/the-quay/").status_code == 200
    edit(master, "lore/the-quay", visibility="gm", parties=[])
    assert player.get(f"{W}/lore/the-quay/").status_code == 404
    assert not Reveal.objects.filter(undone_at=None).exists()
    assert GraphNode.objects.get().visibility == "gm"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("Wet.\n\n:::secrt\nThe tunnel.\n:::", "3"),
        ("Wet.\n:::secret\nThe tunnel.", "2"),
        (":::secret party:nobody\nThe tunnel.\n:::", "1"),
    ],
)
def test_a_wrong_secret_is_refused_with_its_line(
    master: Client, world: World, body: str, line: str
) -> None:
    response = make(master, "place", "The Quay", body=body)
    assert response.status_code == 422
    assert line in response.context["form"].errors["body"][0]
    assert not Lore.objects.exists()


def test_removing_a_secret_reveals_no_other(
    master: Client, world: World, lanternbearers: Party
) -> None:
    make(
        master, "biography", "Tam Reed", **{"secrets-0-text": "Known.", "secrets-1-text": "Hidden."}
    )
    npc = NPC.objects.get()
    known = npc.secrets.get(text="Known.")
    reveal(known, Audience("party", "lanternbearers"))
    edit(master, "npcs/tam-reed", **{"secrets-0-text": ""})
    left = Secret.objects.get()
    assert (left.text, left.position, left.visibility) == ("Hidden.", 1, "gm")


def test_a_page_for_an_entity_without_one_takes_it_over(master: Client, world: World) -> None:
    node = GraphNode.objects.create(world=world, kind="Location", slug="haewol", name="Haewol")
    make(master, "place", "Haewol")
    assert GraphNode.objects.get().pk == node.pk
    assert GraphNode.objects.get().lore == Lore.objects.get()


def test_a_deleted_thing_is_in_the_trash(master: Client, world: World) -> None:
    make(master, "biography", "Tam Reed")
    assert master.get(f"{W}/npcs/tam-reed/delete/").status_code == 200
    assert NPC.objects.count() == Lore.objects.count() == 1
    master.post(f"{W}/npcs/tam-reed/delete/")
    assert NPC.objects.count() == Lore.objects.count() == 0
    assert NPC.with_trash.count() == Lore.with_trash.count() == 1


def test_history_shows_the_words_and_restores_the_values(master: Client, world: World) -> None:
    make(master, "place", "The Quay", body="Wet and loud.")
    edit(master, "lore/the-quay", body="Wet and quiet.")
    page = master.get(f"{W}/lore/the-quay/history/")
    assert "<del>loud</del><ins>quiet</ins>" in page.content.decode()
    first = Lore.objects.get().history.earliest()
    master.post(f"{W}/lore/the-quay/history/", {"record": first.pk, "model": "lore"})
    assert (Lore.objects.get().body, Lore.objects.get().version) == ("Wet and loud.", 3)
    assert LorePassage.objects.get().text == "Wet and loud."


def test_bad_input_is_refused_and_never_an_error(master: Client, world: World) -> None:
    for fields in (
        {"title": "A\0B"},
        {"kind": "nonsense"},
        {"in_world_at": "1e999"},
        {"version": "x"},
        {"parties": ["party:nobody"]},
        {"overrides": "nothing", "campaign": ""},
    ):
        response = make(master, "place", "The Quay", **fields)
        assert response.status_code in (400, 422), fields
    assert not Lore.objects.exists()


@pytest.mark.parametrize(
    "path", ["lore/new/?kind=place", "lore/the-quay/edit/", "lore/the-quay/history/"]
)
def test_only_a_game_master_writes(
    master: Client, player: Client, stranger: Client, world: World, path: str
) -> None:
    save_entry(
        Lore(
            world=world, slug="the-quay", title="The Quay", status="published", visibility="public"
        )
    )
    assert master.get(f"{W}/{path}").status_code == 200
    assert player.get(f"{W}/{path}").status_code == 404
    assert stranger.get(f"{W}/{path}").status_code == 404
    assert Client().get(f"{W}/{path}").status_code == 302
    master.post(f"{W}/as/", {"as": "party:lanternbearers"})
    assert master.get(f"{W}/{path}").status_code == 404


def test_an_unchanged_save_of_the_demo_changes_nothing(demo: World) -> None:
    anna = member(demo, "anna", role="gm")
    paths = [f"lore/{slug}" for slug in Lore.objects.values_list("slug", flat=True)]
    paths += [f"npcs/{slug}" for slug in NPC.objects.values_list("slug", flat=True)]

    def everything() -> list[Any]:
        models = (Lore, NPC, GraphNode, Secret, LorePassage, Reveal, Lore.history.model)
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = everything()
    for path in paths:
        response = edit(anna, path)
        assert response.status_code == 302, (path, response.context["form"].errors)
    assert everything() == before
    assert len(paths) > 50
