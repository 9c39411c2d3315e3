"""Who was there and where: from the mentions of names in a report, by rules."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

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
            present=any(is_present(each, words) for each in group),
            quote=group[0].sentence.quote,
        )
        for things, group in lines
    ]


def is_present(mention: ReportMention, words: ReportWords) -> bool:
    """Whether the mention says that the person was there; not so in `they asked about Mira`."""
    own = words.of(mention.sentence.text)
    return not (
        own.about.search(mention.before[-60:]) or own.about_follows.search(mention.after[:60])
    )


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


def players_in(members: Sequence[str], sentences: Sequence[Sentence]) -> list[str]:
    """Return the player characters that the report names, in the order of the party."""
    names = [KnownName(name, name, other_spellings(name)) for name in members if name.strip()]
    index = NameIndex(names)
    found = (
        mention
        for window in windows_of(sentences)
        for mention in index.mentions(" ".join(each.text for each in window), typos=False)
    )
    there = {match.key for mention in found for match in mention.matches}
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
