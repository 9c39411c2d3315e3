"""Store, show, change and delete uploaded pictures."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from art.image_files import MAX_BYTES, ImageFile, read_image, too_many_bytes
from art.models import Picture, PictureUse, stored_name
from art.querysets import PictureQuerySet, showing_picture
from knowledge.entry_drafts import EntryDraft
from knowledge.models import Lore
from npcs.models import NPC
from retrieval.errors import Conflict, Invalid, NotFound, TooLarge
from retrieval.models import uuid7
from retrieval.text import picture_targets, storage_flaw
from worlds.audiences import Audience, Visibility
from worlds.models import Campaign, World
from worlds.versions import require_version

Thing: TypeAlias = Lore | NPC
LONGEST_LINE = 300
FILES = ("file", "preview", "thumbnail")
UNSAFE = re.compile(r"[^\w .()\-]+")


class Upload(Protocol):
    """An uploaded or opened file."""

    def read(self, size: int = ..., /) -> bytes: ...


def store_picture(
    world: World,
    upload: Upload | bytes,
    *,
    name: str = "",
    alt: str = "",
    caption: str = "",
    by: str = "",
    visibility: str = Visibility.GM,
) -> Picture:
    """Store an uploaded file as a picture of `world`; a file that was uploaded before is the stored
    picture, which comes back if it was deleted.

    Raises `Invalid` for what is no picture, a damaged one or unfit texts, `TooLarge` for too many
    bytes or pixels. Nothing is stored then.
    """
    content = upload if isinstance(upload, bytes) else upload.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise TooLarge(too_many_bytes())
    if visibility not in Visibility.values:
        raise Invalid(_("Unknown visibility: use public, gm or revealed."))
    digest = hashlib.sha256(content).hexdigest()
    texts = {"alt": one_line(alt), "caption": one_line(caption)}
    if known := Picture.objects.filter(world=world, sha256=digest).first():
        return bring_back(known, texts)
    image = read_image(content)
    picture = Picture(
        id=uuid7(),
        world=world,
        name=safe_name(name or getattr(upload, "name", "") or "", image.extension),
        sha256=digest,
        visibility=visibility,
        uploaded_by=by[:150],
        content_type=image.content_type,
        size=len(image.original),
        width=image.width,
        height=image.height,
        **texts,
    )
    return write_picture(picture, image, texts)


def write_picture(picture: Picture, image: ImageFile, texts: dict[str, str]) -> Picture:
    """Write files and row. The files come first: a row without them would be a broken picture, and
    files without a row are deleted by the daily task."""
    contents = {
        "file": (f"original.{image.extension}", image.original),
        "preview": ("preview.webp", image.preview),
        "thumbnail": ("thumbnail.webp", image.thumbnail),
    }
    try:
        for field, (name, content) in contents.items():
            if content is not None:
                getattr(picture, field).save(name, ContentFile(content), save=False)
        with transaction.atomic():
            picture.save(force_insert=True)
    except IntegrityError:
        delete_files(file_names(picture))
        # The same file was uploaded at the same moment.
        known = Picture.objects.filter(world=picture.world_id, sha256=picture.sha256).first()
        if known is None:
            raise
        return bring_back(known, texts)
    except BaseException:
        # By their own names: a file that found no room is there in part, and its field is empty.
        delete_files(stored_name(picture, name) for name, _content in contents.values())
        raise
    return picture


def bring_back(picture: Picture, texts: dict[str, str]) -> Picture:
    """Undo the deletion of a stored picture, and fill in texts that it lacks."""
    missing = {name: text for name, text in texts.items() if text and not getattr(picture, name)}
    if picture.deleted_at or missing:
        for name, text in missing.items():
            setattr(picture, name, text)
        picture.deleted_at = None
        picture.save(update_fields=[*missing, "deleted_at", "updated_at"])
    return picture


def one_line(text: str) -> str:
    """Return `text` as one line that can be stored; raises `Invalid`."""
    if storage_flaw(text):
        raise Invalid(_("A text holds characters that cannot be stored (NUL): remove them."))
    line = " ".join(text.split())
    if len(line) > LONGEST_LINE:
        raise Invalid(
            _("Description and caption may have at most %(count)s characters each.")
            % {"count": LONGEST_LINE}
        )
    return line


def safe_name(name: str, extension: str) -> str:
    """Return a name to show and to save under: without folders, with the ending of what the file
    is."""
    stem = PurePosixPath(name.replace("\\", "/")).name.rpartition(".")[0] or name
    stem = UNSAFE.sub(" ", PurePosixPath(stem.replace("\\", "/")).name).strip(" .")
    stem = " ".join(stem.split())
    return f"{stem[:100] or 'picture'}.{extension}"


def stored_file(picture: Picture, size: str) -> tuple[str, str]:
    """Return name and type of its `file`, `preview` or `thumbnail`; an animation is its own
    preview."""
    smaller = getattr(picture, size) if size != "file" else None
    return (smaller.name, "image/webp") if smaller else (str(picture.file), picture.content_type)


def shown_name(picture: Picture, audience: Audience, suffix: str = "") -> str:
    """Return the name of the file, as it was uploaded, for game masters. It may tell what players
    do not know (`the-traitor.png`), so they get the id. `suffix` replaces the ending."""
    stem, _dot, own = picture.name.rpartition(".")
    return f"{stem if audience.is_gm else picture.pk}.{suffix or own}"


def markdown_of(picture: Picture) -> str:
    """What to write into a text to show the picture there."""
    words = picture.alt.replace("\\", " ").replace("[", "(").replace("]", ")")
    return f"![{words}](picture:{picture.pk})"


@transaction.atomic
def change_picture(
    picture: Picture,
    *,
    alt: str,
    caption: str,
    visibility: str | None = None,
    expected_version: int | None = None,
) -> Picture:
    """Raises `StaleVersion` when another version than the expected one is stored, `Invalid` for bad
    texts."""
    values = {"alt": one_line(alt), "caption": one_line(caption)}
    if visibility is not None:
        if visibility not in Visibility.values:
            raise Invalid(_("Unknown visibility: use public, gm or revealed."))
        values["visibility"] = visibility
    stored = Picture.objects.select_for_update().get(pk=picture.pk)
    require_version(stored, expected_version)
    if any(getattr(stored, name) != value for name, value in values.items()):
        for name, value in values.items():
            setattr(stored, name, value)
        stored.version += 1
        stored.save(update_fields=[*values, "version", "updated_at"])
    picture.refresh_from_db()
    return picture


# --- places


def find_thing(world: World, reference: str, *, campaign: Campaign | None = None) -> Thing:
    """Return the lore entry or NPC called `lore:<id>` or `npc:<id>`; raises `NotFound`. With
    `campaign`, to which the caller's key is bound, entries of others are not found."""
    kind, _colon, text = reference.partition(":")
    model: Any = {"lore": Lore, "npc": NPC}.get(kind)
    try:
        row: Any = model and model.objects.filter(world=world, pk=UUID(text)).first()
    except ValueError:
        row = None
    theirs = getattr(row, "campaign_id", None)
    if row is None or (campaign and theirs not in (None, campaign.pk)):
        raise NotFound(_("There is no such entry in this world."))
    thing: Thing = row
    return thing


def owner_of(thing: Thing) -> dict[str, Thing]:
    return {"lore": thing} if isinstance(thing, Lore) else {"npc": thing}


def uses_of(thing: Thing) -> Q:
    """A person is a lore entry and an NPC at once: either has the pictures of both."""
    if isinstance(thing, Lore):
        return Q(lore=thing) | Q(npc__biography=thing)
    return Q(npc=thing) | (Q(lore=thing.biography_id) if thing.biography_id else Q())


@transaction.atomic
def place_picture(
    picture: Picture, thing: Thing, *, is_portrait: bool = False, is_hidden: bool = False
) -> PictureUse:
    """Show `picture` in the gallery of `thing`, last; the first visible one becomes the
    portrait."""
    if picture.world_id != thing.world_id:
        raise Invalid(_("The picture is of another world."))
    # One at a time, so that positions differ and only one becomes the portrait.
    type(thing).objects.select_for_update().get(pk=thing.pk)
    uses = PictureUse.objects.present().filter(uses_of(thing))
    last = uses.aggregate(last=Max("position"))["last"]
    use, is_new = PictureUse.objects.get_or_create(
        picture=picture,
        **owner_of(thing),
        defaults={"position": 0 if last is None else last + 1, "is_hidden": is_hidden},
    )
    if use.removed_at:
        use.removed_at, use.is_portrait = None, False
        use.position = 0 if last is None else last + 1
        use.save(update_fields=["removed_at", "is_portrait", "position"])
    is_first = is_new and last is None and not is_hidden
    return make_portrait(use) if is_portrait or is_first else use


@transaction.atomic
def make_portrait(use: PictureUse) -> PictureUse:
    """Make it the one portrait of its thing."""
    PictureUse.objects.filter(uses_of(use.thing), is_portrait=True).update(is_portrait=False)
    use.is_portrait = True
    use.save(update_fields=["is_portrait"])
    return use


def set_portrait(use: PictureUse, is_portrait: bool) -> None:
    """Make it the one portrait of its thing, or leave the thing without one."""
    if is_portrait:
        make_portrait(use)
    elif use.is_portrait:
        use.is_portrait = False
        use.save(update_fields=["is_portrait"])


def set_hidden(use: PictureUse, is_hidden: bool) -> None:
    use.is_hidden = is_hidden
    use.save(update_fields=["is_hidden"])


@transaction.atomic
def move_picture(use: PictureUse, *, by: int) -> None:
    """Move it so many places down the gallery; negative: up. At the ends it stays."""
    type(use.thing).objects.select_for_update().get(pk=use.thing.pk)
    rows = PictureUse.objects.present().filter(uses_of(use.thing))
    order = list(rows.order_by("position", "id").values_list("pk", flat=True))
    at = order.index(use.pk)
    order.insert(max(0, at + by), order.pop(at))
    uses = [PictureUse(pk=pk, position=position) for position, pk in enumerate(order)]
    PictureUse.objects.bulk_update(uses, ["position"])


@transaction.atomic
def arrange(thing: Thing, order: Sequence[UUID]) -> None:
    """Put the gallery of `thing` into the order of these ids of its uses. Raises `Conflict` unless
    they are all of them."""
    type(thing).objects.select_for_update().get(pk=thing.pk)
    rows = PictureUse.objects.present().filter(uses_of(thing)).order_by("position", "id")
    # A person's entry and NPC may both have the same picture, which is shown once; and those of
    # deleted pictures are not shown.
    shown: dict[UUID, UUID] = {}
    for use in rows.filter(picture__deleted_at=None):
        shown.setdefault(use.picture_id, use.pk)
    if len(order) != len(shown) or set(order) != set(shown.values()):
        raise Conflict(_("Other pictures are in the gallery by now: read it again."))
    rest = rows.exclude(pk__in=order).values_list("pk", flat=True)
    moved = [PictureUse(pk=pk, position=at) for at, pk in enumerate([*order, *rest])]
    PictureUse.objects.bulk_update(moved, ["position"])


def remove_use(use: PictureUse) -> None:
    """Take the picture out of this gallery. The picture stays in the world."""
    use.removed_at = timezone.now()
    use.save(update_fields=["removed_at"])


@transaction.atomic
def restore_use(use: PictureUse) -> None:
    """Undo `remove_use`; if the thing has another portrait by now, that one stays."""
    others = PictureUse.objects.present().filter(uses_of(use.thing), is_portrait=True)
    use.is_portrait = use.is_portrait and not others.exists()
    use.removed_at = None
    use.save(update_fields=["removed_at", "is_portrait"])


# --- deletion


def delete_pictures(pictures: Iterable[Picture]) -> int:
    """Hide the pictures everywhere; `restore_picture` undoes it until they are deleted for good."""
    keys = [picture.pk for picture in pictures]
    rows = Picture.objects.filter(pk__in=keys, deleted_at=None)
    return rows.update(deleted_at=timezone.now())


def delete_unused(world: World) -> int:
    """Delete the pictures of `world` that nothing shows. One that was uploaded within a day stays:
    the text that shows it may be a draft that is not saved yet."""
    before = timezone.now() - timedelta(days=1)
    unused = Picture.objects.in_world(world).present().without_uses()
    return delete_pictures(unused.filter(created_at__lt=before))


def shown_nowhere(pictures: PictureQuerySet) -> list[Picture]:
    """Those of the pictures that nothing shows, not even an entry or a person in the trash, or a
    text that somebody is writing."""
    rows = pictures.without_uses().exclude(
        Exists(showing_picture(Lore.with_trash.exclude(deleted_at=None), "body"))
        | Exists(showing_picture(NPC.with_trash.exclude(deleted_at=None), "summary"))
    )
    unused: list[Picture] = list(rows)
    worlds = {picture.world_id for picture in unused}
    drafts = EntryDraft.objects.filter(world__in=worlds).values_list("fields", flat=True)
    in_drafts = {pk for fields in drafts for pk in picture_targets(str(fields.get("body", "")))}
    return [picture for picture in unused if picture.pk not in in_drafts]


def delete_for_good(pictures: Iterable[Picture]) -> None:
    """Delete the pictures, and their files after the commit. They cannot be restored."""
    for picture in pictures:
        picture.delete()


def restore_picture(picture: Picture) -> None:
    Picture.objects.filter(pk=picture.pk).update(deleted_at=None)


def file_names(picture: Picture) -> list[str]:
    return [getattr(picture, field).name for field in FILES if getattr(picture, field)]


def delete_files_after_commit(picture: Picture) -> None:
    """Delete the files of a deleted row, when the deletion cannot be rolled back any more."""
    transaction.on_commit(partial(delete_files, file_names(picture)))


def delete_files(names: Iterable[str]) -> None:
    names = list(names)
    for name in names:
        default_storage.delete(name)
    for folder in {str(PurePosixPath(name).parent) for name in names}:
        if default_storage.exists(folder):  # a local folder; S3 has none
            default_storage.delete(folder)
