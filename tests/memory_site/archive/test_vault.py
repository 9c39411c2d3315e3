"""A world as a vault: what Obsidian needs, only what the audience may know, and back again."""

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from art.models import Picture
from art.pictures import place_picture, store_picture
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from memory_site.archive.vault import write_vault
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from npcs.models import NPC, Secret
from tests import cast
from tests.art.image_samples import image_bytes
from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import World

pytestmark = pytest.mark.django_db
TEXT = """The bell of [[Carrow Ford|the ford]].

:::secret party:lanternbearers
It is cracked.
:::

:::secret
It is hollow.
:::
"""


@pytest.fixture
def written(world: World, lanternbearers: Any) -> World:
    for title, kind, folder, text in (
        ("The Bell", "item", "North/Relics", TEXT),
        ("Carrow Ford", "place", "North", "See [[Ведьма]] and [[The Bell]]."),
        ("Ведьма", "biography", "", "Кто она? [[까마귀]]"),
        ("까마귀: 새", "custom", "동물", "🐦"),
    ):
        upsert_lore(
            world,
            LoreIn(
                title=title,
                kind=kind,
                folder=folder,
                body=text,
                status="published",
                visibility="public",
                tags=["old"],
                aliases=["까마귀"] if "새" in title else [],
            ),
        )
    upsert_lore(
        world,
        LoreIn(title="The Traitor", body="Nobody knows.", status="published", visibility="gm"),
    )
    return world


def notes(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_a_game_master_gets_folders_links_and_secrets(written: World, tmp_path: Path) -> None:
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    files = notes(tmp_path / "vault.zip")
    bell = files["North/Relics/The Bell.md"]
    assert "[[Carrow Ford|the ford]]" in bell
    assert "> [!secret] party:lanternbearers\n> It is cracked." in bell
    assert "> [!secret]\n> It is hollow." in bell
    assert "status: published" in bell
    # A colon is not allowed in a file name, and an alias leads nowhere by itself.
    assert "[[까마귀 새|까마귀]]" in files["Ведьма.md"]
    assert "The Traitor.md" in files


def test_a_party_gets_what_it_may_know(written: World, lanternbearers: Any, tmp_path: Path) -> None:
    audience = Audience("party", "lanternbearers")
    lines = {"audience": audience, "campaign": lanternbearers.campaign}
    write_vault(written, tmp_path / "vault.zip", **lines)
    everything = "\n".join(notes(tmp_path / "vault.zip").values())
    assert "It is cracked." in everything
    for hidden in ("hollow", "Traitor", "Nobody knows", "visibility", "revealed_to", "[!secret]"):
        assert hidden not in everything


def test_folders_and_tags_are_for_game_masters(written: World, tmp_path: Path) -> None:
    """They may say what players do not know, and no page shows them to players."""
    Lore.objects.filter(title="Carrow Ford").update(folder="Villains/Lairs", tags=["betrayal"])
    write_vault(written, tmp_path / "gm.zip", audience=GM)
    assert "betrayal" in notes(tmp_path / "gm.zip")["Villains/Lairs/Carrow Ford.md"]
    write_vault(written, tmp_path / "players.zip", audience=Audience("party", "lanternbearers"))
    files = notes(tmp_path / "players.zip")
    assert "[[The Bell]]" in files["Carrow Ford.md"]
    assert not re.search("villain|lair|betrayal", str(files), re.IGNORECASE)


def test_people_are_notes_with_their_fields(written: World, mira: NPC, tmp_path: Path) -> None:
    NPC.objects.filter(pk=mira.pk).update(role="Ferrier", goals=["Cross, once more"])
    Secret.objects.create(world=written, npc=mira, text="She owes the river.")
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    note = notes(tmp_path / "vault.zip")["People/Mira Voss.md"]
    assert "role: Ferrier" in note
    assert "- Cross, once more" in note
    assert "> [!npc-secret]\n> She owes the river." in note


def test_the_importer_makes_the_same_entries_of_it(written: World, tmp_path: Path) -> None:
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    other = cast.create_world(slug="other", name="Other")
    party = cast.create_campaign(other)
    cast.create_party(party)
    import_path(other, tmp_path / "vault.zip", ImportOptions())

    def entries(world: World) -> dict[str, Any]:
        return {
            row.title: (row.kind, row.folder, row.tags, row.aliases, row.body.split())
            for row in Lore.objects.filter(world=world)
        }

    before, after = entries(written), entries(other)
    assert before.keys() == after.keys()
    assert after["The Bell"] == before["The Bell"]
    assert after["Carrow Ford"] == before["Carrow Ford"]
    for title in before:
        assert after[title][:3] == before[title][:3]


def test_a_vault_that_nobody_changed_changes_nothing(written: World, tmp_path: Path) -> None:
    ruin = LoreIn(
        title="Bell Ruin",
        kind="place",
        folder="South",
        body="It fell.\n\n:::secret\nOn purpose.\n:::\n\nNobody rang.",
        visibility="public",
        extra={"status": "ruined", "population": 4, "seen": ["Ash", "Rain"]},
    )
    upsert_lore(written, ruin)
    tongue = LoreIn(title="Eel Law", body="Fish first.", extra={"language": "Old Salt"})
    upsert_lore(written, tongue)
    columns = ("title", "kind", "tags", "aliases", "language", "extra", "body", "visibility")

    def entries() -> list[Any]:
        return list(Lore.objects.filter(world=written).order_by("title").values_list(*columns))

    # The title with a colon cannot be the name of a file, which becomes an alias and is linked.
    Lore.objects.filter(title__in=["까마귀: 새", "Ведьма"]).delete()
    before = entries()
    for _time in range(2):
        write_vault(written, tmp_path / "vault.zip", audience=GM)
        report = import_path(written, tmp_path / "vault.zip", ImportOptions())
        assert entries() == before
        assert report.counts()["lore"] == {"unchanged": 5}

    other = cast.create_world(slug="other", name="Other")
    import_path(other, tmp_path / "vault.zip", ImportOptions())
    assert Lore.objects.get(world=other, title="Bell Ruin").extra == ruin.extra
    assert Lore.objects.get(world=other, title="Eel Law").extra == tongue.extra


def test_links_and_pictures_in_tables_keep_their_bars(written: World, tmp_path: Path) -> None:
    table = (
        "| Who | Where |\n|---|---|\n| [[Carrow Ford\\|the ford]] | [[까마귀]] |\n\n"
        "[[Carrow Ford|ford]]"
    )
    upsert_lore(written, LoreIn(title="Rota", body=table))
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    note = notes(tmp_path / "vault.zip")["Rota.md"]
    assert "| [[Carrow Ford\\|the ford]] | [[까마귀 새\\|까마귀]] |" in note
    assert "[[Carrow Ford|ford]]" in note


def test_links_keep_their_heading_and_their_folder(written: World, tmp_path: Path) -> None:
    upsert_lore(written, LoreIn(title="Carrow Ford", slug="other", folder="South"))
    text = "[[Ведьма#Дом]] [[South/Carrow Ford|the other]] [[North/Carrow Ford]]"
    upsert_lore(written, LoreIn(title="Rota", body=text))
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    note = notes(tmp_path / "vault.zip")["Rota.md"]
    assert "[[Ведьма#Дом]]" in note
    path = {name for name in notes(tmp_path / "vault.zip") if "Carrow Ford" in name}
    assert path == {"North/Carrow Ford.md", "South/Carrow Ford (2).md"} or path == {
        "North/Carrow Ford (2).md",
        "South/Carrow Ford.md",
    }
    for name in path:
        assert f"[[{name.removesuffix('.md')}|" in note


@pytest.mark.parametrize(
    ("text", "callout"),
    [
        ("Wet. :::secret\nDeep.\n:::", "Wet. \n\n> [!secret]\n> Deep."),
        ("- Wet.\n  :::secret\n  Deep.\n  :::\n- Dry.", "  > [!secret]\n  > Deep.\n\n- Dry."),
        (
            ":::secret party:lanternbearers\nWet.\n:::\n:::secret\nDeep.\n:::\nDry.",
            "> [!secret] party:lanternbearers\n> Wet.\n\n> [!secret]\n> Deep.\n\nDry.",
        ),
    ],
    ids=["within a line", "in a list", "below another"],
)
def test_a_secret_is_a_callout_of_its_own(
    world: World, tmp_path: Path, text: str, callout: str
) -> None:
    upsert_lore(world, LoreIn(title="Mine", body=text))
    write_vault(world, tmp_path / "vault.zip", audience=GM)
    assert callout in notes(tmp_path / "vault.zip")["Mine.md"]


def test_the_data_of_an_entry_is_for_game_masters(written: World, tmp_path: Path) -> None:
    bell = Lore.objects.get(title="The Bell")
    bell.extra = {"curse": "deafness", "gallery": "in the keep"}
    save_entry(bell)
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    assert "curse: deafness" in notes(tmp_path / "vault.zip")["North/Relics/The Bell.md"]
    write_vault(written, tmp_path / "public.zip", audience=PUBLIC)
    assert "deafness" not in notes(tmp_path / "public.zip")["The Bell.md"]


def test_pictures_come_back_and_hidden_ones_stay_hidden(world: World, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/Mine.md").write_text("![[gate.png]]\n\n> [!secret]\n> ![[lair.png]]\n")
    for name, colour in (("gate.png", "red"), ("lair.png", "black")):
        (tmp_path / "in" / name).write_bytes(image_bytes(colour=colour))
    chosen = ImportOptions(visibility="public", status="published")
    import_path(world, tmp_path / "in", chosen)
    mine = Lore.objects.get(title="Mine")
    for colour, is_hidden in (("green", False), ("blue", True)):
        picture = store_picture(world, image_bytes(colour=colour), name=f"{colour}.png")
        place_picture(picture, mine, is_hidden=is_hidden)

    write_vault(world, tmp_path / "vault.zip", audience=GM)
    assert import_path(world, tmp_path / "vault.zip", chosen).counts()["lore"] == {"unchanged": 1}
    other = cast.create_world(slug="other", name="Other")
    import_path(other, tmp_path / "vault.zip", chosen)
    pictures = Picture.objects.filter(world=other)
    seen = {
        name.partition("-")[0]
        for name in pictures.visible_to(PUBLIC).values_list("name", flat=True)
    }
    assert seen == {"gate", "green"}
    assert pictures.count() == 4
    assert Lore.objects.get(world=other).extra == {}


def test_a_renamed_entry_is_found_again(written: World, tmp_path: Path) -> None:
    bell = Lore.objects.get(title="The Bell")
    bell.title, bell.aliases = "The Broken Bell", ["The Bell"]
    save_entry(bell)
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    report = import_path(written, tmp_path / "vault.zip", ImportOptions())
    assert "created" not in report.counts()["lore"]
    assert Lore.objects.get(title="The Broken Bell").slug == "the-bell"
    write_vault(written, tmp_path / "public.zip", audience=PUBLIC)
    assert "the-bell" not in "".join(notes(tmp_path / "public.zip").values())


def test_what_players_may_not_know_stays_hidden_in_another_world(
    written: World, lanternbearers: Any, tmp_path: Path
) -> None:
    shown = {"status": "published", "visibility": "revealed", "known_to": ["party:lanternbearers"]}
    upsert_lore(written, LoreIn(title="Cave", body="Wet.", **shown))
    upsert_lore(written, LoreIn(title="Sketch", body="Thin.", visibility="public", status="draft"))
    write_vault(written, tmp_path / "vault.zip", audience=GM)
    other = cast.create_world(slug="other", name="Other")
    chosen = ImportOptions(visibility="public", status="published")
    import_path(other, tmp_path / "vault.zip", chosen)
    hidden = Lore.objects.filter(world=other).exclude(visibility="public")
    assert set(hidden.values_list("title", flat=True)) == {"The Traitor", "Cave", "Sketch"}


@pytest.mark.parametrize("kind", ["biography", "place"])
def test_the_npc_of_an_entry_keeps_what_is_its_own(
    written: World, mira: NPC, tmp_path: Path, kind: str
) -> None:
    home = LoreIn(title="Mira Voss", kind=kind, body="She whistles.", visibility="public")
    entry, _outcome = upsert_lore(written, home)
    values = {
        "role": "Ferrier",
        "goals": ["Cross, once more"],
        "voice": "Short.",
        "biography": entry,
    }
    NPC.objects.filter(pk=mira.pk).update(**values)
    Secret.objects.create(world=written, npc=mira, text="She owes the river.")
    for _time in range(2):
        write_vault(written, tmp_path / "vault.zip", audience=GM)
        import_path(written, tmp_path / "vault.zip", ImportOptions())
        entry.refresh_from_db()
        assert (entry.body, entry.extra) == ("She whistles.", {})

    other = cast.create_world(slug="other", name="Other")
    for _time in range(2):
        report = import_path(other, tmp_path / "vault.zip", ImportOptions())
    assert set(report.counts()["lore"]) == {"unchanged"}
    arrived = Lore.objects.get(world=other, title="Mira Voss")
    if kind == "place":
        assert arrived.body == "She whistles.\n\n:::secret\nShe owes the river.\n:::"
        assert arrived.extra["voice"] == "Short."
        return
    assert arrived.body == "She whistles."
    copy = NPC.objects.get(world=other, name="Mira Voss")
    assert (copy.role, copy.goals, copy.voice) == ("Ferrier", ["Cross, once more"], "Short.")
    assert [secret.text for secret in copy.secrets.all()] == ["She owes the river."]
