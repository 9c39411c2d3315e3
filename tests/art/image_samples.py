"""Pictures for the tests, made by Pillow: honest ones and hostile ones."""

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image


def image_bytes(
    form: str = "PNG", size: tuple[int, int] = (64, 48), colour: Any = "teal", **save: Any
) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, form, **save)
    return out.getvalue()


def photo_with_exif() -> bytes:
    """A JPEG 64 wide and 48 high, to be turned by 90 degrees, which says where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation
    exif[0x010E] = "taken at the drowned mill"
    exif.get_ifd(0x8825)[1] = "N"
    return image_bytes("JPEG", exif=exif, comment=b"a comment of the camera")


def animation(frames: int = 3, form: str = "GIF", size: tuple[int, int] = (32, 32)) -> bytes:
    stills = [Image.new("RGB", size, (n * 9 % 256, n // 20 % 256, n % 251)) for n in range(frames)]
    out = BytesIO()
    stills[0].save(out, form, save_all=True, append_images=stills[1:], duration=80, loop=0)
    return out.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(side: int = 30_000) -> bytes:
    """A PNG of a few kilobytes that says it has `side` × `side` pixels."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1_000_000), 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def text_bomb() -> bytes:
    """A PNG with a compressed text of 70 MB."""
    data = image_bytes()
    text = b"zTXt", b"note\0\0" + zlib.compress(bytes(70_000_000), 9)
    return data[:33] + chunk(*text) + data[33:]


SCRIPT = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
