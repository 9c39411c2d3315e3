"""Uploaded files into pictures that are safe to serve: checked by content, decoded, written anew.

What is uploaded is stored as it was encoded here from pixels. So a file that is a picture and
something else at once (a polyglot), metadata such as the place where a photograph was taken, and
damaged parts do not get past this module. The files of an archive, which were written so once, stay
as they are when they have been decoded: encoding them again would make them worse each time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import BoundedSemaphore
from typing import Any

from django.utils.translation import gettext as _
from PIL import Image, ImageCms, ImageOps, ImageSequence, UnidentifiedImageError, features

from retrieval.errors import Invalid, TooLarge

MAX_BYTES = 20_000_000
MAX_PIXELS = 40_000_000
"""Of all frames together. Four bytes each, so that one picture takes at most 160 MB to decode."""
MAX_FRAMES = 400
PREVIEW, THUMBNAIL = 1280, 320
"""The longest side of the smaller pictures, in pixels."""
DECODING = BoundedSemaphore(2)
"""Pictures decoded at once in a process: the memory that they take is bounded."""

STORED_AS = {
    "JPEG": ("image/jpeg", "jpg"),
    "PNG": ("image/png", "png"),
    "WEBP": ("image/webp", "webp"),
    "GIF": ("image/gif", "gif"),
    **({"AVIF": ("image/avif", "avif")} if features.check("avif") else {}),
}
ANIMATED = ("GIF", "WEBP")
SAME_FORMAT = {"MPO": "JPEG"}
"""Cameras append further pictures to a JPEG; the first one is kept."""
SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 92, "optimize": True, "progressive": True},
    "PNG": {"optimize": False},
    "WEBP": {"quality": 90, "method": 4},
    "GIF": {},
    "AVIF": {"quality": 80},
}
PNG_MODES = {"1", "L", "LA", "P", "RGB", "RGBA"}


@dataclass(frozen=True)
class ImageFile:
    """A picture as it is stored: itself and two smaller ones (WebP, still). An animation has no
    preview, which would stand still."""

    content_type: str
    extension: str
    width: int
    height: int
    original: bytes
    preview: bytes | None
    thumbnail: bytes


def read_image(content: bytes) -> ImageFile:
    """Return the picture in `content`; raises `Invalid` for what is no picture or a damaged one,
    `TooLarge` for one with too many pixels."""
    refuse_other_formats(content)
    with DECODING, problems_of_decoders():
        # Only these decoders run: Pillow has others, for formats that no browser shows.
        with Image.open(BytesIO(content), formats=[*STORED_AS]) as image:
            form = SAME_FORMAT.get(str(image.format), str(image.format))
            # The header alone has been read: nothing is decoded before its size is known.
            frames = count_frames(image, form)
            first = upright(image)
            original = encode_frames(image, form) if frames > 1 else encode(first, form)
        content_type, extension = STORED_AS[form]
        return ImageFile(
            content_type,
            extension,
            *first.size,
            original=original,
            preview=encode_smaller(first, PREVIEW) if frames == 1 else None,
            thumbnail=encode_smaller(first, THUMBNAIL),
        )


EXTENSIONS = dict(STORED_AS.values())
"""Of each type in which pictures are stored."""


def require_type(content: bytes, content_type: str) -> None:
    """Raise `Invalid` unless `content` is a whole picture of this type, `TooLarge` for one with too
    many pixels."""
    with (
        DECODING,
        problems_of_decoders(),
        Image.open(BytesIO(content), formats=[*STORED_AS]) as image,
    ):
        form = SAME_FORMAT.get(str(image.format), str(image.format))
        for frame in range(count_frames(image, form)):
            image.seek(frame)
            image.load()
    found, _extension = STORED_AS[form]
    if found != content_type:
        raise Invalid(
            _("This is %(found)s, not %(type)s.") % {"found": found, "type": content_type}
        )


def refuse_other_formats(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise TooLarge(too_many_bytes())
    if not content:
        raise Invalid(_("The file is empty: choose another one."))
    start = content[:100].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<svg", b"<?xml", b"<!doctype svg")):
        raise Invalid(
            _("SVG files can hold programs and are not accepted: save the picture as PNG or WebP.")
        )


def too_many_bytes() -> str:
    return _("A picture may have at most %(megabytes)s MB: save it smaller.") % {
        "megabytes": MAX_BYTES // 1_000_000
    }


@contextmanager
def problems_of_decoders() -> Iterator[None]:
    try:
        yield
    except (Invalid, TooLarge):
        raise
    except Image.DecompressionBombError as error:
        raise TooLarge(too_many_pixels()) from error
    except UnidentifiedImageError as error:
        raise Invalid(
            _("This is no picture that the site can show: use PNG, JPEG, WebP, GIF or AVIF.")
        ) from error
    # A damaged file makes decoders raise nearly anything: OSError, SyntaxError, struct.error, …
    except Exception as error:
        raise Invalid(
            _("The picture is damaged or incomplete: save it again and upload that file.")
        ) from error


def too_many_pixels() -> str:
    return _("A picture may have at most %(megapixels)s million pixels: make it smaller.") % {
        "megapixels": MAX_PIXELS // 1_000_000
    }


def count_frames(image: Image.Image, form: str) -> int:
    """Return how many frames to keep; raises `TooLarge`."""
    pixels = image.width * image.height
    if pixels > MAX_PIXELS:
        raise TooLarge(too_many_pixels())
    frames = getattr(image, "n_frames", 1) if form in ANIMATED else 1
    if frames > MAX_FRAMES or frames * pixels > MAX_PIXELS:
        raise TooLarge(
            _(
                "An animation may have at most %(frames)s frames and %(megapixels)s million pixels "
                "in all of them: make it shorter or smaller."
            )
            % {"frames": MAX_FRAMES, "megapixels": MAX_PIXELS // 1_000_000}
        )
    image.seek(0)
    return frames


def upright(image: Image.Image) -> Image.Image:
    """Return the picture turned as its metadata say, in the colours of the web, without
    metadata."""
    turned = ImageOps.exif_transpose(image)
    profile = turned.info.get("icc_profile")
    if profile:
        turned = in_web_colours(turned, profile)
    if turned.mode.startswith(("I", "F")):  # 16 bits a channel, of which the web shows 8
        turned = turned.convert("I").point([v // 256 for v in range(65_536)], "L")
    transparency = turned.info.get("transparency")
    turned.info = {} if transparency is None else {"transparency": transparency}
    return turned


def in_web_colours(image: Image.Image, profile: bytes) -> Image.Image:
    mode = "RGBA" if image.has_transparency_data else "RGB"
    if image.mode not in ("RGB", "RGBA", "CMYK", "L"):
        image = image.convert(mode)
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        converted = ImageCms.profileToProfile(
            image, source, ImageCms.createProfile("sRGB"), outputMode=mode
        )
    except (ImageCms.PyCMSError, ValueError, OSError):
        return image  # a profile that cannot be read says nothing about the colours
    return converted or image


def encode(image: Image.Image, form: str) -> bytes:
    modes = PNG_MODES if form == "PNG" else {"L", "RGB"} if form == "JPEG" else {"RGB", "RGBA"}
    if image.mode not in modes:
        image = image.convert(web_mode(image) if form != "JPEG" else "RGB")
    out = BytesIO()
    # Said for each: some encoders would otherwise copy these from the picture that was read.
    image.save(out, form, exif=b"", icc_profile=None, **SAVE_OPTIONS[form])
    return out.getvalue()


def encode_frames(image: Image.Image, form: str) -> bytes:
    """Return the animation, each frame decoded and encoded."""
    frames, durations = [], []
    loop = image.info.get("loop")
    for frame in ImageSequence.Iterator(image):
        durations.append(min(max(int(frame.info.get("duration") or 100), 20), 60_000))
        still = frame.convert("RGBA")
        still.info = {}
        frames.append(still)
    out = BytesIO()
    options = {} if loop is None else {"loop": int(loop)}
    first, *others = frames
    first.save(
        out,
        form,
        save_all=True,
        append_images=others,
        duration=durations,
        **options,
        **SAVE_OPTIONS[form],
    )
    return out.getvalue()


def encode_smaller(image: Image.Image, side: int) -> bytes:
    smaller = image.convert(web_mode(image))
    smaller.thumbnail((side, side))
    out = BytesIO()
    smaller.save(out, "WEBP", quality=82, method=4, exif=b"", icc_profile=None)
    return out.getvalue()


def web_mode(image: Image.Image) -> str:
    return "RGBA" if image.has_transparency_data else "RGB"
