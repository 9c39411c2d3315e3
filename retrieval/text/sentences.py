"""Where sentences end, in English, Russian and Korean."""

import re

# After these a name follows, so the full stop ends no sentence. A lookbehind has one length only.
_TITLES = "".join(
    rf"(?<!\b{title}\.)"
    for title in ("Mr", "Mrs", "Ms", "Dr", "St", "Fr", "Sgt", "Capt", "Lt", "Col", "св", "Св", "им")
)
# A sentence does not end where a lower-case letter follows (abbreviations). For whole sentences of
# prose neither does it where a dash follows (dialogue in Russian), and a single line break is only
# a wrapped line.
_SENTENCE = re.compile(
    rf".+?(?:[.!?…。！？]+{_TITLES}[\"'”’»)\]]*(?=\s+(?![—–]|[a-zа-яё])|\s*$)|\n{{2,}}|$)",
    re.DOTALL,
)
_SENTENCE_OR_LINE_END = re.compile(
    rf"(?<=[.!?…。！？]){_TITLES}[\"'»”)]*\s+(?=[\"'«“(]*[^\W\d_a-zа-яё])|\n+"
)


def split_sentences(text: str, *, at_line_breaks: bool = False) -> list[str]:
    """Return the sentences of `text`, not stripped.

    With `at_line_breaks` each line is notes of its own: it ends a sentence, and marks and quotes
    after the full stop are left out.
    """
    return (_SENTENCE_OR_LINE_END.split if at_line_breaks else _SENTENCE.findall)(text)
