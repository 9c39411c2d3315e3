"""The script and the language of a text, told by its letters."""

import re


def guess_language(text: str) -> str:
    """Tell Korean and Russian by their script; everything else is taken for English."""
    sample = text[:4000]
    hangul = len(re.findall(r"[\uac00-\ud7a3]", sample))
    cyrillic = len(re.findall(r"[\u0400-\u04ff]", sample))
    latin = len(re.findall(r"[A-Za-z]", sample))
    if hangul * 2 > max(cyrillic, latin):
        return "ko"
    return "ru" if cyrillic > latin else "en"


def has_hangul(text: str) -> bool:
    return not text.isascii() and any("가" <= letter <= "힣" for letter in text)


def is_cyrillic(text: str) -> bool:
    return any("а" <= letter <= "я" for letter in text)
