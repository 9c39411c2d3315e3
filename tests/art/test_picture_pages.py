"""Pages of pictures: who may upload, who is served which file, and what the buttons do."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth import get_user_model
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from art import pictures
from art.models import ArtCard, Picture, PictureUse
from art.pictures import change_picture, delete_pictures, place_picture, store_picture
from episodes.ingest import ingest_episode, retract_episode
from episodes.schemas import EpisodeIn
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from memory_site.archive.vault import write_vault
from npcs.models import NPC
from tests import cast
from tests.art.image_samples import SCRIPT, image_bytes
from tests.conftest import ApiClient
from worlds.audiences import Audience
from worlds.models import Campaign, Membership, Party, World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
Pages = dict[str, Client]


@pytest.fixture
def pages(world: World, lanternbearers: Party, gilded_oath: Party) -> Pages:
    """A browser for each kind of visitor."""
    members: dict[str, dict[str, Any]] = {
        "gm": {"role": "gm"},
        "designer": {"role": "designer"},
        "gm viewing as the party": {"role": "gm"},
        "player": {"role": "player", "party": lanternbearers},
        "other player": {"role": "player", "party": gilded_oath},
        "guest": {"role": "player"},
        "stranger": {},
    }
    clients = {"anonymous": Client()}
    for name, membership in members.items():
        user = get_user_model().objects.create_user(name)
        if membership:
            Membership.objects.create(user=user, world=world, **membership)
        clients[name] = Client()
        clients[name].force_login(user)
    clients["gm viewing as the party"].post(f"/w/{world.slug}/as/", {"as": "party:lanternbearers"})
    return clients


def write_entry(world: World, body: str = "", **fields: Any) -> Lore:
    shown = {"kind": "place", "status": "published", "visibility": "public", "title": "Mill"}
    entry = Lore(world=world, body=body, **{**shown, "slug": "mill", **fields})
    save_entry(entry)
    return entry


def who_sees(pages: Pages, picture: Picture, size: str = "") -> set[str]:
    url = f"/w/{picture.world.slug}/pictures/{picture.pk}/{size}"
    status = {name: client.get(url).status_code for name, client in pages.items()}
    assert status.pop("anonymous") == 302
    assert set(status.values()) <= {200, 404}
    return {name for name, code in status.items() if code == 200}


GMS = {"gm", "designer"}
PARTY = {"player", "gm viewing as the party"}
PAGES = ("lore/mill/", "handouts/", "new/", "known/")
EVERYONE = GMS | PARTY | {"other player", "guest"}


@pytest.fixture
def picture(world: World) -> Picture:
    return store_picture(world, image_bytes("PNG", (400, 300)), name="pier.png", alt="A pier")


@pytest.mark.parametrize("size", ["", "preview/", "thumbnail/"])
def test_a_picture_shown_nowhere_is_the_game_masters(
    pages: Pages, picture: Picture, size: str
) -> None:
    assert who_sees(pages, picture, size) == GMS


@pytest.mark.parametrize(
    ("fields", "seen_by"),
    [
        ({}, EVERYONE),
        ({"visibility": "gm"}, GMS),
        ({"status": "draft"}, GMS),
        ({"visibility": "revealed", "known_to": ["party:lanternbearers"]}, GMS | PARTY),
    ],
)
def test_whoever_sees_an_entry_sees_its_gallery(
    world: World, pages: Pages, picture: Picture, fields: dict[str, Any], seen_by: set[str]
) -> None:
    place_picture(picture, write_entry(world, **fields))
    assert who_sees(pages, picture) == seen_by


def test_an_overlay_shows_its_pictures_to_the_parties_of_its_campaign(
    world: World, pages: Pages, picture: Picture, gilded_oath: Party, campaign: Campaign
) -> None:
    other = cast.create_campaign(world, slug="high-water", name="High Water")
    Party.objects.filter(pk=gilded_oath.pk).update(campaign=other)
    place_picture(picture, write_entry(world, campaign=campaign))
    assert who_sees(pages, picture) == GMS | PARTY


def test_a_picture_hidden_in_a_gallery_is_the_game_masters_until_it_is_revealed(
    world: World, pages: Pages, picture: Picture
) -> None:
    entry = write_entry(world)
    place_picture(picture, entry, is_hidden=True)
    assert who_sees(pages, picture) == GMS
    reveal(picture, Audience("party", "lanternbearers"))
    assert who_sees(pages, picture) == GMS | PARTY
    shown = pages["player"].get(f"/w/{world.slug}/lore/mill/").content.decode()
    assert str(picture.pk) in shown
    assert str(picture.pk) not in pages["guest"].get(f"/w/{world.slug}/lore/mill/").content.decode()


def test_whoever_sees_an_npc_sees_its_portrait_and_a_secret_one_shows_nothing(
    world: World, pages: Pages, picture: Picture, mira: NPC, ninth_oarsman: NPC
) -> None:
    place_picture(picture, ninth_oarsman, is_portrait=True)
    assert who_sees(pages, picture) == GMS
    place_picture(picture, mira, is_portrait=True)
    assert who_sees(pages, picture) == EVERYONE


@pytest.mark.parametrize(
    ("moderation", "visibility", "seen_by"),
    [("approved", "public", EVERYONE), ("pending", "public", GMS), ("approved", "gm", GMS)],
)
def test_a_cards_picture_follows_the_card(
    world: World,
    pages: Pages,
    picture: Picture,
    moderation: str,
    visibility: str,
    seen_by: set[str],
) -> None:
    ArtCard.objects.create(
        world=world,
        external_id="art-pier",
        picture=picture,
        prompt_text="A pier",
        text="A pier",
        moderation=moderation,
        visibility=visibility,
    )
    assert who_sees(pages, picture) == seen_by


def test_a_picture_in_a_secret_is_for_those_who_know_the_secret(
    world: World, pages: Pages, picture: Picture
) -> None:
    secret = f":::secret party:lanternbearers\nThe map.\n\n![map](picture:{picture.pk})\n:::"
    write_entry(world, f"Everyone knows the mill.\n\n{secret}")
    assert who_sees(pages, picture) == GMS | PARTY
    assert who_sees(pages, picture, "thumbnail/") == GMS | PARTY
    url = f"/w/{world.slug}/lore/mill/"
    assert f"/pictures/{picture.pk}/preview/" in pages["player"].get(url).content.decode()
    assert str(picture.pk) not in pages["guest"].get(url).content.decode()


def test_a_picture_in_open_text_is_for_all_and_no_longer_when_the_text_drops_it(
    world: World, pages: Pages, picture: Picture
) -> None:
    entry = write_entry(world, f"The mill. ![mill](picture:{picture.pk})")
    assert who_sees(pages, picture) == EVERYONE
    entry.body = "The mill."
    save_entry(entry)
    assert who_sees(pages, picture) == GMS


def test_a_deleted_picture_is_served_to_game_masters_only(
    world: World, pages: Pages, picture: Picture
) -> None:
    place_picture(picture, write_entry(world))
    delete_pictures([picture])
    assert who_sees(pages, picture) == GMS
    assert str(picture.pk) not in pages["gm"].get(f"/w/{world.slug}/lore/mill/").content.decode()


def test_its_own_visibility_opens_a_picture(pages: Pages, picture: Picture) -> None:
    change_picture(picture, alt="", caption="", visibility="public")
    assert who_sees(pages, picture) == EVERYONE


def test_a_picture_is_of_its_own_world(world: World, pages: Pages, picture: Picture) -> None:
    other = cast.create_world(slug="elsewhere", name="Elsewhere")
    user = get_user_model().objects.get(username="gm")
    Membership.objects.create(user=user, world=other, role="gm")
    assert pages["gm"].get(f"/w/elsewhere/pictures/{picture.pk}/").status_code == 404


def test_the_answer_can_be_nothing_but_a_picture(pages: Pages, picture: Picture) -> None:
    answer = pages["gm"].get(f"/w/ferrymark/pictures/{picture.pk}/")
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert "sandbox" in answer["Content-Security-Policy"]
    assert answer["Content-Disposition"] == 'inline; filename="pier.png"'
    assert "private" in answer["Cache-Control"]
    again = pages["gm"].get(
        f"/w/ferrymark/pictures/{picture.pk}/", headers={"If-None-Match": answer["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    assert "private" in again["Cache-Control"]
    small = pages["gm"].get(f"/w/ferrymark/pictures/{picture.pk}/thumbnail/")
    assert (small["Content-Type"], small["ETag"] != answer["ETag"]) == ("image/webp", True)


def test_the_name_of_the_file_is_the_game_masters(
    world: World, pages: Pages, client_with_key: Callable[..., ApiClient], tmp_path: Path
) -> None:
    """It may tell what players do not know of what they see."""
    betrayal = store_picture(world, image_bytes("PNG", (400, 300)), name="the-traitor.png")
    place_picture(betrayal, write_entry(world))
    own = 'inline; filename="the-traitor.{}"'
    key = client_with_key(audience="party:lanternbearers", scopes=["tools:read"])
    told = []
    for size, suffix in (("", "png"), ("preview/", "webp"), ("thumbnail/", "webp")):
        url = f"/w/ferrymark/pictures/{betrayal.pk}/{size}"
        assert pages["gm"].get(url)["Content-Disposition"] == own.format(suffix)
        told.append(pages["player"].get(url)["Content-Disposition"])
        assert told[-1] == f'inline; filename="{betrayal.pk}.{suffix}"'
    file = key.client.get(f"/api/v1/world/pictures/{betrayal.pk}/file")
    told += [file["Content-Disposition"], str(key.get(f"world/pictures/{betrayal.pk}"))]
    assert key.get("world/pictures?q=traitor")[1]["total"] == 0
    assert client_with_key(audience="gm").get("world/pictures?q=traitor")[1]["total"] == 1
    told += [pages["player"].get(f"/w/ferrymark/{page}").content.decode() for page in PAGES]
    write_vault(world, tmp_path / "vault.zip", audience=Audience("public"))
    with ZipFile(tmp_path / "vault.zip") as vault:
        told += [*vault.namelist(), vault.read("Mill.md").decode()]
    assert f"attachments/picture-{str(betrayal.pk)[-6:]}.png" in told
    assert "traitor" not in "".join(told)


def test_who_knows_the_tag_but_may_not_see_the_picture_gets_404(
    pages: Pages, picture: Picture
) -> None:
    url = f"/w/ferrymark/pictures/{picture.pk}/"
    tag = pages["gm"].get(url)["ETag"]
    assert pages["player"].get(url, headers={"If-None-Match": tag}).status_code == 404


def test_a_lost_file_is_not_found(pages: Pages, picture: Picture) -> None:
    picture.file.storage.delete(picture.file.name)
    assert pages["gm"].get(f"/w/ferrymark/pictures/{picture.pk}/").status_code == 404


# --- uploads


def send(client: Client, content: bytes, name: str = "pier.png", **fields: str) -> Any:
    file = SimpleUploadedFile(name, content, content_type="image/png")
    return client.post(
        "/w/ferrymark/pictures/", {"file": file, **fields}, headers={"Accept": "*/*"}
    )


@pytest.mark.parametrize(
    ("visitor", "status"),
    [
        ("gm", 201),
        ("designer", 201),
        ("player", 404),
        ("gm viewing as the party", 404),
        ("stranger", 404),
        ("anonymous", 302),
    ],
)
def test_game_masters_upload(pages: Pages, visitor: str, status: int) -> None:
    assert send(pages[visitor], image_bytes()).status_code == status
    assert Picture.objects.count() == (status == 201)


def test_the_editor_gets_what_to_write_into_the_text(pages: Pages) -> None:
    answer = send(pages["gm"], image_bytes(), alt="A [red] pier").json()
    picture = Picture.objects.get()
    assert answer == {
        "id": str(picture.pk),
        "markdown": f"![A (red) pier](picture:{picture.pk})",
        "url": f"/w/ferrymark/pictures/{picture.pk}/",
        "thumbnail": f"/w/ferrymark/pictures/{picture.pk}/thumbnail/",
    }
    assert picture.uploaded_by == "gm"


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (SCRIPT, 422, "SVG"),
        (b"words", 422, "no picture"),
        (image_bytes("JPEG", (300, 300))[:-300], 422, "damaged"),
        (bytes(20_000_001), 413, "20 MB"),
    ],
)
def test_a_refusal_names_the_file_and_says_what_to_do(
    pages: Pages, content: bytes, status: int, words: str
) -> None:
    answer = send(pages["gm"], content, name="map.png")
    assert answer.status_code == status
    assert answer.json()["error"].startswith("map.png: ")
    assert words in answer.json()["error"]
    assert not Picture.objects.exists()


@pytest.mark.parametrize("name", ["../../evil.png", "a\0b.png", "x" * 300 + ".png", "карта.png"])
def test_no_name_of_a_file_does_harm(pages: Pages, name: str) -> None:
    answer = send(pages["gm"], image_bytes(), name=name)
    assert answer.status_code == 201
    picture = Picture.objects.get()
    assert picture.file.name == f"pictures/{picture.world_id}/{picture.pk}/original.png"


def test_an_upload_of_500_megabytes_is_refused_before_it_is_read(pages: Pages) -> None:
    class Unread(BytesIO):
        def read(self, *_size: Any) -> bytes:
            raise AssertionError("the body was read")

    answer = pages["gm"].generic(
        "POST",
        "/w/ferrymark/pictures/",
        content_type="multipart/form-data; boundary=x",
        headers={"Accept": "*/*"},
        CONTENT_LENGTH="500000000",
        **{"wsgi.input": Unread()},
    )
    assert answer.status_code == 413
    assert "20 MB" in json.loads(answer.content)["error"]


def test_a_forged_upload_is_refused(world: World, pages: Pages) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = pages["gm"].cookies
    assert send(strict, image_bytes()).status_code == 403
    assert not Picture.objects.exists()


def test_a_form_uploads_several_and_names_those_refused(
    world: World, pages: Pages, mira: NPC
) -> None:
    files = [
        SimpleUploadedFile("a.png", image_bytes(colour="red")),
        SimpleUploadedFile("b.png", SCRIPT),
        SimpleUploadedFile("c.png", image_bytes(colour="blue")),
    ]
    answer = pages["gm"].post(
        "/w/ferrymark/pictures/",
        {"file": files, "place": f"npc:{mira.pk}", "next": "/w/ferrymark/npcs/mira-voss/"},
        headers={"Accept": "text/html"},
        follow=True,
    )
    text = answer.content.decode()
    assert answer.redirect_chain == [("/w/ferrymark/npcs/mira-voss/", 302)]
    assert "2 pictures uploaded." in text
    assert "b.png: SVG" in text
    assert list(mira.picture_uses.values_list("is_portrait", flat=True)) == [True, False]


@pytest.mark.parametrize("fields", [{"place": "npc:x"}, {"alt": "a\0b"}, {"caption": "x" * 999}])
def test_bad_fields_are_refused(pages: Pages, fields: dict[str, str]) -> None:
    assert send(pages["gm"], image_bytes(), **fields).status_code == 422
    assert not PictureUse.objects.exists()


# --- the library and the buttons

COLOURS = ("red", "green", "blue", "white", "black")
GM_PAGES = ["", "?show=unused", "?show=deleted", "?q=%00", "?page=99999", "?for=lore:x", "?show=x"]


@pytest.mark.parametrize("query", GM_PAGES)
def test_the_library_is_the_game_masters(pages: Pages, picture: Picture, query: str) -> None:
    url = f"/w/ferrymark/pictures/{query}"
    seen = {name for name, client in pages.items() if client.get(url).status_code == 200}
    assert seen == GMS


def test_the_library_takes_a_constant_number_of_statements(world: World, pages: Pages) -> None:
    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert pages["gm"].get("/w/ferrymark/pictures/?show=unused").status_code == 200
        return len(queries)

    store_picture(world, image_bytes(colour="red"))
    before = statements()
    for colour in ("blue", "green", "white", "black"):
        store_picture(world, image_bytes(colour=colour))
    assert statements() == before


def test_the_list_of_npcs_reads_all_portraits_at_once(
    world: World, pages: Pages, mira: NPC, jory: NPC
) -> None:
    def page() -> tuple[int, str]:
        with CaptureQueriesContext(connection) as queries:
            answer = pages["player"].get("/w/ferrymark/npcs/")
        return len(queries), answer.content.decode()

    place_picture(store_picture(world, image_bytes(colour="red")), mira)
    one, _text = page()
    place_picture(store_picture(world, image_bytes(colour="blue")), jory)
    both, text = page()
    assert both == one
    assert text.count("/thumbnail/") == 2


def test_unused_pictures_are_listed_and_deleted_but_not_those_of_today(
    world: World, pages: Pages, mira: NPC
) -> None:
    old, fresh, shown, in_text, of_npc = (
        store_picture(world, image_bytes(colour=colour), name=f"{colour}.png") for colour in COLOURS
    )
    place_picture(shown, mira)
    write_entry(world, f"![x](picture:{in_text.pk})", status="draft")
    NPC.objects.filter(pk=mira.pk).update(summary=f"![x](picture:{of_npc.pk})")
    Picture.objects.exclude(pk=fresh.pk).update(created_at="2020-01-01T00:00Z")
    listed = pages["gm"].get("/w/ferrymark/pictures/?show=unused").content.decode()
    assert [
        name for name in ("red", "green", "blue", "white", "black") if f"{name}.png" in listed
    ] == [
        "red",
        "green",
    ]
    pages["gm"].post("/w/ferrymark/pictures/unused/delete/")
    assert list(Picture.objects.in_trash()) == [old]
    pages["gm"].post(f"/w/ferrymark/pictures/{old.pk}/restore/")
    assert not Picture.objects.in_trash().exists()


def test_a_game_master_changes_texts_and_a_second_tab_is_told(
    pages: Pages, picture: Picture
) -> None:
    url = f"/w/ferrymark/pictures/{picture.pk}/edit/"
    first = {"alt": "A pier in fog", "caption": "Pier", "version": "1"}
    assert "Saved." in pages["gm"].post(url, first, follow=True).content.decode()
    second = pages["gm"].post(url, {**first, "caption": "Other"}, follow=True).content.decode()
    assert "Somebody else changed this picture" in second
    picture.refresh_from_db()
    assert (picture.alt, picture.caption) == ("A pier in fog", "Pier")


def test_the_buttons_of_a_gallery(world: World, pages: Pages, mira: NPC) -> None:
    first, second = (
        place_picture(store_picture(world, image_bytes(colour=colour)), mira)
        for colour in ("red", "blue")
    )
    gm, page = pages["gm"], "/w/ferrymark/npcs/mira-voss/"

    def press(use: PictureUse, action: str) -> str:
        url = f"/w/ferrymark/pictures/uses/{use.pk}/"
        text = gm.post(url, {"action": action, "next": page}, follow=True).content.decode()
        use.refresh_from_db()
        return text

    press(second, "portrait")
    assert second.is_portrait
    press(second, "earlier")
    assert list(mira.picture_uses.present()) == [second, first]
    press(first, "hide")
    assert first.is_hidden
    assert "Undo" in press(first, "remove")
    assert list(mira.picture_uses.present()) == [second]
    assert "Undo" not in press(first, "restore")
    assert list(mira.picture_uses.present()) == [second, first]
    bad = gm.post(f"/w/ferrymark/pictures/uses/{first.pk}/", {"action": "explode"})
    assert bad.status_code == 404


@pytest.mark.parametrize("visitor", ["player", "gm viewing as the party", "stranger", "anonymous"])
def test_only_game_masters_press_buttons(
    world: World, pages: Pages, picture: Picture, mira: NPC, visitor: str
) -> None:
    use = place_picture(picture, mira)
    paths: dict[str, dict[str, str]] = {
        f"uses/{use.pk}/": {"action": "remove"},
        f"{picture.pk}/edit/": {"alt": "x", "caption": "x"},
        f"{picture.pk}/delete/": {},
        f"{picture.pk}/restore/": {},
        f"{picture.pk}/place/": {"place": f"npc:{mira.pk}"},
        "unused/delete/": {},
    }
    for path, fields in paths.items():
        answer = pages[visitor].post(f"/w/ferrymark/pictures/{path}", fields)
        assert answer.status_code == (302 if visitor == "anonymous" else 404), path
    assert list(Picture.objects.present().values_list("alt", flat=True)) == ["A pier"]
    assert mira.picture_uses.present().exists()


def test_the_picture_page_says_where_it_is_shown(
    world: World, pages: Pages, picture: Picture, mira: NPC
) -> None:
    place_picture(picture, mira)
    write_entry(world, f"![x](picture:{picture.pk})")
    text = pages["gm"].get(f"/w/ferrymark/pictures/{picture.pk}/edit/").content.decode()
    assert "Mira Voss" in text
    assert "/lore/mill/" in text


def test_a_picture_of_the_library_is_added_to_a_gallery(
    pages: Pages, picture: Picture, mira: NPC
) -> None:
    place = {"place": f"npc:{mira.pk}"}
    shown = pages["gm"].get(f"/w/ferrymark/pictures/?for=npc:{mira.pk}").content.decode()
    assert "Add here" in shown
    pages["gm"].post(f"/w/ferrymark/pictures/{picture.pk}/place/", place)
    assert mira.picture_uses.get().picture == picture


Ask = Callable[..., Any]


def test_programs_upload_list_and_get(engine: Any, client_with_key: Ask, mira: NPC) -> None:
    def upload(client: Any, **fields: str) -> Any:
        file = SimpleUploadedFile("pier.png", image_bytes())
        return client.client.post("/api/v1/world/pictures", {"file": file, **fields})

    answer = upload(engine, alt="A pier", place=f"npc:{mira.pk}", portrait="true")
    assert answer.status_code == 201, answer.content
    stored = answer.json()
    assert (stored["alt"], stored["visibility"]) == ("A pier", "gm")
    player = client_with_key(audience="party:lanternbearers", scopes=["tools:read"])
    status, listed = player.get("world/pictures")
    assert (status, listed["total"]) == (200, 1)
    assert listed["pictures"][0]["visibility"] is None
    file = player.client.get(f"/api/v1/world/pictures/{stored['id']}/file?size=thumbnail")
    assert (file["Content-Type"], b"".join(file.streaming_content)[:4]) == ("image/webp", b"RIFF")
    assert upload(engine, place=f"npc:{mira.pk}", portrait="0").status_code == 422
    assert upload(player).status_code == 403
    assert upload(client_with_key(audience="public")).status_code == 403
    NPC.objects.update(visibility="gm")
    assert player.get("world/pictures")[1]["total"] == 0
    assert player.get(f"world/pictures/{stored['id']}")[0] == 404
    assert player.get(f"world/pictures/{stored['id']}/file")[0] == 404


@pytest.mark.parametrize("size", ["file", "thumbnail"])
def test_a_file_that_is_gone_is_not_found(engine: Any, picture: Picture, size: str) -> None:
    path = f"world/pictures/{picture.pk}/file?size={size}"
    answer = engine.client.get(f"/api/v1/{path}")
    unchanged = {"If-None-Match": answer["ETag"]}
    assert engine.client.get(f"/api/v1/{path}", headers=unchanged).status_code == 304
    for name in pictures.file_names(picture):
        default_storage.delete(name)
    status, body = engine.get(path)
    assert (status, body["code"]) == (404, "not_found")
    assert "from a backup" in body["detail"]


def test_a_program_gives_a_card_an_uploaded_picture(engine: Any, picture: Picture) -> None:
    card = {"image_id": "art-pier", "prompt_text": "A pier"}
    status, problem = engine.put("world/art", card)
    assert (status, "picture_id" in problem["detail"]) == (422, True)
    assert engine.put("world/art", {**card, "picture_id": str(picture.pk)})[0] == 200
    status, stored = engine.get("world/art/art-pier")
    assert (status, stored["picture_id"], stored["cdn_url"]) == (200, str(picture.pk), "")
    unknown = {**card, "picture_id": "019c0000-0000-7000-8000-000000000000"}
    assert engine.put("world/art", unknown)[0] == 404


def test_a_program_is_told_what_is_wrong_with_its_file(engine: Any) -> None:
    file = SimpleUploadedFile("map.png", SCRIPT)
    answer = engine.client.post("/api/v1/world/pictures", {"file": file})
    assert (answer.status_code, "SVG" in answer.json()["detail"]) == (422, True)
    assert engine.client.post("/api/v1/world/pictures", {"alt": "x"}).status_code == 422


def test_an_edit_in_the_admin_is_noticed_by_the_page_of_the_picture(
    pages: Pages, admin_client: Client, picture: Picture
) -> None:
    form = {"alt": "A pier in fog", "caption": "", "visibility": "gm"}
    address = f"/admin/art/picture/{picture.pk}/change/"
    token = admin_client.get(address).context["edit_token"]
    assert admin_client.post(address, {**form, "edit_token": token}).status_code == 302
    picture.refresh_from_db()
    assert (picture.alt, picture.version) == ("A pier in fog", 2)
    url = f"/w/ferrymark/pictures/{picture.pk}/edit/"
    for version in ("1", "", "9" * 5000):
        sent = {"alt": "Another", "caption": "", "version": version}
        text = pages["gm"].post(url, sent, follow=True).content.decode()
        assert "Somebody else changed this picture" in text, version


def test_a_picture_in_what_happened_is_seen_by_whoever_may_read_it(
    pages: Pages, picture: Picture, lanternbearers: Party
) -> None:
    form = {"summary_id": "e1", "party_id": lanternbearers.slug, "visibility": "revealed"}
    shown = f"![The pier](picture:{picture.pk})"
    first = EpisodeIn.model_validate({**form, "what": "They came.", "notes": shown})
    ingest_episode(picture.world, first)
    assert who_sees(pages, picture) == GMS
    assert not Picture.objects.all().without_uses().exists()
    second = EpisodeIn.model_validate({**form, "what": f"They came. {shown}", "version": 2})
    ingest_episode(picture.world, second)
    assert who_sees(pages, picture) == GMS | PARTY
    retract_episode(picture.world, "e1", reason="a test")
    assert who_sees(pages, picture) == GMS
