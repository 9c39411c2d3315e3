"""The text of bytes in an unknown encoding: UTF-8, UTF-16 and UTF-32 with a byte order mark, else
the usual ones of Russian, Korean and Western European systems."""

import codecs
import re

BYTE_ORDER_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
# Two Cyrillic letters together; single ones beside Latin letters are accents read wrongly.
_RUSSIAN = re.compile("[а-яё]{2,}", re.IGNORECASE)
LEAST_SHARE = 0.6
"""Of the letters beyond ASCII, so many must be of the script that the encoding is for."""


def decode(content: bytes) -> tuple[str, str]:
    """Return the text and the name of its encoding. Every sequence of bytes has one."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), encoding
            except UnicodeDecodeError:
                break
    try:
        return content.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        pass
    for encoding, script in (("cp949", _HANGUL), ("cp1251", _RUSSIAN)):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _share(text, script) >= LEAST_SHARE:
            return text, encoding
    return content.decode("cp1252", errors="replace"), "cp1252"


def _share(text: str, script: re.Pattern[str]) -> float:
    foreign = len(_FOREIGN.findall(text))
    return sum(len(found) for found in script.findall(text)) / foreign if foreign else 0.0
