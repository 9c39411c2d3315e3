"""Who was there and where: from the mentions of names in a report, by rules."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from re import Pattern

from memory_site.session_reports.lexicon import ReportWords
from memory_site.session_reports.names import (
    NamedSubject,
    ReportMention,
    ReportMentions,
    Sort,
    ThingIndex,
)
from memory_site.session_reports.proposal import NameCandidate, NameInReport
from memory_site.session_reports.sentences import Sentence, windows_of
from retrieval.text import KnownName, NameIndex, other_spellings

MOST_CANDIDATES = 8
MOST_NEW_NAMES = 12
LEAST_TIMES = 2
"""How often a new name has to stand within sentences, capitalised and never otherwise."""
CAPITALISED = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
SENTENCE_START = re.compile(r"^[\W\d_]*$")
AFTER_A_STOP = re.compile(r"[.!?…:\"“«(\[—–-]\s*$")


def candidate(thing: NamedSubject) -> NameCandidate:
    row = thing.first
    kind = row.kind if row.kind in ("npc", "lore") else "entity"
    return NameCandidate.model_validate({"kind": kind, "ref": row.slug, "name": row.name})


def named_things(
    mentions: ReportMentions, sort: Sort, words: ReportWords, *, without: Collection[str] = ()
) -> list[NameInReport]:
    """Return the people or places of a report, except those of the names `without`. Names of one
    meaning are one line; a name that fits several is a line with a choice."""
    lines = []
    for group in mentions.of_sort(sort):
        fitting = [thing for thing in group[0].things if thing.sort == sort]
        if things := [thing for thing in fitting if thing.name not in without]:
            lines.append((things, group))
    return [
        NameInReport(
            text=Counter(each.text for each in group).most_common(1)[0][0],
            candidates=[candidate(thing) for thing in things[:MOST_CANDIDATES]],
            times=len(group),
            present=sort != "person" or any(is_present(each, mentions, words) for each in group),
            quote=group[0].sentence.quote,
        )
        for things, group in lines
    ]


def is_present(mention: ReportMention, mentions: ReportMentions, words: ReportWords) -> bool:
    """Whether the mention says that the person was there: they do something, or the party meets
    them. Anything else is only spoken of, because a memory of what somebody did not witness does
    more harm than a missing tick. What is for game masters alone says nothing about the scene."""
    sentence = mention.sentence.text
    if mention.sentence.is_hidden:
        return False
    own = words.of(sentence)
    first, last = joined_mentions(mention, mentions, own.joined)
    before, after = first.before[-60:], last.after
    if own.about.search(before) or own.about_follows.search(after):
        return False
    # Some languages mark by an ending of the name who acts: look behind the start of what follows.
    place = len(sentence) - len(after)
    if own.met.search(before) or own.met_follows.match(sentence, place):
        return True
    is_subject = not (first.is_inflected or last.is_inflected)
    return is_subject and bool(own.acts.search(before) or own.acts_follows.match(sentence, place))


def joined_mentions(
    mention: ReportMention, mentions: ReportMentions, joined: Pattern[str]
) -> tuple[ReportMention, ReportMention]:
    """Return the first and the last name of the row in which the mention stands: of `Mira, Jory and
    Ida`, Mira and Ida."""
    every = mentions.by_sentence[mention.sentence.start]
    row = [each for each in every if each.is_of_person]
    begin = end = row.index(mention)

    def is_joined(one: ReportMention, other: ReportMention) -> bool:
        start = mention.sentence.start
        text = mention.sentence.text
        return bool(joined.fullmatch(text, one.end - start, other.start - start))

    while begin and is_joined(row[begin - 1], row[begin]):
        begin -= 1
    while end + 1 < len(row) and is_joined(row[end], row[end + 1]):
        end += 1
    return row[begin], row[end]


def main_place(mentions: ReportMentions) -> str:
    """Return the slug of the place that the report names most; of equals, the first."""
    counts: Counter[str] = Counter()
    for each in mentions.mentions:
        if len(each.things) == 1 and each.things[0].sort == "place":
            # A name in capitals is meant as one; `the river` may be any.
            counts[each.things[0].ref] += 3 if _is_capitalised(each.text) else 1
    return counts.most_common(1)[0][0] if counts else ""


def _is_capitalised(text: str) -> bool:
    return not text.split()[-1][0].islower()


def players_in(
    members: Sequence[str], sentences: Sequence[Sentence], words: ReportWords
) -> list[str]:
    """Return the player characters that the report names, in the order of the party, without those
    of whom it says nothing but that they were not there."""
    names = [KnownName(name, name, other_spellings(name)) for name in members if name.strip()]
    index = NameIndex(names)
    there: set[object] = set()
    for window in windows_of(sentences):
        text = " ".join(each.text for each in window)
        own = words.of(text)
        for mention in index.mentions(text, typos=False):
            before, after = text[: mention.start][-40:], text[mention.end :][:60]
            if not (own.absent_before.search(before) or own.absent_after.search(after)):
                there |= {match.key for match in mention.matches}
    return [name for name in members if name in there]


def new_names(
    sentences: Sequence[Sentence],
    mentions: ReportMentions,
    words: ReportWords,
    *,
    known: Sequence[str],
) -> list[str]:
    """Return words that are written like names and that the world does not know. Only for scripts
    with capitals."""
    seen: Counter[str] = Counter()
    small: set[str] = set()
    ours = {word.casefold() for name in known for word in CAPITALISED.findall(name)}
    for sentence in sentences:
        spans = [(each.start, each.end) for each in mentions.by_sentence.get(sentence.start, ())]
        for found in CAPITALISED.finditer(sentence.text):
            word, start = found.group(), sentence.start + found.start()
            if word[0].islower() or not word[0].isupper():
                small.add(word.casefold())
            elif word[1:].islower() and not any(begin <= start < end for begin, end in spans):
                before = sentence.text[: found.start()]
                if not (SENTENCE_START.match(before) or AFTER_A_STOP.search(before)):
                    seen[word] += 1
    return [
        word
        for word, times in seen.most_common()
        if times >= LEAST_TIMES
        and word.casefold() not in small | ours | words.of(word).common
        and len(word) > 2
    ][:MOST_NEW_NAMES]


def misspelt_people(
    names: Sequence[str], sentences: Sequence[Sentence], index: ThingIndex
) -> list[NameInReport]:
    """Return the names of which something known may be meant, as choices."""
    lines = []
    for name in names:
        people = [thing for thing in index.similar(name) if thing.sort == "person"]
        if people:
            first = next((each for each in sentences if name in each.text), None)
            lines.append(
                NameInReport(
                    text=name,
                    candidates=[candidate(thing) for thing in people[:MOST_CANDIDATES]],
                    times=sum(name in each.text for each in sentences),
                    present=False,
                    quote=first.quote if first else "",
                )
            )
    return lines
