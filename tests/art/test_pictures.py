"""Uploaded pictures: what is stored, what is refused, where they are shown, when files go."""

from collections.abc import Callable
from errno import ENOSPC
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.test import override_settings
from hypothesis import given
from hypothesis import settings as runs
from hypothesis import strategies as st
from PIL import Image

from art import checks, image_files, pictures, tasks
from art.models import Picture, PictureUse
from art.pictures import (
    change_picture,
    delete_pictures,
    find_thing,
    make_portrait,
    move_picture,
    place_picture,
    remove_use,
    restore_use,
    store_picture,
)
from knowledge.models import Lore
from npcs.models import NPC
from retrieval.errors import Invalid, NotFound, StaleVersion, TooLarge
from retrieval.models import uuid7
from tests import cast
from tests.art.image_samples import (
    SCRIPT,
    animation,
    bomb,
    image_bytes,
    photo_with_exif,
    text_bomb,
)
from worlds import stored_files
from worlds.models import World

pytestmark = pytest.mark.django_db


def opened(name: str) -> Image.Image:
    return Image.open(BytesIO(content_of(name)))


def content_of(name: str) -> bytes:
    with default_storage.open(name) as file:
        content: bytes = file.read()
    return content


@pytest.fixture
def mill(world: World) -> Lore:
    return Lore.objects.create(world=world, slug="mill", title="Drowned Mill", kind="place")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "AVIF"])
def test_a_picture_is_stored_with_two_smaller_ones(world: World, form: str) -> None:
    picture = store_picture(world, image_bytes(form, (2000, 1000)), name="map.bin", by="anna")
    whole, preview, thumbnail = map(
        opened, (picture.file.name, picture.preview.name, picture.thumbnail.name)
    )
    assert (whole.format, whole.size, (picture.width, picture.height)) == (
        form,
        (2000, 1000),
        (2000, 1000),
    )
    assert (preview.format, preview.size) == ("WEBP", (1280, 640))
    assert (thumbnail.format, thumbnail.size) == ("WEBP", (320, 160))
    assert picture.content_type == f"image/{form.lower()}"
    assert picture.name == f"map.{image_files.STORED_AS[form][1]}"


def test_a_photograph_is_turned_and_says_no_longer_where_it_was_taken(world: World) -> None:
    picture = store_picture(world, photo_with_exif(), name="photo.jpg")
    stored = content_of(picture.file.name)
    assert opened(picture.file.name).size == (48, 64)
    assert b"drowned mill" not in stored
    assert b"comment of the camera" not in stored
    assert not opened(picture.file.name).getexif()
    assert not opened(picture.preview.name).getexif()


def test_an_animation_moves_on_and_is_its_own_preview(world: World) -> None:
    picture = store_picture(world, animation(4), name="fire.gif")
    stored = opened(picture.file.name)
    assert (getattr(stored, "n_frames", 1), stored.info["duration"]) == (4, 80)
    assert not picture.preview
    assert pictures.stored_file(picture, "preview") == (picture.file.name, "image/gif")


def test_the_same_file_is_one_picture_of_a_world(world: World) -> None:
    first = store_picture(world, image_bytes(), alt="A pier")
    again = store_picture(world, image_bytes(), alt="Another text", caption="The pier")
    assert (again.pk, again.alt, again.caption) == (first.pk, "A pier", "The pier")
    other = cast.create_world(slug="elsewhere", name="Elsewhere")
    assert store_picture(other, image_bytes()).pk != first.pk


def test_a_deleted_picture_comes_back_when_it_is_uploaded_again(world: World) -> None:
    first = store_picture(world, image_bytes())
    delete_pictures([first])
    assert not Picture.objects.present().exists()
    assert store_picture(world, image_bytes()).pk == first.pk
    assert Picture.objects.present().exists()


def name_of(value: Any) -> str:
    return str(getattr(value, "func", value).__name__)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", Invalid),
        (b"just words", Invalid),
        (SCRIPT, Invalid),
        (b"\xef\xbb\xbf\n " + SCRIPT, Invalid),
        (b'<?xml version="1.0"?>' + SCRIPT, Invalid),
        (b"<html><script>alert(1)</script></html>", Invalid),
        (b"%PDF-1.7", Invalid),
        (b"\x89PNG\r\n\x1a\n", Invalid),
        (image_bytes(size=(400, 400), colour="red")[:300], Invalid),
        (image_bytes("JPEG", (400, 400))[:-400], Invalid),
        (image_bytes("WEBP", (400, 400))[:-40], Invalid),
        (image_bytes("BMP"), Invalid),
        (image_bytes("TIFF"), Invalid),
        (bomb(), TooLarge),
        (bomb(7_000), TooLarge),
        (text_bomb, Invalid),
        (partial(animation, 401, size=(2, 2)), TooLarge),
        (partial(animation, 60, size=(900, 800)), TooLarge),
        (bytes(image_files.MAX_BYTES + 1), TooLarge),
    ],
    ids=lambda value: str(value[:24]) if isinstance(value, bytes) else name_of(value),
)
def test_what_is_no_fit_picture_is_refused_and_leaves_nothing(
    world: World, content: bytes | Callable[[], bytes], error: type[Exception]
) -> None:
    """The large ones are made here and not by whoever only collects the tests."""
    data = content if isinstance(content, bytes) else content()
    with pytest.raises(error):
        store_picture(world, data, name="innocent.png")
    assert not Picture.objects.exists()
    assert not default_storage.exists(f"pictures/{world.pk}")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_what_follows_or_hides_in_a_picture_is_not_stored(world: World, form: str) -> None:
    polyglot = image_bytes(form) + b"<script>alert(1)</script>PK\x03\x04" + SCRIPT
    picture = store_picture(world, polyglot, name="both.html")
    stored = content_of(picture.file.name)
    assert b"script" not in stored
    assert b"PK\x03\x04" not in stored
    assert picture.name == f"both.{image_files.STORED_AS[form][1]}"


@runs(max_examples=60, deadline=None)
@given(
    form=st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]),
    at=st.integers(0, 2_000),
    noise=st.binary(min_size=0, max_size=40),
    cut=st.integers(0, 3_000),
)
def test_a_damaged_file_is_a_picture_or_refused(form: str, at: int, noise: bytes, cut: int) -> None:
    whole = image_bytes(form, (40, 30))
    content = (whole[:at] + noise + whole[at + len(noise) :])[: cut or None]
    try:
        image = image_files.read_image(content)
    except (Invalid, TooLarge):
        return
    for stored in (image.original, image.preview, image.thumbnail):
        if stored is not None:
            with Image.open(BytesIO(stored)) as picture:
                picture.load()
                assert picture.width > 0
                assert picture.info.get("exif") is None


@runs(max_examples=80, deadline=None)
@given(name=st.text(max_size=300))
def test_any_name_becomes_a_safe_one(name: str) -> None:
    safe = pictures.safe_name(name, "png")
    assert safe.endswith(".png")
    assert len(safe) <= 120
    assert not set(safe) & set('/\\\0\r\n"<>;')
    assert not safe.startswith(".")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd.png"),
        ("..\\..\\boot.ini", "boot.png"),
        ("a\0b.png", "a b.png"),
        ('x"; filename="evil.html', "x filename evil.png"),
        ("карта мира.jpeg", "карта мира.png"),
        ("", "picture.png"),
        ("....", "picture.png"),
    ],
)
def test_a_file_name_keeps_its_words_only(name: str, safe: str) -> None:
    assert pictures.safe_name(name, "png") == safe


def test_files_lie_under_ids_alone(world: World) -> None:
    picture = store_picture(world, image_bytes(), name="../../../secret name.png")
    folder = f"pictures/{world.pk}/{picture.pk}"
    assert pictures.file_names(picture) == [
        f"{folder}/original.png",
        f"{folder}/preview.webp",
        f"{folder}/thumbnail.webp",
    ]


@pytest.mark.parametrize("texts", [{"alt": "a\0b"}, {"caption": "x" * 301}, {"visibility": "all"}])
def test_unfit_texts_are_refused(world: World, texts: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        store_picture(world, image_bytes(), **texts)
    assert not Picture.objects.exists()


def test_the_first_picture_is_the_portrait_until_another_is_made_it(
    world: World, mill: Lore
) -> None:
    first, second = (
        place_picture(store_picture(world, image_bytes(colour=colour)), mill)
        for colour in ("red", "blue")
    )
    assert (first.is_portrait, second.is_portrait) == (True, False)
    make_portrait(second)
    assert list(mill.picture_uses.filter(is_portrait=True)) == [second]


def test_a_person_has_one_portrait_over_entry_and_npc(world: World, mira: NPC) -> None:
    entry = Lore.objects.create(world=world, slug="mira", title="Mira", kind="biography")
    mira.biography = entry
    mira.save()
    of_entry = place_picture(store_picture(world, image_bytes(colour="red")), entry)
    of_npc = place_picture(store_picture(world, image_bytes(colour="blue")), mira, is_portrait=True)
    of_entry.refresh_from_db()
    assert (of_entry.is_portrait, of_npc.is_portrait, of_npc.position) == (False, True, 1)


def test_pictures_change_places_and_stay_at_the_ends(world: World, mill: Lore) -> None:
    a, b, c = (
        place_picture(store_picture(world, image_bytes(colour=colour)), mill)
        for colour in ("red", "green", "blue")
    )
    for use, by in ((c, -1), (a, -1), (c, -1), (b, 1)):
        move_picture(use, by=by)
    assert list(mill.picture_uses.present()) == [c, a, b]


def test_a_picture_taken_out_comes_back_to_its_place(world: World, mill: Lore) -> None:
    first, second = (
        place_picture(store_picture(world, image_bytes(colour=colour)), mill)
        for colour in ("red", "blue")
    )
    remove_use(first)
    assert list(mill.picture_uses.present()) == [second]
    restore_use(first)
    assert list(mill.picture_uses.present()) == [first, second]
    first.refresh_from_db()
    assert first.is_portrait


def test_the_old_portrait_comes_back_as_a_picture_if_there_is_a_new_one(
    world: World, mill: Lore
) -> None:
    first, second = (
        place_picture(store_picture(world, image_bytes(colour=colour)), mill)
        for colour in ("red", "blue")
    )
    remove_use(first)
    make_portrait(second)
    first.refresh_from_db()
    restore_use(first)
    assert list(mill.picture_uses.present().filter(is_portrait=True)) == [second]


def test_one_picture_is_used_in_several_places(world: World, mill: Lore, mira: NPC) -> None:
    picture = store_picture(world, image_bytes())
    for thing in (mill, mira, mill):
        place_picture(picture, thing)
    assert PictureUse.objects.count() == 2


def test_a_picture_of_another_world_is_not_placed(mill: Lore) -> None:
    other = cast.create_world(slug="elsewhere", name="Elsewhere")
    with pytest.raises(Invalid):
        place_picture(store_picture(other, image_bytes()), mill)


@pytest.mark.parametrize(
    "reference", ["", "lore", "lore:x", "npc:\0", "world:1", "lore:" + "0" * 32]
)
def test_an_unknown_place_is_not_found(world: World, reference: str) -> None:
    with pytest.raises(NotFound):
        find_thing(world, reference)


def test_the_second_of_two_editors_is_told(world: World) -> None:
    picture = store_picture(world, image_bytes())
    change_picture(picture, alt="First", caption="", expected_version=1)
    with pytest.raises(StaleVersion):
        change_picture(picture, alt="Second", caption="", expected_version=1)
    picture.refresh_from_db()
    assert (picture.alt, picture.version) == ("First", 2)


def test_files_go_when_the_deletion_is_committed(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    picture = store_picture(world, image_bytes())
    names = pictures.file_names(picture)
    with django_capture_on_commit_callbacks(execute=True):
        picture.delete()
        assert all(map(default_storage.exists, names))
    assert not any(map(default_storage.exists, names))


def test_files_go_with_their_world(world: World, django_capture_on_commit_callbacks: Any) -> None:
    names = pictures.file_names(store_picture(world, image_bytes()))
    with django_capture_on_commit_callbacks(execute=True):
        world.delete()
    assert not any(map(default_storage.exists, names))


def test_the_daily_task_deletes_what_was_deleted_long_ago_and_files_without_a_row(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    tmp_path: Path,
    settings: Any,
) -> None:
    settings.MEDIA_ROOT = tmp_path
    kept = store_picture(world, image_bytes(colour="red"))
    gone = store_picture(world, image_bytes(colour="blue"))
    lost = default_storage.save(f"pictures/{world.pk}/{uuid7()}/original.png", ContentFile(b"x"))
    delete_pictures([gone])
    with override_settings(PICTURE_KEEP_DAYS=30):
        assert tasks.purge_pictures() == {"pictures": 0, "files": 0}
    monkeypatch.setattr(stored_files, "GRACE", -stored_files.GRACE)
    with override_settings(PICTURE_KEEP_DAYS=-1), django_capture_on_commit_callbacks(execute=True):
        assert tasks.purge_pictures() == {"pictures": 1, "files": 1}
    assert not any(map(default_storage.exists, [lost, *pictures.file_names(gone)]))
    assert all(map(default_storage.exists, pictures.file_names(kept)))


def test_a_row_that_cannot_be_written_leaves_no_files(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Picture, **_options: Any) -> None:
        raise RuntimeError("the disk of the database is full")

    monkeypatch.setattr(Picture, "save", fail)
    with pytest.raises(RuntimeError):
        store_picture(world, image_bytes())
    assert default_storage.listdir(f"pictures/{world.pk}") == ([], [])


@pytest.mark.parametrize(
    ("changed", "ids"),
    [
        ({}, []),
        ({"PICTURE_STORAGE": "ftp"}, ["art.E001"]),
        ({"MEDIA_ROOT": "/dev/null/media"}, ["art.E002"]),
        ({"PICTURE_STORAGE": "s3", "S3_BUCKET": ""}, ["art.E003", "art.E004"]),
    ],
)
def test_the_storage_is_checked(
    changed: dict[str, str], ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda _name: None)
    with override_settings(**changed):
        messages = checks.pictures_can_be_stored()
    assert [message.id for message in messages] == ids
    assert all(message.hint for message in messages)


class FullStorage(FileSystemStorage):
    """Has room for a part of the second file."""

    def _save(self, name: str, content: Any) -> str:
        stored: str = super()._save(name, content)
        if "original" not in name:
            raise OSError(ENOSPC, "No space left on device")
        return stored


def test_a_disk_that_gets_full_keeps_no_part_of_a_picture(world: World, settings: Any) -> None:
    own = {"BACKEND": f"{__name__}.FullStorage"}
    settings.STORAGES = {**settings.STORAGES, "default": own}
    with pytest.raises(OSError, match="No space left"):
        store_picture(world, image_bytes("PNG", (64, 64)))
    assert not Picture.objects.exists()
    folder = Path(settings.MEDIA_ROOT) / "pictures" / str(world.pk)
    assert [each for each in folder.rglob("*") if each.is_file()] == []
