"""An estimate of how many tokens a text has for a model."""

import re

_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]"
)
_NARROW = re.compile(r"[\u0000-\u024f\u1e00-\u1eff\u2000-\u206f]")


def count_tokens(text: str) -> float:
    """Estimate tokens, each of 4 Latin, 2.5 Cyrillic (Greek, Arabic, …), or 1.1 Hangul letters."""
    wide, narrow = len(_WIDE.findall(text)), len(_NARROW.findall(text))
    return wide * 0.9 + narrow * 0.25 + (len(text) - wide - narrow) * 0.4
