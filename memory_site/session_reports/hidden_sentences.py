"""Which sentences of a report are for game masters alone."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from memory_site.session_reports.lexicon import ReportWords, is_game_master, is_mark
from memory_site.session_reports.sentences import Sentence
from retrieval.text import KnownName, NameIndex, other_spellings

SPEAKER = re.compile(
    r"[#>*•–—\-\s]*(?:[\[(]?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?[\])]?\s*)?"
    r"(?P<speaker>[^\W\d_][^:：\n]{0,40}?)[*_]*[:：]"
)
"""Who speaks a line of a log: `[20:02] Priya (Nuri): I open it.`"""
LEAST_LINES = 2
"""How many lines others than the game master speak in a log."""


def with_hidden(
    sentences: Sequence[Sentence],
    text: str,
    words: ReportWords,
    *,
    members: Collection[str],
    hidden_from: int | None = None,
) -> list[Sentence]:
    """Return the sentences of `text`, marked as hidden where they say so, and all from the place
    `hidden_from`. `GM:` before a line hides the line; in a log of what was said at the table it
    only says who speaks."""
    place = len(text) if hidden_from is None else hidden_from
    return [
        replace(each, is_hidden=True) if each.start >= place else each
        for each in _with_hidden(sentences, text, words, is_log=is_log(text[:place], members))
    ]


def _with_hidden(
    sentences: Sequence[Sentence], text: str, words: ReportWords, *, is_log: bool
) -> Iterator[Sentence]:
    end, is_hidden_line, open_brackets = 0, False, 0
    for each in sentences:
        if "\n" in text[end : each.start]:
            is_hidden_line, open_brackets = False, 0
        speaker = speaker_of(each.text)
        if speaker and is_mark(speaker) and not (is_log and is_game_master(speaker)):
            is_hidden_line = True
        end = each.end
        is_marked = words.is_hidden(each.text, is_log=is_log)
        yield replace(each, is_hidden=is_hidden_line or open_brackets > 0 or is_marked)
        if is_marked or open_brackets:
            # `(GM only: it is a fake. It burns cold.)` is hidden up to the end of the bracket.
            open_brackets = max(0, open_brackets + _opened_brackets(each.text))


def _opened_brackets(text: str) -> int:
    """Return how many brackets a text opens more than it closes."""
    return sum((char in "([") - (char in ")]") for char in text)


def speaker_of(line: str) -> str:
    """Return what stands before the first colon of a line, if that may be who speaks."""
    found = SPEAKER.match(line)
    return found["speaker"].strip(" *_") if found else ""


def is_log(text: str, members: Collection[str]) -> bool:
    """Whether the text is a log: it has lines of the game master and of player characters, or of
    others who speak again and again. Headings such as `Where:` do not make one."""
    speakers = [speaker for line in text.split("\n") if (speaker := speaker_of(line))]
    if not any(map(is_game_master, speakers)):
        return False
    party = NameIndex(KnownName(name, name, other_spellings(name)) for name in members if name)
    others = [each for each in speakers if not is_mark(each)]
    spoken = [each for each in others if party.mentions(each, typos=False)]
    if len(spoken) >= LEAST_LINES:
        return True
    several = {each for each in others if others.count(each) >= LEAST_LINES}
    # One heading that returns, such as `NPC:`, is no conversation.
    return len(several | set(spoken)) >= LEAST_LINES
