"""The pages of an import: upload, mapping, check, import, undo; who may open them; bad uploads."""

import io
import os
import time
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from art.models import Picture, PictureUse
from art.pictures import file_names, place_picture
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.models import Lore, LorePassage
from knowledge.trash import trash_lore
from memory_site import tasks
from memory_site.imports.runs import unfinished_runs
from npcs.models import NPC
from tests.art.image_samples import image_bytes
from worlds.audiences import PUBLIC, Audience
from worlds.models import Character, ImportedRow, ImportRun, Membership, Party, World

VAULT = {
    "Places/The Quay.md": "---\naliases: [Low Quay]\n---\n"
    "Wet. See [[Mira Voss]] and [[Nobody]].\n\n"
    "> [!secret] Below\n> Mined by [[Mira Voss]].\n",
    "People/Mira Voss.md": '---\ntype: character\nlocation: "[[The Quay]]"\nmood: grim\n'
    "---\nA clerk.",
    "Люди/Ганс.md": "Перевозчик с пристани.",
    "지역/등대.md": "등대지기가 산다.",
    "Bad.md": "---\ntitle: x\ntags: [a\n---\nText.",
}


PICTURES = {
    "Places/The Quay.md": "Wet.\n\n![A gate](../img/gate.png)\n",
    "Places/Mine.md": "Deep.\n\n> [!secret] Below\n> ![[mine.png]]\n",
    "img/gate.png": image_bytes(colour="red"),
    "img/mine.png": image_bytes(colour="black"),
}


def archive(files: dict[str, str | bytes]) -> SimpleUploadedFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return SimpleUploadedFile("vault.zip", content.getvalue())


@pytest.fixture
def anna(world: World) -> Client:
    user = get_user_model().objects.create_user("anna")
    Membership.objects.create(user=user, world=world, role="designer")
    client = Client()
    client.force_login(user)
    return client


Upload = Callable[..., ImportRun]


@pytest.fixture
def upload(anna: Client, world: World) -> Upload:
    """Upload files and let the worker read them."""

    def send(*files: SimpleUploadedFile) -> ImportRun:
        answer = anna.post(reverse("imports", args=[world.slug]), {"files": list(files)})
        assert answer.status_code == 302, answer.content.decode()
        run = ImportRun.objects.latest("created_at", "pk")
        tasks.read_import(str(run.pk))
        run.refresh_from_db()
        return run

    return send


def press(client: Client, run: ImportRun, step: str, **data: Any) -> ImportRun:
    """Press the button of a step and let the worker do it."""
    client.post(reverse(f"import-{step}", args=[run.world.slug, run.pk]), data)
    {"check": tasks.check_import, "write": tasks.write_import, "undo": tasks.undo_import}[step](
        str(run.pk)
    )
    run.refresh_from_db()
    return run


def show(client: Client, run: ImportRun) -> str:
    answer = client.get(reverse("import-run", args=[run.world.slug, run.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


KEEP = {"people": "on", "pictures": "on"}


class TestAVault:
    def test_what_was_recognised_is_shown_with_the_fault_of_the_bad_file(
        self, anna: Client, upload: Upload
    ) -> None:
        run = upload(archive(VAULT))
        page = show(anna, run)
        assert run.state == "ready"
        assert "Bad.md:4" in page
        assert "not YAML" in page
        assert 'name="kind:folder:places"' in page
        assert 'name="callout:secret"' in page
        assert 'name="field:mood"' in page
        assert not Lore.objects.exists()

    def test_a_check_tells_everything_and_stores_nothing(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, upload(archive(VAULT)), "check", **KEEP)
        assert run.state == "checked"
        assert run.report["written"]["counts"]["lore"] == {"created": 4}
        assert run.report["written"]["counts"]["npc"] == {"created": 2}
        assert "Nobody" in show(anna, run)
        assert not Lore.objects.exists()
        assert not ImportedRow.objects.exists()

    def test_people_become_npcs_with_entity_and_relation(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, upload(archive(VAULT)), "check", visibility="public", **KEEP)
        run = press(anna, run, "write")
        assert run.state == "done", run.report.get("failure")
        mira = NPC.objects.get(slug="mira-voss")
        assert mira.biography is not None
        assert (mira.biography.kind, mira.biography.visibility) == ("biography", "public")
        assert mira.visibility == "gm"  # until the draft is published
        assert mira.biography.extra == {"mood": "grim"}
        edge = GraphEdge.objects.get()
        assert (edge.src.name, edge.relation_id, edge.dst.name) == (
            "Mira Voss",
            "LOCATED_IN",
            "The Quay",
        )
        assert Lore.objects.get(title="등대").folder == "지역"
        assert LorePassage.objects.filter(text__contains="Mined", secret=True).exists()
        assert "Mira Voss" in show(anna, run)

    def test_every_place_person_and_thing_is_an_entity(self, anna: Client, upload: Upload) -> None:
        files = {**VAULT, "Places/Mine.md": "Deep.", "Laws/Toll.md": "Pay.", "Items/Oar.md": "Wet."}
        run = press(anna, upload(archive(files)), "check", visibility="public")
        run = press(anna, run, "write")
        assert run.report["written"]["counts"]["entity"]["created"] == 6
        kinds = dict(GraphNode.objects.values_list("name", "kind"))
        assert (kinds["Mine"], kinds["Oar"], kinds["Ганс"]) == ("Location", "Item", "Character")
        assert "Toll" not in kinds
        mine = GraphNode.objects.get(name="Mine")
        assert mine.lore == Lore.objects.get(title="Mine")
        # The entry is a draft: until it is published its name is the game master's alone.
        assert mine.visibility == "gm"

    def test_an_entity_that_has_no_page_yet_becomes_that_of_the_entry(
        self, anna: Client, upload: Upload, world: World
    ) -> None:
        values = {"world": world, "kind": "Location", "slug": "old", "name": "the quay"}
        GraphNode.objects.create(**values, aliases=["Docks"])
        run = press(anna, press(anna, upload(archive(VAULT)), "check", **KEEP), "write")
        quay = GraphNode.objects.get(slug="old")
        assert (quay.name, quay.lore, quay.aliases) == (
            "The Quay",
            Lore.objects.get(title="The Quay"),
            ["Low Quay"],
        )
        assert GraphNode.objects.filter(kind="Location", lore=quay.lore).count() == 1
        press(anna, run, "undo")
        quay = GraphNode.objects.get()
        assert (quay.name, quay.lore, quay.aliases) == ("the quay", None, ["Docks"])

    def test_the_mapping_decides_kind_secret_and_field(
        self, anna: Client, upload: Upload, lanternbearers: Party
    ) -> None:
        chosen = {
            "kind:folder:люди": "faction",
            "callout:secret": "party:lanternbearers",
            "field:mood": "tag",
            "field:location": "extra",
            "status": "published",
        }
        run = press(anna, upload(archive(VAULT)), "check", **chosen, **KEEP)
        press(anna, run, "write")
        assert Lore.objects.get(title="Ганс").kind == "faction"
        assert ":::secret party:lanternbearers" in Lore.objects.get(title="The Quay").body
        mira = Lore.objects.get(title="Mira Voss")
        assert (mira.tags, mira.extra) == (["grim"], {"location": "[[The Quay]]"})
        assert mira.status == "published"

    @pytest.mark.parametrize(
        ("chosen", "who"),
        [
            ({"visibility": "gm", "status": "published"}, set()),
            ({"visibility": "public", "status": "draft"}, set()),
            ({"visibility": "public", "status": "published"}, {"party", "public"}),
            ({"visibility": "party:lanternbearers", "status": "published"}, {"party"}),
            ({"visibility": "character:tobin", "status": "published"}, {"character"}),
        ],
    )
    def test_its_pictures_are_for_those_who_may_see_the_entry(
        self,
        anna: Client,
        upload: Upload,
        lanternbearers: Party,
        chosen: dict[str, str],
        who: set[str],
    ) -> None:
        world = lanternbearers.world
        Character.objects.create(world=world, party=None, slug="tobin", name="Tobin")
        pat = get_user_model().objects.create_user("pat")
        values = {"world": world, "role": "player", "party": lanternbearers}
        Membership.objects.create(user=pat, **values)
        press(anna, press(anna, upload(archive(PICTURES)), "check", **chosen, **KEEP), "write")
        gate = Picture.objects.get(name="gate.png")
        assert f"picture:{gate.pk}" in Lore.objects.get(title="The Quay").body
        assert gate.visibility == "gm"
        audiences = {
            "party": Audience("party", "lanternbearers"),
            "character": Audience("character", "tobin"),
            "public": PUBLIC,
        }
        seen = {
            name
            for name, audience in audiences.items()
            if Picture.objects.visible_to(audience).filter(pk=gate.pk).exists()
        }
        assert seen - ({"character"} if "public" in who else set()) == who
        player = Client()
        player.force_login(pat)
        address = reverse("picture", args=[gate.world.slug, gate.pk])
        assert anna.get(address).status_code == 200
        assert player.get(address).status_code == (200 if "party" in who else 404)

    def test_a_picture_inside_a_secret_stays_the_game_masters(
        self, anna: Client, upload: Upload
    ) -> None:
        chosen = {"visibility": "public", "status": "published"}
        press(anna, press(anna, upload(archive(PICTURES)), "check", **chosen, **KEEP), "write")
        mine = Picture.objects.get(name="mine.png")
        assert not Picture.objects.visible_to(PUBLIC).filter(pk=mine.pk).exists()

    def test_a_picture_in_a_table_has_its_bar_escaped(self, anna: Client, upload: Upload) -> None:
        row = "| Gate | Size |\n|---|---|\n| ![[gate.png\\|80]] | ![[gate.png\\|Iron]] |\n"
        files = {"Gate.md": row, "img/gate.png": image_bytes(colour="red")}
        press(anna, press(anna, upload(archive(files)), "check", **KEEP), "write")
        gate = Picture.objects.get(name="gate.png")
        row = f"| ![](picture:{gate.pk}) | ![Iron](picture:{gate.pk}) |"
        assert row in Lore.objects.get(title="Gate").body

    def test_one_bad_file_refuses_the_whole_if_the_designer_wants_that(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, upload(archive(VAULT)), "check", bad_files="refuse")
        run = press(anna, run, "write")
        assert run.state == "checked"
        assert "Bad.md:4" in run.report["failure"]
        assert not Lore.objects.exists()

    def test_importing_twice_changes_nothing(self, anna: Client, upload: Upload) -> None:
        for outcome in ("created", "unchanged"):
            run = press(anna, upload(archive(VAULT)), "check", **KEEP)
            run = press(anna, run, "write")
            assert run.report["written"]["counts"]["lore"] == {outcome: 4}
        assert (NPC.objects.count(), GraphEdge.objects.count()) == (2, 1)

    def test_entries_that_exist_can_be_left_as_they_are(
        self, anna: Client, upload: Upload, write: Callable[..., Lore]
    ) -> None:
        write("The Quay", "Mine.")
        run = press(anna, upload(archive(VAULT)), "check", existing="skip")
        run = press(anna, run, "write")
        assert run.report["written"]["counts"]["lore"] == {"created": 3, "skipped": 1}
        assert Lore.objects.get(title="The Quay").body == "Mine."


class TestUndo:
    def test_everything_that_an_import_did_is_undone(
        self, anna: Client, upload: Upload, write: Callable[..., Lore]
    ) -> None:
        quay = write("The Quay", "Mine.", aliases=["Quayside"])
        run = press(anna, press(anna, upload(archive(VAULT)), "check", **KEEP), "write")
        assert Lore.objects.count() == 4
        run = press(anna, run, "undo")
        assert run.state == "undone", run.report.get("failure")
        quay.refresh_from_db()
        assert (quay.body, quay.aliases, quay.visibility) == ("Mine.", ["Quayside"], "public")
        assert Lore.objects.get() == quay
        assert not NPC.objects.exists()
        assert not GraphEdge.objects.exists()
        assert not GraphNode.objects.exists()
        assert LorePassage.objects.get().text == "Mine."

    def test_what_was_changed_by_hand_stays_until_confirmed(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, press(anna, upload(archive(VAULT)), "check"), "write")
        Lore.objects.filter(title="Ганс").update(body="Теперь капитан.")
        run = press(anna, run, "undo")
        assert [row[2] for row in run.report["kept"]] == ["Ганс"]
        assert Lore.objects.get().title == "Ганс"
        assert "Ганс" in show(anna, run)
        run = press(anna, run, "undo", also=[row[0] for row in run.report["kept"]])
        assert not Lore.objects.exists()
        assert run.report["kept"] == []

    def test_an_entry_that_stays_keeps_its_person_and_its_entity(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, press(anna, upload(archive(VAULT)), "check", **KEEP), "write")
        Lore.objects.filter(title__in=["Mira Voss", "The Quay"]).update(body="By hand.")
        run = press(anna, run, "undo")
        assert {row[2] for row in run.report["kept"]} == {"Mira Voss", "The Quay"}
        assert NPC.objects.get().biography == Lore.objects.get(title="Mira Voss")
        assert set(GraphNode.objects.values_list("name", flat=True)) == {"Mira Voss", "The Quay"}
        run = press(anna, run, "undo", all="1")
        assert not Lore.objects.exists()
        assert not NPC.objects.exists()
        assert not GraphNode.objects.exists()

    def test_all_that_stays_can_be_undone_also_when_the_page_lists_only_some(
        self, anna: Client, upload: Upload, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memory_site.imports.undo.MOST_LISTED", 1)
        run = press(anna, press(anna, upload(archive(VAULT)), "check", **KEEP), "write")
        Lore.objects.update(body="By hand.")
        run = press(anna, run, "undo")
        assert (len(run.report["kept"]), run.report["unlisted"]) == (1, 3)
        assert "and 3 more" in show(anna, run)
        press(anna, run, "undo", all="1")
        assert not Lore.objects.exists()

    def test_what_somebody_tied_to_an_imported_thing_goes_when_confirmed(
        self, anna: Client, upload: Upload, write: Callable[..., Lore]
    ) -> None:
        harbour = write("The Harbour", "Old.", kind="place")
        run = press(anna, press(anna, upload(archive(VAULT)), "check", **KEEP), "write")
        for slug in ("mira-voss", "the-quay"):
            fields = {"words": "was seen from", "other": harbour.slug}
            anna.post(reverse("relation-add", args=[run.world.slug, slug]), fields)
        assert GraphEdge.objects.filter(label="was seen from").count() == 2
        run = press(anna, run, "undo")
        assert {row[2] for row in run.report["kept"]} == {"Mira Voss", "The Quay"}
        assert GraphEdge.objects.filter(label="was seen from").count() == 2
        run = press(anna, run, "undo", all="1")
        assert run.report["kept"] == []
        assert not GraphEdge.objects.exists()
        assert [node.name for node in GraphNode.objects.all()] == ["The Harbour"]

    def test_pictures_and_their_files_go_with_the_import(
        self, anna: Client, upload: Upload, django_capture_on_commit_callbacks: Any
    ) -> None:
        run = press(anna, press(anna, upload(archive(PICTURES)), "check", **KEEP), "write")
        files = [name for picture in Picture.objects.all() for name in file_names(picture)]
        assert len(files) >= 4
        assert all(map(default_storage.exists, files))
        with django_capture_on_commit_callbacks(execute=True):
            press(anna, run, "undo")
        assert not Picture.objects.exists()
        assert not PictureUse.objects.exists()
        assert not any(map(default_storage.exists, files))

    def test_a_picture_that_something_shows_by_now_stays(
        self,
        anna: Client,
        upload: Upload,
        write: Callable[..., Lore],
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        run = press(anna, press(anna, upload(archive(PICTURES)), "check", **KEEP), "write")
        mine, gate = (Picture.objects.get(name=name) for name in ("mine.png", "gate.png"))
        # In a gallery of another entry, and in a text that was moved to the trash.
        place_picture(mine, write("The Harbour", "Old."))
        trash_lore([write("The Pier", f"![Gate](picture:{gate.pk})")], by="anna")
        with django_capture_on_commit_callbacks(execute=True):
            run = press(anna, run, "undo")
        assert run.report["kept"] == []
        assert set(Picture.objects.present()) == {mine, gate}
        assert all(map(default_storage.exists, file_names(mine)))
        PictureUse.objects.all().delete()
        with django_capture_on_commit_callbacks(execute=True):
            press(anna, run, "undo")
        assert set(Picture.objects.all()) == {gate}
        assert not any(map(default_storage.exists, file_names(mine)))

    def test_the_pictures_of_an_entry_that_stays_stay_with_it(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, press(anna, upload(archive(PICTURES)), "check", **KEEP), "write")
        quay = Lore.objects.get(title="The Quay")
        quay.body += "\n\nBy hand."
        save_entry(quay)
        run = press(anna, run, "undo")
        assert [picture.name for picture in Picture.objects.all()] == ["gate.png"]
        press(anna, run, "undo", all="1")
        assert not Picture.objects.exists()

    def test_an_undone_import_can_be_imported_again(self, anna: Client, upload: Upload) -> None:
        run = press(anna, press(anna, upload(archive(VAULT)), "check"), "write")
        press(anna, run, "undo")
        again = press(anna, press(anna, upload(archive(VAULT)), "check"), "write")
        assert again.report["written"]["counts"]["lore"] == {"created": 4}


class TestWhoMayImport:
    def test_players_strangers_and_viewers_as_a_party_get_no_page(
        self, anna: Client, upload: Upload, lanternbearers: Party
    ) -> None:
        run = upload(archive(VAULT))
        users = get_user_model().objects
        pat, stranger = users.create_user("pat"), users.create_user("stranger")
        world = run.world
        Membership.objects.create(user=pat, world=world, role="player", party=lanternbearers)
        anna.post(reverse("view-as", args=[world.slug]), {"as": "party:lanternbearers"})
        clients = [anna]
        for user in (pat, stranger):
            clients.append(Client())
            clients[-1].force_login(user)
        addresses = [
            reverse("imports", args=[world.slug]),
            *(
                reverse(f"import-{step}", args=[world.slug, run.pk])
                for step in ("run", "progress", "check", "write", "undo", "delete")
            ),
        ]
        for client in clients:
            for address in addresses:
                assert client.post(address).status_code == 404
        assert Client().get(addresses[0]).status_code == 302

    def test_an_import_of_another_world_is_not_found(
        self, anna: Client, upload: Upload, world: World
    ) -> None:
        run = upload(archive(VAULT))
        other = World.objects.create(slug="other", name="Other")
        ImportRun.objects.filter(pk=run.pk).update(world=other)
        answer = anna.get(reverse("import-run", args=[world.slug, run.pk]))
        assert answer.status_code == 404


class TestBadUploads:
    def test_no_file_is_a_message(self, anna: Client, world: World) -> None:
        answer = anna.post(reverse("imports", args=[world.slug]))
        assert answer.status_code == 400
        assert "Choose a file" in answer.content.decode()

    def test_a_broken_archive_fails_with_its_name(self, anna: Client, upload: Upload) -> None:
        content = archive({"a.md": "x"}).read()[:-30]
        run = upload(SimpleUploadedFile("broken.zip", content))
        page = show(anna, run)
        assert run.state in ("failed", "ready")
        assert "broken.zip" in page

    def test_unsafe_and_huge_members_are_left_out_and_named(
        self, anna: Client, upload: Upload
    ) -> None:
        bomb = "0" * 40_000_000
        run = upload(archive({"../../etc/x.md": "out", "bomb.md": bomb, "Good.md": "Fine."}))
        messages = {row[0]: row[2] for row in run.report["reading"]["problems"]["list"]}
        assert "leads out" in messages["../../etc/x.md"]
        assert "far more than its size" in messages["bomb.md"]
        assert run.report["reading"]["entries"] == 1

    def test_links_in_an_archive_are_left_out(self, anna: Client, upload: Upload) -> None:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as packed:
            link = zipfile.ZipInfo("secret.md")
            link.external_attr = 0o120777 << 16
            packed.writestr(link, "/etc/passwd")
            packed.writestr("Good.md", "Fine.")
        run = upload(SimpleUploadedFile("links.zip", content.getvalue()))
        assert run.report["reading"]["entries"] == 1
        assert "link to another file" in run.report["reading"]["problems"]["list"][0][2]

    def test_other_encodings_are_read_with_a_note(self, anna: Client, upload: Upload) -> None:
        files = {
            "ru.md": "Пристань и колокол у реки".encode("cp1251"),
            "ko.md": "등대지기가 산다 그리고".encode("cp949"),
            "wide.md": "Wet quay".encode("utf-16"),
            "west.md": "Café noir".encode("cp1252"),
        }
        run = press(anna, upload(archive(files)), "check")
        press(anna, run, "write")
        bodies = dict(Lore.objects.values_list("title", "body"))
        assert bodies == {
            "ru": "Пристань и колокол у реки",
            "ko": "등대지기가 산다 그리고",
            "wide": "Wet quay",
            "west": "Café noir",
        }
        assert run.report["problems"]["notes"] == 4

    def test_html_in_names_and_formulas_are_text(self, anna: Client, upload: Upload) -> None:
        name = "<script>alert(1)</script>"
        table = f'title,body\n"{name}","=HYPERLINK(""http://x"")"\n'
        run = upload(SimpleUploadedFile("t.csv", table.encode()))
        run = press(anna, press(anna, run, "check"), "write")
        assert Lore.objects.get().body == '=HYPERLINK("http://x")'
        assert name not in show(anna, run)

    def test_a_name_that_two_claim_is_reported_and_both_stay(
        self, anna: Client, upload: Upload
    ) -> None:
        files = {
            "Mira.md": "---\naliases: [The Clerk]\n---\nA.",
            "Jory.md": "---\naliases: [the clerk]\n---\nB.",
        }
        run = press(anna, upload(archive(files)), "check")
        [(file, _line, message, is_error)] = run.report["problems"]["list"]
        assert not is_error
        assert {"Jory.md", "Mira.md"} == {file, *(x for x in files if x in message)}

    def test_a_worker_that_gets_a_message_twice_does_the_step_once(
        self, anna: Client, upload: Upload
    ) -> None:
        run = press(anna, press(anna, upload(archive(VAULT)), "check"), "write")
        tasks.write_import(str(run.pk))
        assert ImportedRow.objects.filter(run=run, kind="lore").count() == 4

    def test_an_import_that_breaks_leaves_nothing(
        self, anna: Client, upload: Upload, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = press(anna, upload(archive(VAULT)), "check")

        def fail(*_args: Any, **_options: Any) -> None:
            raise RuntimeError("the last file")

        monkeypatch.setattr("memory_site.imports.write.RelationWriter.write", fail)
        run = press(anna, run, "write")
        assert run.state == "checked"
        assert "Nothing was changed" in run.report["failure"]
        assert not Lore.objects.exists()
        assert not ImportedRow.objects.exists()


def test_several_files_are_one_import(anna: Client, upload: Upload) -> None:
    run = upload(SimpleUploadedFile("Mira.md", b"A clerk."), SimpleUploadedFile("Quay.md", b"Wet."))
    assert run.report["reading"]["entries"] == 2
    assert "Mira.md" in run.file_name


def test_the_progress_bar_stops_when_the_step_is_over(anna: Client, upload: Upload) -> None:
    run = upload(archive(VAULT))
    address = reverse("import-progress", args=[run.world.slug, run.pk])
    answer = anna.get(address)
    assert answer.status_code == 286
    assert answer["HX-Redirect"] == reverse("import-run", args=[run.world.slug, run.pk])
    ImportRun.objects.update(state="importing", progress=40)
    answer = anna.get(address)
    assert answer.status_code == 200
    assert "40" in answer.content.decode()


class TestTheUploadedFile:
    def test_an_upload_that_is_thrown_away_is_deleted_with_its_file(
        self,
        anna: Client,
        upload: Upload,
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        run = upload(archive(VAULT))
        with django_capture_on_commit_callbacks(execute=True):
            anna.post(reverse("import-delete", args=[run.world.slug, run.pk]))
        assert not ImportRun.objects.exists()
        assert not default_storage.exists(str(run.file))

    @pytest.mark.parametrize("days", [29, 31])
    def test_it_is_deleted_by_the_clock_and_the_import_can_still_be_undone(
        self,
        anna: Client,
        upload: Upload,
        django_capture_on_commit_callbacks: Any,
        days: int,
    ) -> None:
        waiting = upload(archive(VAULT))
        done = press(anna, press(anna, upload(archive(VAULT)), "check"), "write")
        created_at = timezone.now() - timedelta(days=days)
        ImportRun.objects.update(created_at=created_at)
        with django_capture_on_commit_callbacks(execute=True):
            deleted = tasks.delete_old_uploads()
        assert deleted["uploads"] == (2 if days > 30 else 0)
        files = [str(run.file) for run in (waiting, done)]
        assert [default_storage.exists(name) for name in files] == [days < 30] * 2
        assert ImportRun.objects.filter(pk=waiting.pk).exists() == (days < 30)
        assert "The Quay" in show(anna, done)
        press(anna, done, "undo")
        assert not Lore.objects.exists()

    def test_it_is_deleted_when_the_import_is_undone(
        self,
        anna: Client,
        upload: Upload,
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        run = press(anna, press(anna, upload(archive(VAULT)), "check"), "write")
        name = str(run.file)
        assert default_storage.exists(name)
        with django_capture_on_commit_callbacks(execute=True):
            run = press(anna, run, "undo")
        assert not default_storage.exists(name)
        assert not run.file

    def test_a_file_whose_world_is_gone_is_deleted(self, upload: Upload) -> None:
        run = upload(archive(VAULT))
        ImportRun.objects.all().delete()
        assert tasks.delete_old_uploads()["files"] == 0, "young files may still be written"
        path = Path(default_storage.path(str(run.file)))
        old = time.time() - 2 * 86_400
        os.utime(path, (old, old))
        assert tasks.delete_old_uploads()["files"] == 1
        assert not path.exists()

    def test_the_worker_does_it_by_the_clock(self) -> None:
        tasks_of_clock = {each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()}
        assert "memory_site.tasks.delete_old_uploads" in tasks_of_clock


class TestAWorkerThatDies:
    """What it had begun was rolled back; the run is still in the state of that step."""

    @staticmethod
    def begin_long_ago(run: ImportRun, state: str, **values: Any) -> None:
        asked_at = timezone.now() - timedelta(minutes=2)
        ImportRun.objects.filter(pk=run.pk).update(state=state, started_at=asked_at, **values)

    @pytest.mark.parametrize("state", ["reading", "checking", "importing", "undoing"])
    def test_every_step_is_found_again_a_minute_later(self, upload: Upload, state: str) -> None:
        run = upload(archive(VAULT))
        assert unfinished_runs() == []
        ImportRun.objects.filter(pk=run.pk).update(state=state, started_at=timezone.now())
        assert unfinished_runs() == []
        self.begin_long_ago(run, state)
        assert unfinished_runs() == [run]

    def test_a_step_that_ends_its_worker_each_time_is_given_up(
        self, anna: Client, upload: Upload, world: World
    ) -> None:
        run = press(anna, upload(archive(VAULT)), "check", **KEEP)
        self.begin_long_ago(run, "importing", tries=3)
        tasks.write_import(str(run.pk))
        run.refresh_from_db()
        assert run.state == "checked"
        assert "each time" in run.report["failure"]
        assert "each time" in show(anna, run)
        assert press(anna, run, "write").state == "done", "a person may try once more"

    def test_an_attempt_that_fails_is_counted(self, anna: Client, upload: Upload) -> None:
        run = press(anna, upload(archive(VAULT)), "check", **KEEP)
        assert run.tries == 1
        tasks.write_import(str(run.pk))
        run.refresh_from_db()
        assert (run.state, run.tries) == ("checked", 1), "it was in no step that could begin"
